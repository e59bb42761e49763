#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# stress-ng's own memory stressors with verification, squeezed into swap.
# timeout: 120

. "$(dirname "$0")/lib.sh"

plan 7

# stressed NAME OPTIONS...
stressed() {
	check "$1" limited 64M stress-ng --verify --timeout 7 --oom-avoid --temp-path "$WORK/mnt" --quiet "${@:2}"
}

must null_make muster0 512
mswap_add /dev/muster0
# stress-ng keeps files and swap files of its own here.
must null_make muster1 256
must mkfs.ext4 -qF /dev/muster1
must mount /dev/muster1 "$WORK/mnt"
must swap_start "$MSWAP" -d

stressed 'vm' --vm 2 --vm-bytes 48M --vm-method walk-1d
stressed 'vm, all methods' --vm 1 --vm-bytes 80M
stressed 'bigheap and mmap' --bigheap 1 --bigheap-bytes 64M --mmap 1 --mmap-bytes 48M
check_that 'they did swap' "$(get pages_out) > 20000"
# This one makes swap files and turns swap on and off.
check 'swap' stress-ng --verify --timeout 6 --swap 1 --temp-path "$WORK/mnt" --quiet
check 'swapoff' swapoff "$MSWAP"
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'

finish
