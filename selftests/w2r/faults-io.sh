#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Memory that is refused and I/O that fails at random below a cache under load: no block is ever wrong, and refused
# memory is no error to anybody.
# kernels: debug
# timeout: 120
# expect-dmesg: SLUB: Unable to allocate memory

# Functions are called by name, by check and must.
# shellcheck disable=SC2317

. "$(dirname "$0")/lib.sh"
# shellcheck source=../mswap/faults.sh
. "$(dirname "$0")/../mswap/faults.sh"

plan 13

must faults_prepare
must null_make muster0 96 irqmode=2 completion_nsec=50000
w2r_make muster /dev/muster0 8 readahead on
for percent in 1 20 100; do
	must faults_random $percent dm_w2r null_blk
	check_program "$percent % of allocations fail" blkcheck -DA -s 6 -t 2 -r 2 "$DEV"
	refused=$(faults_end)
	figure "$percent %: $refused allocations refused"
	check_that "$percent %: there were some" "$refused > 0"
	check_eq "$percent %: no I/O failed" "$(w2r_get read_errors) $(w2r_get write_errors)" '0 0'
done

# Every tenth request to the origin fails.
must put 1 /sys/block/muster0/make-it-fail
on_exit faults_set fail_make_request probability=0
must faults_set fail_make_request verbose=0 interval=1 times=$MANY probability=10
check_program '10 % of I/Os fail' blkcheck -DAE -s 8 -t 2 -r 2 "$DEV"
failed=$((MANY - $(cat "$FAULTS/fail_make_request/times")))
must faults_set fail_make_request probability=0
figure "$failed I/Os failed"
check_that 'I/Os did fail' "$failed > 10 && $(w2r_get read_errors) > 0 && $(w2r_get write_errors) > 0"
check_program 'later all is well' blkcheck -DA -s 4 -t 2 -r 2 "$DEV"
check_eq 'every block is accounted for' "$(unaccounted)" 0

finish
