#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What is read on demand has on the origin the priority of its reader; what is prefetched yields to all such reads, and
# is left until nobody else reads where the reader's own reads are.
# kernels: 6.12 newest
# timeout: 120

. "$(dirname "$0")/lib.sh"
# shellcheck source=../mswap/tracing.sh
. "$(dirname "$0")/../mswap/tracing.sh"

plan 11

# issued KIND CLASS,HINT,LEVEL: how many requests the origin got: of reads RS, of prefetches RA.
issued() {
	grep -c "block_rq_issue: $number $1 .* $2 \[" "$WORK/trace"
}

# traced COMMAND...
traced() {
	trace_block block_rq_issue "$@" && save_trace
}

# read_as CLASS LEVEL FIRST N
read_as() {
	ionice -c "$1" -n "$2" dd if="$DEV" of=/dev/null bs=4k skip="$3" count="$4" iflag=direct status=none
}

must null_make muster0 64
number=$(device_number /dev/muster0)
w2r_make muster /dev/muster0 16 readahead off planner obl lookahead 1
must traced read_as 1 3 0 16
check 'the kernel traces priorities' grep -q ioprio "$TRACING/events/block/block_rq_issue/format"
check_eq 'what is asked for at once' "$(issued RS rt,0,3)" 16
must traced read_as 2 1 100 16
check_eq 'or first among others' "$(issued RS be,0,1)" 16
must traced read_as 3 0 200 16
check_eq 'or when nobody else reads' "$(issued RS 'idle,0,.')" 16

# The first block, which nobody traces, brings the next one; from then on each that is read does.
must w2r_set readahead on
at=1000
for class in 1 2; do
	must touch_range "$DEV" $at 1
	must traced read_as $class 0 $((at + 1)) 32
	check_eq "class $class: what comes next is prefetched" "$(grep -c "block_rq_issue: $number " "$WORK/trace")" 32
	check_eq "class $class: behind all that is asked for" "$(issued RA be,0,7)" 32
	at=$((at + 1000))
done
must touch_range "$DEV" $at 1
must traced read_as 3 0 $((at + 1)) 32
check_eq 'idle: so are the prefetches' "$(issued RA 'idle,0,.')" 32

# A prefetch that begins where a read ends is one I/O with it only if both have one priority.
must traced read_as 1 3 8000 1
check_eq 'what lies right behind a read goes with it' "$(issued RA rt,0,3)" 1
check_eq 'every block is accounted for' "$(unaccounted)" 0

finish
