#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A backing device that fails beneath swap: a page that cannot be read is a SIGBUS for who wants it and
# nobody else; pages that cannot be written stay in memory; the device goes on.
# timeout: 90
# kernels: all

. "$(dirname "$0")/lib.sh"

plan 20

SLOT=8 # sectors

# start_program LIMIT: buscheck fills and pages out its memory; says "written" when done. What goes out under
# a limit above its size stays in the swap cache too.
start_program() {
	rm -f "$WORK/lines" "$WORK/out"
	mkfifo "$WORK/lines"
	limited "$1" buscheck 32 <"$WORK/lines" >"$WORK/out" 2>&1 &
	program=$!
	exec 8>"$WORK/lines"
	must wait_until 30 grep -q written "$WORK/out"
}

# read_back: tells buscheck to read all, sets seen to what it says.
read_back() {
	local lines
	lines=$(grep -c phase=read "$WORK/out")

	echo read >&8
	must wait_until 40 test_lines "$((lines + 1))"
	seen=$(grep phase=read "$WORK/out" | tail -n 1)
}

test_lines() {
	(($(grep -c phase=read "$WORK/out") >= $1))
}

end_program() {
	exec 8>&-
	wait "$program"
}

must null_make muster0 96
sectors=$(blockdev --getsz /dev/muster0)
good="0 $sectors linear /dev/muster0 0"
must dm_make muster "$good"
mswap_add /dev/mapper/muster
must swap_start "$MSWAP"

# Ten slots in the middle of what the program has written fail.
start_program 10M
check_that 'the program is in swap' "$(get slots_used) > 5000"
from=$((3000 * SLOT)) n=$((10 * SLOT))
must dm_make muster "0 $from linear /dev/muster0 0
$from $n error
$((from + n)) $((sectors - from - n)) linear /dev/muster0 $((from + n))"
read_back
check_eq 'exactly the pages on bad slots are a SIGBUS' "$(value_of sigbus <<<"$seen")" 10
check_eq 'no other page is harmed' "$(value_of bad <<<"$seen")" 0
check_that 'read errors are counted' "$(get read_errors) >= 10"
must dm_make muster "$good"
end_program
check_eq 'the program passed otherwise' $? 0
check_that 'its slots are free' "$(get_settled slots_used) <= 200"

# Nothing can be written: nothing leaves memory.
must dm_make muster "0 $sectors error"
errors=$(get write_errors)
start_program 96M
check_that 'writes failed' "$(get write_errors) > $errors"
check_that 'and took no slots' "$(get_settled slots_used) <= 200"
check_that 'what was taken over by copy stays in memory' "$(get_settled copies_held) > 0"
check_eq 'none is retired' "$(get slots_retired)" 0
read_back
check_eq 'all pages are still there' "$(value_of bad <<<"$seen") $(value_of sigbus <<<"$seen")" '0 0'
must dm_make muster "$good"
end_program
check_eq 'the program passed' $? 0
check_eq 'and its copies went with it' "$(get_settled copies_held)" 0

# Everything is in swap when the device dies, and it comes back.
start_program 10M
must dm_make muster "0 $sectors error"
read_back
check_that 'pages of a dead device are a SIGBUS' "$(value_of sigbus <<<"$seen") > 5000"
check_eq 'none is wrong' "$(value_of bad <<<"$seen")" 0
must dm_make muster "$good"
end_program
check_eq 'the program passed what it could read' $? 0

check_program 'the device works as before' limited 24M pagestride -c 1 -k 0 -s 64
check 'swapoff' swapoff "$MSWAP"
check_that 'all slots are free' "$(get_settled slots_used) <= 1"
check 'removal' mswap_remove "$MSWAP"

finish
