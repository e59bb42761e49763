#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Swap on one part of an md array, and programs that write to the other one, while the array is checked and repaired,
# loses a leg and gets it back. In a task's plug md keeps writes that a check waits for, and what is sent to the array
# later waits for the check: mswap, which evicts under the same plug (plugmix.c), must not come before them.
# timeout: 240
# races: 6.12
# expect-dmesg: error, dev (nullb[0-9]+|musterleg1), sector

. "$(dirname "$0")/../w2r/lib.sh"

plan 23

SOURCE=/dev/ram0
SOURCE_MIB=8

# raid_make LEVEL LEGS MIB_EACH CHUNK: an array of 64 MiB in two parts, whose first resync begins, as fast as it goes.
# No larger: raid1 checks 64 MiB at a time, and keeps from writing there only. Sets legs and mib.
raid_make() {
	local i table="0 131072 raid $1 5 $4 min_recovery_rate 1000000 max_recovery_rate 1000000 $2"

	legs=$2 mib=$3
	for ((i = 0; i < legs; i++)); do
		must null_make "mustermeta$i" 4
		must null_make "musterleg$i" "$mib"
		table+=" /dev/mustermeta$i /dev/musterleg$i"
	done
	must dm_make muster-raid "$table"
	must dm_make muster-swap '0 81920 linear /dev/mapper/muster-raid 0'
	must dm_make muster-data '0 49152 linear /dev/mapper/muster-raid 81920'
}

raid_drop() {
	local i name

	for name in swap data raid; do
		must dmsetup remove --retry "muster-$name"
	done
	for ((i = 0; i < legs; i++)); do
		must null_drop "mustermeta$i"
		must null_drop "musterleg$i"
	done
}

# raid_is LEGS [ACTION]: each leg is in sync (A), not yet (a), or failed (D), and the array does so.
raid_is() {
	local words

	read -r -a words <<<"$(dmsetup status muster-raid)"
	# shellcheck disable=SC2053
	[[ ${words[5]} == $1 && ${words[7]} == ${2:-*} ]]
}

# While one is under way the next one is refused.
check_until_enough() {
	local action

	until [[ -e $WORK/enough ]]; do
		for action in check repair; do
			! dmsetup message muster-raid 0 $action 2>/dev/null || echo $action
			moment
		done
	done
}

checks_start() {
	rm -f "$WORK/enough"
	check_until_enough >>"$WORK/checks" &
	checking=$!
}

checks_end() {
	touch "$WORK/enough"
	wait $checking
}

swapped() {
	(($(get pages_out) > $1))
}

# mix TARGET: the programs, and once more where nothing was checked meanwhile: that waits for the first resync.
mix() {
	for _ in {1..30}; do
		limited_into "$WORK/out" 8M plugmix -n 2 "$SOURCE" "$1" || return
		[[ ! -s $WORK/checks ]] || return 0
	done
}

# A resume has dm-raid look at failed legs once more; md checks nothing then, or may go on with that and forget the leg.
leg_fails_and_comes_back() {
	local blocks=$((mib * 256))

	must wait_until 60 swapped 1000
	must null_spoil musterleg1 0 $blocks
	check "$1: a leg fails" wait_until 60 raid_is 'AD*'
	checks_end
	must wait_until 60 raid_is 'AD*' idle
	must put "-0-$((blocks * 8 - 1))" /sys/kernel/config/nullb/musterleg1/badblocks
	must dmsetup suspend --nolockfs muster-raid
	must dmsetup resume muster-raid
	check "$1: and is rebuilt" wait_until 60 raid_is "$(printf "%${legs}s" | tr ' ' A)"
	checks_start
}

# swap_on NAME TARGET loses|keeps: programs that write to TARGET are evicted to the other part; it loses a leg, or not.
swap_on() {
	mswap_add /dev/mapper/muster-swap cluster_pages=256 batch_usecs=10000
	must swap_start "$MSWAP"
	: >"$WORK/checks"
	checks_start
	mix "$2" &
	program=$!
	[[ $3 != loses ]] || leg_fails_and_comes_back "$1"
	wait $program
	result "$1: the programs end well" $? "$(<"$WORK/out")"
	check_that "$1: all is as it was written" "$(verified_pages <"$WORK/out") + 0 > 0"
	checks_end
	check_that "$1: it was checked meanwhile" "$(grep -c . "$WORK/checks") > 0"
	check_that "$1: they did swap" "$(get pages_out) > 2000"
	diag "$(grep -c . "$WORK/checks") checks, $(get pages_out) pages out in $(get dev_writes) writes;" \
		"$(verified_pages <"$WORK/out") pages verified"
	check "$1: swapoff" swapoff "$MSWAP"
	check_eq "$1: no I/O failed" "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'
	must mswap_remove "$MSWAP"
}

must modprobe dm-raid
must modprobe brd rd_nr=1 rd_size=$((SOURCE_MIB * 1024))
must blkpattern -g 1 fill $SOURCE

raid_make raid10 4 32 128
swap_on raid10 /dev/mapper/muster-data loses
raid_drop

raid_make raid1 2 64 0
w2r_make muster-w2r /dev/mapper/muster-data 2
swap_on raid1 "$DEV" keeps
check_that 'raid1: they wrote through dm-w2r' "$(w2r_get written_blocks) > 1000"
must dmsetup remove --retry muster-w2r
raid_drop

raid_make raid5_ls 3 32 128
must wait_until 60 raid_is AAA
swap_on raid5 /dev/mapper/muster-data loses
raid_drop

finish
