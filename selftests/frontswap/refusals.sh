#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A backing device that is full or fails: frontswap is refused, the pages go to the ordinary area, and none
# is lost.
# timeout: 400
# kernels: 5.10
# stays: mswap mswap_frontswap
# expect-dmesg: (read|write) of .* of the backing device failed
# expect-dmesg: reads no longer pass over slots
# expect-dmesg: is killed: a page of it cannot be read back

. "$(dirname "$0")/lib.sh"

plan 27

stride() {
	limited 24M pagestride "$@"
}

must null_make muster0 24
sectors=$(blockdev --getsz /dev/muster0)
must dm_make muster "0 $sectors linear /dev/muster0 0"
fswap_start /dev/mapper/muster
areas 1 224 2

written=$(area_written)
check_program 'more than the device holds' stride -c 1 -k 0 -s 96 --write-on-readback -r 2
check_that 'refused, and counted' "$(get stores_refused) > 1000"
check_that 'the rest went to the ordinary area' "$(area_written) > $written + 1000"
check_that 'the device was used to the full' "$(get pages_out) > 4000"
check_eq 'no write met a full device' "$(get nospace)" 0
must swapoff /dev/mapper/muster-area0
check_settles 'its slots are free' slots_used 0
must swapon /dev/mapper/muster-area0

must dm_make muster "0 $sectors error"
refused=$(get stores_refused)
check_program 'a device that takes no writes' stride -c 1 -k 0 -s 96 --write-on-readback -r 2
check_that 'its writes failed' "$(get write_errors) > 0"
check_that 'stores are refused then' "$(get stores_refused) > $refused"
must swapoff /dev/mapper/muster-area0
check_eq 'copies that could not be written are dropped when they are freed' "$(get_settled copies_held)" 0
check_settles 'no slot is left' slots_used 0
must swapon /dev/mapper/muster-area0

must dm_make muster "0 $sectors linear /dev/muster0 0"
out=$(get dev_pages_written)
check_program 'the device came back' stride -c 1 -k 0 -s 40
check_that 'and takes pages again' "$(get dev_pages_written) > $out"

# It dies with pages on it: who wants one is killed and never sees wrong data.
killed=$(log_lines 'is killed: a page of it cannot be read back')
buscheck_start 10M 16
must dm_make muster "0 $sectors error"
buscheck_ask
wait "$program"
check_eq 'who wants a page of a dead device is killed' $? 137
check_not 'before it saw a page' grep -q phase=read "$WORK/out"
check_that 'the kernel log says so' "$(log_lines 'is killed: a page of it cannot be read back') > $killed"
exec 8>&-
must dm_make muster "0 $sectors linear /dev/muster0 0"
buscheck_start 10M 16 --vfork
must dm_make muster "0 $sectors error"
buscheck_ask
buscheck_end
check_eq 'so is who lent his memory to a child' $? 137
check_not 'before he went on with it' grep -q phase=read "$WORK/out"
must dm_make muster "0 $sectors linear /dev/muster0 0"
check_program 'the next program is well' stride -c 1 -k 0 -s 40
must swapoff /dev/mapper/muster-area0
check_settles 'no slot is left in the end' slots_used 0

# The swap core reads past the swap cache what lies on a ramdisk, and a late load would undo what was written since.
keeps='keeps its pages: its device is synchronous'
out=$(get pages_out) refused=$(get stores_refused) told=$(log_lines "$keeps") written=$(area_written)
must swap_start /dev/ram1
check_program 'an area on a ramdisk' stride -c 1 -k 0 -s 40 --write-on-readback -r 2
check_eq 'keeps its pages' "$(get pages_out)" "$out"
check_that 'which are counted as refused' "$(get stores_refused) - $refused > 16 * 256"
check_eq 'and all written to it' $(($(area_written) - written)) $(($(get stores_refused) - refused))
check_eq 'the kernel log says so once' $(($(log_lines "$keeps") - told)) 1
must swapoff /dev/ram1
must swapon /dev/ram1
check_program 'and once more' stride -c 1 -k 0 -s 40
check_eq 'for each swapon' $(($(log_lines "$keeps") - told)) 2

finish
