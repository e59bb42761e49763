#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every memory allocation of loading the module, making a device, making it ready, resizing its waiting room and
# its size fails once: the call fails with "no memory" or succeeds, and nothing is left of it.
# The kernel shows where a cache or a name could not be had; its other reports still fail the test.
# kernels: debug
# timeout: 600
# expect-dmesg: Call Trace:
# The leak detector wants memory of its own, and is refused it too.
# expect-dmesg: kmemleak: Cannot allocate a scan area
# expect-dmesg: SLUB: Unable to allocate memory
# expect-dmesg: kobject_add_internal failed for .*error: -12\b

. "$(dirname "$0")/lib.sh"
# shellcheck source=faults.sh
. "$(dirname "$0")/faults.sh"

plan 18

must faults_prepare
must null_make muster0 64
must null_make muster1 64
module=$(modinfo -n mswap)
# Where the kernel cannot show a cache in sysfs, it forgets its name: that is its own leak.
must faults_not_below sysfs_slab_add
# The kernel's own loading of a module warns when memory is short: from the module's init function on.
must faults_below do_one_initcall
walk 'loading the module' 5 load "$module"
must faults_below

must modprobe mswap
# Its control files are there before all of it is: somebody reads them all the time.
(while :; do read -r _ </sys/block/mswap0/backing_dev; done 2>/dev/null) &
reader=$!
walk 'adding a device' 20 -i read "$CONTROL/hot_add" "$CONTROL/hot_remove"
must kill "$reader"
check_eq 'no device is left' "$(mswap_devices)" ''

must modprobe -r mswap
must modprobe mswap
mswap_add /dev/muster1
must mswap_set waiting_pages 64
must mswap_set reset 1
walk 'making a device ready' 140 write "$SYS/backing_dev" /dev/muster0 "$SYS/reset" 1
check_eq 'it is not ready' "$(get initstate) $(get backing_dev)" '0 none'
must mswap_set backing_dev /dev/muster0
walk 'a larger waiting room' 128 write "$SYS/waiting_pages" 128 "$SYS/waiting_pages" 64
check_eq 'the waiting room is as it was' "$(get waiting_pages) $(get waiting_bytes)" "64 $((64 * 4096))"
walk 'another size' 1 write "$SYS/disksize" 32M "$SYS/disksize" 48M
check_eq 'the size is as it was' "$(get disksize)" $((48 << 20))

check_program 'the device works' blkcheck -s 3 -t 2 -r 1 -S 16 "$MSWAP"
check 'it can be removed' mswap_remove "$MSWAP"
check 'the module can be unloaded' rmmod mswap
check 'what was beneath is free' dd if=/dev/zero of=/dev/muster0 bs=4k count=1 oflag=direct status=none
finish
