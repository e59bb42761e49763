#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# New tables while I/O goes on: another size, policy and planner, blocks of another size; no read is wrong
# and none fails.
# timeout: 90
# expect-dmesg: device-mapper: table: 

. "$(dirname "$0")/lib.sh"

plan 8

reload() {
	dm_make muster "$(table_of /dev/muster0 "$@")"
}

# Reloads with one table after the other while process $1 runs; says how often.
reload_while() {
	local n=0
	local -a tables=('4 policy lru planner obl lookahead 1' '32' '8 block_kib 64 policy s3fifo' '16 readahead off'
		'2 index plain planner pattern readahead on' '4 rooms one')

	while kill -0 "$1" 2>/dev/null; do
		# shellcheck disable=SC2086
		reload ${tables[n % ${#tables[@]}]} || return
		n=$((n + 1))
	done
	echo $n
}

must null_make muster0 96 irqmode=2 completion_nsec=50000
w2r_make muster /dev/muster0 16
blkcheck -DA -s 20 -t 3 -r 3 "$DEV" >"$WORK/out" 2>&1 &
checker=$!
times=$(reload_while $checker)
check 'no I/O failed' wait $checker
check_that 'many tables were loaded meanwhile' "$times >= 10"
check_that 'blocks were verified, none was bad' "$(verified_pages <"$WORK/out" | grep -c .) == 1"
diag "$times tables; $(tail -n 1 "$WORK/out")"

check 'a last table' reload 8 policy s3fifo planner stream
check_eq 'is in force' "$(dmsetup table muster | cut -d' ' -f5-)" \
	'8 14 readahead auto lookahead 512 policy s3fifo planner stream rooms two index mtf block_kib 4'
w2r_use muster
check_eq 'sysfs shows it' "$(w2r_get policy) $(w2r_get planner)" 's3fifo stream'
must w2r_set lookahead 7
check_eq 'a knob shows in the table' "$(dmsetup table muster | grep -o 'lookahead [0-9]*')" 'lookahead 7'
check_not 'a bad table is not loaded' dmsetup load muster --table "$(table_of /dev/muster0 0)"

finish
