#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A CPU goes offline and comes back again and again while programs swap on both; every page verified.
# kernels: all
# asked-for: 6.1 newest
# timeout: 240

. "$(dirname "$0")/lib.sh"

plan 8

CPU=/sys/devices/system/cpu/cpu1/online

must test -w "$CPU"
on_exit put 1 "$CPU"
must null_make muster0 320
mswap_add /dev/muster0
must swap_start "$MSWAP"

programs_start
failed=''
for _ in {1..6}; do
	put 0 "$CPU" || failed+='off '
	sleep 0.5
	put 1 "$CPU" || failed+='on '
	sleep 0.3
done
check_eq 'every change of the CPU went well' "$failed" ''
programs_end
check_that 'the programs did swap' "$(get pages_out) > 1000"
check 'swapoff' swapoff "$MSWAP"
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'

finish
