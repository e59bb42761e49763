#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The machine hibernates to another disk while programs swap, goes off, and returns; every page verified. To a device of
# ours it does not hibernate.
# kernels: all
# asked-for: 5.10 6.1
# timeout: 240
# mem: 1G
# nvme: 512M
# virtio: 512M
# hibernates: yes

. "$(dirname "$0")/lib.sh"
# shellcheck source=power.sh
. "$(dirname "$0")/power.sh"

plan 14

can_hibernate || skip_all 'this kernel cannot hibernate'
# On 5.10 and 5.15 QEMU's NVMe device does not come back, whoever swaps to it; and where there is one, lockdep complains
# of how the driver of 6.12 stops its queues in one work and starts them in another.
backing=/dev/nvme0n1
if [[ $(uname -r) == 5.* || -e /proc/lockdep_stats ]]; then
	backing=/dev/vdb
	must rmmod nvme
fi
mswap_add $backing
must swap_start "$MSWAP" -p 90
must swap_start /dev/vda -p 1
# As much as can be goes to swap before, with all programs stopped.
must put 0 /sys/power/image_size

programs_start
before=$(log_lines 'mswap0: opening refused: the machine hibernates')
check_fails 'to the device itself' 'Device or resource busy' hibernate_to "$MSWAP"
check_that 'the kernel log says why' "$(log_lines 'mswap0: opening refused: the machine hibernates') > $before"
check 'and the device can be opened again' dd if="$MSWAP" of=/dev/null bs=4k count=1 status=none
returns 'the machine goes off'
returns 'and once more'
before=$(get pages_out)
check 'the programs go on swapping' wait_until 60 swapped_out "$before"
programs_end
check 'swapoff' swapoff "$MSWAP"
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'

finish
