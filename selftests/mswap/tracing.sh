# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the tests of tracepoints share: what was traced, told apart by event and field.

TRACING=/sys/kernel/tracing

# save_trace: ends tracing; false when lines were lost.
save_trace() {
	echo 0 >"$TRACING/tracing_on"
	grep -v '^#' "$TRACING/trace" >"$WORK/trace"
	grep -h 'overrun\|dropped' "$TRACING"/per_cpu/cpu*/stats | awk '{ lost += $NF } END { exit lost > 0 }'
}

# lasting_writes DEVICE COMMAND...: how many writes with FUA are sent to the device while the command runs. Leaves nothing
# in the trace.
lasting_writes() {
	local event=$TRACING/events/block/block_bio_queue/enable number

	number=$(tr : , <"/sys/block/$(basename "$(readlink -f "$1")")/dev")
	mountpoint -q "$TRACING" || mount -t tracefs none "$TRACING" || return
	put '' "$TRACING/trace" && put 1 "$TRACING/tracing_on" && put 1 "$event" || return
	"${@:2}" >&2
	put 0 "$event"
	grep -c "block_bio_queue: $number WF" "$TRACING/trace"
	put '' "$TRACING/trace"
}

# lines_of EVENT: what was traced of it.
lines_of() {
	grep -F " $1: " "$WORK/trace" || true
}

count_of() {
	lines_of "$1" | wc -l
}

# values_of EVENT FIELD
values_of() {
	lines_of "$1" | sed -n "s/.*[ ,]$2=\([0-9]*\).*/\1/p"
}

sum_of() {
	values_of "$@" | awk '{ sum += $1 } END { print sum + 0 }'
}
