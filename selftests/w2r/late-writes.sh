#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An origin that takes long to write: what is read while a write, a discard or zeroing is under way is not what is cached
# when that has ended.
# timeout: 180
# kernels: all

# Functions are called by name, by check and must.
# shellcheck disable=SC2317

. "$(dirname "$0")/lib.sh"

plan 14

MIB=256 # blocks

hold_writes() {
	dm_make muster-o "0 $sectors delay /dev/muster0 0 0 /dev/muster0 0 $HELD"
}

# A delay that is taken away lets through what it holds.
let_go() {
	dm_make muster-o "0 $sectors linear /dev/muster0 0"
}

write_is_under_way() {
	(($(late_below writes muster-o) > 0))
}

# late NAME FIRST N COMMAND...: three results: N blocks from FIRST on are read while the command is under way, which
# changes them, and once more after it.
late() {
	local name=$1 first=$2 n=$3 changer before
	shift 3

	before=$(sum_range /dev/muster0 "$first" "$n")
	must hold_writes
	"$@" &
	changer=$!
	must wait_until 30 write_is_under_way
	must touch_range "$DEV" "$((first - 8))" 8
	check_eq "$name: meanwhile the old blocks are read" "$(sum_range "$DEV" "$first" "$n")" "$before"
	must let_go
	wait "$changer" || diag "$* failed"
	check_not "$name: it changed them" test "$(sum_range /dev/muster0 "$first" "$n")" = "$before"
	check_eq "$name: then the new ones" "$(sum_range "$DEV" "$first" "$n")" "$(sum_range /dev/muster0 "$first" "$n")"
}

write_blocks() {
	dd if=/dev/urandom of="$VIEW" bs="$2" seek="$1" count=1 oflag=direct,seek_bytes conv=notrunc status=none
}

must modprobe dm-delay
must null_make muster0 64
must blkpattern -o 5 fill /dev/muster0
sectors=$(sectors_of /dev/muster0)
must let_go
w2r_make muster /dev/mapper/muster-o 32 readahead on planner obl
# Who reads a device waits for a discard of that one to end, so changes come by way of another.
must dm_make muster-view "0 $(sectors_of "$DEV") linear $DEV 0"
on_exit dmsetup remove --retry muster-view
on_exit let_go
VIEW=/dev/mapper/muster-view

late 'a write' $((2 * MIB)) 1 write_blocks 2M 4096
late 'a write of many blocks' $((3 * MIB - 100)) 200 write_blocks $(((3 * MIB - 100) * 4096)) 800K
must touch_range "$DEV" $((6 * MIB)) $MIB
late 'a discard' $((6 * MIB)) 32 blkdiscard -o 6M -l 512K "$VIEW"
late 'a large discard' $((8 * MIB)) 64 blkdiscard -o 8M -l 4M "$VIEW"
check_that 'some reads were not kept' "$(w2r_get bypassed) > 0"
check_eq 'every block is accounted for' "$(unaccounted)" 0

finish
