#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# File systems on mswap: a tree of files survives unmounting, fsck finds nothing, fsync reaches the backing
# device as a flush, fstrim gives slots back.
# timeout: 240
# kernels: all

. "$(dirname "$0")/lib.sh"
# shellcheck source=tracing.sh
. "$(dirname "$0")/tracing.sh"

plan 18

make_tree() {
	local i

	mkdir -p "$1/a/b" "$1/c" && cp -a /usr/share/doc/dmsetup /bin/bash "$1/a" || return
	for ((i = 1; i <= 40; i++)); do
		seq $((i * 1000000)) $((i * 1000700)) >"$1/c/$i" || return
	done
	fallocate -l 4M "$1/a/b/hole" && seq 1000000 2150000 >"$1/a/b/large"
}

sums_of() {
	(cd "$1" && find . -type f -print0 | sort -z | xargs -0 md5sum)
}

# tree_survives NAME FSCK...: makes a tree on the mounted device, and looks at it once more from the device.
tree_survives() {
	local name=$1 sums
	shift

	must mount "$MSWAP" "$WORK/mnt"
	must make_tree "$WORK/mnt"
	sums=$(sums_of "$WORK/mnt")
	must umount "$WORK/mnt"
	check "$name: fsck finds nothing" "$@" "$MSWAP"
	must mount "$MSWAP" "$WORK/mnt"
	check_that "$name: there are files" "$(wc -l <<<"$sums") > 40"
	check_eq "$name: every file is as it was" "$(sums_of "$WORK/mnt")" "$sums"
}

fsync_file() {
	dd if=/dev/urandom of="$WORK/mnt/synced" bs=64k count=1 conv=fsync status=none
}

# memory_backed with a cache makes null_blk take flushes.
must null_make muster0 512 blocksize=512 cache_size=16 queue_mode=2
mswap_add /dev/muster0

check 'mkfs.ext4' mkfs.ext4 -qF "$MSWAP"
tree_survives ext4 e2fsck -fn
flushes=$(stat_of /dev/muster0 16)
check 'a file is synced' fsync_file
check_that 'and its flush reached the backing device' "$(stat_of /dev/muster0 16) > $flushes"

before=$(get_settled slots_used)
must rm -r "$WORK/mnt/a"
must sync -f "$WORK/mnt"
discards=$(get discards)
check 'fstrim' fstrim "$WORK/mnt"
check_that 'fstrim frees slots' "$(get_settled slots_used) < $before - 2304"
check_that 'and they are counted' "$(get discards) >= $discards + 2304"
must umount "$WORK/mnt"
check 'fsck finds nothing after the trim' e2fsck -fn "$MSWAP"

must wipefs -qa "$MSWAP"
check 'mkfs.xfs' mkfs.xfs -qf "$MSWAP"
tree_survives xfs xfs_repair -n
must umount "$WORK/mnt"
check_eq 'a write that must last is told so below' \
	"$(lasting_writes /dev/muster0 dd if=/dev/zero of="$MSWAP" bs=4k count=8 oflag=direct,dsync status=none)" 8
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'
must mswap_set reset 1
check 'a reset device can be synced' timeout 20 sync "$MSWAP"
check 'the device can be removed' mswap_remove "$MSWAP"

finish
