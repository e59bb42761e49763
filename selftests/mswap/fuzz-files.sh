#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Nonsense, and what is nearly sense, is written into every control file by several threads at once, first while
# devices come and go, then while one is in use: nothing breaks. MUSTER_FUZZ_SECONDS and MUSTER_FUZZ_SEED repeat a run.
# kernels: debug kcsan
# timeout: 240

. "$(dirname "$0")/lib.sh"

plan 12

seconds=${MUSTER_FUZZ_SECONDS:-80}
seed=${MUSTER_FUZZ_SEED:-$((RANDOM + 1))}
words=(-w /dev/muster0 -w /dev/muster1 -w /dev/null -w muster0 -w moc -w object -w page -w auto -w on -w off)

# fuzz NAME FILES...
fuzz() {
	local name=$1 output status
	shift

	output=$(filefuzz -s "$seed" -t "$seconds" -m 340 -n 3 "${words[@]}" "$@" 2>&1)
	status=$?
	figure "$name: $output"
	result "$name" "$status" "$output"
	check_ge "$name: writes" "$(value_of writes <<<"$output")" 1000
	check_ge "$name: writes that were taken" "$(value_of taken <<<"$output")" 50
}

must null_make muster0 64
must null_make muster1 320
must modprobe mswap num_devices=2
shopt -s nullglob
fuzz 'devices come and go' "$CONTROL/hot_add" "$CONTROL/hot_remove" \
	/sys/block/mswap{0,1}/{backing_dev,disksize,reset,policy,cluster_pages,batch_usecs,readahead,readahead_pages,waiting_pages}

for number in $(mswap_devices); do
	must mswap_remove "$number"
done
mswap_add /dev/muster1
must swap_start "$MSWAP"
limited 24M pagestride -c 3 -s 48 --until-term --write-on-readback >"$WORK/stride" 2>&1 &
load=$!
must wait_until 60 swapped_out 1000
fuzz 'a device in use' "$CONTROL/hot_remove" "$SYS"/*_pages "$SYS"/{policy,batch_usecs,readahead} \
	"$SYS"/{backing_dev,disksize,reset,pages_out,cluster_hist,initstate,window,slots_used}
check_eq 'it is still in use' "$(get initstate) $(get backing_dev)" '1 /dev/muster1'
check_not 'no page was wrong meanwhile' grep -E 'bad=[1-9]' "$WORK/stride"
check 'and some were read' grep -q 'phase=read.*bad=0' "$WORK/stride"
must cgroup_signal TERM
wait "$load"
check_eq 'the program went on to the end, and passed' $? 0
for knob in cluster_pages=128 batch_usecs=3000 readahead_pages=64 waiting_pages=2048 policy=moc readahead=auto; do
	must mswap_set "${knob%%=*}" "${knob#*=}"
done
check_program 'it works as before' limited 24M pagestride -c 1 -s 48
check 'swapoff' swapoff "$MSWAP"

finish
