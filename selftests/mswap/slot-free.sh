#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Slots that swap gave up are free at once and read as zeros, and nothing that the backing device held before
# ever shows through.
# timeout: 240
# kernels: all
# asked-for: 6.1

. "$(dirname "$0")/lib.sh"

plan 15

scan() {
	blkpattern "$@" scan "$MSWAP"
}

# Of the blocks that were seen all are zeros, and there are some.
only_zeros() {
	local pages zero

	pages=$(value_of pages <<<"$seen") zero=$(value_of zero <<<"$seen")
	echo "$pages > 0 && $zero == $pages"
}

must null_make muster0 160
must blkpattern -o 77 fill /dev/muster0
mswap_add /dev/muster0
seen=$(scan -o 77)
check_that 'a new device over old data is all zeros' "$(only_zeros)"
check_that 'as many zeros are counted' "$(get pages_in_zero) == $(value_of pages <<<"$seen")"
check_eq 'and nothing was read for that' "$(get dev_reads)" 0

must swap_start "$MSWAP"
check_program 'a program swaps' limited 24M pagestride -c 1 -k 0 -s 96
# Swap keeps up to 64 freed slots a CPU for itself before it tells.
check_that 'when it ends its slots are free' "$(get_settled slots_used) <= 64 * $(nproc) + 16"
check_that 'by notification' "$(get slot_frees) > 16384"
check_eq 'not by discard' "$(get discards)" 0

buscheck_start 24M 64
used=$(get slots_used)
check_that 'a program that lives holds its slots' "$used > 8192"
must cgroup_make max
check 'swapoff brings its pages back' swapoff "$MSWAP"
check_that 'and frees them' "$(get_settled slots_used) <= 1"
buscheck_read
check_eq 'the program has them all' "$(value_of bad <<<"$seen") $(value_of sigbus <<<"$seen")" '0 0'
buscheck_end
check_eq 'and passed' $? 0

# Old data would be that of another place on the device, which is no match.
seen=$(scan -o 77)
check_that 'no block shows old data: but for the swap header all is zeros' \
	"$(value_of pages <<<"$seen") - $(value_of zero <<<"$seen") <= 1"
must mswap_set reset 1
must mswap_set backing_dev /dev/muster0
seen=$(scan -o 77)
check_that 'nor after a reset' "$(only_zeros)"
check_eq 'counters begin anew' "$(get pages_out) $(get slot_frees) $(get slots_used)" '0 0 0'

finish
