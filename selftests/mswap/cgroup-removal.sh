#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Memory cgroups are removed while pages that were charged to them are in swap and still being written: tmpfs files
# outlive the cgroup of who wrote them, and are read back whole.
# kernels: all
# timeout: 240

. "$(dirname "$0")/lib.sh"

plan 8

# written_by NAME: a copy of the source, written from a cgroup of its own that holds a third of it and then goes.
written_by() {
	local group=$CGROUP-$1

	mkdir "$group" && echo 8M >"$group/memory.high" || return
	(
		echo "$BASHPID" >"$group/cgroup.procs" &&
			exec dd if="$WORK/source" of="$WORK/tmpfs/$1" bs=64K status=none
	) || return
	wait_until 10 rmdir "$group"
}

all_written() {
	local n

	for n in 1 2 3 4 5 6; do
		written_by "$n" || return
	done
}

all_whole() {
	local n

	for n in 1 2 3 4 5 6; do
		cmp "$WORK/source" "$WORK/tmpfs/$n" || return
	done
}

# 24 MiB.
make_source() {
	seq 10000000 12796201 >"$WORK/source"
}

must null_make muster0 320
must mount -o remount,size=128M "$WORK"
must mount -t tmpfs -o size=256M none "$WORK/tmpfs"
must make_source
mswap_add /dev/muster0
must swap_start "$MSWAP"
must cgroup_make max

check 'six cgroups write and are removed' all_written
check_eq 'none of them is left' "$(compgen -G "$CGROUP-*")" ''
check_that 'their pages are in swap' "$(get slots_used) > 6 * 2048"
check 'all is read back as written' all_whole
check 'again, while they are written over' all_written
check 'all is read back once more' all_whole
must umount "$WORK/tmpfs"
check 'swapoff' swapoff "$MSWAP"
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'

finish
