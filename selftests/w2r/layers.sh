#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What people have below a cache of a slow disk, each with its own way to take bios: encryption, checksums of a page as
# it was sent, a pool that holds less than it promises, a file. And encryption above it.
# timeout: 240
# kernels: all
# asked-for: 5.10 6.1 newest

. "$(dirname "$0")/lib.sh"
# shellcheck source=../mswap/layering.sh
. "$(dirname "$0")/../mswap/layering.sh"

plan 27

DATA_MIB=48

# races NAME DEVICE: nothing old is read, whatever is written and read beside it, and each block is counted. In whole
# pages: null_blk up to 6.12 copies past its own where the memory of an I/O does not begin on a block.
races() {
	check_program "$1: racing block I/O" blkcheck -DA -s 2 -t 3 -r 2 -S 16 "$2"
	check_eq "$1: every block is accounted for" "$(unaccounted)" 0
	check_eq "$1: no read failed" "$(w2r_get read_errors)" 0
}

# How many of the pool's chunks are given out.
pool_chunks() {
	dmsetup status muster-pool | awk '{ sub("/.*", "", $6); print $6 }'
}

# match GENERATION: how many blocks are as that wrote them.
match() {
	blkpattern -g "$1" scan "$DEV" | value_of match
}

# cached NAME DEVICE: what was read once comes from the cache.
cached() {
	local reads

	must touch_range "$2" 0 500
	reads=$(w2r_get origin_reads)
	must touch_range "$2" 0 500
	check_eq "$1: a second time nothing is read" $(($(w2r_get origin_reads) - reads)) 0
}

must null_make muster0 $DATA_MIB
must null_make mustermeta 4
must null_make musterdata $DATA_MIB

crypt_make muster-x /dev/muster0
w2r_make muster /dev/mapper/muster-x 8
must blkpattern -g 1 -n 512 fill "$DEV"
check_eq 'encrypted below: nothing lies there in clear' "$(blkpattern -g 1 scan /dev/muster0 | value_of match)" 0
check_eq 'and all of it is read' "$(match 1)" 512
cached 'encrypted below' "$DEV"
races 'encrypted below' "$DEV"
must dmsetup remove --retry muster
must dmsetup remove --retry muster-x

w2r_make muster /dev/muster0 8
crypt_make muster-x "$DEV"
cached 'encrypted above' /dev/mapper/muster-x
races 'encrypted above' /dev/mapper/muster-x
must dmsetup remove --retry muster-x
must dmsetup remove --retry muster

must null_drop muster0
must null_make muster0 $DATA_MIB
checked_make muster-x /dev/muster0
w2r_make muster /dev/mapper/muster-x 8
races 'checksums below' "$DEV"
must dmsetup remove --retry muster
must dmsetup remove --retry muster-x

pool_make 24
thin_make muster-x $DATA_MIB
w2r_make muster /dev/mapper/muster-x 8
races 'a pool' "$DEV"
must blkpattern -g 1 -n 512 fill "$DEV"
check_eq 'a pool: what was written is read' "$(match 1)" 512
must blkdiscard "$DEV"
check_eq 'discards give it its room back' "$(pool_chunks)" 0
check_eq 'and what was cached is gone' "$(match 1)" 0
written=$(blkpattern -g 1 fill "$DEV" | value_of match)
check_that 'it takes writes until it is full' "$written > 16 * 256 && $written <= 24 * 256"
# Of a write that fails a part may be there.
check_that 'what it took is read, and hardly more' "$(match 1) >= $written && $(match 1) <= 24 * 256"
pool_make $DATA_MIB
check 'when it has grown it takes all' blkpattern -g 2 fill "$DEV"
check_eq 'which is read' "$(match 2)" $((DATA_MIB * 256))
must dmsetup remove --retry muster
must dmsetup remove --retry muster-x
must dmsetup remove --retry muster-pool

file_make /dev/musterdata 32M
w2r_make muster "$loop" 8
cached 'a file' "$DEV"
races 'a file' "$DEV"
must dmsetup remove --retry muster
file_drop

finish
