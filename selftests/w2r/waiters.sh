#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Many readers that wait for the same blocks: whoever ends the I/O serves few of them and a worker the others, with the
# right data, also when the blocks are dropped before they come, or when the target is replaced meanwhile.
# short-form: yes
# timeout: 180
# kernels: all
# asked-for: 5.10 6.1
# races: 6.12

# Functions are called by name, by check and must.
# shellcheck disable=SC2317

. "$(dirname "$0")/lib.sh"
# shellcheck source=../mswap/tracing.sh
. "$(dirname "$0")/../mswap/tracing.sh"

plan 8

READERS=40
BLOCKS=16	# of each, all of them the same; device-mapper sends no more than 31 in one piece here

hold_reads() {
	must dm_make muster-o "0 $sectors delay /dev/muster0 0 $HELD"
}

# A delay that is taken away lets through what it holds.
let_go() {
	dm_make muster-o "0 $sectors linear /dev/muster0 0"
}

all_wait() {
	(($(w2r_get waited) == READERS - 1))
}

# readers_start FIRST: from that block on; the first of them has an I/O sent, which is held, the others wait for it.
readers_start() {
	local i

	must dmsetup message muster 0 clear_stats
	hold_reads
	readers=()
	for ((i = 0; i < READERS; i++)); do
		blkpattern -f "$1" -n $BLOCKS -b $BLOCKS scan "$DEV" >"$WORK/read.$i" &
		readers+=($!)
	done
	must wait_until 30 all_wait
}

readers_end() {
	must let_go
	wait "${readers[@]}"
}

# check_readers NAME: one result: all of them have read the right data.
check_readers() {
	check_eq "$1" "$(cat "$WORK"/read.* | grep -c "match=$BLOCKS ")" $READERS
}

# Does device-mapper wait for what is under way before it takes another table?
table_waits() {
	grep -q dm_wait_for "/proc/$(pgrep -x dmsetup)/stack"
}

# How many of the reads that were traced a worker ended which belongs to no CPU.
ended_by_worker() {
	grep -c "kworker/[uR].* block_bio_complete: $(device_number "${FILES%/w2r}") R" "$TRACING/trace"
}

must modprobe dm-delay
must null_make muster0 32
must blkpattern fill /dev/muster0
sectors=$(sectors_of /dev/muster0)
must let_go
w2r_make muster /dev/mapper/muster-o 16 readahead off
on_exit let_go

readers_start 0
on_exit put '' "$TRACING/trace"
trace_block block_bio_complete readers_end
check_readers 'all readers get what is there'
check_eq 'by one I/O' "$(w2r_get origin_reads)" 1
check_that 'a worker served most of them' "$(ended_by_worker) > $READERS / 2"

readers_start 1000
must dmsetup message muster 0 "invalidate $((1000 * 8))-$(((1000 + BLOCKS) * 8 - 1))"
readers_end
check_readers 'when the blocks are dropped before they come, too'
check_eq 'of which nothing is cached' "$(w2r_get weighing_blocks)" $BLOCKS

readers_start 2000
dm_make muster "$(table_of /dev/mapper/muster-o 8 readahead off)" &
loader=$!
must wait_until 30 table_waits
readers_end
check_readers 'when the target is replaced, too'
wait "$loader"
check_eq 'which works' $? 0
w2r_use muster
must touch_range "$DEV" 0 $BLOCKS
check_eq 'every block is accounted for' "$(unaccounted)" 0

finish
