#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# mswap as a plain block device: racing direct writes, reads, discards and write-zeroes of 4 KiB to 1 MiB,
# with every policy and read-ahead; every block is checked against what it may hold.
# timeout: 240
# kernels: all
# races: all
# short-form: yes

. "$(dirname "$0")/lib.sh"

plan 8

# racing NAME POLICY READAHEAD BATCH_USECS SECONDS BLKCHECK_OPTIONS...
racing() {
	must mswap_set policy "$2"
	must mswap_set readahead "$3"
	must mswap_set batch_usecs "$4"
	check_program "$1" blkcheck -s $(($5 * ${MUSTER_SLOWER:-1})) "${@:6}" "$MSWAP"
}

# Blocks of 512 bytes: null_blk itself cannot take memory that starts within a block.
must null_make muster0 128 blocksize=512
mswap_add /dev/muster0
must mswap_set waiting_pages 256
racing 'moc, read-ahead' moc on 100 3 -t 4 -r 2 -S 48
racing 'moc, few blocks, many races' moc on 0 3 -t 2 -r 4 -S 2
racing 'object, adaptive read-ahead' object auto 0 2 -t 4 -r 2 -S 48
racing 'page, no read-ahead' page off 0 2 -t 4 -r 2 -S 48
racing 'writes and reads only, 24 MiB' moc auto 100 3 -t 3 -r 3 -S 24 -D
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'
check_that 'blocks were discarded' "$(get discards) > 0"
must blkdiscard "$MSWAP"
check_eq 'all slots are free after a discard of everything' "$(get_settled slots_used)" 0

finish
