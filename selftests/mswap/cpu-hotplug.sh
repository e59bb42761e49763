#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A CPU goes offline and comes back again and again while programs swap on both; every page verified.
# kernels: all
# timeout: 120

. "$(dirname "$0")/lib.sh"

plan 8

CPU=/sys/devices/system/cpu/cpu1/online

start_programs() {
	local owner

	for owner in 1 2; do
		limited 48M pagestride --owner "$owner" -c 2 -k 1 -s 48 --rounds 3 --write-on-readback \
			>"$WORK/out.$owner" 2>&1 &
		programs+=($!)
	done
}

still_running() {
	kill -0 "${programs[@]}" 2>/dev/null
}

must test -w "$CPU"
on_exit put 1 "$CPU"
must null_make muster0 320
mswap_add /dev/muster0
must swap_start "$MSWAP"

programs=()
start_programs
off=0 failed=''
while still_running; do
	put 0 "$CPU" || failed+='off '
	sleep 0.5
	put 1 "$CPU" || failed+='on '
	sleep 0.3
	off=$((off + 1))
done
check_eq 'every change of the CPU went well' "$failed" ''
check_that 'there were some while the programs ran' "$off >= 3"
for program in 1 2; do
	wait "${programs[program - 1]}"
	check_eq "program $program passed" $? 0
	check_that "program $program verified pages" "$(verified_pages <"$WORK/out.$program") + 0 > 0"
done
check 'swapoff' swapoff "$MSWAP"
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'

finish
