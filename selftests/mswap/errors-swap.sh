#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A backing device that fails beneath swap: a page that cannot be read is a SIGBUS for who wants it and
# nobody else; pages that cannot be written stay in memory; the device goes on.
# timeout: 240
# kernels: all
# expect-dmesg: (Read|Write)-error on swap-device
# expect-dmesg: (read|write) of .* of the backing device failed
# expect-dmesg: reads no longer pass over slots

. "$(dirname "$0")/lib.sh"

plan 23

SLOT=8 # sectors

no_copies() {
	(($(get copies_held) == 0))
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

check_program 'the device works as before' limited 24M pagestride -c 1 -k 0 -s 40
check 'swapoff' swapoff "$MSWAP"
check_that 'all slots are free' "$(get_settled slots_used) <= 1"
check 'removal' mswap_remove "$MSWAP"

finish
