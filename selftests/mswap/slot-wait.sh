#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A write that waits for slots on a full device goes on with those that a discard frees, before any I/O has ended. It does
# not wait where only reads are under way, which free nothing.
# kernels: all
# asked-for: 5.10 6.1
# timeout: 240
# races: 6.12
# short-form: yes
# expect-dmesg: write of .* of the backing device failed
# expect-dmesg: do not take writes and were retired
# expect-dmesg: no physical slot is left

. "$(dirname "$0")/lib.sh"

plan 33

SLOW=/dev/mapper/muster-slow

# slow_make MS: what is written to $SLOW takes so long.
slow_make() {
	modprobe dm-delay && dm_make muster-slow "0 $(sectors_of /dev/muster0) delay /dev/muster0 0 0 /dev/muster0 0 $1"
}

being_written() {
	(($(late_below writes muster-slow) > 0))
}

being_read() {
	(($(late_below reads muster-slow) > 0))
}

writer_ended() {
	[[ -s $WORK/status ]]
}

issued_more() {
	(($(get dev_writes) > $1))
}

must null_make muster0 48
must slow_make 0
mswap_add "$SLOW" disksize=$((48 * 1024 * 1024 - (EDGES + 64) * 4096))
blocks=$(($(get disksize) / 4096))
check_eq 'the device is full' "$(blkpattern -g 1 -b 256 fill "$MSWAP" | value_of match)" "$blocks"
must dd if=/dev/urandom of="$WORK/new" bs=512K count=1 status=none
must slow_make $HELD
on_exit slow_make 0

before=$(get dev_writes) deferred=$(get deferred)
check_that 'hardly any of its batches went to a worker' "$deferred * 8 < $(get batches)"
ended=$(stat_of "$SLOW" 5)
dd if="$WORK/new" of="$MSWAP" bs=512K oflag=direct status=none &
writer=$!
check 'half of a write goes to the 64 slots of the reserve' wait_until 10 issued_more "$before"
sleep 1
half=$(get dev_writes)
check_eq 'the rest waits' "$half" $((before + 1))
check_eq 'a worker has it' "$(get deferred)" $((deferred + 1))
must blkdiscard --offset 16M --length 1M "$MSWAP"
check 'a discard lets it go on' wait_until 10 issued_more "$half"
check_eq 'while all I/O is under way' "$(stat_of "$SLOW" 5)" "$ended"
must slow_make 0
wait "$writer"
result 'it ends' $?
check 'and reads back' cmp "$WORK/new" <(dd if="$MSWAP" bs=512K count=1 iflag=direct status=none)

# As many slots are bad as the reserve has.
must wait_until 5 mswap_set reset 1
sectors=$(sectors_of /dev/muster0)
bad=$(((EDGE + 1000) * 8)) good=$(((EDGE + 1064) * 8))
must dm_make muster-slow "0 $bad linear /dev/muster0 0
$bad $((good - bad)) error
$good $((sectors - good)) linear /dev/muster0 $good"
must mswap_set readahead off
must mswap_set backing_dev "$SLOW"
check_eq 'a device with bad slots is full' "$(blkpattern -g 2 -b 64 fill "$MSWAP" | value_of match)" "$blocks"
check_eq 'no slot is left' "$(($(get slots_used) + $(get slots_retired)))" "$(get slots_total)"
must dm_make muster-slow "0 $sectors delay /dev/muster0 0 $HELD /dev/muster0 0 0"
dd if="$MSWAP" of=/dev/null bs=4K skip=1000 count=1 iflag=direct status=none &
must wait_until 5 being_read
{
	dd if="$WORK/new" of="$MSWAP" bs=4K count=1 oflag=direct status=none
	echo $? >"$WORK/status"
} 2>/dev/null &
check 'a write does not wait for reads' wait_until 10 writer_ended
check 'which go on' being_read
must slow_make 0
wait
check_eq 'it failed' "$(cat "$WORK/status")" 1
check_eq 'for want of slots' "$(get nospace)" 1

# The last slot that is free is bad, and a write is under way to the others, which will give up as many.
free=$((EDGE + $(get slots_total) - 64))
# last_bad MS: the table of such a device, which takes so long to write to those others.
last_bad() {
	local from=$((free * 8)) bad=$(((free + 63) * 8))

	echo "0 $from linear /dev/muster0 0"
	echo "$from $((bad - from)) delay /dev/muster0 $from 0 /dev/muster0 $from $1"
	echo "$bad 8 error"
	echo "$((bad + 8)) $((sectors - bad - 8)) linear /dev/muster0 $((bad + 8))"
}

a_write_failed() {
	(($(get write_errors) > errors))
}

must wait_until 5 mswap_set reset 1
must mswap_set backing_dev "$SLOW"
check_eq 'the device is full once more' "$(blkpattern -g 3 -b 256 fill "$MSWAP" | value_of match)" "$blocks"
must dm_make muster-slow "$(last_bad $HELD)"
errors=$(get write_errors)
blkpattern -g 4 -b 63 -n 63 fill "$MSWAP" >"$WORK/others" &
must wait_until 10 being_written
blkpattern -g 4 -f 5000 -n 1 fill "$MSWAP" >"$WORK/last" &
check 'a write to the last slot fails' wait_until 10 a_write_failed
sleep 1
must dm_make muster-slow "$(last_bad 0)"
wait
check_eq 'it is tried again when there are slots' "$(value_of match <"$WORK/last")" 1
check_eq 'and reads back' "$(blkpattern -g 4 -f 5000 -n 1 scan "$MSWAP" | value_of match)" 1
check_eq 'as do the others' "$(blkpattern -g 4 -n 63 scan "$MSWAP" | value_of match)" 63
check_settles 'the bad one is retired' slots_retired 1

# few_good MS: the table of a device with so many slots left that are bad but for the second, that takes so long to
# write to those in front of them, which another write has taken. The first slot of all is bad or not.
few_good() {
	local first=$((EDGE * 8)) from=$((free * 8)) bad=$(((free + 66 - left) * 8))

	echo "0 $first linear /dev/muster0 0"
	echo "$first 8 $first_slot"
	echo "$((first + 8)) $((from - first - 8)) linear /dev/muster0 $((first + 8))"
	echo "$from $((bad - from)) delay /dev/muster0 $from 0 /dev/muster0 $from $1"
	echo "$bad 8 error"
	echo "$((bad + 8)) 8 linear /dev/muster0 $((bad + 8))"
	echo "$((bad + 16)) $((left * 8 - 16)) error"
	echo "$((bad + left * 8)) $((sectors - bad - left * 8)) linear /dev/muster0 $((bad + left * 8))"
}

# two_are_written NAME RETIRED: a write of two pages comes to its end, after so many slots were retired.
two_are_written() {
	must wait_until 5 mswap_set reset 1
	must mswap_set backing_dev "$SLOW"
	check_eq "$1: the device is full but for two" \
		"$(blkpattern -g 5 -b 256 -n "$blocks" fill "$MSWAP" | value_of match)" "$blocks"
	must dm_make muster-slow "$(few_good $HELD)"
	errors=$(get write_errors)
	blkpattern -g 6 -b 66 -n $((66 - left)) fill "$MSWAP" >"$WORK/others" &
	must wait_until 10 being_written
	blkpattern -g 6 -f "$blocks" -b 2 -n 2 fill "$MSWAP" >"$WORK/last" &
	check "$1: a write of two pages fails" wait_until 10 a_write_failed
	sleep 1
	must dm_make muster-slow "$(few_good 0)"
	wait
	check_eq "$1: it is tried again until both are written" "$(value_of match <"$WORK/last")" 2
	check_eq "$1: and they read back" "$(blkpattern -g 6 -f "$blocks" -n 2 scan "$MSWAP" | value_of match)" 2
	check_eq "$1: as do the others" \
		"$(blkpattern -g 6 -n $((66 - left)) scan "$MSWAP" | value_of match)" $((66 - left))
	check_settles "$1: the bad ones are retired" slots_retired "$2"
	must dm_make muster-slow "0 $sectors linear /dev/muster0 0"
}

blocks=$((blocks - 2)) free=$((free - 2))
left=7 first_slot="linear /dev/muster0 $((EDGE * 8))"
two_are_written 'all tries but one' 6
# What the write under way gives up begins with a slot that takes none either, when its own slots may be asked no more.
left=5 first_slot=error
two_are_written 'a bad one of those given up' 5

finish
