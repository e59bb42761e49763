#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Reading ahead, by word and by measurement: off on a ramdisk and where it is wasted, on where it is used;
# and the page cache's read-ahead on our disk is given back.
# timeout: 300
# kernels: all
# asked-for: 5.10 6.1 newest

# Functions are called by name, by check and must.
# shellcheck disable=SC2317

. "$(dirname "$0")/lib.sh"

plan 34

ra() {
	cat "${FILES%/w2r}/queue/read_ahead_kb"
}

six_misses() {
	(($(w2r_get misses) == 6))
}

# A number of reads, not of seconds, in which a slow machine does few.
scattered() {
	fio --name=r --filename="$DEV" --direct=1 --rw=randread --bs=4k --number_ios=1500 --minimal
}

# Fates are weighed once a second, if there are sixteen: what was used before counts half each time, and is worth hundreds
# of times what is wasted here. So it takes some eight seconds, in which a fast machine reads more than a slow one.
wasted_till_off() {
	for _ in {1..16}; do
		touch_range "$DEV" $((RANDOM % 16000)) 1 || return
	done
	(($(w2r_get lookahead_active) == 0))
}

is_going() {
	! dmsetup info muster
}

must null_make muster0 256 irqmode=2 completion_nsec=1000000
must modprobe brd rd_nr=1 rd_size=65536

w2r_make muster /dev/muster0 16
plain=$(ra)
check_that 'the disk reads ahead by itself' "$plain > 0"
check_eq 'auto begins with reading ahead' "$(w2r_get lookahead_active)" 1
check 'off' w2r_set readahead off
check_eq 'no lookahead' "$(w2r_get lookahead_active)" 0
check_eq 'no read-ahead of the page cache' "$(ra)" 0
must touch_range "$DEV" 0 200
check_eq 'nothing is prefetched' "$(w2r_get prefetched)" 0
check 'on' w2r_set readahead on
check_eq 'what was changed is given back' "$(ra) $(w2r_get lookahead_active)" "$plain 1"
must w2r_set readahead off
must w2r_set readahead off
must w2r_set readahead on
check_eq 'also when it was switched off twice' "$(ra)" "$plain"
echo 0 >"${FILES%/w2r}/queue/read_ahead_kb"
sleep 2.5
check_eq 'that there is none stays as long as it is on' "$(ra)" 0
echo "$plain" >"${FILES%/w2r}/queue/read_ahead_kb"
must w2r_set readahead off
echo 64 >"${FILES%/w2r}/queue/read_ahead_kb"
must w2r_set readahead on
check_eq 'unless somebody changed it since' "$(ra)" 64
must w2r_set readahead off
echo 32 >"${FILES%/w2r}/queue/read_ahead_kb"
sleep 2.5
check_eq 'what somebody sets while it is off stays' "$(ra)" 32
check 'off, though it is off' w2r_set readahead off
check_eq 'is taken at its word' "$(ra)" 0
must w2r_set readahead on
check_eq 'and gives back what was there last' "$(ra)" 32
echo 0 >"${FILES%/w2r}/queue/read_ahead_kb"
must w2r_set readahead off
echo 32 >"${FILES%/w2r}/queue/read_ahead_kb"
sleep 2.5
check_eq 'so does what somebody sets where there was none' "$(ra)" 32
must w2r_set readahead on
echo 64 >"${FILES%/w2r}/queue/read_ahead_kb"
must w2r_set readahead off
check_eq 'off once more' "$(ra)" 0
must dmsetup suspend muster
check_eq 'given back when suspended' "$(ra)" 64
must dmsetup resume muster
check_eq 'and taken again' "$(ra)" 0
must dmsetup remove --retry muster

w2r_make muster /dev/ram0 16
check_eq 'auto on a ramdisk: off' "$(w2r_get lookahead_active) $(ra)" '0 0'
must dmsetup remove --retry muster

# Six readers far apart, for each of whom 31 blocks more are to be fetched; to fetch them takes long.
must modprobe dm-delay
must dm_make muster-late "0 $(sectors_of /dev/muster0) delay /dev/muster0 0 $HELD"
w2r_make muster /dev/mapper/muster-late 1 readahead on planner near
room=$(w2r_get waiting_target)
readers=()
for at in 0 5000 10000 20000 30000 40000; do
	touch_range "$DEV" "$at" 1 &
	readers+=($!)
done
must wait_until 30 six_misses
check_that 'blocks are fetched ahead' "$(w2r_get prefetched) > 31"
check_le 'not many more than the waiting room is to hold' "$(w2r_get prefetched)" $((room * 5 / 4))
# A delay that is taken away lets through what it holds.
must dm_make muster-late "0 $(sectors_of /dev/muster0) linear /dev/muster0 0"
wait "${readers[@]}"
must dmsetup remove --retry muster

# The reader has what he asked for; what is fetched behind it takes long.
must dm_make muster-late "0 128 linear /dev/muster0 0
128 4096 delay /dev/muster0 128 $HELD"
w2r_make muster /dev/mapper/muster-late 1 readahead on planner near
must touch_range "$DEV" 0 1
check_that 'a block is on its way that nobody has asked for' "$(late_below reads muster-late) > 0"
dmsetup remove --retry muster &
remover=$!
must wait_until 30 is_going
sleep 1
check 'the target does not go before it has come' test -d "${FILES%/w2r}"
must dm_make muster-late "0 4224 linear /dev/muster0 0"
wait "$remover"
check_eq 'but then' "$? $(late_below reads muster-late)" '0 0'

# So slow that it stays so beside the time for which the host may not run who looks ahead.
must null_make muster1 64 irqmode=2 completion_nsec=20000000
w2r_make muster /dev/muster1 1 planner obl
must touch_range "$DEV" 0 150
sleep 2.5
check_eq 'auto on a slow device, sequential: on' "$(w2r_get lookahead_active)" 1
check_that 'latency is measured' "$(w2r_get latency_ns) > 18000000"
check_that 'and what a prefetch costs' "$(w2r_get prefetch_cost_ns) > 0 && $(w2r_get prefetch_cost_ns) < 18000000"
# It begins on: that it was asked about shows when it goes off.
check 'there, too, scattered reads turn it off' wait_until 10 wasted_till_off
must dmsetup remove --retry muster
w2r_make muster /dev/muster0 8 planner obl readahead on
must w2r_set lookahead 1
must scattered
waste=$(w2r_get prefetch_wasted)
check_that 'scattered reads waste what is prefetched block by block' "$waste > 100"
w2r_make muster /dev/muster0 16
must scattered
diag "prefetched $(w2r_get prefetched) of $(w2r_get read_blocks), latency $(w2r_get latency_ns) ns"
check_that 'the default prefetches hardly anything then' "$(w2r_get prefetched) * 50 < $(w2r_get read_blocks)"
must dmsetup message muster 0 clear_stats
must touch_range "$DEV" 20000 6000
check_that 'and most of a sequence' "$(w2r_get hits_waiting) > 5000"
check_that 'among those that act: stream' "$(w2r_get planner_active | grep -cw stream)"
check_eq 'every block is accounted for' "$(unaccounted)" 0

finish
