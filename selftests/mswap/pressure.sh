#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Memory through swap under pressure, one and eight processes, every policy and read-ahead; every page that
# is read back is verified.
# timeout: 400
# kernels: all
# asked-for: 6.1
# races: 6.12

. "$(dirname "$0")/lib.sh"

plan 13

stride() {
	limited 24M pagestride "$@"
}

# Eight at once, each with its own content; prints the sum of what they verified.
eight() {
	local owner programs=() status=0

	for owner in 1 2 3 4 5 6 7 8; do
		limited 32M pagestride --owner "$owner" "$@" >"$WORK/out.$owner" 2>&1 &
		programs+=($!)
	done
	for owner in "${programs[@]}"; do
		wait "$owner" || status=$?
	done
	cat "$WORK"/out.*
	(($(cat "$WORK"/out.* | verified_pages | wc -l) == 8)) || status=1
	return "$status"
}

must null_make muster0 320
mswap_add /dev/muster0
must swap_start "$MSWAP"

check_program 'one process, single pages' stride -c 1 -s 96 --write-on-readback --rounds 2
check_program 'one process, random pages' stride -c 1 -s 80 --random-singles
check_program 'one process, descending' stride -c 8 -s 80 --descending
check_huge check_program 'one process, all pages, huge' stride -c 1 -k 0 -s 64 --thp --write-on-readback
for policy in moc object page; do
	must mswap_set policy "$policy"
	check "eight processes, policy $policy" eight -c 3 -s 16 --write-on-readback
done
must mswap_set policy moc
for readahead in on off auto; do
	must mswap_set readahead "$readahead"
	check_program "one process, read-ahead $readahead" stride -c 2 -s 64
done
check_that 'the programs did swap' "$(get pages_out) > 65536 && $(get pages_in) > 65536"
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'

finish
