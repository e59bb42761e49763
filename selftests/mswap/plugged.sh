#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The module goes while a task that has swapped to it, and now swaps elsewhere, still holds the plug of that.
# timeout: 400
# kernels: all
# asked-for: 6.1

. "$(dirname "$0")/lib.sh"

plan 6

# One madvise() of all of it is one plug, and a ramdisk never makes the task sleep, which would end it.
MIB=200

# Sets USED to the KiB that are in swap area $1. Starts no process: meanwhile a fast machine would be done.
used_kib() {
	local area

	while read -r area _ _ USED _; do
		[[ $area != "$1" ]] || return 0
	done </proc/swaps
	USED=0
}

# The task is to be in the midst of its madvise() when the module goes, however fast the CPU is: there it loses its CPU
# to this, which is no sleep. It is there before, and stands still until a signal: to start it may take too long.
hold_up() {
	exec taskset -c 1 bash -c 'kill -STOP $$; while :; do :; done'
}

stands_still() {
	[[ $(<"/proc/$hold/stat") == *') T '* ]]
}

goes() {
	grep -qx going /sys/module/mswap/initstate
}

must modprobe brd rd_nr=2 rd_size=$(((MIB + 32) * 1024))
mswap_add /dev/ram0 disksize=2M cluster_pages=1
must swap_start "$MSWAP" -p 10
must swap_start /dev/ram1 -p 5
hold_up &
hold=$!
must wait_until 10 stands_still
taskset -c 1 nice -n 19 hugecheck -P -s "$MIB" -r 1 >"$WORK/out" 2>&1 &
program=$!
until used_kib /dev/ram1 && ((USED >= 4096)); do
	kill -0 $program || break
done
kill -CONT $hold
check 'swapoff' swapoff "$MSWAP"
used_kib /dev/ram1
check_le 'it pages out still' "$USED" $((MIB * 1024 * 9 / 10))
rmmod mswap &
unloading=$!
check 'it waits for whoever holds the plug' wait_until 10 goes
kill $hold
wait $unloading
check_eq 'unloading' $? 0
wait "$program"
check_eq 'the program ends well' $? 0
check 'its pages are as they were' grep -q 'verified .* pages, 0 bad' "$WORK/out"
must swapoff /dev/ram1

finish
