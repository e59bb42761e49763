#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Discard and write-zeroes: what was discarded reads as zeros, its neighbours stay, slots become free.
# timeout: 180
# kernels: all
# asked-for: 6.1

. "$(dirname "$0")/lib.sh"

plan 17

MIB=256 # slots
must null_make muster0 72
mswap_add /dev/muster0 disksize=64M
must blkpattern -o 5 fill "$MSWAP"
check_eq 'a full device uses a slot a block' "$(get_settled slots_used)" $((64 * MIB))

check 'discard a part' blkdiscard -o 8M -l 16M "$MSWAP"
check_eq 'its slots are free' "$(get_settled slots_used)" $((48 * MIB))
check_eq 'and counted' "$(get discards)" $((16 * MIB))
seen=$(blkpattern -o 5 scan "$MSWAP")
check_eq 'the part reads as zeros' "$(value_of zero <<<"$seen")" $((16 * MIB))
check_eq 'the rest is as it was' "$(value_of match <<<"$seen")" $((48 * MIB))
seen=$(blkpattern -o 5 -f $((8 * MIB)) -n $((16 * MIB)) -b 1 -R scan "$MSWAP")
check_eq 'it is the right part' "$(value_of zero <<<"$seen")" $((16 * MIB))

check 'one slot' blkdiscard -o 32M -l 4096 "$MSWAP"
check_eq 'one slot more is free' "$(get_settled slots_used)" $((48 * MIB - 1))
check 'write zeroes' blkdiscard -z -o 40M -l 1M "$MSWAP"
check_eq 'zeros need no slots' "$(get_settled slots_used)" $((47 * MIB - 1))
must blkpattern -o 5 -f $((8 * MIB)) -n 64 fill "$MSWAP"
seen=$(blkpattern -o 5 -f $((8 * MIB)) -n 65 scan "$MSWAP")
check_eq 'discarded blocks can be written again' "$(value_of match <<<"$seen") $(value_of zero <<<"$seen")" '64 1'

check 'discard all' blkdiscard "$MSWAP"
check_eq 'all is free' "$(get_settled slots_used)" 0
check_eq 'slots that were free are not counted' "$(get discards)" $((64 * MIB + 64))
seen=$(blkpattern -o 5 scan "$MSWAP")
check_eq 'all is zeros' "$(value_of zero <<<"$seen")" $((64 * MIB))

must blkpattern -o 5 fill "$MSWAP"
must swap_start "$MSWAP" --discard=once
check_that 'swapon --discard frees what was there' "$(get_settled slots_used) <= 2"

finish
