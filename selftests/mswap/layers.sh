#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What people have below a swap device, each with its own way to take bios: encryption, a pool that holds less than it
# promises, checksums of a page as it was sent, a file. And encryption above it.
# timeout: 240
# kernels: all
# asked-for: 5.10 6.1 newest
# expect-dmesg: write of .* of the backing device failed
# expect-dmesg: do not take writes and were retired
# expect-dmesg: no physical slot is left

. "$(dirname "$0")/lib.sh"
# shellcheck source=layering.sh
. "$(dirname "$0")/layering.sh"

plan 31

DATA_MIB=64

swaps() {
	check_program "$1: a program that swaps" limited 12M pagestride -c 2 -k 1 -s 32 --write-on-readback=3 -r 2
}

# used NAME: MSWAP is swapped on, and other I/O races there; then it goes, and no I/O had failed.
used() {
	must swap_start "$MSWAP"
	swaps "$1"
	check_program "$1: copy-on-write" limited 12M forkcow -n 2 -s 8 -r 1
	must swapoff "$MSWAP"
	check_program "$1: racing block I/O" blkcheck -s 1 -t 3 -r 2 -S 32 "$MSWAP"
	check_that "$1: many pages a write" "$(get dev_pages_written) / $(get dev_writes) > 8"
	check_eq "$1: no I/O failed" "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'
	check "$1: removal" mswap_remove "$MSWAP"
}

must null_make muster0 $DATA_MIB
must null_make mustermeta 4
must null_make musterdata $DATA_MIB

crypt_make muster /dev/muster0
mswap_add /dev/mapper/muster
blocks_fill -n 512
check_eq 'encrypted below: nothing lies there in clear' "$(blkpattern scan /dev/muster0 | value_of match)" 0
blocks_right 'encrypted below: it is read' 512 -n 512
used 'encrypted below'
must dmsetup remove --retry muster

mswap_add /dev/muster0
crypt_make muster "$MSWAP"
must swap_start /dev/mapper/muster
swaps 'encrypted above'
must swapoff /dev/mapper/muster
must dmsetup remove --retry muster
check 'encrypted above: removal' mswap_remove "$MSWAP"

must null_drop muster0
must null_make muster0 $DATA_MIB
checked_make muster /dev/muster0
mswap_add /dev/mapper/muster
used 'checksums below'
must dmsetup remove --retry muster

pool_make 24
thin_make muster $DATA_MIB
mswap_add /dev/mapper/muster
blocks=$(($(get disksize) / 4096))
written=$(blocks_taken 1)
check_that 'a pool that gets full takes writes until it is' "$written > $blocks / 4 && $written < $blocks"
# Of a write that fails a part may be there.
check_that 'and they are right' "$(blocks_match 1) >= $written"
check_that 'it has refused others' "$(get write_errors) > 0"
check_program 'I/O goes on where it has room' blkcheck -E -s $((2 * ${MUSTER_SLOWER:-1})) -t 2 -r 2 -S 40 "$MSWAP"
must blkdiscard "$MSWAP"
pool_make $DATA_MIB
check 'when it has grown all take writes' wait_until 30 all_taken 2
blocks_right 'which are right' "$blocks" -g 2
check_settles 'no slot is lost' slots_used "$blocks"
check_that 'no more are retired than there are to spare' "$(get_settled slots_retired) <= $(get slots_reserved)"
check 'removal' mswap_remove "$MSWAP"
must dmsetup remove --retry muster
must dmsetup remove --retry muster-pool

file_make /dev/musterdata 48M
mswap_add "$loop"
used 'a file'
file_drop

finish
