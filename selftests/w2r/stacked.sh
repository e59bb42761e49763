#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Several targets at once, on each other, above mswap and below it: swap on mswap on w2r; discards through
# w2r to mswap.
# timeout: 300
# kernels: all
# asked-for: 5.10 6.1 newest
# races: 6.12

. "$(dirname "$0")/lib.sh"

plan 15

# sent_by COMMAND...: sectors that mswap is told to write, to zero and to discard. Linux counts the zeroed as written.
sent_by() {
	local pages changed discarded

	pages=$(get pages_out)
	changed=$(stat_of "$MSWAP" 7)
	discarded=$(stat_of "$MSWAP" 14)
	"$@" || return
	pages=$(($(get pages_out) - pages))
	changed=$(($(stat_of "$MSWAP" 7) - changed))
	echo "$((pages * 8)) $((changed - pages * 8)) $(($(stat_of "$MSWAP" 14) - discarded))"
}

must null_make muster0 96
must null_make muster1 48

w2r_make muster-a /dev/muster0 8 readahead on planner stream
w2r_make muster-b /dev/muster1 4 block_kib 16
check_program 'two at once: the first' blkcheck -DA -s 1 /dev/mapper/muster-a
check_program 'two at once: the second' blkcheck -DA -s 1 /dev/mapper/muster-b
w2r_make muster-c /dev/mapper/muster-a 4 policy s3fifo readahead on
check_program 'one on the other' blkcheck -DA -s 2 -t 3 -r 3 "$DEV"
must dmsetup remove --retry muster-c

mswap_add /dev/mapper/muster-a
must swap_start "$MSWAP"
check_program 'swap on mswap on w2r' limited 24M pagestride -c 1 -k 0 -s 48
w2r_use muster-a
check_that 'swap was written through it' "$(w2r_get written_blocks) > 1000"
check_eq 'every block is accounted for' "$(unaccounted)" 0
must swapoff "$MSWAP"
must mswap_remove "$MSWAP"
must dmsetup remove --retry muster-a

mswap_add /dev/muster0
w2r_make muster-m "$MSWAP" 8 readahead on
check_program 'w2r on mswap: reads, writes, discards and zeroes' blkcheck -s 2 -t 3 -r 3 -S 48 "$DEV"
check_that 'discards went down' "$(get discards) > 0"
check_program 'few blocks, many races' blkcheck -s 2 -t 2 -r 4 -S 2 "$DEV"
# mswap takes I/Os of 1 MiB, null_blk none so large: more blocks than are copied at once, from the middle of one on.
w2r_make muster-m "$MSWAP" 8 block_kib 8
check_program 'writes of many blocks' blkcheck -s 2 -t 2 -r 3 -S 4 "$DEV"
check_eq 'zeroing goes down as such' "$(sent_by blkdiscard -z -l 32M "$DEV")" '0 65536 0'
must touch_range "$DEV" 0 500
check_eq 'a discard as one' "$(sent_by blkdiscard -l 32M "$DEV")" '0 0 65536'
check 'all of it is discarded' blkdiscard "$DEV"
check_eq 'and reads as zeros' "$(blkpattern scan "$DEV" | value_of zero)" "$(($(sectors_of "$DEV") / 8))"
check_eq 'mswap holds nothing any more' "$(get_settled slots_used)" 0

finish
