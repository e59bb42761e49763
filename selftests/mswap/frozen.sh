#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The machine is about to sleep and wakes again and again while programs swap; every page verified.
# kernels: all
# asked-for: 6.1 newest
# timeout: 240

. "$(dirname "$0")/lib.sh"
# shellcheck source=power.sh
. "$(dirname "$0")/power.sh"

plan 8

can_try freeze || skip_all 'this kernel cannot try it'
must null_make muster0 320
mswap_add /dev/muster0
must swap_start "$MSWAP"

programs_start
failed=0
for _ in {1..8}; do
	sleep 0.3
	try_sleep freeze || ((++failed))
done
check_eq 'it could sleep each time' $failed 0
programs_end
check_that 'the programs did swap' "$(get pages_out) > 1000"
check 'swapoff' swapoff "$MSWAP"
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'

finish
