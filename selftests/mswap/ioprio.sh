#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# I/O has on the device below the priority that it had on mswap.
# kernels: 6.12 newest
# timeout: 120

. "$(dirname "$0")/lib.sh"
# shellcheck source=tracing.sh
. "$(dirname "$0")/tracing.sh"

plan 10

# issued CLASS: how many requests of it the device below got.
issued() {
	grep -c "block_rq_issue: $number .* $1," "$WORK/trace"
}

# traced COMMAND...
traced() {
	trace_block block_rq_issue "$@" && save_trace
}

must null_make muster0 64
number=$(device_number /dev/muster0)
mswap_add /dev/muster0 readahead=off
must traced ionice -c 1 dd if=/dev/zero of="$MSWAP" bs=4k count=16 oflag=direct status=none
check 'the kernel traces priorities' grep -q ioprio "$TRACING/events/block/block_rq_issue/format"
check_eq 'writes' "$(issued rt)" 16
must traced ionice -c 3 dd if="$MSWAP" of=/dev/null bs=4k count=16 iflag=direct status=none
check_eq 'reads' "$(issued idle)" 16
must traced dd if="$MSWAP" of=/dev/null bs=4k count=16 iflag=direct status=none
check_eq 'none but what was asked for' "$(issued be)" 16

# Slots far from each other, written one after the other: neighbours on the device, and strangers.
scattered_writes() {
	local at

	for at in {1..16}; do
		dd if=/dev/zero of="$MSWAP" bs=4k count=1 seek=$((at * 100)) oflag=direct status=none || return
	done
}

must scattered_writes
must put auto "$SYS/readahead"
must traced ionice -c 3 dd if="$MSWAP" of=/dev/null bs=4k count=1 skip=100 iflag=direct status=none
check_that 'a read with pages of others' "$(get prefetched) > 0"
check_eq 'is not left until nobody else reads' "$(issued idle)" 0

# Windows of a steady reader's own pages, most of which are read before he asks.
must dd if=/dev/zero of="$MSWAP" bs=256k count=4 oflag=direct status=none
must put on "$SYS/readahead"
for class in rt:1 idle:3; do
	must traced ionice -c "${class#*:}" dd if="$MSWAP" of=/dev/null bs=4k count=256 iflag=direct status=none
	reads=$(grep -c "block_rq_issue: $number " "$WORK/trace")
	check_that "${class%:*}: windows" "0 < $reads && $reads < 32"
	check_eq "${class%:*}: those ahead as well" "$(issued "${class%:*}")" "$reads"
done

finish
