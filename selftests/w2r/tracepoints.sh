#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each tracepoint tells what happened, as often as the counters say it did.
# timeout: 180
# kernels: all
# asked-for: 5.10 6.1

. "$(dirname "$0")/lib.sh"
# shellcheck source=../mswap/tracing.sh
. "$(dirname "$0")/../mswap/tracing.sh"

plan 14

must null_make muster0 64
w2r_make muster /dev/muster0 8 readahead on planner obl policy lru lookahead 1
mounted "$TRACING" || must mount -t tracefs none "$TRACING"

check_eq 'the tracepoints' "$(find "$TRACING/events/w2r" -mindepth 1 -type d -printf '%f\n' | sort | xargs)" \
	'w2r_miss w2r_prefetch w2r_split w2r_toggle'
on_exit put 0 "$TRACING/events/w2r/enable"
trace_room 8192
# The order of events: the clocks of two CPUs may differ.
on_exit put local "$TRACING/trace_clock"
must put counter "$TRACING/trace_clock"
check 'they can be turned on' put 1 "$TRACING/events/w2r/enable"

first_target=$(w2r_get waiting_target)
must fio --name=random --filename="$DEV" --rw=randread --bs=4k --direct=1 --number_ios=3000 --output="$WORK/fio"
must touch_range "$DEV" 0 200
must w2r_set readahead off
must w2r_set readahead on
check 'no event was lost' save_trace

check_eq 'all name the device' "$(grep -c "dev=$(<"${FILES%/w2r}/dev" tr : ,) " "$WORK/trace")" \
	"$(wc -l <"$WORK/trace")"
check_that 'there are misses' "$(count_of w2r_miss) > 1000"
check_eq 'a miss for each read of the origin' "$(count_of w2r_miss)" "$(w2r_get origin_reads)"
check_eq 'with its blocks' "$(sum_of w2r_miss blocks)" "$(w2r_get misses)"
check_eq 'a prefetch for each' "$(count_of w2r_prefetch)" "$(w2r_get origin_prefetches)"
check_eq 'with its blocks' "$(sum_of w2r_prefetch blocks)" "$(w2r_get prefetched)"
check_that 'the split moved' "$(count_of w2r_split) > 0"
check_eq 'from where it was, step by step' \
	"$(echo "$first_target"; values_of w2r_split waiting_target | head -n -1)" "$(values_of w2r_split before)"
check_eq 'to where it is' "$(values_of w2r_split waiting_target | tail -n 1)" "$(w2r_get waiting_target)"
check_eq 'looking ahead went off and on' "$(values_of w2r_toggle on | xargs)" '0 1'

must put 0 "$TRACING/events/w2r/enable"
must put '' "$TRACING/trace"
must touch_range "$DEV" 8000 64
check_eq 'turned off they are silent' "$(grep -c w2r_ "$TRACING/trace")" 0

finish
