# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the selftests of mswap-frontswap share: an engine behind frontswap, ordinary swap areas over ramdisks,
# frontswap's own counters.

# shellcheck source=../mswap/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../mswap/lib.sh"

# shellcheck disable=SC2034
FSWAP=/sys/module/mswap_frontswap/parameters/device
DEBUG=/sys/kernel/debug/frontswap

# fswap_start BACKING: everything that is swapped out goes to an mswap device over BACKING first.
fswap_start() {
	mswap_add "$1"
	[[ -d /sys/module/mswap_frontswap ]] || must modprobe mswap-frontswap
	on_exit fswap_stop
	must fswap_attach "${MSWAP#/dev/mswap}"
	mounted /sys/kernel/debug || must mount -t debugfs none /sys/kernel/debug
}

fswap_attach() {
	printf '%s' "$1" >"$FSWAP"
}

fswap_stop() {
	swaps_off
	fswap_attach -1
}

# areas N MIB [RAMDISKS]: swap on /dev/mapper/muster-area0 and so on, N of MIB each. They lie on ramdisks, which take
# memory only for what is written to them, but are not synchronous as these are.
areas() {
	local n

	must modprobe brd rd_nr="${3:-$1}" rd_size=$(($2 * 1024))
	settle
	for ((n = 0; n < $1; n++)); do
		must dm_make "muster-area$n" "0 $(($2 * 2048)) linear /dev/ram$n 0"
		must swap_start "/dev/mapper/muster-area$n"
	done
}

# Counters of frontswap itself (Documentation/vm/frontswap.rst): loads succ_stores failed_stores invalidates.
frontswap_count() {
	cat "$DEBUG/$1"
}

# Pages that were written to ordinary areas since the machine started; those that frontswap took are not among
# them.
area_written() {
	awk '$1 == "pswpout" { print $2 }' /proc/vmstat
}
