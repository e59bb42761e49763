#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A file system's reads of metadata do not wait for what another cgroup prefetches and is kept from by its limit.
# timeout: 180

. "$(dirname "$0")/lib.sh"

plan 5

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
must tee /sys/fs/cgroup/cgroup.subtree_control <<<'+io' >/dev/null
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
diag "$(w2r_get waited) reads waited, $(w2r_get origin_reads) I/Os, in $((SECONDS - start)) s"
must umount "$WORK/mnt"
must put "$number rbps=max" "$CGROUP/io.max"
check_eq 'every block is accounted for' "$(unaccounted)" 0

finish
