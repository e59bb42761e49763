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
must cgroup_make max
controller_on io
[[ -e $CGROUP/io.max ]] || skip_all 'the kernel has no io.max'
must put '+memory +io' "$CGROUP/cgroup.subtree_control"
on_exit put '-memory -io' "$CGROUP/cgroup.subtree_control"
for name in poor rich; do
	must mkdir "$CGROUP/$name"
	on_exit rmdir "$CGROUP/$name"
	must put 8M "$CGROUP/$name/memory.high"
done
on_exit cgroup_kill
number=$(number_of /dev/muster0)

# reads_ahead NAME: rich, whose reads alone count, swaps; how many pages a read brings is in $each.
reads_ahead() {
	local bytes reads

	bytes=$(io_of /dev/muster0 rbytes rich) reads=$(io_of /dev/muster0 rios rich)
	check_program "$1" in_group rich pagestride -c 1 -k 0 -s $MIB
	bytes=$(($(io_of /dev/muster0 rbytes rich) - bytes)) reads=$(($(io_of /dev/muster0 rios rich) - reads))
	each=$((bytes / 4096 / reads))
	diag "$each pages a read"
}

reads_ahead 'a program alone'
check_that 'is read ahead of' "$each >= 16"
alone=$each

(in_group poor pagestride -c 1 -k 0 -s $MIB --willneed $((MIB * 256)) --until-term -r 1) >"$WORK/out" 2>&1 &
poor=$!
must wait_until 60 grep -q 'phase=read' "$WORK/out"
reads=$(get dev_reads)
must put "$number rbps=65536" "$CGROUP/poor/io.max"
check 'what one asks for who may read little waits' wait_until 60 is_stuck

reads_ahead 'the other one meanwhile'
check_that 'is read ahead of as well' "4 * $each >= 3 * $alone"

must put "$number rbps=max" "$CGROUP/poor/io.max"
must kill -TERM "$poor"
wait "$poor"
check_eq 'all pages were right' $? 0

finish
