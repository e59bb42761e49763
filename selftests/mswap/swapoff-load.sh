#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# swapoff and swapon again and again while programs swap, on two mswap devices at once; every page verified.
# timeout: 400
# kernels: all
# asked-for: 6.1
# races: all

. "$(dirname "$0")/lib.sh"

plan 9

must null_make muster0 192
must null_make muster1 192
mswap_add /dev/muster0
first=$MSWAP first_sys=$SYS
mswap_add /dev/muster1
must swap_start "$first" -p 5
must swap_start "$MSWAP" -p 5

programs_start
off=0 failed=''
while ((off < 8)); do
	for device in "$first" "$MSWAP"; do
		sleep 0.5
		swapoff "$device" && swapon -p 5 "$device" || failed+="$device "
		off=$((off + 1))
	done
done
check_eq 'every swapoff and swapon went well' "$failed" ''
programs_end
check_that 'both devices were used' "$(get pages_out) > 1000 && $(cat "$first_sys/pages_out") > 1000"
must swapoff "$first"
must swapoff "$MSWAP"
check 'the one is removed while the other stays' mswap_remove "$first"
check_eq 'slots of the other: the swap header at most' "$(($(get_settled slots_used) <= 1))" 1
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'

finish
