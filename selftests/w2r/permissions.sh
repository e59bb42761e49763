#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Nobody but root changes anything, and only the files that the manual calls writable can be written.
# timeout: 180
# kernels: all
# asked-for: 5.10 6.1 newest

# Functions are called by name, by check and must.
# shellcheck disable=SC2317

. "$(dirname "$0")/lib.sh"

writable='readahead lookahead planner'
read_only='policy rooms index block_kib read_blocks hits_weighing hits_waiting misses bypassed waited written_blocks
	prefetched prefetch_used prefetch_wasted origin_reads origin_prefetches read_errors write_errors reclaimed
	lookups lookups_found searches weighing_blocks waiting_blocks waiting_target capacity_blocks cache_bytes
	footprint_bytes latency_ns prefetch_cost_ns lookahead_active planner_active'

nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"
}

plan $((6 + 2 * 3 + 2 * 32))

must null_make muster0 64
w2r_make muster /dev/muster0 8

# shellcheck disable=SC2086
check_eq 'these files and no others' "$(cd "$FILES" && echo * | tr ' ' '\n' | sort)" \
	"$(printf '%s\n' $writable $read_only | sort)"
for file in $writable; do
	check_eq "mode of $file" "$(stat -c %a "$FILES/$file")" 644
	check_fails "others cannot write $file" 'Permission denied' nobody sh -c "echo 1 >$FILES/$file"
done
for file in $read_only; do
	check_eq "mode of $file" "$(stat -c %a "$FILES/$file")" 444
done
for file in $read_only; do
	written=$(write_error "$FILES/$file" 1)
	check_that "not even root writes $file" "${#written} > 0"
done
check_fails 'others cannot read the device' 'Permission denied' nobody head -c 1 "$DEV"
check_fails 'others cannot send messages' 'Permission denied' nobody dmsetup message muster 0 clear_stats
check_fails 'others cannot remove it' 'Permission denied' nobody dmsetup remove muster
# While a target uses it nobody can, whoever he is.
must dmsetup remove --retry muster
check_fails 'others cannot unload the module' 'not permitted' nobody rmmod dm_w2r
check 'root can' rmmod dm_w2r

finish
