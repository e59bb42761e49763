#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# musterctl says of a device that was swapped on what its files say.
# asked-for: newest
# timeout: 120

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../lib/musterctl.sh"

plan 18

# shown COLUMN[,COLUMN...]: what it says of the device, in bytes.
shown() {
	musterctl -n -r -b -o "$1" "$MSWAP"
}

nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"
}

check_eq 'without the module it says nothing' "$(musterctl 2>&1)" ''
must null_make muster0 64
mswap_add /dev/muster0
check_eq 'a new device' "$(shown NAME,BACKING-DEV,INITSTATE,PRIO,OUT,PG/READ)" 'mswap0 /dev/muster0 1 - 0 -'
must swap_start "$MSWAP"
check_program 'a program swaps' limited 24M pagestride -c 1 -k 0 -s 48
check_that 'pages went out and came back' "$(get pages_out) > 1000 && $(get pages_in) > 1000"
get_settled slots_used >/dev/null
check_eq 'the priority' "$(shown PRIO)" "$(awk -v name="$MSWAP" '$1 == name { print $NF }' /proc/swaps)"
must swapoff "$MSWAP"
get_settled slots_used >/dev/null

file_columns mswap "$SYS"
check_eq 'all files' "$(shown "$COLUMNS")" "$TOLD"
check_ge 'which are many' "$FILES_TOLD" 40
check_eq 'sizes' "$(shown DISKSIZE,USED,OUT,IN)" \
	"$(get disksize) $(($(get slots_used) * 4096)) $(($(get pages_out) * 4096)) $(($(get pages_in) * 4096))"
check_eq 'pages a write' "$(shown PG/WRITE)" "$(quotient "$(get pages_out)" "$(get dev_writes)")"
check_eq 'pages a read' "$(shown PG/READ)" "$(quotient "$(get pages_in)" "$(get dev_reads)")"
check_eq 'hits' "$(shown HIT%)" "$(quotient $(($(get pages_in_waiting) + $(get pages_in_copied))) \
	$(($(get pages_in) - $(get pages_in_zero))) 100)"
check_eq 'what was prefetched in vain' "$(shown WASTED%)" "$(quotient "$(get prefetch_wasted)" \
	$(($(get prefetch_used) + $(get prefetch_wasted))) 100)"
must install -m 755 "$(command -v musterctl)" "$WORK"
check_eq 'all of it for nobody, too' "$(nobody "$WORK/musterctl" --output-all)" "$(musterctl --output-all)"
check_eq 'in an interval nothing comes' "$(musterctl -n -r -i 0.1 -c 2 -o OUT,PAGES-IN,PG/WRITE | tail -n 1)" '0B 0.0 -'

must mswap_set reset 1
check_eq 'after reset' "$(shown BACKING-DEV,INITSTATE,SLOTS-TOTAL,PAGES-OUT)" "none 0 0 $(get pages_out)"
must mswap_remove "$MSWAP"
check_fails 'a device that is gone' 'no such device' shown NAME
check_eq 'is not shown' "$(musterctl 2>&1)" ''
check 'that is no failure' musterctl

finish
