#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A window that is under way and fails for one bad slot: whoever asked for a page of it, before it was sent or since,
# gets the page all the same, and only who wants the bad one is told of the error. So it is where the block layer
# merges reads.
# timeout: 180
# kernels: all
# expect-dmesg: I/O error, dev (muster|nullb)
# expect-dmesg: read of .* of the backing device failed
# expect-dmesg: reads no longer pass over slots

. "$(dirname "$0")/lib.sh"

plan 15

SLOT=8 # sectors
BAD=40 # slot

# bad_slot MS: the table of a device with one, whose other slots take so long to read.
bad_slot() {
	local from=$(((EDGE + BAD) * SLOT)) end=$(((EDGE + BAD + 1) * SLOT))

	echo "0 $from delay /dev/muster0 0 $1 /dev/muster0 0 0"
	echo "$from $SLOT error"
	echo "$end $((sectors - end)) delay /dev/muster0 $end $1 /dev/muster0 $end 0"
}

scan() {
	blkpattern -b 1 -n 1 "$@" scan "$MSWAP"
}

read_is_under_way() {
	(($(late_below reads muster) > 0))
}

# joined N: so many pages came from a read that another began.
joined() {
	(($(get pages_in_waiting) - waiting == $1))
}

must modprobe dm-delay
must null_make muster0 64
sectors=$(blockdev --getsz /dev/muster0)
must dm_make muster "0 $sectors linear /dev/muster0 0"
mswap_add /dev/mapper/muster readahead=on
must blkpattern -n 64 -b 64 fill "$MSWAP"
must dm_make muster "$(bad_slot $HELD)"
on_exit dm_make muster "$(bad_slot 0)"

waiting=$(get pages_in_waiting)
scan -f 0 >"$WORK/first" &
must wait_until 10 read_is_under_way
scan -f 10 >"$WORK/second" &
check 'another read joins it' wait_until 10 joined 1
scan -f 16 -n 8 -b 8 >"$WORK/third" &
check 'so does one of eight pages' wait_until 10 joined 9
must dm_make muster "$(bad_slot 0)"
wait
check_eq 'who joins a read that fails gets his page' "$(value_of match <"$WORK/second")" 1
check_eq 'or all his pages' "$(value_of match <"$WORK/third")" 8
check_eq 'so does who began it' "$(value_of match <"$WORK/first")" 1
check_that 'the error is counted' "$(get read_errors) > 0"
check_eq 'who wants the bad page is told' "$(scan -f $BAD | value_of errors)" 1
check_eq 'all others are right' "$(blkpattern -n 64 scan "$MSWAP" | value_of match)" 63

# Nor does each read around it fail, for a page that nobody wants.
errors=$(get read_errors)
check_eq 'pages before a bad one are right' "$(scan -n $BAD | value_of match)" $BAD
check_that 'and hardly a read fails for it' "$(get read_errors) - $errors <= 2"

# Until so many have been read. Without reading ahead none waits to be asked for after that.
must dm_make muster "0 $sectors linear /dev/muster0 0"
must mswap_set readahead off
must scan -n 64 >"$WORK/first"
must mswap_set readahead on
# Those who joined do not join each other again.
must dm_make muster "$(bad_slot $HELD)"
waiting=$(get pages_in_waiting) errors=$(get read_errors)
scan -f 0 >"$WORK/first" &
must wait_until 10 read_is_under_way
for slot in {10..14}; do
	scan -f "$slot" >"$WORK/$slot" &
done
check 'five reads join one' wait_until 10 joined 5
must dm_make muster "$(bad_slot 0)"
wait
check_eq 'all get their pages' "$(matches "$WORK"/{first,10,11,12,13,14})" 6
check_eq 'and only that one has failed' "$(($(get read_errors) - errors))" 1

must null_make muster1 64
mswap_add /dev/muster1 readahead=off
must blkpattern -n 64 -b 64 fill "$MSWAP"
must null_spoil muster1 $((EDGE + 20))
check_eq 'of reads that were merged only that of the bad slot fails' "$(read_batch "$MSWAP" 16 8)" 1
check_that 'which they were' "$(get read_errors) > 2"

finish
