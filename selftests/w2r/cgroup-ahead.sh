#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cgroup whose limit of I/O on the device below keeps its reads waiting, and what is prefetched for them, has most of what
# may be prefetched at a time, but not all: others are prefetched for as without it.
# kernels: all
# asked-for: 6.1
# timeout: 180

. "$(dirname "$0")/lib.sh"
# shellcheck source=../mswap/cgroups.sh
. "$(dirname "$0")/../mswap/cgroups.sh"

plan 6

STREAMS=24
STREAM_MIB=16

# prefetched BLOCKS: so many more than before the streams began.
prefetched() {
	(($(w2r_get prefetched) >= before + $1))
}

is_stuck() {
	local was

	was=$(w2r_get prefetched)
	sleep 1
	(($(w2r_get prefetched) <= was + 64))
}

must null_make muster0 1024
w2r_make muster /dev/muster0 64 readahead on
max_start +io

rich_reads check 'a program alone' dd if="$DEV" of=/dev/null bs=16k count=2048 iflag=direct status=none
check_that 'is prefetched for' "$each >= 16"
alone=$each

before=$(w2r_get prefetched)
in_group poor fio --name=streams --filename="$DEV" --rw=read --bs=16k --direct=1 --thread --numjobs=$STREAMS \
	--offset=256m --offset_increment=${STREAM_MIB}m --size=${STREAM_MIB}m --output="$WORK/fio" &
poor=$!
must wait_until 60 prefetched 4096
must put "$number rbps=65536" "$CGROUP/poor/io.max"
check 'what is prefetched for one who may read little waits' wait_until 60 is_stuck

rich_reads check 'the other one meanwhile' dd if="$DEV" of=/dev/null bs=16k skip=4096 count=2048 iflag=direct \
	status=none
check_that 'is prefetched for as well' "4 * $each >= 3 * $alone"

must put "$number rbps=max" "$CGROUP/poor/io.max"
wait "$poor"
check_eq 'who had to wait has read all' $? 0

finish
