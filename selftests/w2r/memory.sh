#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The cache takes no more memory than the table says, gives it back when the machine is short of it, and
# takes it again later; what is read meanwhile is right.
# timeout: 900
# kernels: all
# asked-for: 5.10 6.1 newest
# races: 6.12

# Functions are called by name, by check and must.
# shellcheck disable=SC2317

. "$(dirname "$0")/lib.sh"
# shellcheck source=../mswap/cgroups.sh
. "$(dirname "$0")/../mswap/cgroups.sh"
# shellcheck source=../mswap/machine-memory.sh
. "$(dirname "$0")/../mswap/machine-memory.sh"
# shellcheck source=../mswap/tracing.sh
. "$(dirname "$0")/../mswap/tracing.sh"

plan 18

read_all() {
	dd if="$DEV" of=/dev/null bs=1M iflag=direct status=none
}

# read_right: all blocks are as they were written.
read_right() {
	(($(blkpattern -b 256 scan "$DEV" | value_of match) == 320 * 256))
}

gave_back() {
	(($(w2r_get reclaimed) > reclaimed + 1000 && $(w2r_get cache_bytes) < (65536 - 500) * 4096))
}

grown() {
	read_all && (($(w2r_get cache_bytes) > 200 * 1048576))
}

# kswapd_runs idle|other: only where a CPU has nothing else to do, or as ever.
kswapd_runs() {
	chrt "--$1" -p 0 "$(pgrep -x kswapd0)"
}

# squeeze: programs on both CPUs that want 128 MiB more than is to be had without the cache. Sets squeezer.
squeeze() {
	stress-ng --quiet --vm 2 --vm-bytes $(($(available) + 128))M --vm-keep &
	squeezer=$!
}

# One that wants as much, and reads all of it back.
hold_much() {
	timeout $((400 * ${MUSTER_SLOWER:-1})) pagestride -k 0 -s $(($(available) + 128))
}

# trace_reclaim: from now on, who reclaims memory for himself, and what each shrinker gave him.
trace_reclaim() {
	local event

	put counter "$TRACING/trace_clock" && put '' "$TRACING/trace" || return
	put 'retval > 0' "$TRACING/events/vmscan/mm_shrink_slab_end/filter" || return
	for event in mm_vmscan_direct_reclaim_begin mm_vmscan_direct_reclaim_end mm_shrink_slab_end; do
		put 1 "$TRACING/events/vmscan/$event/enable" || return
	done
}

untrace_reclaim() {
	put 0 "$TRACING/events/vmscan/enable"
	put 0 "$TRACING/events/vmscan/mm_shrink_slab_end/filter"
	put '' "$TRACING/trace"
	put local "$TRACING/trace_clock"
}

# reclaims: of those that got blocks of the cache, how many there were, and how many counted less than these. What wants
# more than 8 pages in a row may say "1" when there are enough of them.
reclaims() {
	awk '
		{ match($0, /-[0-9]+ +\[/); task = substr($0, RSTART, RLENGTH) }
		/ mm_vmscan_direct_reclaim_begin: / {
			under_way[task] = / order=[0-3] /
			got[task] = 0
		}
		/ mm_shrink_slab_end: .*\[dm_w2r\]/ && under_way[task] {
			sub(/.* return val /, "")
			got[task] += $1
		}
		/ mm_vmscan_direct_reclaim_end: / && under_way[task] {
			under_way[task] = 0
			sub(/.* nr_reclaimed=/, "")
			n += got[task] > 0
			less += $1 < got[task]
		}
		END { print n + 0, less + 0 }' "$WORK/trace"
}

must null_make muster0 320
must blkpattern -b 256 fill /dev/muster0
w2r_make muster /dev/muster0 16 readahead on planner stream
check_eq 'nothing is taken at first' "$(w2r_get cache_bytes)" 0
check_that 'tables take less than 8 % of the cache and 512 KiB' \
	"$(w2r_get footprint_bytes) < 16 * 1048576 * 8 / 100 + 524288"
must read_all
check_eq 'a read of 320 MiB fills 16 MiB and no more' "$(w2r_get cache_bytes)" $((16 * 1048576))
check_that 'and all entries' "$(w2r_get weighing_blocks) + $(w2r_get waiting_blocks) == 4096"

set_aside 600
w2r_make muster /dev/muster0 256 readahead on planner stream
must read_all
check_that 'a cache of 256 MiB is full' "$(w2r_get cache_bytes) > 250 * 1048576"

# The page cache fills what memory there is with whatever was read, and kswapd makes room for it: that is no shortage.
must null_make muster1 8192
by_kswapd=$(freed_by kswapd) direct=$(freed_by direct)
for ((mib = 0; mib < 8192; mib += 256)); do
	must dd if=/dev/muster1 of=/dev/null bs=1M skip=$mib count=256 status=none
	(($(freed_by kswapd) < by_kswapd + 160000)) || break
done 7</dev/muster1 # which stays in memory as long as somebody has it open
by_kswapd=$(($(freed_by kswapd) - by_kswapd)) direct=$(($(freed_by direct) - direct))
diag "kswapd freed $by_kswapd pages, who read $direct; left $(w2r_get cache_bytes) bytes, of $(w2r_get capacity_blocks) blocks"
check_that 'kswapd has made room for the page cache' "$by_kswapd > 65536"
# A reader that kswapd was too slow for took some himself.
check_that 'the cache is as it was' "$(w2r_get cache_bytes) > 240 * 1048576 - 2 * 4096 * $direct"

# So that they have to reclaim memory themselves.
reclaim_asks_all
on_exit kswapd_runs other
must kswapd_runs idle
trace_room 8192
on_exit untrace_reclaim
must trace_reclaim
reclaimed=$(w2r_get reclaimed)
squeeze
check 'it is given back when programs want the memory' wait_until 60 gave_back
check_that 'and not to be filled again at once' "$(w2r_get capacity_blocks) < 256 * 256"
diag "reclaimed $(w2r_get reclaimed) blocks, left $(w2r_get cache_bytes) bytes"
# Its children may go on for minutes when they are asked to end.
pkill -KILL stress-ng
wait "$squeezer"
check 'no reclaim was lost from the trace' save_trace
check 'it has what the cache gave' grep -q 'mm_shrink_slab_end: .*\[dm_w2r\].* return val ' "$WORK/trace"
read -r reclaims told_less < <(reclaims)
diag "$reclaims times who wanted memory took blocks of the cache"
if ((reclaims > 0)); then
	check_eq 'who took blocks was told so' "$told_less" 0
else
	skip 'who took blocks was told so' 'kswapd took all of them'
fi
must kswapd_runs other
check 'later it grows again' wait_until 60 grown
if ((${MUSTER_SLOWER:-1} == 1 || $(available) < 1024)); then
	reclaimed=$(w2r_get reclaimed)
	while [[ ! -e $WORK/enough ]]; do
		read_right || exit
	done &
	reader=$!
	check_program 'a program gets memory that readers want for the cache' hold_much
	check_that 'which is given back' "$(w2r_get reclaimed) > $reclaimed + 1000"
	diag "reclaimed $(($(w2r_get reclaimed) - reclaimed)) blocks meanwhile, left $(w2r_get cache_bytes) bytes"
	must touch "$WORK/enough"
	wait "$reader"
	check_eq 'nothing of it was wrong' $? 0
else
	for name in 'a program gets memory that readers want for the cache' 'which is given back' 'nothing of it was wrong'; do
		skip "$name" 'to fill so much memory takes this kernel too long'
	done
fi
check 'all is read as it was written' read_right
check_eq 'every block is accounted for' "$(unaccounted)" 0

finish
