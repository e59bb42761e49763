#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# No read ever gives what it should not: racing reads and writes with every policy and planner, fio's
# verification, and a file system much larger than the cache.
# timeout: 800
# kernels: all
# asked-for: 6.1
# races: all

# Functions are called by name, by check and must.
# shellcheck disable=SC2317

. "$(dirname "$0")/lib.sh"
# shellcheck source=../mswap/tracing.sh
. "$(dirname "$0")/../mswap/tracing.sh"

plan 31

# racing NAME MIB "OPTION VALUE..." BLKCHECK_OPTIONS...
racing() {
	# shellcheck disable=SC2086
	w2r_make muster /dev/muster0 "$2" $3
	check_program "$1" blkcheck -DA "${@:4}" "$DEV"
	check_that "$1: blocks came out of the cache" "$(w2r_get hits_weighing) + $(w2r_get hits_waiting) > 0"
}

# Three times what the cache holds, in files of all sizes.
make_tree() {
	local i

	mkdir -p "$1/a/doc" && cp -a /usr/share/doc/[!l]* "$1/a/doc" && cp -a /bin/bash "$1/a" || return
	for ((i = 1; i <= 60; i++)); do
		seq $((i * 1000000)) $((i * 1000900)) >"$1/$i" || return
	done
	seq 10000000 11400000 >"$1/large"
}

holds() {
	(($(w2r_get weighing_blocks) + $(w2r_get waiting_blocks) >= $1))
}

may_hold() {
	(($(w2r_get capacity_blocks) >= $1))
}

sums_of() {
	(cd "$1" && find . -type f -print0 | sort -z | xargs -0 md5sum)
}

verify() {
	fio --name=verify --filename="$DEV" --direct=1 --rw=randrw --bsrange=4k-128k --size=32M --io_size=32M \
		--ioengine=libaio --iodepth=16 --verify=crc32c --verify_backlog=64 --time_based=0 "$@"
}

flushes_of_origin() {
	stat_of /dev/muster1 16
}

must null_make muster0 64 irqmode=2 completion_nsec=50000
racing 'paper pair, one block ahead' 8 'policy lru planner obl readahead on lookahead 1' -s 1 -t 3 -r 3
racing 's3fifo, streams, plain index' 8 'policy s3fifo planner stream readahead on index plain' -s 1 -t 3 -r 3
racing 'arc, patterns' 4 'policy arc planner pattern readahead on' -s 1 -t 3 -r 3
racing 'few blocks, many races' 8 'readahead on' -s 1 -t 2 -r 4 -S 2
racing 'blocks of 64 KiB' 8 'block_kib 64 readahead on planner stream' -s 1 -t 3 -r 3
racing 'the defaults, all cached' 128 '' -s 1 -t 3 -r 3 -S 24
check_eq 'every block is accounted for' "$(unaccounted)" 0

w2r_make muster /dev/muster0 128
blkcheck -DA -s 3600 -t 3 -r 3 -S 24 "$DEV" >"$WORK/out" 2>&1 &
checker=$!
must wait_until 30 holds 6000
capacity=$(w2r_get capacity_blocks)
must put 2 /proc/sys/vm/drop_caches
reclaimed=$(w2r_get reclaimed)
check_that 'the kernel takes blocks that are read and written' "$reclaimed > 5000"
check 'to be dropped is no want of memory: they may come back soon' wait_until 5 may_hold "$capacity"
kill $checker
wait $checker
check_eq 'none of which was wrong' "$? $(verified_pages <"$WORK/out" | grep -c .)" '0 1'
diag "reclaimed $reclaimed blocks; $(tail -n 1 "$WORK/out")"
check_eq 'nor is one lost' "$(unaccounted)" 0

# Only what the origin delivered may be cached, whatever the reader does with his memory meanwhile.
w2r_make muster /dev/muster0 32 readahead off
check_eq 'every block has its own content' "$(blkpattern -g 7 -n 4096 fill "$DEV" | value_of match)" 4096
check_eq 'blocks are read into one page' "$(blkpattern -A -n 4096 -b 32 scan "$DEV" | value_of errors)" 0
check_eq 'and none of them is wrong for the next reader' \
	"$(blkpattern -g 7 -n 4096 scan "$DEV" | value_of match)" 4096
check_that 'to whom they came out of the cache' "$(w2r_get hits_weighing) + $(w2r_get hits_waiting) >= 4096"

w2r_make muster /dev/muster0 8 readahead on
check 'fio: random reads and writes verified' verify
w2r_make muster /dev/muster0 8 block_kib 32 readahead on
check 'fio: the same with blocks of 32 KiB' verify

w2r_make muster /dev/muster0 8
must mkfs.ext4 -qF "$DEV"
must mount "$DEV" "$WORK/mnt"
must make_tree "$WORK/mnt"
sums=$(sums_of "$WORK/mnt")
must umount "$WORK/mnt"
check 'fsck through the cache finds nothing' e2fsck -fn "$DEV"
must mount "$DEV" "$WORK/mnt"
check_that 'there are files' "$(wc -l <<<"$sums") > 60"
check_eq 'every file is as it was, through the cache' "$(sums_of "$WORK/mnt")" "$sums"
must umount "$WORK/mnt"
must dmsetup remove --retry muster
must mount -o ro /dev/muster0 "$WORK/mnt"
check_eq 'and on the origin' "$(sums_of "$WORK/mnt")" "$sums"
must umount "$WORK/mnt"
check 'fsck of the origin finds nothing' e2fsck -fn /dev/muster0

must null_make muster1 64 cache_size=16 queue_mode=2
w2r_make muster /dev/muster1 8
flushes=$(flushes_of_origin)
check 'a flush' dd if=/dev/null of="$DEV" conv=fsync,notrunc status=none
check_that 'goes down' "$(flushes_of_origin) > $flushes"
check_eq 'a write that must last is told so below' \
	"$(lasting_writes /dev/muster1 dd if=/dev/zero of="$DEV" bs=4k count=8 oflag=direct,dsync status=none)" 8

finish
