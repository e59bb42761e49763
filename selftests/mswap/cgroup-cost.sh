#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cgroup that has spent what io.cost gives it of the device below waits by itself: another one, which has its share
# still, gets its memory back meanwhile, also where reads of both have failed and wait for a worker to try again.
# kernels: 6.12 newest
# timeout: 200
# expect-dmesg: I/O error, dev muster0
# expect-dmesg: Read-error on swap-device

. "$(dirname "$0")/lib.sh"
# shellcheck source=tracing.sh
. "$(dirname "$0")/tracing.sh"

plan 7

COST=/sys/fs/cgroup/io.cost
CHEAP=1000000000
POOR=6
[[ -e $COST.qos ]] || skip_all 'the kernel has no io.cost'
declare -A pids asks
poor=()

# group_make NAME: a cgroup in $CGROUP, with little memory.
group_make() {
	must mkdir "$CGROUP/$1"
	on_exit rmdir "$CGROUP/$1"
	must put 4M "$CGROUP/$1/memory.high"
}

# holder NAME GROUP MIB: a program that has so much memory, of which hardly any is there; it reads it when it is asked.
holder() {
	must mkfifo "$WORK/lines-$1"
	(
		echo "$BASHPID" >"$CGROUP/$2/cgroup.procs" && exec buscheck "$3" <"$WORK/lines-$1"
	) > >(exec cat >"$WORK/out-$1") &
	pids[$1]=$!
}

# said NAME PHASE
said() {
	grep -q "phase=$2" "$WORK/out-$1"
}

ask() {
	echo read >&"${asks[$1]}"
}

# has_waited GROUP: for its share.
has_waited() {
	(($(io_of /dev/muster0 cost.wait "$1") > 0))
}

# reads_a_second N: what io.cost takes the device for; to write costs next to nothing.
reads_a_second() {
	put "$number ctrl=user model=linear rseqiops=$1 rrandiops=$1 rbps=$CHEAP wseqiops=$CHEAP wrandiops=$CHEAP \
		wbps=$CHEAP" "$COST.model"
}

# spoil MOST: reads of what was written since the last time fail, of so many blocks of each write.
spoil() {
	local slot pages

	must save_trace
	while read -r slot pages; do
		must null_spoil muster0 $((EDGE + slot)) $((pages < $1 ? pages : $1))
	done < <(lines_of mswap_pageout | sed -n 's/.* slot=\([0-9]*\) pages=\([0-9]*\).*/\1 \2/p')
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

# Reads the device below, and nothing else, for ever.
hog() {
	echo "$BASHPID" >"$CGROUP/rich/cgroup.procs"
	while dd if=/dev/muster0 of=/dev/null bs=4k count=16 iflag=direct status=none; do :; done
}

must null_make muster0 64
number=$(number_of /dev/muster0)
mswap_add /dev/muster0
must swap_start "$MSWAP"
must cgroup_make max
controller_on io
must put '+memory +io' "$CGROUP/cgroup.subtree_control"
on_exit put '-memory -io' "$CGROUP/cgroup.subtree_control"
must put 1 /sys/module/blk_cgroup/parameters/blkcg_debug_stats
on_exit put 0 /sys/module/blk_cgroup/parameters/blkcg_debug_stats
mounted "$TRACING" || must mount -t tracefs none "$TRACING"
on_exit put 0 "$TRACING/events/mswap/mswap_pageout/enable"
must put 1 "$TRACING/events/mswap/mswap_pageout/enable"

# All reads of the first fail, and those of the second now and then: a worker tries again, each page by itself.
group_make poor
group_make rich
for ((i = 1; i <= POOR; i++)); do
	holder poor$i poor 2
	poor+=("poor$i")
done
start "${poor[@]}"
spoil 64
holder rich rich 8
start rich
spoil 1

must put 1 "$CGROUP/poor/io.weight"
must put 10000 "$CGROUP/rich/io.weight"
must reads_a_second $((100 / ${MUSTER_SLOWER:-1}))
must put "$number enable=1 ctrl=user rpct=0 wpct=0 min=100 max=100" "$COST.qos"
on_exit put "$number enable=0" "$COST.qos"
for name in "${poor[@]}"; do
	ask "$name"
done
check 'a cgroup waits for its share of the device' wait_until 60 has_waited poor
hog &
hog=$!
must wait_until 60 has_waited rich
errors=$(get read_errors)
ask rich
check 'another one gets its memory back' wait_until 60 said rich read
check_that 'which failed reads were part of' "$(get read_errors) > $errors + 2"
check_not 'while the first waits still' said poor1 read

kill $hog
must null_mend muster0
must put 10000 "$CGROUP/poor/io.weight"
must reads_a_second 100000
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
