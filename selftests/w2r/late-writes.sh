#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An origin that takes long to write: what is read while a write, a discard or zeroing is under way is not what is cached
# when that has ended. And what others write to the page cache of the origin's disk, before the target is made or before
# it is told to forget, is what it reads.
# timeout: 180
# kernels: all
# expect-dmesg: (Buffer I/O error on|I/O error,) dev (muster|nullb)

# Functions are called by name, by check and must.
# shellcheck disable=SC2317

. "$(dirname "$0")/lib.sh"

plan 17

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

# write_beneath MIB: its end writes nothing, since it is not the last who has the disk open.
write_beneath() {
	dd if=/dev/urandom of=/dev/muster1 bs=1M seek="$1" count=1 conv=notrunc status=none
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

# An MBR counts in blocks, here of 4 KiB.
must null_make muster1 8
must mbr_make /dev/muster1 203 $MIB $((6 * MIB))
must blockdev --rereadpt /dev/muster1
part=$(readlink -f /dev/muster1)p1
exec 8<>/dev/muster1
must write_beneath 1
w2r_make muster-p "$part" 8
must touch_range "$DEV" 0 $((2 * MIB))
must sync
check_eq 'what was written through the disk before the target was made is read' "$(sum_range "$DEV" 0 $MIB)" \
	"$(sum_range "$part" 0 $MIB)"
must write_beneath 2
must dmsetup message muster-p 0 invalidate "0-$(($(sectors_of "$DEV") - 1))"
must touch_range "$DEV" 0 $((2 * MIB))
must sync
check_eq 'and what was before it was told to forget' "$(sum_range "$DEV" $MIB $MIB)" "$(sum_range "$part" $MIB $MIB)"
must null_spoil muster1 10
must dd if=/dev/urandom of=/dev/muster1 bs=4k seek=10 count=1 conv=notrunc status=none
must dd if=/dev/urandom of="$part" bs=1M seek=2 count=1 conv=notrunc status=none
must dmsetup message muster-p 0 invalidate "0-$(($(sectors_of "$DEV") - 1))"
must touch_range "$DEV" $((2 * MIB)) $MIB
must sync
check_eq 'also if what lies beside it on the disk cannot be written' "$(sum_range "$DEV" $((2 * MIB)) $MIB)" \
	"$(sum_range "$part" $((2 * MIB)) $MIB)"
exec 8>&-
must dmsetup remove --retry muster-p

finish
