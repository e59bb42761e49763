#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Memory that is refused and I/O that fails at random, while data goes out and in: no page is ever wrong, and
# refused memory is no error to anybody.
# kernels: debug
# expect-dmesg: (Read|Write)-error on swap-device
# timeout: 150
# expect-dmesg: SLUB: Unable to allocate memory
# expect-dmesg: (read|write) of .* of the backing device failed
# expect-dmesg: reads no longer pass over slots
# expect-dmesg: do not take writes and were retired

. "$(dirname "$0")/lib.sh"
# shellcheck source=faults.sh
. "$(dirname "$0")/faults.sh"

plan 19

errors() {
	echo "$(get read_errors) $(get write_errors) $(get nospace)"
}

must faults_prepare
must null_make muster0 128
must null_make muster1 320
mswap_add /dev/muster0
raw=$MSWAP raw_sys=$SYS
mswap_add /dev/muster1
must swap_start "$MSWAP"

for percent in 1 20 100; do
	must faults_random $percent mswap null_blk
	check_program "$percent % of allocations fail: swap" limited 24M pagestride -c 1 -s 48 --rounds 2 --write-on-readback
	check_program "$percent % of allocations fail: the device" blkcheck -s 5 -t 2 -r 2 -S 64 "$raw"
	refused=$(faults_end)
	figure "$percent %: $refused allocations refused"
	check_that "$percent %: there were some" "$refused > 0"
	check_eq "$percent %: no I/O failed" "$(errors)" '0 0 0'
done
check_eq 'none of the other device' "$(SYS=$raw_sys errors)" '0 0 0'

# Every tenth request to the backing devices fails.
must put 1 /sys/block/muster0/make-it-fail
must put 1 /sys/block/muster1/make-it-fail
on_exit faults_set fail_make_request probability=0
must faults_set fail_make_request verbose=0 interval=1 times=$MANY probability=10
check_program '10 % of I/Os fail: the device' blkcheck -E -s 8 -t 2 -r 2 -S 64 "$raw"
buscheck_start 10M 24
buscheck_read
failed=$((MANY - $(cat "$FAULTS/fail_make_request/times")))
must faults_set fail_make_request probability=0
figure "$failed I/Os failed"
check_that 'I/Os did fail' "$failed > 10"
check_eq '10 % of I/Os fail: no page of a program is wrong' "$(value_of bad <<<"$seen")" 0
buscheck_end
check_eq 'the program passed' $? 0
check_program 'later all is well' limited 24M pagestride -c 1 -s 48
check 'swapoff' swapoff "$MSWAP"

finish
