#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Who pays for I/O on the device below: what is read is on the account of the cgroup that reads; what is written from
# copies, or for several cgroups at once, is on no cgroup's, so that one which may hardly write there does not hold up what
# all have swapped out.
# kernels: all
# asked-for: 6.1
# timeout: 400

. "$(dirname "$0")/lib.sh"
# shellcheck source=cgroups.sh
. "$(dirname "$0")/cgroups.sh"

plan 14

swaps() {
	limited 16M pagestride -c 1 -k 0 -s 48 --write-on-readback
}

must null_make muster0 256
mswap_add /dev/muster0
must swap_start "$MSWAP"
must cgroup_make 16M
controller_on io
start=$SECONDS
check_program 'a program swaps' swaps
patience=$((30 + 3 * (SECONDS - start))) # seconds
wrote=$(($(get_settled dev_pages_written) * 4096))
check_that 'the cgroup wrote to the swap device' "$(io_of "$MSWAP" wbytes) > 32 << 20"
copied=$(($(get pages_out_copied) * 4096))
check_that 'mswap wrote copies' "$copied > 16 << 20"
check_le 'which are not on its account' "$(io_of /dev/muster0 wbytes)" $((wrote - copied))
check_that 'what was read is' "$(io_of /dev/muster0 rbytes) > 32 << 20"
diag "on the device: $wrote bytes, $copied by copy; of the cgroup: $(io_of /dev/muster0 wbytes)"

# So little that it would take four times that, and still not where, for want of free copies, some pages are its own I/O.
if [[ -e $CGROUP/io.max ]]; then
	number=$(number_of /dev/muster0)
	must put "$number wbps=$((wrote / (4 * patience)))" "$CGROUP/io.max"
	start=$SECONDS
	check_program 'one that may write little there swaps as well' swaps
	check_le 'and does not wait for that' $((SECONDS - start)) "$patience"
	must put "$number wbps=max" "$CGROUP/io.max"
else
	skip 'one that may write little there swaps as well' 'the kernel has no io.max'
	skip 'and does not wait for that' 'the kernel has no io.max'
fi
check_settles 'nothing waits to be written' copies_held 0
check 'swapoff' swapoff "$MSWAP"
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'

# holder NAME: a cgroup of its own in which a program has 24 MiB, until somebody reads its pipe.
holder() {
	local group=$CGROUP/$1

	must mkdir "$group"
	on_exit rmdir "$group"
	must mkfifo "$WORK/pipe-$1"
	(
		echo "$BASHPID" >"$group/cgroup.procs"
		head -c 24M /dev/zero | tr '\0' "$1" | tail -c 24M 1<>"$WORK/pipe-$1"
	) &
}

holds() {
	(($(<"$CGROUP/$1/memory.current") > 24 << 20))
}

# Reclaim of the whole machine goes from cgroup to cgroup under one plug. What it asks for need not be there, and it takes
# page cache first.
reclaim_all() {
	local name

	put 40M /sys/fs/cgroup/memory.reclaim 2>/dev/null
	for name in a b; do
		(($(<"$CGROUP/$name/memory.swap.current") > 4 << 20)) || return
	done
}

# account NAME: bytes that the cgroup wrote on the device below, less what it has in swap.
account() {
	local CGROUP=$CGROUP/$1

	echo $(($(io_of /dev/muster0 wbytes) - $(<"$CGROUP/memory.swap.current")))
}

if [[ -e /sys/fs/cgroup/memory.reclaim ]]; then
	must put 0 "$SYS/batch_usecs"
	must swap_start "$MSWAP"
	must put max "$CGROUP/memory.high"
	must put max "$CGROUP/memory.max"
	must put '+memory +io' "$CGROUP/cgroup.subtree_control"
	on_exit put '-memory -io' "$CGROUP/cgroup.subtree_control"
	reclaim_asks_all
	holder a
	holder b
	for name in a b; do
		must wait_until 60 holds $name
	done
	must put 3 /proc/sys/vm/drop_caches
	written=$(get dev_pages_written)
	check 'programs of two cgroups are swapped out together' wait_until 20 reclaim_all
	diag "$(($(get_settled dev_pages_written) - written)) pages written meanwhile"
	for name in a b; do
		check_that "$name pays for no more than its own" "$(account $name) <= 1 << 20"
	done
	sums=$(for name in a b; do md5sum <"$WORK/pipe-$name"; done)
	check_eq 'and their memory is what it was' "$sums" \
		"$(for name in a b; do head -c 24M /dev/zero | tr '\0' $name | md5sum; done)"
	wait
else
	for name in 'together' 'a pays' 'b pays' 'memory'; do
		skip "programs of two cgroups: $name" 'the kernel has no memory.reclaim'
	done
fi

finish
