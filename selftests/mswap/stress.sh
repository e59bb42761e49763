#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# stress-ng's own memory stressors with verification, squeezed into swap.
# timeout: 240
# kernels: all
# asked-for: 5.10 6.1

. "$(dirname "$0")/lib.sh"

plan 7

# has_option NAME: this release of stress-ng has it.
has_option() {
	stress-ng --help | grep -q -- "$1"
}

# squeezed OPTIONS...
squeezed() {
	limited 64M stress-ng --verify --timeout $((4 * ${MUSTER_SLOWER:-1})) "${avoid[@]}" --temp-path "$WORK/mnt" --quiet "$@"
}

# stressed NAME OPTIONS...
stressed() {
	check "$1" squeezed "${@:2}"
}

swapped() {
	(($(get pages_out) > 20000))
}

avoid=() heap=(--malloc 1 --malloc-bytes 2M --malloc-max 32)
has_option --oom-avoid && avoid=(--oom-avoid)
has_option --bigheap-bytes && heap=(--bigheap 1 --bigheap-bytes 64M)

must null_make muster0 512
mswap_add /dev/muster0
# stress-ng keeps files and swap files of its own here.
must null_make muster1 256
must mkfs.ext4 -qF /dev/muster1
must mount /dev/muster1 "$WORK/mnt"
must swap_start "$MSWAP" -d

stressed 'vm' --vm 2 --vm-bytes 48M --vm-method walk-1d
stressed 'vm, all methods' --vm 1 --vm-bytes 80M
stressed 'heap and mmap' "${heap[@]}" --mmap 1 --mmap-bytes 48M
# How much they do in their time depends on what else the machine does.
for ((more = 0; more < 10; more++)); do
	swapped || must squeezed --vm 1 --vm-bytes 80M
done
check 'they did swap' swapped
diag "$(get pages_out) pages out"
# This one makes swap files and turns swap on and off.
check 'swap' stress-ng --verify --timeout 3 --swap 1 --temp-path "$WORK/mnt" --quiet
check 'swapoff' swapoff "$MSWAP"
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'

finish
