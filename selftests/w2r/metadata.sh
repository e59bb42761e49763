#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A file system's reads of metadata do not wait for what another cgroup prefetches and is kept from by its limit; for what
# no limit can hold back they do.
# timeout: 180
# kernels: all
# asked-for: 5.10 6.1 newest

. "$(dirname "$0")/lib.sh"
# shellcheck source=../mswap/cgroups.sh
. "$(dirname "$0")/../mswap/cgroups.sh"

plan 8

FILES_MADE=600 # whose inodes are 16 to a block

make_files() {
	local i

	for ((i = 0; i < FILES_MADE; i++)); do
		: >"$WORK/mnt/$i" || return
	done
}

# Reads block $1 as one of the cgroup.
read_limited() {
	(echo "$BASHPID" >"$CGROUP/cgroup.procs" && touch_range "$DEV" "$1" 1)
}

must cgroup_make max
controller_on io
[[ -e $CGROUP/io.max ]] || skip_all 'the kernel has no io.max'
must null_make muster0 64
w2r_make muster /dev/muster0 16 readahead on planner near
must mkfs.ext4 -qF -b 4096 -O ^flex_bg,^has_journal -E lazy_itable_init=0 "$DEV"
must mount -o inode_readahead_blks=0 "$DEV" "$WORK/mnt"
must make_files
sync -f "$WORK/mnt"
inodes=$(dumpe2fs "$DEV" 2>/dev/null | sed -n 's/.*Inode table at \([0-9]*\)-.*/\1/p' | head -n 1)
check_that 'the inodes lie somewhere' "${inodes:-0} > 0"

number=$(number_of /dev/muster0)
on_exit put "$number rbps=max" "$CGROUP/io.max"
must put "$number rbps=2048" "$CGROUP/io.max"
must put 3 /proc/sys/vm/drop_caches
must dmsetup message muster 0 "invalidate 0-$(($(sectors_of "$DEV") - 1))"
must dmsetup message muster 0 clear_stats
must read_limited $((inodes + 16))
check_that 'blocks are prefetched, which takes many seconds' "$(w2r_get prefetched) > 10"
start=$SECONDS
check 'the inodes are read' stat -c %s "$WORK/mnt"/*
check_le 'without waiting for that' $((SECONDS - start)) 15
check_that 'which is on its way still' "$(io_of /dev/muster0 rbytes) < 31 * 4096"
diag "$(w2r_get waited) reads waited, $(w2r_get origin_reads) I/Os, in $((SECONDS - start)) s"
must umount "$WORK/mnt"
must put "$number rbps=max" "$CGROUP/io.max"
check_eq 'every block is accounted for' "$(unaccounted)" 0

# The inodes of a block beside $1, of those of the file system, are on their way: the number of a file of these.
file_beside() {
	echo $((((($1) ^ 1) - inodes) * 16 - 11))
}

prefetching() {
	(($(w2r_get prefetched) > 10))
}

one_waits() {
	(($(w2r_get waited) > 0))
}

# late MS: reads of what lies below the target take so long.
late() {
	dm_make muster-late "0 $(sectors_of /dev/muster0) delay /dev/muster0 0 $1 /dev/muster0 0 0"
}

# ext4 does so by itself up to 5 s after it was mounted, and the inodes lie near: what is prefetched would be here.
read_bitmaps() {
	cat "/proc/fs/ext4/$(basename "$(dm_folder muster)")/mb_groups" >"$WORK/groups"
}

must modprobe dm-delay
must late 0
w2r_make muster /dev/mapper/muster-late 16 readahead on planner near
must mount -o inode_readahead_blks=0 "$DEV" "$WORK/mnt"
must put 1 /proc/sys/vm/drop_caches # and no more: the cache would give its blocks back
must read_bitmaps
must ls -f "$WORK/mnt" >/dev/null
must dmsetup message muster 0 "invalidate 0-$(($(sectors_of "$DEV") - 1))"
must dmsetup message muster 0 clear_stats
must late $HELD
on_exit late 0
touch_range "$DEV" $((inodes + 16)) 1 &
must wait_until 10 prefetching
stat -c %s "$WORK/mnt/$(file_beside $((inodes + 16)))" >"$WORK/size" &
check 'what no limit holds back is waited for' wait_until 10 one_waits
must late 0
wait
check_eq 'it comes' "$(<"$WORK/size")" 0
must umount "$WORK/mnt"

finish
