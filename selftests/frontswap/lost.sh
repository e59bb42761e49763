#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Somebody reads a page in a program's memory that cannot be read back, and the kernel reads its neighbours along: he is
# killed, and the program gets a SIGBUS for the neighbours, never zeros.
# timeout: 120
# kernels: 5.10
# stays: mswap mswap_frontswap
# expect-dmesg: read of .* of the backing device failed
# expect-dmesg: reads no longer pass over slots
# expect-dmesg: is killed: a page of it cannot be read back
# expect-dmesg: hardware memory corruption fault

. "$(dirname "$0")/lib.sh"

plan 5

MIB=16

# middle_of PID: the number of the page in the middle of the memory that buscheck has filled.
middle_of() {
	local range from to

	while read -r range _; do
		from=$((16#${range%-*})) to=$((16#${range#*-}))
		if ((to - from >= MIB << 20)); then
			echo $(((from + to) / 2 / 4096))
			return
		fi
	done <"/proc/$1/maps"
}

must null_make muster0 64
sectors=$(blockdev --getsz /dev/muster0)
must dm_make muster "0 $sectors linear /dev/muster0 0"
fswap_start /dev/mapper/muster
must null_make muster1 64
must swap_start /dev/muster1
cluster=$(show /proc/sys/vm/page-cluster)
on_exit put "$cluster" /proc/sys/vm/page-cluster
must put 3 /proc/sys/vm/page-cluster

buscheck_start 10M $MIB
check_settles 'all is written' copies_held 0
owner=$(<"$CGROUP/cgroup.procs")
page=$(middle_of "$owner")
# How much it reads along follows from what came of its last reads; after this it is all that it may.
must dd if="/proc/$owner/mem" of=/dev/null bs=4096 skip=$((page - 1024)) count=64 status=none
must dm_make muster "0 $sectors error"
dd if="/proc/$owner/mem" of=/dev/null bs=4096 skip="$page" count=1 2>/dev/null
check_eq 'who reads a page of another is killed' $? 137
must dm_make muster "0 $sectors linear /dev/muster0 0"
# What the swap cache lets go of would be read once more, and be right.
must put max "$CGROUP/memory.max"
must put max "$CGROUP/memory.high"
buscheck_read
check_that 'the program gets a SIGBUS for what was read along' "$(value_of sigbus <<<"$seen") >= 4"
# That one was put into its memory before anybody could object.
check_le 'and sees zeros in no page but the one asked for' "$(value_of bad <<<"$seen")" 1
buscheck_end
must swapoff /dev/muster1
check_settles 'no slot is left' slots_used 0

finish
