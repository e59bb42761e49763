#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What zswap writes back comes page by page, from a worker that holds no plug: it is gathered all the same.
# timeout: 240
# asked-for: 6.12

. "$(dirname "$0")/lib.sh"

ZSWAP=/sys/module/zswap/parameters
[[ -d $ZSWAP ]] || skip_all 'this kernel has no zswap'

plan 4

# Compresses well: what zswap keeps counts as the cgroup's memory.
text() {
	seq -f 'a line of text with one number in it: %.0f' 1 400000 | head -c 16M
}

# The cgroup may keep half of it.
fill() {
	text | limited 8M sh -c "cat >$WORK/tmpfs/$1"
}

# zswap_set NAME VALUE: as it was before, when the test ends.
zswap_set() {
	on_exit put "$(<"$ZSWAP/$1")" "$ZSWAP/$1"
	put "$2" "$ZSWAP/$1"
}

must null_make muster0 128
mswap_add /dev/muster0 batch_usecs=10000
must swap_start "$MSWAP"
must mount -t tmpfs -o size=64M none "$WORK/tmpfs"
# Before swapoff: in the cgroup there is no room for it all.
on_exit umount "$WORK/tmpfs"
[[ ! -e $ZSWAP/zpool ]] || must zswap_set zpool zsmalloc
must zswap_set max_pool_percent 20
must zswap_set enabled Y
must fill first
check_le 'zswap keeps what goes out' "$(get pages_out)" 100
must zswap_set max_pool_percent 0
must fill second
check_that 'until it has no place any more' "$(get_settled pages_out) > 4096"
check_that 'then its pages are written together' "$(get dev_pages_written) >= 4 * $(get dev_writes)"
check_eq 'and come back as they were' "$(cat "$WORK"/tmpfs/{first,second} | md5sum)" "$( (text; text) | md5sum)"

finish
