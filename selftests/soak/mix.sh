#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Programs that swap on two devices and one that uses a w2r cache, while knobs, tables, swap areas, devices, memory
# limits and CPUs change at random: no page is wrong, no program fails, no I/O fails.
# `make soak` runs it, for MUSTER_SOAK_SECONDS, and longer where that was too short for a change in ten seconds. The seed
# in MUSTER_SOAK_SEED repeats what is done in which order.

. "$(dirname "$0")/../w2r/lib.sh"
# shellcheck source=steps.sh
. "$(dirname "$0")/steps.sh"

LANES=3
seconds=${MUSTER_SOAK_SECONDS:-60}
seed=${MUSTER_SOAK_SEED:-$RANDOM}

plan $((1 + 2 * (LANES + 1) + 1))

lane_cgroup() {
	echo "/sys/fs/cgroup/muster-soak$1"
}

# between LOW HIGH: sets PICK.
between() {
	PICK=$(($1 + RANDOM % ($2 - $1 + 1)))
}

# Sets PROGRAM.
pick_program() {
	local owner=$1 mib c

	between 8 40 && mib=$PICK
	between 1 16 && c=$PICK
	case $((RANDOM % 7)) in
	0) PROGRAM=(pagestride -o "$owner" -c "$c" -k $((RANDOM % 9)) -s "$mib" --rounds 3 --write-on-readback) ;;
	1) PROGRAM=(pagestride -o "$owner" -c "$c" -s "$mib" --random-singles) ;;
	2) PROGRAM=(pagestride -o "$owner" -c 8 -k 0 -s "$mib" --descending --thp) ;;
	3) PROGRAM=(forkcow -n 2 -s $((mib / 4 + 1)) -r 2) ;;
	4) PROGRAM=(shmcheck -n 1 -s $((mib / 4 + 1)) -r 2 "$WORK/tmpfs") ;;
	5) PROGRAM=(hugecheck -n 1 -s $((mib / 2 + 2)) -r 2) ;;
	6) PROGRAM=(dropcheck -n 1 -s $((mib / 2 + 1)) -r 3) ;;
	esac
}

# One program after the other in a cgroup of its own, until all is over; a line for each that failed.
lane() {
	local lane=$1 limit output status

	RANDOM=$((seed + lane))
	CGROUP=$(lane_cgroup "$lane")
	while [[ ! -e $WORK/enough ]]; do
		pick_program "$lane"
		between 12 32 && limit=$PICK
		output=$(limited "${limit}M" "${PROGRAM[@]}" 2>&1)
		status=$?
		grep '^verified' <<<"$output"
		((status == 0)) || echo "failed with $status: ${PROGRAM[*]}: $(tail -n 3 <<<"$output")"
	done
}

block_lane() {
	while [[ ! -e $WORK/enough ]]; do
		blkcheck -DA -s 10 -t 2 -r 2 /dev/mapper/muster-w2r 2>&1 || echo "failed with $?: blkcheck on w2r"
	done
}

# Two results for each lane.
judge_lane() {
	local name=$1 file=$2

	diag "$name: $(grep -c '^verified' "$file") runs"
	awk '/^verified/ { n += $2 } END { print "# verified", n + 0, "pages" }' "$file"
	check_eq "$name: no program failed" "$(grep '^failed' "$file")" ''
	check_that "$name: pages were verified" "$(grep -c '^verified [1-9]' "$file") > 0"
}

must test -w "$CPU"
on_exit put 1 "$CPU"
for ((i = 1; i <= LANES; i++)); do
	on_exit rmdir "$(lane_cgroup "$i")"
done
must null_make muster0 256
must null_make muster1 256 irqmode=2 completion_nsec=100000
must null_make muster2 64
must null_make muster3 64 irqmode=2 completion_nsec=50000
must mount -t tmpfs -o size=200M none "$WORK/tmpfs"
# Not under must, which would keep what they set from us.
area_up 0 && area_up 1 || exit 1
w2r_make muster-w2r /dev/muster3 8

diag "seed $seed, $seconds s"
for ((i = 1; i <= LANES; i++)); do
	lane "$i" >"$WORK/lane.$i" &
	lanes[i]=$!
done
block_lane >"$WORK/lane.0" &
lanes[0]=$!
RANDOM=$seed
started=$SECONDS
steps_until $((SECONDS + seconds)) $((seconds / 10 + 1))
seconds_taken=$((SECONDS - started))
touch "$WORK/enough"
for i in "${!lanes[@]}"; do
	wait "${lanes[i]}" || echo "failed with $?: what starts the programs" >>"$WORK/lane.$i"
done

figure "seed $seed: $steps_done changes in $seconds_taken s"
check_eq 'every change could be made' "$steps_failed" ''
judge_lane w2r "$WORK/lane.0"
for ((i = 1; i <= LANES; i++)); do
	judge_lane "program $i" "$WORK/lane.$i"
done
for i in 0 1; do
	diag "area $i: $(cd "${area_files[i]}" && grep . pages_out dev_writes pages_in dev_reads pages_in_waiting | paste -sd' ')"
	area_down "$i" || exit 1
done
check_eq 'no I/O of mswap failed' "$io_errors" 0

finish
