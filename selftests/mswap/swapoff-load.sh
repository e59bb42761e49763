#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# swapoff and swapon again and again while programs swap, on two mswap devices at once; every page verified.
# timeout: 120
# kernels: all

. "$(dirname "$0")/lib.sh"

plan 10

swap_programs() {
	local owner

	for owner in 1 2; do
		limited 48M pagestride --owner "$owner" -c 2 -k 1 -s 48 --rounds 4 --write-on-readback \
			>"$WORK/out.$owner" 2>&1 &
		programs+=($!)
	done
}

still_running() {
	kill -0 "${programs[@]}" 2>/dev/null
}

must null_make muster0 192
must null_make muster1 192
mswap_add /dev/muster0
first=$MSWAP first_sys=$SYS
mswap_add /dev/muster1
must swap_start "$first" -p 5
must swap_start "$MSWAP" -p 5

programs=()
swap_programs
must wait_until 20 test -s "$WORK/out.1"
off=0 failed=''
while still_running && ((off < 6)); do
	for device in "$first" "$MSWAP"; do
		swapoff "$device" && swapon -p 5 "$device" && off=$((off + 1)) || failed+="$device "
	done
done
check_eq 'every swapoff and swapon went well' "$failed" ''
check_that 'there were some while the programs ran' "$off >= 4"
for program in 1 2; do
	wait "${programs[program - 1]}"
	check_eq "program $program passed" $? 0
	check_that "program $program verified pages" "$(verified_pages <"$WORK/out.$program") + 0 > 0"
done
check_that 'both devices were used' "$(get pages_out) > 1000 && $(cat "$first_sys/pages_out") > 1000"
must swapoff "$first"
must swapoff "$MSWAP"
check 'the one is removed while the other stays' mswap_remove "$first"
check_eq 'slots of the other: the swap header at most' "$(($(get_settled slots_used) <= 1))" 1
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'

finish
