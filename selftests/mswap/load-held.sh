#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Sixty-four processes on two CPUs, swap of ten times the memory they are kept to, and full: every page is right,
# none of them stands still for 10 s, and none is killed for want of memory that would live on stock swap. First the
# same on stock swap, for that comparison. MUSTER_LOAD_SECONDS is how long each of the two goes on once swap is full;
# pauses are judged when that is a minute or more, since in a few seconds a busy host decides them: on the newest kernel
# stock swap has had one of 31 s. Then, too, there are as many as that; else a quarter of all.
# asked-for: newest
# timeout: 600
# races: 6.12
# expect-dmesg: invoked oom-killer

. "$(dirname "$0")/lib.sh"

seconds=${MUSTER_LOAD_SECONDS:-3}
judges_pauses=$((seconds >= 60))
PART=$((judges_pauses && ${MUSTER_SLOWER:-1} == 1 ? 1 : 4))
PROCESSES=$((64 / PART))
LIMIT=$((16 / PART)) # MiB
SWAP=$((10 * LIMIT))
STALL=$((10000 * ${MUSTER_SLOWER:-1})) # ms

plan $((11 + judges_pauses))

swap_is_full() {
	local size used

	{ read -r && read -r _ _ size used _; } </proc/swaps && ((used == size))
}

# One of them: in all they touch as much as the swap area and nine tenths of their memory hold.
process() {
	echo "$BASHPID" >"$CGROUP/cgroup.procs"
	exec pagestride --owner "$1" -c 8 -k 1 -s 3 --until-term --write-on-readback >"$WORK/out.$1" 2>&1
}

# The longest pause of any process, in ms.
longest_pause() {
	sed -n 's/^phase=all longest_pause=//p' "$WORK"/out.* | awk '$1 > most { most = $1 } END { print int(1000 * most) }'
}

# load NAME AREA: three results: it is held. Sets kills, passed and pause.
load() {
	local name=$1 area=$2 owner programs=() verified

	must swap_start "$area"
	must cgroup_make ${LIMIT}M
	rm -f "$WORK"/out.*
	for ((owner = 1; owner <= PROCESSES; owner++)); do
		process "$owner" &
		programs+=($!)
	done
	check "$name: swap is full" wait_until 100 swap_is_full
	sleep "$seconds"
	kill "${programs[@]}" 2>/dev/null
	passed=0
	for owner in "${programs[@]}"; do
		wait "$owner" && passed=$((passed + 1))
	done
	kills=$(sed -n 's/^oom_kill //p' "$CGROUP/memory.events")
	pause=$(longest_pause)
	verified=$(cat "$WORK"/out.* | verified_pages | awk '{ n += $1 } END { print n + 0 }')
	diag "verified $verified pages"
	figure "$name: $kills killed, longest pause $pause ms, $verified pages right"
	check_that "$name: every page was read back" "$verified >= $passed * 683 && $passed > 0"
	check_not "$name: no page was wrong" grep -E 'bad page|bad=[1-9]' "$WORK"/out.*
	must swapoff "$area"
	rmdir "$CGROUP"
}

must null_make muster0 $SWAP
load 'stock swap' /dev/muster0
stock_kills=$kills
must null_drop muster0

must null_make muster1 $((SWAP + 16))
mswap_add /dev/muster1 disksize=${SWAP}M
load mswap "$MSWAP"
check_le 'no more were killed than on stock swap' "$kills" "$stock_kills"
check_eq 'all others passed' "$passed" $((PROCESSES - kills))
((!judges_pauses)) || check_le 'none stood still for 10 s' "$pause" "$STALL"
check_that 'most of it went through mswap' "$(get pages_out) > $SWAP * 256 && $(get pages_in) > $SWAP * 256"
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'
check_that 'many pages a write' "$(get pages_out) > 4 * $(get dev_writes)"

finish
