#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Writes that end in another order than they were sent: of a slot that was written anew meanwhile, or freed, nothing of
# the old content comes back, neither from the copy nor when its write ends at last. A device that goes while its bad
# slots are looked for has none. And what others have written to a partition, through the disk that it is of, or the other
# way round, is not written over what swap has there.
# timeout: 240
# kernels: all
# expect-dmesg: write of .* of the backing device failed

. "$(dirname "$0")/lib.sh"

plan 21

SLOT=8 # sectors
COPIES=512

slots_are_tried() {
	(($(late_below writes muster-slow) > 0))
}

must modprobe dm-delay
must null_make muster0 64
sectors=$(blockdev --getsz /dev/muster0)
edge=$(((EDGE + COPIES) * SLOT))
good="0 $sectors linear /dev/muster0 0"
must dm_make muster "$good"
mswap_add /dev/mapper/muster
must swap_start "$MSWAP"

# Writes to the first slots are held: the first pages, taken over by copy, go there, and what they are overwritten with,
# for which no copy is left, goes elsewhere.
must dm_make muster "0 $edge delay /dev/muster0 0 0 /dev/muster0 0 $HELD
$edge $((sectors - edge)) linear /dev/muster0 $edge"
on_exit dm_make muster "$good"
check_program 'pages written anew while their first write is under way' hugecheck -P -n 1 -s 4 -r 2
late=$(late_below writes muster)
check_that 'it was under way to the end' "$late > 0"
check_that 'pages were taken over by copy' "$(get pages_out_copied) > $COPIES / 2"
check_that 'and others not' "$(get pages_out_copied) < $(get pages_out)"
check 'the first write ends' dm_make muster "$good"
check_settles 'no copy is left' copies_held 0
must swapoff "$MSWAP"
check_that 'and no slot but that of the swap header' "$(get_settled slots_used) <= 1"

# What is on its way to slots that nobody needs any more is waited for: the device stores nothing.
must swapon "$MSWAP"
must dm_make muster "0 $sectors delay /dev/muster0 0 0 /dev/muster0 0 $HELD"
check_program 'pages whose first write never ends' dropcheck -n 1 -s 1 -r 1
must swapoff "$MSWAP"
must blkdiscard "$MSWAP"
mswap_set disksize 32M &
sizing=$!
sleep 1
check_that 'there are such writes' "$(late_below writes muster) > 0"
check 'nothing changes meanwhile' kill -0 $sizing
must dm_make muster "$good"
wait $sizing
check_eq 'then the size of the device can change' $? 0

# One of 64 slots is bad, so that each is tried alone, and a minute goes by before its turn. What is slow lies below what
# is changed: a delay that is to be suspended lets all through at once.
must wait_until 5 mswap_set reset 1
must dm_make muster-slow "0 $sectors delay /dev/muster0 0 0 /dev/muster0 0 1000"
from=$(((EDGE + 60) * SLOT)) end=$(((EDGE + 61) * SLOT))
must dm_make muster "0 $from linear /dev/mapper/muster-slow 0
$from $SLOT error
$end $((sectors - end)) linear /dev/mapper/muster-slow $end"
must mswap_set backing_dev /dev/mapper/muster
check_eq 'a write goes well in spite of a bad slot' "$(blkpattern -n 64 -b 64 fill "$MSWAP" | value_of match)" 64
check_that 'written once more' "$(get write_retries) > 0"
must wait_until 10 slots_are_tried
must dm_make muster "0 $sectors error"
check_settles 'no slot is lost by a device that goes meanwhile' slots_used 64
check_eq 'and none is bad' "$(get_settled slots_retired)" 0
must dm_make muster "$good"
check_eq 'when it is back the data is there' "$(blkpattern -n 64 scan "$MSWAP" | value_of match)" 64

# dd's end writes nothing, since it is not the last who has the disk open. An MBR counts in blocks, here of 4 KiB.
must wait_until 5 mswap_set reset 1
must null_make muster1 64
must mbr_make /dev/muster1 203 256 $((48 << 8))
must blockdev --rereadpt /dev/muster1
part=$(readlink -f /dev/muster1)p1
check_eq 'there is a partition of 48 MiB' "$(blockdev --getsize64 "$part")" $((48 << 20))
exec 8<>/dev/muster1
must dd if=/dev/zero of=/dev/muster1 bs=1M seek=1 count=16 conv=notrunc status=none
must mswap_set backing_dev "$part"
check_eq 'it is written to' "$(blkpattern -n 1024 fill "$MSWAP" | value_of match)" 1024
must sync
exec 8>&-
check_eq 'what was written to the disk before is not written over that' \
	"$(blkpattern -n 1024 scan "$MSWAP" | value_of match)" 1024
must wait_until 5 mswap_set reset 1

# The same the other way round: the disk, while somebody has the partition open.
exec 8<>"$part"
must dd if=/dev/zero of="$part" bs=1M count=16 conv=notrunc status=none
must mswap_set backing_dev /dev/muster1
check_eq 'the disk is written to' "$(blkpattern -n 1024 -g 2 fill "$MSWAP" | value_of match)" 1024
must sync
exec 8>&-
check_eq 'what was written to a partition before is not written over that' \
	"$(blkpattern -n 1024 -g 2 scan "$MSWAP" | value_of match)" 1024
must wait_until 5 mswap_set reset 1

finish
