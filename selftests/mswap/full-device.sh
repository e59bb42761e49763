#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A device that is 100 % full can be overwritten again and again, and swap can be filled to the last slot.
# timeout: 240
# kernels: all
# asked-for: 6.1

. "$(dirname "$0")/lib.sh"

plan 16

# edges_of DISK: how many blocks before the slots, and behind them, are as they were written.
edges_of() {
	local blocks=$(($(sectors_of "$1") / 8))

	echo "$(blkpattern -o 78 -n "$EDGE" scan "$1" | value_of match)" \
		"$(blkpattern -o 78 -f $((blocks - EDGES + EDGE)) scan "$1" | value_of match)"
}

# The least reserve there may be: 64 slots.
must null_make muster0 48
must blkpattern -o 78 fill /dev/muster0
mswap_add /dev/muster0 disksize=$((48 * 1024 * 1024 - (EDGES + 64) * 4096))
blocks=$(($(get disksize) / 4096))
check_eq 'the least reserve' "$(get slots_reserved)" 64

for pass in 1 2 3; do
	check_eq "pass $pass writes every block" \
		"$(blkpattern -g "$pass" -b $((pass == 2 ? 1 : 256)) fill "$MSWAP" | value_of match)" "$blocks"
done
check_eq 'in random order' "$(blkpattern -g 4 -b 7 -R fill "$MSWAP" | value_of match)" "$blocks"
check_eq 'every block holds the last pass' "$(blkpattern -g 4 scan "$MSWAP" | value_of match)" "$blocks"
check 'at depth 32' fio --name=full --filename="$MSWAP" --direct=1 --ioengine=libaio --iodepth=32 \
	--rw=randwrite --bsrange=4k-1m --io_size=128M --verify=crc32c --verify_fatal=1 --minimal --output="$WORK/fio"
check_eq 'every block is in use' "$(get_settled slots_used)" "$blocks"
check_eq 'nothing was refused' "$(get nospace)" 0

must blkdiscard "$MSWAP"
must swap_start "$MSWAP"
before=$(get pages_out)
# Pages out all it can: what swap does not take stays in memory.
check_program 'a program fills swap and reads it all back' limited 128M buscheck 64 <<<'read'
check_that 'swap was full' "$(get pages_out) >= $before + $blocks - 1"
check_eq 'still nothing was refused' "$(get nospace)" 0
check_program 'and the next program swaps well' limited 16M pagestride -c 1 -k 0 -s 48 --write-on-readback
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors)" '0 0'
must swapoff "$MSWAP"
check 'reset' wait_until 5 mswap_set reset 1
check_eq 'the edges of the disk are as they were' "$(edges_of /dev/muster0)" "$EDGE $((EDGES - EDGE))"

finish
