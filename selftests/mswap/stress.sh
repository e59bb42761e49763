#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# stress-ng's own memory stressors with verification, squeezed into swap; then four of them at once, one of which makes
# swap files on a second mswap device and turns swap on and off there, while the others have pages in them.
# timeout: 240
# kernels: all
# asked-for: 5.10 6.1 newest
# races: 6.12

. "$(dirname "$0")/lib.sh"

plan 13

STRESSORS='swap vm bigheap mmap'
seconds=$((4 * ${MUSTER_SLOWER:-1})) # of a run

# squeezed OPTIONS...: the heap of old releases grows until it gets no more.
squeezed() (
	ulimit -d $((96 * 1024))
	limited 64M stress-ng --verify --timeout "$seconds" "${avoid[@]}" --temp-path "$WORK/mnt" \
		--metrics-brief --yaml "$WORK/metrics" --quiet "$@"
)

all_at_once() {
	squeezed --swap 1 --vm 1 --vm-bytes 48M --bigheap 1 --mmap 1 --mmap-bytes 24M
}

# operations NAME: how many this stressor did in the last run. One that was skipped did none.
operations() {
	awk -v name="$1" '
		$2 == "stressor:" { its = $3 == name }
		its && $1 == "bogo-ops:" { n += $2 }
		END { print n + 0 }' "$WORK/metrics"
}

each_did() {
	local name

	for name in $STRESSORS; do
		(($(operations "$name") > 0)) || return
	done
}

# Of what comes to this device, swap alone is taken over by copy; all else there is the file system's.
files_in_swap() {
	show "$files/pages_out_copied"
}

swapped() {
	(($(get pages_out) > 20000))
}

all_worked() {
	each_did && swapped && (($(files_in_swap) > 0))
}

avoid=()
! stress-ng --help | grep -q -- --oom-avoid || avoid=(--oom-avoid)

must null_make muster1 256
mswap_add /dev/muster1
files=$SYS
must mkfs.ext4 -qF "$MSWAP"
must mount "$MSWAP" "$WORK/mnt"
must null_make muster0 512
mswap_add /dev/muster0
must swap_start "$MSWAP" -d

check 'vm' squeezed --vm 2 --vm-bytes 48M --vm-method walk-1d
check 'vm, all methods' squeezed --vm 1 --vm-bytes 80M
check 'swap, vm, bigheap and mmap at once' all_at_once
# How much they do in their time depends on what else the machine does, and what is not done by its end counts nothing.
for ((more = 0; more < 4; more++)); do
	all_worked && break
	seconds=$((2 * seconds))
	must all_at_once
done
for name in $STRESSORS; do
	check_that "$name did something" "$(operations "$name") > 0"
done
check 'they did swap' swapped
check_that 'to the swap files, too' "$(files_in_swap) > 0"
diag "$(get pages_out) pages out, $(files_in_swap) to swap files"
check 'swapoff' swapoff "$MSWAP"
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'
SYS=$files
check_eq 'nor of the swap files' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'
check 'the file system holds' umount "$WORK/mnt"

finish
