#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A backing device that fails writes: in a bad region pages go elsewhere and the region is retired; when all
# of it fails the writer gets EIO and what is stored stays; when it works again so does mswap.
# timeout: 300
# kernels: all
# expect-dmesg: (read|write) of .* of the backing device failed
# expect-dmesg: reads no longer pass over slots
# expect-dmesg: do not take writes and were retired
# expect-dmesg: no physical slot is left

. "$(dirname "$0")/lib.sh"

plan 56

SLOT=8 # sectors
RESERVE=256 # slots, enough for the largest I/O

linear() {
	echo "$1 $2 linear /dev/muster0 $1"
}

# The table of a device of whose first $2 slots of mswap's each $1th is bad.
bad_every() {
	local at i bad=0

	for ((i = $1 - 1; i < $2; i += $1)); do
		at=$(((EDGE + i) * SLOT))
		linear "$bad" $((at - bad))
		echo "$at $SLOT error"
		bad=$((at + SLOT))
	done
	linear "$bad" $((sectors - bad))
}

# The table of a device with $2 bad slots from slot $1 of mswap's on.
bad_slots() {
	local from=$(((EDGE + $1) * SLOT)) n=$(($2 * SLOT))

	linear 0 "$from"
	echo "$from $n error"
	linear $((from + n)) $((sectors - from - n))
}

fill() {
	blkpattern "$@" fill "$MSWAP"
}

scan() {
	blkpattern "$@" scan "$MSWAP"
}

all_bad_are_retired() {
	fill -g 1 >/dev/null && blkdiscard "$MSWAP" && (($(get_settled slots_retired) == $1))
}

anew() {
	must wait_until 5 mswap_set reset 1
	must mswap_set disksize $size
	must mswap_set backing_dev /dev/mapper/muster
}

# is_late NAME N: a dm-delay holds back N writes or more.
is_late() {
	(($(late_below writes "$1") >= $2))
}

flush() {
	dd if=/dev/null of="$MSWAP" conv=fsync,notrunc status=none
}

must null_make muster0 29
sectors=$(sectors_of /dev/muster0)
size=$(((sectors / SLOT - EDGES - RESERVE) * 4096))
must dm_make muster "$(bad_slots 1000 24)"
mswap_add /dev/mapper/muster disksize=$size
blocks=$(($(get disksize) / 4096))

out=$(fill -g 1 -n 4096)
check_eq 'no write fails for a bad region' "$(value_of match <<<"$out")" 4096
check_that 'the device did fail some' "$(get write_errors) > 0"
check_that 'each was written once more' "$(get write_retries) > 0"
check_settles 'exactly the bad slots are retired' slots_retired 24
check_settles 'retired slots are not in use' slots_used 4096
check_eq 'every block is right' "$(scan -g 1 -n 4096 | value_of match)" 4096
errors=$(get write_errors)
for pass in 2 3 4; do
	check_eq "pass $pass" "$(fill -g "$pass" | value_of match)" "$blocks"
done
check_eq 'the bad region is never tried again' "$(get write_errors)" "$errors"
check_eq 'every block is right after three passes' "$(scan -g 4 | value_of match)" "$blocks"
check_eq 'still 24 retired' "$(get slots_retired)" 24

reads=$(get read_errors)
must dm_make muster "0 $sectors error"
out=$(fill -g 5 -n 256 -b 32)
check_eq 'every write to a dead device fails' "$(value_of errors <<<"$out")" 256
check_eq 'no slot is retired for that' "$(get_settled slots_retired)" 24
check_eq 'reads fail as well' "$(scan -g 4 -n 256 | value_of errors)" 256
check_that 'and are counted' "$(get read_errors) > $reads"
must dm_make muster "$(linear 0 "$sectors")"
out=$(scan -g 4)
check_eq 'when the device is back, all is as before the failed writes' "$(value_of match <<<"$out")" "$blocks"
check_eq 'and new writes go well' "$(fill -g 6 | value_of match)" "$blocks"
check_eq 'all are right' "$(scan -g 6 | value_of match)" "$blocks"
check_settles 'no slot was lost' slots_used "$blocks"

must modprobe dm-flakey
must dm_make muster "0 $sectors flakey /dev/muster0 0 1 1 1 error_writes"
check_program 'a device that comes and goes' blkcheck -E -s $((4 * ${MUSTER_SLOWER:-1})) -t 2 -r 2 -S 16 "$MSWAP"
must dm_make muster "$(linear 0 "$sectors")"
check_program 'and one that stays' blkcheck -s 2 -t 2 -r 2 -S 16 "$MSWAP"
must blkdiscard "$MSWAP"
check_settles 'no slot is lost by all this' slots_used 0
check_that 'few were retired' "$(get slots_retired) <= $(get slots_reserved)"

# Writes fail at a moment when the device is away. It is back before they are tried again, for the first one tried waits.
must modprobe dm-delay
must wait_until 5 mswap_set reset 1
away=$(((EDGE + 4 * 128) * SLOT))
must dm_make muster-away "0 $away error"
must dm_make muster-first "0 $away delay /dev/mapper/muster-away 0 0 /dev/mapper/muster-away 0 $HELD"
must dm_make muster-rest "0 $sectors delay /dev/muster0 0 0 /dev/muster0 0 $HELD"
must dm_make muster "0 $away linear /dev/mapper/muster-first 0
$away $((sectors - away)) linear /dev/mapper/muster-rest $away"
must mswap_set disksize $size
must mswap_set backing_dev /dev/mapper/muster
retries=$(get write_retries)
fillers=()
for i in 0 1 2 3; do
	fill -g 7 -b 128 -f $((128 * i)) -n 128 >"$WORK/filled$i" &
	fillers+=($!)
done
must wait_until 10 is_late muster-first 4
written=$(stat_of muster0 5)
must dm_make muster-first "$(linear 0 "$away")"
must wait_until 10 is_late muster-rest 1
must dm_make muster-rest "$(linear 0 "$sectors")"
wait "${fillers[@]}"
check_eq 'no write fails where the device was away for a moment' \
	"$(cat "$WORK"/filled? | grep -c 'match=128 ')" 4
retries=$(($(get write_retries) - retries)) written=$(($(stat_of muster0 5) - written))
check_that 'all are tried again' "$retries >= 4"
check_that 'and their slots looked at in few I/Os' "$written < 4 * 128 / 4"
diag "$retries writes that failed took $written"

check 'reset' wait_until 5 mswap_set reset 1
must dm_make muster "$(linear 0 "$sectors")"
for each in first rest away; do
	must dmsetup remove --retry muster-$each
done

# Full: no slot is free but the reserve's, one I/O takes them all, and each bad region leaves 24 less.
must mswap_set disksize $size
must mswap_set backing_dev /dev/mapper/muster
check_eq 'a new start' "$(fill -g 6 | value_of match)" "$blocks"
taken=0
for i in 1 2 3; do
	must dm_make muster "$(bad_slots $((1000 + 1000 * i)) 24)"
	taken=$((taken + $(fill -g $((6 + i)) -b 256 | value_of match)))
done
check_eq 'a full device that gets bad regions takes all writes' "$taken" $((3 * blocks))
check_eq 'all of them are right' "$(scan -g 9 | value_of match)" "$blocks"
check_settles 'exactly the bad slots are retired' slots_retired $((24 * 3))
must dm_make muster "0 $sectors error"
check_fails 'a full device that dies says EIO, not ENOSPC' 'Input/output error' \
	dd if=/dev/zero of="$MSWAP" bs=8M count=1 oflag=direct
must dm_make muster "$(linear 0 "$sectors")"
check_eq 'and keeps what it held' "$(scan -g 9 | value_of match)" "$blocks"

# A write that begins before a bad region.
for region in '24 8' '100 32'; do
	read -r bad pages <<<"$region"
	must dm_make muster "$(bad_slots 1003 "$bad")"
	anew
	check_eq "no write of $pages pages fails for $bad bad slots" "$(fill -g 1 -b "$pages" -n 2048 | value_of match)" 2048
	retired=$(get_settled slots_retired)
	check_that "of $bad no others are retired" "$retired > 0 && $retired <= $bad"
done

# No run of 16 slots is without a bad one.
must dm_make muster "$(bad_every 16 2048)"
anew
check_eq 'no write fails for bad slots here and there' "$(fill -g 1 -b 64 -n 1024 | value_of match)" 1024
check_eq 'pages are right' "$(scan -g 1 -n 1024 | value_of match)" 1024
check_settles 'no slot is lost' slots_used 1024
retired=$(get_settled slots_retired)
check_that 'none but bad ones are retired' "$retired > 0 && $retired <= 128"
diag "$(get write_errors) writes failed, $retired of 128 bad slots were retired"

must null_make muster1 29 cache_size=16 queue_mode=2
must dm_make muster-cache "0 $sectors linear /dev/muster1 0"
must wait_until 5 mswap_set reset 1
must mswap_set backing_dev /dev/mapper/muster-cache
check 'a device that can is flushed' flush
must dm_make muster-cache "0 $sectors flakey /dev/muster1 0 0 3600 1 error_writes"
check_fails 'when it cannot, who asked is told' 'Input/output error' flush

# More bad slots than the reserve has: 36 blocks are left without one.
must wait_until 5 mswap_set reset 1
must dm_make muster "$(bad_slots 1000 100)"
must mswap_set disksize $((sectors * 512 - (EDGES + 64) * 4096))
must mswap_set backing_dev /dev/mapper/muster
blocks=$(($(get disksize) / 4096))
check 'all bad slots are found' wait_until 4 all_bad_are_retired 100
check_eq 'a write for which there is no slot fails' "$(fill -g 10 -b 4 | value_of errors)" 36
check_that 'and is counted' "$(get nospace) > 0"
check_eq 'all others are right' "$(scan -g 10 | value_of match)" $((blocks - 36))

# What is retired is no room for a larger disksize.
must blkdiscard "$MSWAP"
check_settles 'all slots but these are free again' slots_used 0
size=$(get disksize)
refuse_logged 'as large a disksize as before is refused' 'No space left on device' "$SYS/disksize" "$size" \
	'mswap0: .*slots do not fit'
refuse_logged 'so is one less by all retired slots but one' 'No space left on device' "$SYS/disksize" \
	$((size - 99 * 4096)) 'mswap0: .*slots do not fit'
must wait_until 5 mswap_set disksize $((size - 100 * 4096))
check_eq 'one less by all of them is not' "$(get disksize)" $((size - 100 * 4096))
check_eq 'the device is filled to the last slot' "$(fill -g 11 | value_of match)" $((blocks - 100))
check_eq 'and all of it is right' "$(scan -g 11 | value_of match)" $((blocks - 100))

finish
