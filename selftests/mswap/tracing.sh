# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the tests of tracepoints share: what was traced, told apart by event and field.

TRACING=/sys/kernel/tracing

# trace_room KIB: each CPU's buffer holds so much, until the test ends.
trace_room() {
	local before

	mounted "$TRACING" || must mount -t tracefs none "$TRACING"
	before=$(<"$TRACING/buffer_size_kb")
	before=${before##*: } # "7 (expanded: 1408)": it is made that large when it is first used
	on_exit put "${before%)}" "$TRACING/buffer_size_kb"
	must put "$1" "$TRACING/buffer_size_kb"
}

# save_trace: keeps what was traced so far; false when lines were lost. Leaves tracing as it was: turned on, with nothing
# in the trace.
save_trace() {
	local lost

	echo 0 >"$TRACING/tracing_on"
	grep -v '^#' "$TRACING/trace" >"$WORK/trace"
	lost=$(grep -h 'overrun\|dropped' "$TRACING"/per_cpu/cpu*/stats | awk '{ lost += $NF } END { print lost + 0 }')
	: >"$TRACING/trace"
	echo 1 >"$TRACING/tracing_on"
	((lost == 0))
}

# device_number DEVICE: as tracepoints of the block layer print it.
device_number() {
	number_of "$1" | tr : ,
}

# trace_event SYSTEM/EVENT COMMAND...: leaves in the trace nothing but this event while the command runs.
trace_event() {
	local event=$TRACING/events/$1/enable

	mounted "$TRACING" || mount -t tracefs none "$TRACING" || return
	put '' "$TRACING/trace" && put 1 "$TRACING/tracing_on" && put 1 "$event" || return
	"${@:2}" >&2
	put 0 "$event"
}

# trace_block EVENT COMMAND...: the same for one of the block layer.
trace_block() {
	trace_event "block/$1" "${@:2}"
}

# lasting_writes DEVICE COMMAND...: how many writes with FUA are sent to the device while the command runs. Leaves nothing
# in the trace.
lasting_writes() {
	trace_block block_bio_queue "${@:2}" || return
	grep -c "block_bio_queue: $(device_number "$1") WF" "$TRACING/trace"
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
