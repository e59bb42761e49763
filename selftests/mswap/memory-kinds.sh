#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Kinds of memory in swap: huge pages that go out whole, smaller large folios, which are copied, copy-on-write over fork,
# huge pages under pressure, MADV_PAGEOUT loops, shared memory and tmpfs, memory given up while swapped out. Every page is
# verified.
# timeout: 800
# kernels: all

. "$(dirname "$0")/lib.sh"
# shellcheck source=tracing.sh
. "$(dirname "$0")/tracing.sh"

plan 26

# swapped NAME LIMIT PROGRAM...: the program passes and has swapped.
swapped() {
	local before
	before=$(get pages_out)

	check_program "$1" limited "${@:2}"
	check_that "$1: it did swap" "$(get pages_out) > $before + 1000"
}

swapped_whole() {
	awk '$1 == "thp_swpout" { print $2 }' /proc/vmstat
}

# The slots of the writes of most pages, as they were sent.
longest_writes() {
	lines_of mswap_pageout | sed -n 's/.* slot=\([0-9]*\) pages=256 .*/\1/p'
}

# The kernel swaps a huge page out whole if the area is a block device that does not rotate (a swap file is none), with
# a free and aligned piece of its size. It is one bio then, of twice the pages that a write may hold, and nobody else
# takes slots in between.
whole_huge_pages() {
	local before whole

	mounted "$TRACING" || must mount -t tracefs none "$TRACING"
	on_exit put 0 "$TRACING/events/mswap/enable"
	must put 1 "$TRACING/events/mswap/mswap_pageout/enable"
	before=$(swapped_whole)
	check_program 'whole huge pages' limited max taskset -c 0 hugecheck -n 1 -s 16 -r 1
	must put 0 "$TRACING/events/mswap/mswap_pageout/enable"
	whole=$(($(swapped_whole) - before))
	check_that 'whole huge pages: the kernel did not split them' "$whole >= 8"
	check 'whole huge pages: no event was lost' save_trace
	check_eq 'whole huge pages: each was two writes' "$(longest_writes | wc -l)" $((2 * whole))
	check_eq 'whole huge pages: which lie side by side' \
		"$(longest_writes | awk 'NR % 2 { first = $1; next } $1 == first + 256 { n++ } END { print n + 0 }')" "$whole"
}

HUGE=/sys/kernel/mm/transparent_hugepage

# folios_of KIB: a program's memory is of such ones.
folios_of() {
	local dir=$HUGE/hugepages-$1kB whole copied

	if [[ ! -e $dir/stats/swpout ]]; then
		for ((i = 0; i < 3; i++)); do
			skip "folios of $1 KiB" 'this kernel does not swap them out whole'
		done
		return
	fi
	whole=$(<"$dir/stats/swpout") copied=$(get pages_out_copied)
	must put madvise "$dir/enabled"
	check_program "folios of $1 KiB" limited 12M pagestride --thp -c 1 -k 0 -s 24 -r 2 --write-on-readback=3
	must put never "$dir/enabled"
	check_that "folios of $1 KiB go out whole" "$(<"$dir/stats/swpout") > $whole + 6144 / $1 / 2"
	check_that "folios of $1 KiB are copied" "$(get pages_out_copied) > $copied + 1000"
}

must null_make muster0 320
mswap_add /dev/muster0
must swap_start "$MSWAP" -d
must mount -t tmpfs -o size=256M none "$WORK/tmpfs"

if has_huge_pages; then
	whole_huge_pages
else
	for ((i = 0; i < 5; i++)); do
		skip 'whole huge pages' "$NO_HUGE_PAGES"
	done
fi
# Whose size is the largest that may be.
if [[ -e $HUGE/hugepages-2048kB ]]; then
	largest=$(sed 's/.*\[\(.*\)\].*/\1/' "$HUGE/hugepages-2048kB/enabled")
	on_exit put "$largest" "$HUGE/hugepages-2048kB/enabled"
	must put never "$HUGE/hugepages-2048kB/enabled"
fi
for kib in 16 64 256; do
	folios_of $kib
done
[[ ! -e $HUGE/hugepages-2048kB ]] || must put "$largest" "$HUGE/hugepages-2048kB/enabled"

swapped 'fork and copy-on-write' 20M forkcow -n 2 -s 16 -r 1
check_huge swapped 'huge pages' 28M hugecheck -n 2 -s 20 -r 2
swapped 'MADV_PAGEOUT over and over' 64M hugecheck -P -n 2 -s 12 -r 3
swapped 'shared memory and tmpfs' 24M shmcheck -n 2 -s 10 -r 2 "$WORK/tmpfs"
swapped 'memory given up while swapped out' 24M dropcheck -n 2 -s 20 -r 2
must swapoff "$MSWAP"
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'

finish
