#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Counters add up, among themselves and with what the backing device saw; the three policies write what
# they promise.
# timeout: 300
# kernels: all
# asked-for: 5.10 6.1 newest

. "$(dirname "$0")/lib.sh"
# shellcheck source=counting.sh
. "$(dirname "$0")/counting.sh"

plan 63

# adds_up NAME: what must hold at any time when nothing is under way.
adds_up() {
	local out in waiting copied zero writes written reads

	get_settled slots_used >/dev/null
	out=$(get pages_out) in=$(get pages_in) waiting=$(get pages_in_waiting) copied=$(get pages_in_copied)
	zero=$(get pages_in_zero)
	writes=$(get dev_writes) written=$(get dev_pages_written) reads=$(get dev_pages_read)
	check_that "$1: something was written and read" "$out > 1000 && $in > 1000"
	check_eq "$1: pages written to the device are pages out" "$written" "$out"
	check_eq "$1: the histogram's pages are pages out" "$(hist_sum 1)" "$out"
	check_eq "$1: the histogram's writes are the writes" "$(hist_sum 0)" "$writes"
	check_eq "$1: pages in came from somewhere" "$in" \
		$((waiting + copied + zero + reads - $(get dev_pages_passed) - $(get prefetched)))
	check_that "$1: of the prefetched pages some were used, some wasted" \
		"$(get prefetched) >= $(get prefetch_used) + $(get prefetch_wasted)"
	check_eq "$1: sectors the device wrote" "$(since 7)" $((written * SECTORS))
	check_eq "$1: sectors the device read" "$(since 3)" $((reads * SECTORS))
	check_eq "$1: sectors that its own statistics tell of" "$(stat_of "$MSWAP" 3) $(stat_of "$MSWAP" 7)" \
		"$((in * SECTORS)) $((out * SECTORS))"
	check_that "$1: batches" "$(get batches) > 0 && $(get batches) <= $writes"
}

# On a slow or busy machine it takes longer for the same company to come.
new_device() {
	mswap_add /dev/mapper/muster policy="$1" batch_usecs=10000
	below_from muster
}

swap_and_leave() {
	must swap_start "$MSWAP"
	check_program "$1: a program swaps" limited 24M pagestride -c 1 -k 0 -s 48
	must swapoff "$MSWAP"
}

pages_per_write() {
	echo $(($(get dev_pages_written) * 10 / $(get dev_writes)))
}

must null_make muster0 256
must dm_make muster "0 $(blockdev --getsz /dev/muster0) linear /dev/muster0 0"
for policy in moc object page; do
	new_device "$policy"
	swap_and_leave "$policy"
	adds_up "$policy"
	check_eq "$policy: writes the device saw" "$(since 5)" "$(get dev_writes)"
	check_eq "$policy: reads the device saw" "$(since 1)" "$(get dev_reads)"
	case $policy in
	moc)
		diag "$(get pages_out) pages out, $(get pages_out_copied) by copy, in $(get dev_writes) writes"
		check_that 'moc: more than 20 pages a write' "$(pages_per_write) > 200"
		takes=$(($(cat "/sys/block/$below/queue/max_sectors_kb") / 4))
		check_le 'moc: the longest is a multiple of what the device takes' \
			"$(tail -n 1 "$SYS/cluster_hist" | cut -d' ' -f1)" \
			$((takes < 128 ? 128 / takes * takes : 128))
		check_that 'moc: most are taken over by copy' "2 * $(get pages_out_copied) > $(get pages_out)"
		;;
	object) check_that 'object: more than 1 page a write' "$(pages_per_write) > 10" ;;
	page) check_eq 'page: one page a write' "$(get cluster_hist)" "1 $(get dev_writes)" ;;
	esac
	must mswap_remove "$MSWAP"
done

new_device moc
must blkpattern -o 3 -b 64 fill "$MSWAP"
must blkpattern -o 3 -b 1 -R scan "$MSWAP"
adds_up 'direct I/O'
check_eq 'direct I/O: every slot is in use' "$(get slots_used)" $(($(get disksize) / 4096))
slots=$((256 * 256 - EDGES))
must mswap_set cluster_pages 256
must blkpattern -o 3 -b 256 fill "$MSWAP"
check_eq 'direct I/O: the histogram has the longest write, too' "$(hist_sum 1)" "$(get dev_pages_written)"
waiting=$(get pages_in_waiting) used=$(get prefetch_used) wasted=$(get prefetch_wasted) blocks=$(($(get disksize) / 4096))
must blkpattern -o 3 -b 1 scan "$MSWAP"
check_that 'direct I/O: most of what is read in order is prefetched' \
	"$(get pages_in_waiting) - $waiting > $blocks / 2 && $(get prefetch_used) - $used > $blocks / 2"
check_that 'direct I/O: none of it in vain, and nothing is read from copies' \
	"$(get prefetch_wasted) - $wasted < $blocks / 16 && $(get pages_in_copied) == 0"
check_eq 'all slots are told' "$(get slots_total)" "$slots"
check_eq 'the reserve' "$(get slots_reserved)" $((slots - $(get disksize) / 4096))
check_eq 'the waiting room' "$(get waiting_bytes)" $(($(get waiting_pages) * 4096))
must mswap_set waiting_pages 64
check_eq 'a smaller one' "$(get waiting_bytes)" $((64 * 4096))
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'

finish
