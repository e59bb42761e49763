#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cgroup whose limit of I/O on the device below keeps its reads waiting has most frames of the waiting room meanwhile, but
# not all of any shard, nor the credit of others: they are read ahead of as far as without it.
# kernels: all
# asked-for: 6.1
# timeout: 300

. "$(dirname "$0")/lib.sh"
# shellcheck source=cgroups.sh
. "$(dirname "$0")/cgroups.sh"

plan 6

MIB=48

is_stuck() {
	local before

	before=$(get dev_reads)
	sleep 2
	(($(get dev_reads) > reads + 16 && $(get dev_reads) <= before + 1))
}

must null_make muster0 256
mswap_add /dev/muster0
must swap_start "$MSWAP"
max_start '+memory +io'
must put 8M "$CGROUP/poor/memory.high"
must put 8M "$CGROUP/rich/memory.high"

rich_reads check_program 'a program alone' pagestride -c 1 -k 0 -s $MIB
check_that 'is read ahead of' "$each >= 16"
alone=$each

(in_group poor pagestride -c 1 -k 0 -s $MIB --willneed $((MIB * 256)) --until-term -r 1) >"$WORK/out" 2>&1 &
poor=$!
must wait_until 60 grep -q 'phase=read' "$WORK/out"
reads=$(get dev_reads)
must put "$number rbps=65536" "$CGROUP/poor/io.max"
check 'what one asks for who may read little waits' wait_until 60 is_stuck

rich_reads check_program 'the other one meanwhile' pagestride -c 1 -k 0 -s $MIB
check_that 'is read ahead of as well' "4 * $each >= 3 * $alone"

must put "$number rbps=max" "$CGROUP/poor/io.max"
must kill -TERM "$poor"
wait "$poor"
check_eq 'all pages were right' $? 0

finish
