#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each tracepoint tells what happened, as often as the counters say it did, in well-formed lines.
# timeout: 180
# kernels: all
# asked-for: 6.1
# expect-dmesg: write of .* of the backing device failed

. "$(dirname "$0")/lib.sh"
# shellcheck source=tracing.sh
. "$(dirname "$0")/tracing.sh"

plan 19

# well_formed EVENT FIELD...: there are lines, all with these fields in this order.
well_formed() {
	local event=$1 field pattern=''
	shift

	for field in "$@"; do
		pattern+=".*[ ,]$field=[^ ,]+"
	done
	(($(count_of "$event") > 0)) && ! lines_of "$event" | grep -vE "$pattern"
}

# larger_than N: how many page-ins are of more pages than that, those not counted that they pass over.
larger_than() {
	lines_of mswap_pagein | sed -n 's/.* pages=\([0-9]*\) wanted=\([0-9]*\) passed=\([0-9]*\).*/\1 \2 \3/p' |
		awk -v most="$1" '$1 - $3 > most && $1 - $3 > $2' | wc -l
}

must null_make muster0 64
sectors=$(blockdev --getsz /dev/muster0)
must dm_make muster "0 $sectors linear /dev/muster0 0"
mswap_add /dev/mapper/muster
mounted "$TRACING" || must mount -t tracefs none "$TRACING"

check_eq 'the tracepoints' "$(find "$TRACING/events/mswap" -mindepth 1 -type d -printf '%f\n' | sort | xargs)" \
	'mswap_pagein mswap_pageout mswap_slot_alloc mswap_write_error'
on_exit put 0 "$TRACING/events/mswap/enable"
trace_room 8192
check 'they can be turned on' put 1 "$TRACING/events/mswap/enable"

must blkpattern -b 16 fill "$MSWAP"
must blkpattern -b 1 -n 4096 scan "$MSWAP"
must dm_make muster "0 $sectors error"
must blkpattern -b 4 -n 16 -o 9 fill "$MSWAP"
check 'no event was lost' save_trace

check 'lines of pageout' well_formed mswap_pageout dev slot pages objects
check 'lines of pagein' well_formed mswap_pagein dev slot pages wanted passed
check 'lines of slot_alloc' well_formed mswap_slot_alloc dev want slot got
check 'lines of write_error' well_formed mswap_write_error dev slot pages error retry
check_eq 'all name the device' "$(grep -c 'dev=mswap0' "$WORK/trace")" "$(wc -l <"$WORK/trace")"
check_eq 'a pageout for each device write' "$(count_of mswap_pageout)" "$(get dev_writes)"
check_eq 'with its pages' "$(sum_of mswap_pageout pages)" "$(get dev_pages_written)"
check_eq 'a pagein for each device read' "$(count_of mswap_pagein)" "$(get dev_reads)"
check_eq 'with its pages' "$(sum_of mswap_pagein pages)" "$(get dev_pages_read)"
check_eq 'wanted and prefetched' "$(sum_of mswap_pagein wanted)" \
	$(($(get dev_pages_read) - $(get dev_pages_passed) - $(get prefetched)))
check_that 'slots were taken for all pages' "$(sum_of mswap_slot_alloc got) >= $(get pages_out)"
check_eq 'a write_error for each' "$(count_of mswap_write_error)" "$(get write_errors)"

# Runs of six blocks each, of which the last one is wanted: what lies behind it is of another run.
must dm_make muster "0 $sectors linear /dev/muster0 0"
must blkdiscard "$MSWAP"
must mswap_set readahead_pages 8
for ((run = 0; run < 3000; run += 100)); do
	must blkpattern -f $run -n 6 -b 6 fill "$MSWAP"
done
must put '' "$TRACING/trace"
for ((run = 0; run < 3000; run += 100)); do
	must blkpattern -f $((run + 5)) -n 1 scan "$MSWAP"
done
check 'no event of these was lost' save_trace
check_that 'windows are read' "$(values_of mswap_pagein pages | sort -n | tail -n 1) > 6"
check_eq 'none is larger than readahead_pages' "$(larger_than 8)" 0

must put 0 "$TRACING/events/mswap/enable"
must put '' "$TRACING/trace"
must blkpattern -n 64 scan "$MSWAP"
check_eq 'turned off they are silent' "$(grep -c mswap_ "$TRACING/trace")" 0

finish
