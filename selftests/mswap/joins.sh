#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Reads of many pages that meet one under way: they join it, or in part, or read what they want once more, in one I/O.
# timeout: 120
# kernels: all
# asked-for: 6.1

. "$(dirname "$0")/lib.sh"

plan 8

# read_under_way NAME FIRST N: one I/O for so many blocks, which nothing brings yet.
read_under_way() {
	blkpattern -b "$3" -f "$2" -n "$3" scan "$MSWAP" >"$WORK/$1" &
}

must modprobe dm-delay
must null_make muster0 64
sectors=$(blockdev --getsz /dev/muster0)
good="0 $sectors linear /dev/muster0 0"
must dm_make muster "$good"
mswap_add /dev/mapper/muster readahead=on
# One I/O: a run is what one CPU writes, and where a machine is busy another may write the second of two.
must blkpattern -n 128 -b 128 fill "$MSWAP"
must dm_make muster "0 $sectors delay /dev/muster0 0 $HELD"
on_exit dm_make muster "$good"

read_under_way first 0 1
must wait_until 10 gives dev_reads 1
read_under_way all 10 32
check 'all of a read joins the window that is under way' wait_until 10 gives pages_in_waiting 32
check 'and has the next window read' wait_until 10 gives dev_reads 2
read_under_way some 48 32
check 'what is on its way by two reads joins both' wait_until 10 gives pages_in_waiting 64
check_eq 'and is not read once more' "$(get dev_reads)" 2
for slot in {64..79}; do
	read_under_way "$slot" "$slot" 1
done
check 'sixteen more join the second' wait_until 10 gives pages_in_waiting 80
read_under_way again 0 32
check 'what begins with a page that another waits for is read once more by one' wait_until 10 gives dev_reads 3
must dm_make muster "$good"
wait
check_eq 'all get their pages' "$(matches "$WORK"/{first,all,some,again,{64..79}})" 113
check_eq 'with three I/Os' "$(get dev_reads)" 3

finish
