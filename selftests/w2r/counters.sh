#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Counters add up: where blocks came from, what became of prefetches, what reached the origin; and the
# messages that change them.
# timeout: 180
# kernels: all
# asked-for: 5.10 6.1 newest

. "$(dirname "$0")/lib.sh"

plan 35

# What was prefetched and is neither used nor wasted nor waiting: 0.
prefetches_lost() {
	echo $(($(w2r_get prefetched) - $(w2r_get prefetch_used) - $(w2r_get prefetch_wasted) - \
		$(w2r_get waiting_blocks)))
}

# A prefetch that the block layer merged with the read before it was one, too.
reads_of_origin() {
	echo $(($(stat_of /dev/muster0 1) + $(stat_of /dev/muster0 2)))
}

# The values of the status line, as the files have them.
values_of_files() {
	local file

	for file in weighing_blocks waiting_blocks waiting_target capacity_blocks read_blocks hits_weighing hits_waiting misses \
		bypassed written_blocks prefetched prefetch_used prefetch_wasted lookups lookups_found searches \
		lookahead_active planner_active; do
		w2r_get $file
	done | paste -sd ' '
}

# Those of the line itself, of which every other word is a name.
values_of_status() {
	dmsetup status "$1" | awk '{
		for (i = 5; i <= NF; i += 2)
			printf "%s%s", $(i - 1) == "lookahead" ? $i == "on" : $i, i < NF ? " " : "\n"
	}'
}

forget_every_ninth() {
	local block

	for ((block = 0; block < 9 * 113; block += 9)); do
		dmsetup message muster 0 invalidate $((block * 128))-$((block * 128)) || return
	done
}

must null_make muster0 64
w2r_make muster /dev/muster0 8 readahead on planner obl policy lru
before=$(reads_of_origin)
must touch_range "$DEV" 0 1000
check_eq 'blocks read' "$(w2r_get read_blocks)" 1000
check_that 'the paper pair: one miss or two, all others prefetched' "$(w2r_get misses) <= 2"
check_eq 'every block is accounted for' "$(unaccounted)" 0
check_eq 'no prefetch is lost' "$(prefetches_lost)" 0
check_eq 'all that was used came from the waiting room' "$(w2r_get hits_waiting)" "$(w2r_get prefetch_used)"
check_that 'the origin saw as many reads as were counted' \
	"$(reads_of_origin) - $before == $(w2r_get origin_reads) + $(w2r_get origin_prefetches)"
must touch_range "$DEV" 0 1000
check_eq 'a second time all are hits' "$(w2r_get hits_weighing)" 1000
check_that 'a search or so a lookup' "$(w2r_get searches) < 2 * $(w2r_get lookups_found)"
check_eq 'the status line says the same' "$(values_of_status muster)" "$(values_of_files)"

check 'message clear_stats' dmsetup message muster 0 clear_stats
check_eq 'counters are 0' "$(w2r_get read_blocks) $(w2r_get prefetched) $(w2r_get lookups)" '0 0 0'
check_that 'the rooms are not emptied' "$(w2r_get weighing_blocks) >= 1000"
must touch_range "$DEV" 100 10
check_eq 'what was cached still is' "$(w2r_get hits_weighing)" 10

check 'message invalidate' dmsetup message muster 0 invalidate 800-879
must touch_range "$DEV" 100 10
check_eq 'those ten blocks are gone' "$(w2r_get hits_weighing) $(w2r_get read_blocks)" '10 20'
must touch_range "$DEV" 110 10
check_eq 'those behind are not' "$(w2r_get hits_weighing)" 20
must touch_range "$DEV" 100 10
must dmsetup message muster 0 invalidate 807-872
hits=$(w2r_get hits_weighing)
must touch_range "$DEV" 100 10
check_eq 'a block is gone of which one sector is named' "$(w2r_get hits_weighing)" "$hits"
held=$(($(w2r_get weighing_blocks) + $(w2r_get waiting_blocks)))
check_that 'there is much to forget' "$held >= 1000"
check 'message invalidate of everything' dmsetup message muster 0 invalidate 0-131071
check_eq 'nothing is held' "$(w2r_get weighing_blocks) $(w2r_get waiting_blocks)" '0 0'
check_that 'of what was prefetched some was used, some dropped' \
	"$(w2r_get prefetch_used) > 0 && $(w2r_get prefetch_wasted) > 0"
must dmsetup message muster 0 clear_stats
check_eq 'that and what was looked up begin anew, too' \
	"$(w2r_get prefetch_used) $(w2r_get prefetch_wasted) $(w2r_get lookups_found) $(w2r_get searches)" '0 0 0 0'

must dd if=/dev/urandom of="$DEV" bs=1M count=4 oflag=direct status=none
check_that 'writes are counted' "$(w2r_get written_blocks) == 1024"
must touch_range "$DEV" 0 1024
must dd if=/dev/urandom of="$DEV" bs=1M count=4 oflag=direct status=none
must dmsetup message muster 0 clear_stats
check_eq 'what is written over what is cached' "$(sum_range "$DEV" 0 1024)" "$(sum_range /dev/muster0 0 1024)"
check_eq 'is cached' "$(w2r_get hits_weighing)" 1024
must w2r_set planner stream
lost=$(prefetches_lost) # clearing may have come between a prefetch and its use
must touch_range "$DEV" 16000 384
check_eq 'at the end of the device no prefetch goes on' "$(prefetches_lost) $(unaccounted)" "$lost 0"

must dmsetup remove --retry muster
sectors=$(($(sectors_of /dev/muster0) - 8))
must dm_make muster-cut "0 $sectors linear /dev/muster0 0"
w2r_make muster /dev/mapper/muster-cut 8 block_kib 64
last=$((sectors / 8 - 15))
check_eq 'the end of a device that cuts a block off is read' "$(sum_range "$DEV" "$last" 15)" \
	"$(sum_range /dev/muster0 "$last" 15)"
check_eq 'past the cache' "$(w2r_get bypassed) $(w2r_get weighing_blocks)" '15 0'
must touch_range "$DEV" $((last - 16)) 1
target=$(w2r_get waiting_target)
must touch_range "$DEV" "$last" 15
check_eq 'what can never be there says nothing of the split' "$(w2r_get waiting_target)" "$target"

w2r_make muster /dev/muster0 96 block_kib 64 readahead off planner stream
must dd if="$DEV" of=/dev/null bs=1M iflag=direct status=none
must fio --name=every --filename="$DEV" --direct=1 --rw=write:572k --bs=4k --size=64M --number_ios=113 --minimal \
	--output="$WORK/fio"
check_eq 'a block that is written in part stays' "$(w2r_get weighing_blocks)" 1024
check_eq 'and has what was written' "$(sum_range "$DEV" 0 16384)" "$(sum_range /dev/muster0 0 16384)"
# Blocks of 64 KiB are too much to read past.
must forget_every_ninth
check_eq 'every ninth block is dropped' "$(w2r_get weighing_blocks)" $((1024 - 113))
must dmsetup message muster 0 clear_stats
must w2r_set readahead on
before=$(stat_of /dev/muster0 3)
must dd if="$DEV" of=/dev/null bs=64k iflag=direct status=none
check_eq 'only what is wanted is read' $(($(stat_of /dev/muster0 3) - before)) \
	$((($(w2r_get misses) + $(w2r_get prefetched)) * 128))

# More blocks, and more entries, than are dropped without a break.
w2r_make muster /dev/muster0 64 readahead off
must dd if="$DEV" of=/dev/null bs=1M iflag=direct status=none
must dmsetup message muster 0 invalidate 8000-19999
must dmsetup message muster 0 clear_stats
must touch_range "$DEV" 0 4096
check_eq 'of many blocks those named are gone' "$(w2r_get misses) $(w2r_get hits_weighing)" '1500 2596'
must dmsetup message muster 0 invalidate 0-131071
check_eq 'all are when all are' "$(w2r_get weighing_blocks)" 0

finish
