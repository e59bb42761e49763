#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# musterctl says of a target what its files say.
# asked-for: newest
# timeout: 120

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../lib/musterctl.sh"

plan 14

# shown COLUMN[,COLUMN...] [DEVICE]: what it says of the target, in bytes.
shown() {
	musterctl w2r -n -r -b -o "$1" "${2:-muster}"
}

must modprobe dm-mod
check_eq 'without a target it says nothing' "$(musterctl w2r 2>&1)" ''
must null_make muster0 64
w2r_make muster /dev/muster0 8 readahead on planner obl policy lru
must touch_range "$DEV" 0 1000
must touch_range "$DEV" 0 250

disk=$(dm_folder muster)
check_eq 'it is there' "$(shown NAME,START,SUSPENDED)" 'muster 0 0'
check_eq 'by its path' "$(shown NAME "$DEV")" muster
check_eq "by the kernel's name" "$(shown NAME "/dev/${disk##*/}")" muster
check_eq 'what it lies over' "$(shown ORIGIN)" "$(ls "$disk/slaves")"
file_columns w2r "$FILES"
check_eq 'all files' "$(shown "$COLUMNS")" "$TOLD"
check_ge 'which are many' "$FILES_TOLD" 34
check_eq 'sizes' "$(shown CACHE,RESIDENT,READ)" \
	"$(($(w2r_get capacity_blocks) * 4096)) $(w2r_get cache_bytes) $((1250 * 4096))"
hits=$(($(w2r_get hits_weighing) + $(w2r_get hits_waiting)))
check_eq 'hits' "$(shown HIT%)" "$(quotient "$hits" 1250 100)"
check_eq 'it looks ahead' "$(shown AHEAD,PF-USED%)" 'on 100.0'
must w2r_set readahead off
check_eq 'or not' "$(shown AHEAD,READAHEAD)" 'off off'

must dmsetup suspend muster
check_eq 'suspended it tells its name' "$(shown NAME,SUSPENDED,HIT%,AHEAD,POLICY)" 'muster 1 - - -'
must dmsetup resume muster
check_eq 'and again all' "$(shown NAME,SUSPENDED,AHEAD,POLICY)" 'muster 0 off lru'
must dmsetup remove --retry muster
check_eq 'gone it is not shown' "$(musterctl w2r 2>&1)" ''

finish
