#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Kinds of memory in swap: copy-on-write over fork, huge pages, MADV_PAGEOUT loops, shared memory and tmpfs,
# memory given up while swapped out. Every page is verified.
# timeout: 400
# kernels: all

. "$(dirname "$0")/lib.sh"

plan 12

# swapped NAME LIMIT PROGRAM...: the program passes and has swapped.
swapped() {
	local before
	before=$(get pages_out)

	check_program "$1" limited "${@:2}"
	check_that "$1: it did swap" "$(get pages_out) > $before + 1000"
}

must null_make muster0 320
mswap_add /dev/muster0
must swap_start "$MSWAP" -d
must mount -t tmpfs -o size=256M none "$WORK/tmpfs"

swapped 'fork and copy-on-write' 20M forkcow -n 2 -s 16 -r 1
check_huge swapped 'huge pages' 28M hugecheck -n 2 -s 20 -r 2
swapped 'MADV_PAGEOUT over and over' 64M hugecheck -P -n 2 -s 12 -r 3
swapped 'shared memory and tmpfs' 24M shmcheck -n 2 -s 10 -r 2 "$WORK/tmpfs"
swapped 'memory given up while swapped out' 24M dropcheck -n 2 -s 20 -r 2
must swapoff "$MSWAP"
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'

finish
