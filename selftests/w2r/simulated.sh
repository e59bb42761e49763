#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The simulator counts what the module counts: a trace is replayed by both, with every policy and planner.
# timeout: 300
# kernels: all
# asked-for: 5.10 6.1 newest

. "$(dirname "$0")/lib.sh"

device_mib=256
cache_mib=8
trace=$(mktemp)
on_exit rm -f "$trace"

# field NAME: that column of the line which w2r-sim printed last, for the file in sysfs that counts the same.
declare -A columns=([read_blocks]=blocks [hits_weighing]=weighing [hits_waiting]=waiting [misses]=misses
	[prefetched]=prefetched [prefetch_used]=used [prefetch_wasted]=wasted [weighing_blocks]=held_wgh
	[waiting_blocks]=held_wtg [waiting_target]=target [origin_reads]=o_reads [origin_prefetches]=o_prefs)

simulate() {
	w2r-sim -f csv -S "$1" -s "${cache_mib}M" "$trace" | awk '
		NR == 1 { split($0, names) }
		NR == 2 { for (i in names) print names[i] "=" $i }'
}

# same SCHEME OPTION VALUE...: the module with these options, and the planner that $later names, if any, written to its
# file, counts as the simulator does.
later=
same() {
	local scheme=$1 simulated file sim real differ=''
	shift

	simulated=$(simulate "$scheme")
	w2r_make muster /dev/muster0 "$cache_mib" readahead on "$@"
	[[ -z $later ]] || must w2r_set planner "$later"
	must blkreplay "$DEV" <"$trace" >/dev/null
	for file in "${!columns[@]}"; do
		sim=$(sed -n "s/^${columns[$file]}=//p" <<<"$simulated")
		real=$(w2r_get "$file")
		[[ $sim == "$real" ]] || differ+="$file: simulated $sim, counted $real; "
	done
	check_eq "$scheme${later:+, by its file}" "$differ" ''
	must dmsetup remove --retry muster
}

plan 11

must null_make muster0 "$device_mib"
# A scheduler has a worker send what it gets, on 5.10, so that a prefetch may still be on its way to the next read.
must put none "$(disk_folder /dev/muster0)/queue/scheduler"
# As large as the device, which ends the planners' view; so long that a full cache changes what auto chooses.
w2r-sim --print -n 12000 synth:mixed | awk -F, -v end=$((device_mib << 20)) '
	NR == 1 || $3 + $4 <= end
	END { print "99.0,R," end - 4096 ",4096" }' >"$trace"
check_that 'the trace has something to read' "$(wc -l <"$trace") > 2000"
same sa-w2r policy lru planner obl lookahead 1
same lru-obl policy lru planner obl lookahead 1 rooms one
same default,policy=arc,rooms=one policy arc rooms one
same default,policy=lru,planner=stream policy lru planner stream
same default,policy=s3fifo,planner=pattern policy s3fifo planner pattern
same default,policy=arc,planner=region policy arc planner region
same default,policy=lru,planner=near policy lru planner near
same default
same default,block_kib=16,lookahead=200 block_kib 16 lookahead 200
later=stream
same default,policy=lru,planner=stream policy lru planner obl

finish
