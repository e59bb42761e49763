#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cgroup that has spent what io.cost gives it of the device below waits by itself: another one, which has its share
# still, gets its memory back meanwhile, also where reads of both have failed and wait for a worker to try again.
# kernels: 6.12 newest
# asked-for: newest
# timeout: 200
# expect-dmesg: I/O error, dev muster0
# expect-dmesg: Read-error on swap-device
# expect-dmesg: read of .* of the backing device failed
# expect-dmesg: reads no longer pass over slots

. "$(dirname "$0")/lib.sh"
# shellcheck source=tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=cgroups.sh
. "$(dirname "$0")/cgroups.sh"

plan 7

POOR=6
declare -A pids asks
poor=()

# holder NAME GROUP MIB: a program that has so much memory, of which hardly any is there; it reads it when it is asked.
holder() {
	must mkfifo "$WORK/lines-$1"
	in_group "$2" buscheck "$3" <"$WORK/lines-$1" > >(exec cat >"$WORK/out-$1") &
	pids[$1]=$!
}

# said NAME PHASE
said() {
	grep -q "phase=$2" "$WORK/out-$1"
}

ask() {
	echo read >&"${asks[$1]}"
}

# spoil MOST: reads of what was written since the last time fail, of so many blocks of each write.
spoil() {
	local slot pages

	must save_trace
	while read -r slot pages; do
		must null_spoil muster0 $((EDGE + slot)) $((pages < $1 ? pages : $1))
	done < <(paste <(values_of mswap_pageout slot) <(values_of mswap_pageout pages))
}

# start NAME...: they fill their memory and page it out.
start() {
	local name pipe

	for name; do
		exec {pipe}>"$WORK/lines-$name"
		asks[$name]=$pipe
	done
	for name; do
		must wait_until 60 said "$name" written
	done
}

must null_make muster0 64
mswap_add /dev/muster0
must swap_start "$MSWAP"
cost_start
mounted "$TRACING" || must mount -t tracefs none "$TRACING"
on_exit put 0 "$TRACING/events/mswap/mswap_pageout/enable"
must put 1 "$TRACING/events/mswap/mswap_pageout/enable"

# All reads of the first fail, and those of the second now and then: a worker tries again, each page by itself.
for ((i = 1; i <= POOR; i++)); do
	holder poor$i poor 2
	poor+=("poor$i")
done
start "${poor[@]}"
spoil 64
holder rich rich 8
start rich
spoil 1

must cost_of_reads $((100 / ${MUSTER_SLOWER:-1}))
for name in "${poor[@]}"; do
	ask "$name"
done
check 'a cgroup waits for its share of the device' wait_until 60 has_waited poor
hog_start
errors=$(get read_errors)
ask rich
check 'another one gets its memory back' wait_until 60 said rich read
check_that 'which failed reads were part of' "$(get read_errors) > $errors + 2"
check_not 'while the first waits still' said poor1 read

must null_mend muster0
share_all
for name in "${poor[@]}"; do
	must wait_until 60 said "$name" read
done
# All before one is waited for: who was begun later has the pipes of others open as well.
for pipe in "${asks[@]}"; do
	exec {pipe}>&-
done
bad=0
for name in "${!pids[@]}"; do
	wait "${pids[$name]}" || bad=$((bad + 1))
done
check_eq 'so do the others when they may, and no page is another one' "$bad" 0
check 'swapoff' swapoff "$MSWAP"
check_eq 'no write failed' "$(get write_errors) $(get nospace)" '0 0'

finish
