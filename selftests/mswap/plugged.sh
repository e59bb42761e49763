#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The module goes while a task that has swapped to it, and now swaps elsewhere, still holds the plug of that.
# timeout: 90
# kernels: all

. "$(dirname "$0")/lib.sh"

plan 5

# One madvise() of all of it is one plug, and a ramdisk never makes the task sleep, which would end it.
MIB=200

used_kib() {
	awk -v device="$1" '$1 == device { print $4 }' /proc/swaps
}

swapped_kib() {
	(($(used_kib "$1") >= $2))
}

must modprobe brd rd_nr=2 rd_size=$(((MIB + 32) * 1024))
mswap_add /dev/ram0 disksize=2M cluster_pages=1
must swap_start "$MSWAP" -p 10
must swap_start /dev/ram1 -p 5
hugecheck -P -s "$MIB" -r 1 >"$WORK/out" 2>&1 &
program=$!
must wait_until 60 swapped_kib /dev/ram1 4096
check 'swapoff' swapoff "$MSWAP"
check_le 'it pages out still' "$(used_kib /dev/ram1)" $((MIB * 1024 * 9 / 10))
check 'unloading' rmmod mswap
wait "$program"
check_eq 'the program ends well' $? 0
check 'its pages are as they were' grep -q 'verified .* pages, 0 bad' "$WORK/out"
must swapoff /dev/ram1

finish
