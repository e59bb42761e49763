#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# New tables while I/O goes on: another size, policy and planner, blocks of another size; no read is wrong
# and none fails.
# timeout: 180
# kernels: all
# asked-for: 5.10 6.1
# races: 6.12
# expect-dmesg: device-mapper: table: 

. "$(dirname "$0")/lib.sh"

plan 13

reload() {
	dm_make muster "$(table_of /dev/muster0 "$@")"
}

# reload_while PID SECONDS LEAST NAME ORIGIN TABLE...: loads one table after the other while the process runs, for so long
# and so many at least, and tells it to end; says how many, or nothing when one could not be loaded.
reload_while() {
	local n=0 checker=$1 end=$((SECONDS + $2)) least=$3 name=$4 origin=$5
	local -a tables=("${@:6}")

	while kill -0 "$checker" 2>/dev/null && ((SECONDS < end || n < least)); do
		# shellcheck disable=SC2086
		dm_make "$name" "$(table_of "$origin" ${tables[n % ${#tables[@]}]})" || { n='' && break; }
		n=$((n + 1))
	done
	kill "$checker" 2>/dev/null
	echo "$n"
}

reads_wait() {
	(($(w2r_get waited) > 0 && $(w2r_get latency_ns) > 1000000))
}

must null_make muster0 96 irqmode=2 completion_nsec=50000
w2r_make muster /dev/muster0 16
blkcheck -DA -s 3600 -t 3 -r 3 "$DEV" >"$WORK/out" 2>&1 &
checker=$!
times=$(reload_while $checker 5 10 muster /dev/muster0 '4 policy lru planner obl lookahead 1' 32 \
	'8 block_kib 64 policy s3fifo' '16 readahead off' '2 index plain planner pattern readahead on' '4 rooms one')
wait $checker
check_eq 'no I/O failed' $? 0
check_that 'many tables were loaded meanwhile' "$times >= 10"
check_that 'blocks were verified, none was bad' "$(verified_pages <"$WORK/out" | grep -c .) == 1"
diag "$times tables; $(tail -n 1 "$WORK/out")"

# An origin that takes milliseconds, of which a worker fetches what follows a hit, and more when it comes late.
must null_make muster1 96 irqmode=2 completion_nsec=3000000
w2r_make muster-slow /dev/muster1 32
# shellcheck disable=SC2016
bash -c 'until [[ -e $0 ]]; do dd if="$1" of=/dev/null bs=64k iflag=direct status=none || exit; done' \
	"$WORK/enough" "$DEV" &
reader=$!
on_exit touch "$WORK/enough"
must wait_until 30 reads_wait
check_that 'prefetches are under way' "$(w2r_get prefetched) > 0"
blkcheck -DA -s 3600 -t 2 -r 2 -S 24 "$DEV" >"$WORK/slow" 2>&1 &
checker=$!
times=$(reload_while $checker 8 5 muster-slow /dev/muster1 32 '16 block_kib 16' 8)
wait $checker
check_eq 'no I/O of a slow origin failed' $? 0
must touch "$WORK/enough"
wait $reader
check_eq 'nor of its reader' $? 0
check_that 'tables were loaded meanwhile' "$times >= 5"
check_that 'its blocks were verified' "$(verified_pages <"$WORK/slow" | grep -c .) == 1"
diag "$times tables; $(tail -n 1 "$WORK/slow")"

w2r_use muster
check 'a last table' reload 8 policy s3fifo planner stream
check_eq 'is in force' "$(dmsetup table muster | cut -d' ' -f5-)" \
	'8 14 readahead auto lookahead 512 policy s3fifo planner stream rooms two index mtf block_kib 4'
w2r_use muster
check_eq 'sysfs shows it' "$(w2r_get policy) $(w2r_get planner)" 's3fifo stream'
must w2r_set lookahead 7
check_eq 'a knob shows in the table' "$(dmsetup table muster | grep -o 'lookahead [0-9]*')" 'lookahead 7'
check_not 'a bad table is not loaded' dmsetup load muster --table "$(table_of /dev/muster0 0)"

finish
