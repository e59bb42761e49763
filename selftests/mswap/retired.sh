#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Slots that took no write are asked again where no other slot is free: a part of the device that was away is used again
# once it is back. Places that are bad stay out of use, and are not asked at each write. What fails is written far from
# where it failed, and slots that take long to refuse are not all asked.
# timeout: 180
# kernels: all
# asked-for: 5.10 6.1 newest
# expect-dmesg: (read|write) of .* of the backing device failed
# expect-dmesg: reads no longer pass over slots
# expect-dmesg: do not take writes and were retired
# expect-dmesg: no physical slot is left
# expect-dmesg: error, dev (nullb[0-9]+|muster0), sector

. "$(dirname "$0")/lib.sh"

plan 20

SLOT=8 # sectors
RESERVE=64 # slots, the least there may be
BAD=100
EVERY=50

# refused_and_asked: a write is, and there were others to the device.
refused_and_asked() {
	(($(blkpattern -g 4 -n 1 fill "$MSWAP" | value_of errors) && $(stat_of /dev/muster0 5) > before))
}

must null_make muster0 64
sectors=$(sectors_of /dev/muster0)
half=$((sectors / 2))
whole="0 $sectors linear /dev/muster0 0"
must dm_make muster "$whole"
mswap_add /dev/mapper/muster disksize=$(((sectors / SLOT - EDGES - RESERVE) * 4096))
blocks=$(($(get disksize) / 4096))

must dm_make muster "0 $half error
$half $((sectors - half)) linear /dev/muster0 $half"
check_eq 'where a half is away the other one takes writes at once' \
	"$(blkpattern -b 64 -n 64 fill "$MSWAP" | value_of match)" 64
check_program 'a device of which a half is away' blkcheck -E -s $((3 * ${MUSTER_SLOWER:-1})) -t 2 -r 2 -S 44 "$MSWAP"
must blkdiscard "$MSWAP"
retired=$(get_settled slots_retired)
check_that 'many of its slots are retired' "$retired > 4 * $RESERVE"
written=$(blocks_taken 1)
check_that 'what is left takes writes' "$written >= 64"
# Of a write that fails for want of slots a part may be there.
check_that 'which are right' "$(blocks_match 1) >= $written"
check_that 'while it is away they stay so' "$(get slots_retired) >= $retired"

must dm_make muster "$whole"
# The device may have been asked for them just before, in vain: then not for 10 s.
check 'when it is back all of it takes writes again' wait_until 30 all_taken 2
check_that 'no more are retired than there are to spare' "$(get_settled slots_retired) <= $RESERVE"
check_settles 'and none is lost' slots_used "$blocks"
blocks_right 'all is right' "$blocks" -g 2
must blkdiscard "$MSWAP"
check 'its size can change' mswap_set disksize 16M
check 'reset' wait_until 5 mswap_set reset 1

# A refusal takes half a second.
must modprobe dm-delay
must dm_make muster-error "0 $half error"
must dm_make muster "0 $half delay /dev/mapper/muster-error 0 0 /dev/mapper/muster-error 0 500
$half $((sectors - half)) linear /dev/muster0 $half"
must mswap_set backing_dev /dev/mapper/muster
check_eq 'where refusals take long a write goes well' \
	"$(blkpattern -b 64 -n 64 fill "$MSWAP" | value_of match)" 64
check 'and not all slots of a run are asked for' wait_until 15 gives slots_retired 64
must wait_until 5 mswap_set reset 1
must dm_make muster "$whole"
must dmsetup remove --retry muster-error

for ((i = 1; i <= BAD; i++)); do
	must null_spoil muster0 $((EDGE + i * EVERY))
done
must mswap_set disksize $((blocks * 4096))
must mswap_set backing_dev /dev/mapper/muster
written=$(blocks_taken 3)
check_settles 'bad slots are retired' slots_retired $BAD
before=$(stat_of /dev/muster0 5)
check 'where no slot is free it is asked for them' wait_until 30 refused_and_asked
asked=$(($(stat_of /dev/muster0 5) - before))
diag "$(get nospace) times no slot was left; $asked writes to ask"
check_that 'for a few, and not each time' "$asked <= 2 * 8"
check_eq 'they stay retired' "$(get_settled slots_retired)" $BAD
check_that 'all is written that has a slot' "$written >= $blocks + $RESERVE - $BAD - 64"
check_that 'and stays right' "$(blocks_match 3) >= $written"

finish
