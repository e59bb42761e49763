#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Free slots are scattered all over a device with a slot tree for each CPU: one CPU that writes takes them from all
# trees alike, instead of using up its own, and goes on in one of them for long. Where its own is in shreds and another has
# long runs, it takes these, though they are fewer slots. A disk that rotates has one tree, so that its heads do not go to
# and fro where two CPUs write in turn.
# timeout: 300
# kernels: all
# asked-for: 5.10 6.1 newest

. "$(dirname "$0")/lib.sh"
# shellcheck source=tracing.sh
. "$(dirname "$0")/tracing.sh"

plan 11

WRITTEN=2048 # blocks: of those free a quarter
IN_FIRST=19000 # blocks that the first tree of two holds, all but some
RUNS=60

fill() {
	must taskset -c 0 blkpattern "$@" fill "$MSWAP"
}

# The tree, of two, that each run was taken from, one after the other.
trees() {
	values_of mswap_slot_alloc slot | awk -v half=$((slots / 2)) '{ print($1 < half ? "first" : "second") }'
}

(($(nproc) == 2)) || skip_all 'the trees are two where the CPUs are'
must null_make muster0 160
mswap_add /dev/muster0
slots=$((160 * 256 - EDGES))
blocks=$(($(get disksize) / 4096))
fifth=$((blocks / 5))

# Neighbours lie apart, so what the first fifth gives up is scattered.
fill -b 1 -R -g 1
must blkdiscard -l $((fifth * 4096)) "$MSWAP"
check_eq 'a fifth is free' "$(get_settled slots_used)" $((blocks - fifth))

# First the reserve, which is in one piece.
fill -b 64 -g 2 -f "$WRITTEN" -n $((slots - blocks))
on_exit put 0 "$TRACING/events/mswap/enable"
must trace_event mswap/mswap_slot_alloc fill -b 64 -g 2 -n "$WRITTEN"
check 'no event was lost' save_trace

first=$(trees | grep -c first)
second=$(trees | grep -c second)
changes=$(trees | uniq | wc -l)
diag "$first runs of the first tree, $second of the second, in turns of $changes"
check_that 'both trees give' "4 * $first > $first + $second && 4 * $second > $first + $second"
check_that 'each many runs in a row' "10 * $changes < $first + $second"
check_eq 'all blocks are right' "$(blkpattern -b 16 -g 2 -n "$WRITTEN" scan "$MSWAP" | value_of match)" "$WRITTEN"

# The first tree is full of blocks in random order, the second of blocks in order.
tenth=$((blocks / 10))
must wait_until 5 mswap_set reset 1
must mswap_set backing_dev /dev/muster0
fill -b 1 -R -g 1 -n "$IN_FIRST"
must taskset -c 1 blkpattern -b 64 -g 1 -f "$IN_FIRST" -n $((blocks - IN_FIRST)) fill "$MSWAP"
must blkdiscard -l $((tenth * 4096)) "$MSWAP"
for ((i = 0; i < RUNS; i++)); do
	must blkdiscard -o $(((IN_FIRST + 128 * i) * 4096)) -l $((48 * 4096)) "$MSWAP"
done
check_eq 'single slots of the first are free, and runs of 48 of the second' "$(get_settled slots_used)" \
	$((blocks - tenth - 48 * RUNS))
fill -b 64 -g 2 -f "$WRITTEN" -n $((slots - blocks))
writes=$(get dev_writes)
fill -b 64 -g 2 -n 1024
writes=$(($(get dev_writes) - writes))
diag "1024 blocks in $writes writes"
check_that 'who writes takes the runs' "$writes <= 1024 / 16"
check_eq 'all blocks are right' "$(blkpattern -b 16 -g 2 -n 1024 scan "$MSWAP" | value_of match)" 1024

# Two CPUs in turn, 64 blocks each.
write_in_turns() {
	for ((i = 0; i < 8; i++)); do
		must taskset -c $((i % 2)) blkpattern -b 64 -g 1 -f $((64 * i)) -n 64 fill "$MSWAP"
	done
}

# Runs that do not begin where the one before ended.
jumps() {
	paste <(values_of mswap_slot_alloc slot) <(values_of mswap_slot_alloc got) |
		awk 'NR > 1 && $1 != behind { n++ } { behind = $1 + $2 } END { print n + 0 }'
}

for rotates in 0 1; do
	must wait_until 5 mswap_set reset 1
	must null_rotates muster0 $rotates
	must mswap_set backing_dev /dev/muster0
	must trace_event mswap/mswap_slot_alloc write_in_turns
	must save_trace
	if ((rotates)); then
		check_eq 'on a disk that rotates both write to one place' "$(jumps)" 0
	else
		# A worker, on any CPU, may write for them.
		check_that 'on another each writes to a tree of its own' "$(jumps) >= 3"
	fi
done
check_eq 'all blocks are right' "$(blkpattern -b 16 -g 1 -n 512 scan "$MSWAP" | value_of match)" 512

finish
