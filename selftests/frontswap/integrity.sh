#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Programs swap through frontswap: every page is right, all of it goes to the backing device in clusters,
# and the counters of both sides add up.
# timeout: 800
# nvme: 512M
# kernels: 5.10
# races: all
# stays: mswap mswap_frontswap

. "$(dirname "$0")/lib.sh"

plan 29

stride() {
	limited 16M pagestride "$@"
}

# check_close NAME GOT WANTED: frontswap counts without a lock and loses one now and then.
check_close() {
	check_that "$1" "$2 >= $3 && $2 <= $3 + $3 / 500 + 8"
}

adds_up() {
	local in

	get_settled slots_used >/dev/null
	in=$(get pages_in)
	check_close "$1: stores are pages out" "$(get pages_out)" $(($(frontswap_count succ_stores) - stores))
	check_close "$1: loads are pages in" "$in" $(($(frontswap_count loads) - loads))
	# It is where a store has waited a second for a copy to become free: a machine that stands still does that.
	check_le "$1: hardly anything was refused" "$(get stores_refused)" $(($(get pages_out) / 1000))
	check_eq "$1: pages in came from somewhere" "$in" \
		$(($(get pages_in_waiting) + $(get pages_in_copied) + $(get pages_in_zero) + $(get dev_pages_read) - $(get dev_pages_passed) - $(get prefetched)))
	check_eq "$1: no read found an empty slot" "$(get pages_in_zero)" 0
	check_eq "$1: pages out were written to the device" "$(get dev_pages_written)" "$(get pages_out)"
}

fswap_start /dev/nvme0n1
stores=$(frontswap_count succ_stores) loads=$(frontswap_count loads)
areas 1 224
written=$(area_written)

check_program 'single pages' stride -c 1 -s 80 --write-on-readback -r 2
check_program 'random pages' stride -c 1 -s 64 --random-singles
check_program 'sixteen in a row, descending' stride -c 16 -s 64 --descending
adds_up 'programs'
check_that 'written in clusters' "$(get dev_pages_written) > 20 * $(get dev_writes)"
check_that 'read in runs' "$(get dev_pages_read) > 2 * $(get dev_reads)"
check_eq 'nothing else went to the ordinary area' $(($(area_written) - written)) "$(get stores_refused)"

# What it does not take goes to the ordinary area.
written=$(area_written) refused=$(get stores_refused)
must mount -t tmpfs -o size=64M none "$WORK/tmpfs"
check_huge check_program 'all pages, huge' stride -c 1 -k 0 -s 48 --thp --write-on-readback
check_program 'fork and copy on write' limited 16M forkcow -s 24 -r 2
check_program 'pages dropped while they are in swap' limited 16M dropcheck -s 32
check 'stress-ng with verification' limited 48M stress-ng --quiet --vm 2 --vm-bytes 48M --vm-method all \
	--verify --timeout 8
check_that 'huge pages go to the ordinary area, and are counted' \
	"$(area_written) > $written + 100 && $(get stores_refused) > $refused + 8"
written=$(area_written) refused=$(get stores_refused)
check_program 'shared memory' limited 12M shmcheck -n 2 -s 10 -r 2 "$WORK/tmpfs"
check_that 'so do shared ones' "$(area_written) > $written + 100 && $(get stores_refused) > $refused + 100"
check 'swapoff' swapoff /dev/mapper/muster-area0
check_settles 'all slots are free' slots_used 0
check 'swapon again' swapon /dev/mapper/muster-area0
check_program 'a program after that' stride -c 2 -s 48
check 'swapoff once more' swapoff /dev/mapper/muster-area0

# What was read back clean keeps its slot: to evict it again writes nothing.
must swapon /dev/mapper/muster-area0
before=$(get_settled dev_pages_written) in_before=$(get pages_in)
check_program 'a program reads five times' stride -c 1 -k 0 -s 32 -r 5
written=$(($(get_settled dev_pages_written) - before))
check_that 'clean pages are not written again' "$written < 2 * 32 * 256"
check_that 'though all were read again' "$(get pages_in) - $in_before > 4 * 32 * 256 / 4"
check_eq 'nothing failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'

finish
