#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Leaves what the harness looks for, some of which it cannot take away: the machine is not fit for more tests. A bit
# later, when the test has been judged, the kernel complains.
. "$(dirname "$0")/../../lib/ktap.sh"
. "$(dirname "$0")/../after_verdict.sh"

# shellcheck disable=SC2317 # called by name
disk_there() {
	disk=$(compgen -G '/sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*/block/*') && [ -b "/dev/${disk##*/}" ]
}

plan 1
check "module loads" insmod "$MUSTER_PROGS/muster_meta.ko" how=busy
must modprobe scsi_debug dev_size_mb=8
wait_until 20 disk_there
must mkswap "/dev/${disk##*/}"
must swapon "/dev/${disk##*/}"
must mount -t tmpfs none "$(mktemp -d)"
must modprobe dm-mod
must dmsetup create left --table '0 8 error'
must mount -t cgroup2 none /sys/fs/cgroup
must put +io /sys/fs/cgroup/cgroup.subtree_control
must mount -t tracefs none /sys/kernel/tracing
must put 8192 /sys/kernel/tracing/buffer_size_kb
must put 100000000 /proc/sys/vm/overcommit_kbytes
after_verdict k_leftover 'echo "WARNING: late" >/dev/kmsg'
finish
