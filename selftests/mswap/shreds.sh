#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A device whose free slots are scattered: what is written together lies close together, is read back in few I/Os
# that pass over what lies between, and every block is right, also where such a read fails.
# timeout: 400
# kernels: all
# asked-for: 5.10 6.1
# expect-dmesg: read of .* of the backing device failed
# expect-dmesg: reads no longer pass over slots

. "$(dirname "$0")/lib.sh"

plan 17

SLOT=8 # sectors
REGION=1024 # blocks
QUARTER=$((REGION / 4))

# One slot of each 64 fails.
bad_table() {
	local from=0 bad

	for ((bad = 20; bad < 16384; bad += 64)); do
		echo "$((from * SLOT)) $(((bad - from) * SLOT)) linear /dev/muster0 $((from * SLOT))"
		echo "$((bad * SLOT)) $SLOT error"
		from=$((bad + 1))
	done
	echo "$((from * SLOT)) $((sectors - from * SLOT)) linear /dev/muster0 $((from * SLOT))"
}

passes_over() {
	blkpattern -b 1 -g 2 -n "$QUARTER" scan "$MSWAP" >/dev/null && (($(get dev_pages_passed) > passed))
}

# How far a read passes over slots is learnt from what an I/O costs: this device's do cost something.
must null_make muster0 64 irqmode=2 completion_nsec=100000
sectors=$(blockdev --getsz /dev/muster0)
must dm_make muster "0 $sectors linear /dev/muster0 0"
mswap_add /dev/mapper/muster
blocks_shred

# First the reserve, which is in one piece.
blocks_fill -b 64 -g 2 -f "$REGION" -n 320
writes=$(get dev_writes)
blocks_fill -b 64 -g 2 -n "$REGION"
writes=$(($(get dev_writes) - writes))
check_that 'written in shreds' "$writes > $REGION / 8"

# An I/O costs so much here that it stands out from what a busy host makes of the time that slots take.
must modprobe dm-delay
must dm_make muster "0 $sectors delay /dev/muster0 0 4 /dev/muster0 0 0"
reads=$(get dev_reads) passed=$(get dev_pages_passed)
blocks_right 'one block after the other, each is right' "$REGION" -b 1 -g 2 -n "$REGION"
reads=$(($(get dev_reads) - reads))
must dm_make muster "0 $sectors linear /dev/muster0 0"
diag "$REGION blocks in $writes writes and $reads reads"
check_that 'read in far fewer I/Os than it was written in' "2 * $reads < $writes"
check_that 'which pass over slots' "$(get dev_pages_passed) > $passed"
check_that 'little of what was prefetched was wasted' "4 * $(get prefetch_wasted) < $(get prefetched)"
blocks_right 'so are the strangers, in random order' $((blocks - fifth)) -b 1 -R -g 1 -f "$fifth" -n $((blocks - fifth))

blocks_fill -b 1 -R -g 3 -f "$QUARTER" -n $((2 * QUARTER))
blocks_right 'blocks written anew' $((2 * QUARTER)) -b 1 -g 3 -f "$QUARTER" -n $((2 * QUARTER))
blocks_right 'and those that stayed' "$QUARTER" -b 1 -g 2 -n "$QUARTER"
blocks_right 'and those behind' "$QUARTER" -b 1 -g 2 -f $((3 * QUARTER)) -n "$QUARTER"
must mswap_set waiting_pages 64
blocks_right 'with hardly a waiting room' $((2 * QUARTER)) -b 1 -g 3 -f "$QUARTER" -n $((2 * QUARTER))
must mswap_set waiting_pages 2048

told=$(log_lines 'no longer pass over slots')
must dm_make muster "$(bad_table)"
first=$(blkpattern -b 1 -g 2 -n "$QUARTER" scan "$MSWAP")
last=$(blkpattern -b 1 -g 2 -f $((3 * QUARTER)) -n "$QUARTER" scan "$MSWAP")
errors=$(($(value_of errors <<<"$first") + $(value_of errors <<<"$last")))
check_eq 'bad slots: all others are right' \
	$(($(value_of match <<<"$first") + $(value_of match <<<"$last") + errors)) $((2 * QUARTER))
check_that 'only bad slots fail' "$errors <= 256"
check_eq 'a read that passes over slots has failed: none does any more' \
	$(($(log_lines 'no longer pass over slots') - told)) 1
passed=$(get dev_pages_passed)
must dm_make muster "0 $sectors linear /dev/muster0 0"
blocks_right 'the device is well again' "$QUARTER" -b 1 -g 2 -n "$QUARTER"
check_eq 'and no read has passed over slots since' "$(get dev_pages_passed)" "$passed"
check 'after some thousand reads they do again' wait_until 100 passes_over

finish
