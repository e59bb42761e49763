#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A backing device that fails beneath swap: a page that cannot be read is a SIGBUS for who wants it and
# nobody else; pages that cannot be written stay in memory; the device goes on.
# timeout: 240
# kernels: all
# asked-for: 6.1
# races: 6.12
# expect-dmesg: (Read|Write)-error on swap-device
# expect-dmesg: (read|write) of .* of the backing device failed
# expect-dmesg: reads no longer pass over slots

. "$(dirname "$0")/lib.sh"
# shellcheck source=counting.sh
. "$(dirname "$0")/counting.sh"
# shellcheck source=tracing.sh
. "$(dirname "$0")/tracing.sh"

plan 34

SLOT=8 # sectors

no_copies() {
	(($(get copies_held) == 0))
}

# Pages out and in again without end; none is reclaimed for others, who would be killed where nothing can be written.
swap_on() {
	until [[ -e $WORK/enough ]]; do
		limited max hugecheck -P -n 2 -s 8 -r 1 || return
	done
}

more_failed() {
	(($(get write_errors) > $1))
}

more_arrived() {
	(($(stat_of /dev/muster0 7) > $1))
}

# fails_then_works: the device stops taking writes, and takes them again.
fails_then_works() {
	wait_until 20 more_failed "$(get write_errors)" && wait_until 20 more_arrived "$(stat_of /dev/muster0 7)"
}

must null_make muster0 96
sectors=$(blockdev --getsz /dev/muster0)
good="0 $sectors linear /dev/muster0 0"
must dm_make muster "$good"
mswap_add /dev/mapper/muster
must swap_start "$MSWAP"

# Ten slots in the middle of what the program has written fail. From 7.3 on the swap core reads the pages of its
# read-ahead in one I/O, and they fail together.
readahead=$(cat /proc/sys/vm/page-cluster)
on_exit put "$readahead" /proc/sys/vm/page-cluster
must put 0 /proc/sys/vm/page-cluster
buscheck_start 10M 32
check_that 'the program is in swap' "$(get slots_used) > 5000"
from=$((3000 * SLOT)) n=$((10 * SLOT))
must dm_make muster "0 $from linear /dev/muster0 0
$from $n error
$((from + n)) $((sectors - from - n)) linear /dev/muster0 $((from + n))"
buscheck_read
check_eq 'exactly the pages on bad slots are a SIGBUS' "$(value_of sigbus <<<"$seen")" 10
check_eq 'no other page is harmed' "$(value_of bad <<<"$seen")" 0
check_that 'read errors are counted' "$(get read_errors) >= 10"
must put "$readahead" /proc/sys/vm/page-cluster
must dm_make muster "$good"
buscheck_end
check_eq 'the program passed otherwise' $? 0
check_that 'its slots are free' "$(get_settled slots_used) <= 200"

# Nothing can be written: nothing leaves memory.
must dm_make muster "0 $sectors error"
errors=$(get write_errors)
buscheck_start 96M 32
check_that 'writes failed' "$(get write_errors) > $errors"
check_that 'and took no slots' "$(get_settled slots_used) <= 200"
check_that 'what was taken over by copy stays in memory' "$(get_settled copies_held) > 0"
check_eq 'none is retired' "$(get slots_retired)" 0
buscheck_read
check_eq 'all pages are still there' "$(value_of bad <<<"$seen") $(value_of sigbus <<<"$seen")" '0 0'
must dm_make muster "$good"
buscheck_end
check_eq 'the program passed' $? 0
# Swap keeps up to 64 freed slots a CPU for itself, and tells of them when it is off.
must swapoff "$MSWAP"
check_settles 'and its copies went with it' copies_held 0
must swapon "$MSWAP"

# Once more, but the device takes writes again, and gets what it has refused; the swap cache lets go of it.
must dm_make muster "0 $sectors error"
buscheck_start 96M 32
check_that 'copies are kept again' "$(get_settled copies_held) > 0"
must dm_make muster "$good"
echo 10M >"$CGROUP/memory.high"
check 'they are written when the device works' wait_until 20 no_copies
buscheck_read
check_eq 'no page was lost' "$(value_of bad <<<"$seen") $(value_of sigbus <<<"$seen")" '0 0'
buscheck_end

# Everything is in swap when the device dies, and it comes back.
buscheck_start 10M 32
must dm_make muster "0 $sectors error"
buscheck_read
check_that 'pages of a dead device are a SIGBUS' "$(value_of sigbus <<<"$seen") > 5000"
check_eq 'none is wrong' "$(value_of bad <<<"$seen")" 0
must dm_make muster "$good"
buscheck_end
check_eq 'the program passed what it could read' $? 0

# It takes writes every other second. What it did not take stays in memory, and goes out later.
must modprobe dm-flakey
get_settled slots_used >/dev/null
writes=$(get dev_writes) written=$(get dev_pages_written) errors=$(get write_errors) retries=$(get write_retries)
below_from muster
mounted "$TRACING" || must mount -t tracefs none "$TRACING"
on_exit put 0 "$TRACING/events/mswap/enable"
must put 1 "$TRACING/events/mswap/mswap_write_error/enable"
must dm_make muster "0 $sectors flakey /dev/muster0 0 1 1 1 error_writes"
swap_on >"$WORK/out" 2>&1 &
program=$!
check 'writes fail for a while' fails_then_works
check 'and once more' fails_then_works
must dm_make muster "$good"
check 'then all go well' wait_until 20 more_arrived "$(stat_of /dev/muster0 7)"
touch "$WORK/enough"
wait "$program"
check_eq 'the program on a device that came and went passed' $? 0
check_that 'and verified pages' "$(verified_pages <"$WORK/out" | tail -n 1) + 0 > 0"
get_settled slots_used >/dev/null
writes=$(($(get dev_writes) - writes)) written=$(($(get dev_pages_written) - written))
tried=$(($(since 5) - writes)) # I/Os that tried slots: one each, or all of a failed write
must put 0 "$TRACING/events/mswap/enable"
check 'no event was lost' save_trace
check_eq 'each failure was counted' $(($(get write_errors) - errors)) "$(count_of mswap_write_error)"
check_eq 'each write that failed was tried again, once' $(($(get write_retries) - retries)) \
	"$(lines_of mswap_write_error | grep -c 'retry=0')"
failed=$(lines_of mswap_write_error | sed -n 's/.* pages=\([0-9]*\) .*retry=0.*/\1/p' | awk '{ n += $1 } END { print n + 0 }')
check_that 'the device saw what is counted, and slots that were tried' \
	"$(since 7) >= ($written + $tried) * $SECTORS"
check_that 'those of failed writes, once' \
	"$(since 7) <= ($written + $tried + $failed) * $SECTORS"
check_eq 'and so does the histogram' "$(hist_sum 0) $(hist_sum 1)" "$(get dev_writes) $(get dev_pages_written)"

check_program 'the device works as before' limited 24M pagestride -c 1 -k 0 -s 40
check 'swapoff' swapoff "$MSWAP"
check_that 'all slots are free' "$(get_settled slots_used) <= 1"
check 'removal' mswap_remove "$MSWAP"

finish
