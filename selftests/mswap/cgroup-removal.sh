#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Memory cgroups are removed while pages that were charged to them are in swap and still being written: tmpfs files
# outlive the cgroup of who wrote them, and are read back whole.
# kernels: all
# asked-for: 6.1
# timeout: 240
# races: 6.12

. "$(dirname "$0")/lib.sh"

plan 10

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

# late MS: writes to what lies below take so long.
late() {
	dm_make muster "0 $(sectors_of /dev/muster0) delay /dev/muster0 0 0 /dev/muster0 0 $1"
}

writes_held() {
	(($(late_below writes muster) > 0 && $(get copies_held) > 0))
}

# A cgroup goes that has written 1 MiB, less than there are copies for; all of it has left memory and is held below.
removed_while_written() {
	local group=$CGROUP-held

	mkdir "$group" || return
	(
		echo "$BASHPID" >"$group/cgroup.procs" && exec head -c 1M "$WORK/source" >"$WORK/tmpfs/held"
	) || return
	echo 0 >"$group/memory.high" && wait_until 10 writes_held && wait_until 10 rmdir "$group" && writes_held
}

# 24 MiB.
make_source() {
	seq 10000000 12796201 >"$WORK/source"
}

must null_make muster0 320
must modprobe dm-delay
must late 0
must mount -o remount,size=128M "$WORK"
must mount -t tmpfs -o size=256M none "$WORK/tmpfs"
must make_source
mswap_add /dev/mapper/muster
must swap_start "$MSWAP"
must cgroup_make max

check 'six cgroups write and are removed' all_written
check_eq 'none of them is left' "$(compgen -G "$CGROUP-*")" ''
check_that 'their pages are in swap' "$(get slots_used) > 6 * 2048"
check 'all is read back as written' all_whole
check 'again, while they are written over' all_written
check 'all is read back once more' all_whole
on_exit late 0
must late $HELD
check 'one is removed while its pages are being written' removed_while_written
must late 0
check 'they are read back as written' cmp -n 1048576 "$WORK/source" "$WORK/tmpfs/held"
must umount "$WORK/tmpfs"
check 'swapoff' swapoff "$MSWAP"
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'

finish
