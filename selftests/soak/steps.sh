# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the soak test does while its programs run: each step changes one thing at random. A step prints what it does
# and fails when it cannot.

CPU=/sys/devices/system/cpu/cpu1/online
STEPS=(knob knob area area_anew other_device w2r_table w2r_message cpu limit look memory)
area=() area_files=() io_errors=0 step=''

one_of() {
	local -a choice=("$@")

	PICK=${choice[RANDOM % $#]}
}

# --- swap areas: 0 and 1, over /dev/muster0 and 1

area_up() {
	mswap_add "/dev/muster$1"
	area[$1]=$MSWAP
	area_files[$1]=$SYS
	swap_start "$MSWAP" -p 10
}

# What is in it goes to the other one.
area_off() {
	local file

	swapoff "${area[$1]}" || return
	for file in write_errors read_errors nospace; do
		io_errors=$((io_errors + $(cat "${area_files[$1]}/$file")))
	done
}

area_down() {
	area_off "$1" && mswap_remove "${area[$1]}"
}

step_area() {
	local number=$((RANDOM % 2))

	echo "swap area $number off and on"
	area_off $number && swapon -p 10 "${area[number]}"
}

step_area_anew() {
	local number=$((RANDOM % 2)) files

	if ((RANDOM % 2)); then
		echo "area $number removed and added"
		area_down $number && area_up $number
		return
	fi
	between 200 240
	echo "area $number reset, now of $PICK MiB"
	files=${area_files[number]}
	area_off $number && put 1 "$files/reset" && put "${PICK}M" "$files/disksize" &&
		put "/dev/muster$number" "$files/backing_dev" && swap_start "${area[number]}" -p 10
}

step_knob() {
	local number=$((RANDOM % 2)) knob

	one_of policy cluster_pages batch_usecs readahead readahead_pages waiting_pages
	knob=$PICK
	case $knob in
	policy) one_of moc moc object page ;;
	cluster_pages) between 1 256 ;;
	batch_usecs) between 0 10000 ;;
	readahead) one_of auto on off ;;
	readahead_pages) between 1 64 ;;
	waiting_pages) between 64 4096 ;;
	esac
	echo "area $number: $knob = $PICK"
	put "$PICK" "${area_files[number]}/$knob"
}

# --- other things

step_other_device() {
	local MSWAP SYS

	between 1 3
	echo "another device comes for $PICK s and goes"
	mswap_add /dev/muster2
	blkcheck -A -x "$RANDOM" -s "$PICK" -t 2 -r 1 -S 32 "$MSWAP" >/dev/null && mswap_remove "$MSWAP"
}

step_w2r_table() {
	local -a words

	one_of lru s3fifo arc && words=(policy "$PICK")
	one_of obl stream pattern region near auto && words+=(planner "$PICK")
	one_of auto on off && words+=(readahead "$PICK")
	between 1 128 && words+=(lookahead "$PICK")
	one_of two two one && words+=(rooms "$PICK")
	one_of 4 4 16 64 && words+=(block_kib "$PICK")
	between 1 40
	echo "w2r table: $PICK ${words[*]}"
	dm_make muster-w2r "$(table_of /dev/muster3 "$PICK" "${words[@]}")"
}

step_w2r_message() {
	one_of clear_stats 'invalidate 0-8191' 'invalidate 4096-4103'
	echo "w2r message: $PICK"
	# shellcheck disable=SC2086
	dmsetup message muster-w2r 0 $PICK
}

step_cpu() {
	echo 'a CPU goes and comes'
	put 0 $CPU && sleep 0.3 && put 1 $CPU
}

step_limit() {
	local lane=$((RANDOM % LANES + 1)) group

	between 10 40
	echo "lane $lane: limit $PICK MiB"
	group=$(lane_cgroup $lane)
	[[ -d $group ]] || return 0
	# As cgroup_make has it: where memory.max alone holds them, programs get killed.
	put 60M "$group/memory.max" && put "${PICK}M" "$group/memory.high"
}

step_look() {
	echo 'all files are read'
	grep -rs . "${area_files[@]}" >/dev/null
	dmsetup status >/dev/null && dmsetup table >/dev/null
}

step_memory() {
	one_of compact_memory drop_caches
	echo "$PICK"
	put 1 "/proc/sys/vm/$PICK"
}

# What a step said that ended the test: it is in a file, as what any step says.
exec {shown}>&1
show_step() {
	[[ -z $step ]] || cat "$WORK/step" >&"$shown"
}
on_exit show_step

# steps_until DEADLINE LEAST: steps up to the deadline, and beyond it until so many are done. Sets steps_done, and
# steps_failed to what could not be done.
steps_until() {
	steps_done=0 steps_failed=''
	while ((SECONDS < $1 || steps_done < $2)); do
		one_of "${STEPS[@]}"
		step=$PICK
		"step_$step" >"$WORK/step" 2>&1 || steps_failed+="$steps_done ($step): $(<"$WORK/step"); "
		diag "[$SECONDS s] $steps_done: $(<"$WORK/step")"
		step=''
		steps_done=$((steps_done + 1))
		sleep "0.$((RANDOM % 9 + 1))"
	done
}
