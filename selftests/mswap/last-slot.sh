#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A full device whose bad slots have used up the reserve but for one slot: a write that fails there once, and is tried
# again, has only that slot to go to.
# timeout: 300
# kernels: newest
# expect-dmesg: I/O error, dev muster
# expect-dmesg: write of .* of the backing device failed
# expect-dmesg: do not take writes and were retired

. "$(dirname "$0")/lib.sh"

plan 8

SLOT=8 # sectors
BAD=63 # slots: the least reserve there may be, but for one
BADBLOCKS=/sys/kernel/config/nullb/muster0/badblocks

fill() {
	blkpattern "$@" fill "$MSWAP"
}

scan() {
	blkpattern "$@" scan "$MSWAP"
}

all_bad_are_retired() {
	fill -g 1 >/dev/null && blkdiscard "$MSWAP" && (($(get_settled slots_retired) == BAD))
}

must null_make muster0 64
[[ -e ${BADBLOCKS}_once ]] || skip_all 'null_blk has no bad blocks that fail once'
must null_drop muster0
must null_make muster0 64 badblocks_once=1
sectors=$(blockdev --getsz /dev/muster0)
from=$(((EDGE + 1000) * SLOT))
end=$((from + BAD * SLOT))
must dm_make muster "0 $from linear /dev/muster0 0
$from $((end - from)) error
$end $((sectors - end)) linear /dev/muster0 $end"
mswap_add /dev/mapper/muster disksize=$((sectors * 512 - (EDGES + BAD + 1) * 4096))
blocks=$(($(get disksize) / 4096))

must wait_until 4 all_bad_are_retired
check_eq 'the device is filled' "$(fill -g 2 | value_of match)" "$blocks"
check_eq 'one slot is left' "$(($(get slots_reserved) - $(get_settled slots_retired)))" 1
errors=$(get write_errors)

# Each of them is good again once an I/O has failed there.
must put "+0-$((sectors - 1))" "$BADBLOCKS"
check_eq 'a write that fails once there goes well' "$(fill -g 3 -f 5000 -n 1 | value_of match)" 1
must put "-0-$((sectors - 1))" "$BADBLOCKS"
check_eq 'it did fail once' "$(get write_errors)" $((errors + 1))
check_eq 'what was written is right' "$(scan -g 3 -f 5000 -n 1 | value_of match)" 1
check_eq 'and so is all the rest' "$(scan -g 2 | value_of match)" $((blocks - 1))
check_settles 'no slot is lost' slots_used "$blocks"
check_eq 'and none is taken for bad' "$(get_settled slots_retired)" "$BAD"

finish
