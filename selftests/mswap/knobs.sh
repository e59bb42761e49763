#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every knob takes what it may take and refuses everything else, before and after the device is ready.
# timeout: 300
# kernels: all
# asked-for: 5.10 6.1 newest

. "$(dirname "$0")/lib.sh"

# A write of no bytes at all reaches no driver, so it is not among the values.
huge=$(printf '9%.0s' {1..4000})
declare -A good=(
	[policy]='object page moc'
	[cluster_pages]='1 256 33 128'
	[batch_usecs]='0 10000 1 3000'
	[readahead]='on off auto'
	[readahead_pages]='1 2 63 64'
	[waiting_pages]='64 65536 100 2048'
)
declare -A default=([policy]=moc [cluster_pages]=128 [batch_usecs]=3000 [readahead]=auto
	[readahead_pages]=64 [waiting_pages]=2048)
declare -A outside=([cluster_pages]='0 257' [batch_usecs]='10001' [readahead_pages]='0 65'
	[waiting_pages]='63 65537 0')
nonsense=($'\t' ' ' text -1 1.5 '32 ' '32x' 0x20 '1 2' 4294967328 "$huge")
words=($'\t' ' ' MOC mo mocc 'moc ' 'moc page' 1 ON "$huge")

count=0
for knob in $KNOBS; do
	# shellcheck disable=SC2206
	values=(${good[$knob]} ${outside[$knob]:-})
	count=$((count + ${#values[@]} + (${#outside[$knob]} ? ${#nonsense[@]} : ${#words[@]})))
done
# Twice all of these, then the defaults, the log, and what changes while swapping.
plan $((2 * count + 6 + 12 + 1 + 6 + 3))

# shellcheck disable=SC2086
knob_values() {
	local knob=$1 value got bad=("${nonsense[@]}")

	for value in ${good[$knob]}; do
		mswap_set "$knob" "$value"
		read -r got <"$SYS/$knob"
		check_eq "$2: $knob takes $value" "$got" "$value"
	done
	for value in ${outside[$knob]:-}; do
		refuse "$2: $knob refuses $value" 'Invalid argument' "$SYS/$knob" "$value"
	done
	[[ ${outside[$knob]:-} ]] || bad=("${words[@]}")
	for value in "${bad[@]}"; do
		refuse "$2: $knob refuses '${value:0:12}'" 'Invalid argument' "$SYS/$knob" "$value"
	done
}

# How many refusals of a knob the kernel log tells of: by a line each or, of those that came too fast for that, by a number.
refusals_told() {
	kernel_log | awk '
		/mswap0: [a-z_]+ refused: it is/ { n++ }
		/knob_refuse: [0-9]+ callbacks suppressed/ { n += $(NF - 2) }
		END { print n + 0 }'
}

# A little apart: a loop that never sleeps holds its CPU where the emulated CPUs take turns, and each TLB flush of the
# program then costs it a turn; it took 70 s for 8.
turn_knobs() {
	local knob value

	mkfifo "$WORK/never" && exec 9<>"$WORK/never" || return
	while kill -0 "$1" 2>/dev/null; do
		for knob in $KNOBS; do
			for value in ${good[$knob]}; do
				mswap_set "$knob" "$value" || return
				read -rt 0.01 -u 9 || true
			done
		done
	done
}

swap_meanwhile() {
	limited 24M pagestride -c 3 -k 1 -s 64 --rounds 2 --write-on-readback
}

must null_make muster0 256
must modprobe mswap num_devices=1
MSWAP=/dev/mswap0 SYS=/sys/block/mswap0
told=$(refusals_told)

for knob in $KNOBS; do
	check_eq "default of $knob" "$(get "$knob")" "${default[$knob]}"
done
for knob in $KNOBS; do
	knob_values "$knob" 'not ready'
done
must mswap_set backing_dev /dev/muster0
for knob in $KNOBS; do
	knob_values "$knob" ready
done
for knob in $KNOBS; do
	refuse_logged "$knob refuses" 'Invalid argument' "$SYS/$knob" nonsense "mswap0: $knob refused"
done
# The last of each kind had a line, and so had the number of those before it that had none.
check_eq 'the kernel log tells of every refusal' $(($(refusals_told) - told)) "$REFUSALS"

for knob in $KNOBS; do
	check_fails "two lines at once to $knob" 'Invalid argument' \
		dd if=<(printf '64\n64') of="$SYS/$knob" bs=16 iflag=fullblock status=none
done

must swap_start "$MSWAP"
swap_meanwhile >"$WORK/out" 2>&1 &
program=$!
check 'knobs turn while swapping' turn_knobs "$program"
wait "$program"
check_eq 'the program passed meanwhile' $? 0
check_that 'and verified pages' "$(verified_pages <"$WORK/out") + 0 > 0"

finish
