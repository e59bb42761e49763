# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the selftests of mswap share: devices below, mswap devices, a small memory cgroup, counters; with refuse.sh.
# Everything made through it is taken down when the test exits.

# shellcheck source=../lib/ktap.sh
. "${BASH_SOURCE[0]%/*}/../lib/ktap.sh"
# shellcheck source=refuse.sh
. "${BASH_SOURCE[0]%/*}/refuse.sh"

export LC_ALL=C

CONTROL=/sys/class/mswap-control
CGROUP=/sys/fs/cgroup/muster-test
WORK=/run/muster-test
# Slots of 4 KiB that mswap leaves alone: at the begin of a backing device, and at both ends.
# shellcheck disable=SC2034 # tests use them
EDGE=1280 EDGES=1792
KNOBS='policy cluster_pages batch_usecs readahead readahead_pages waiting_pages'

# --- devices below

# null_make NAME MIB [ATTRIBUTE=VALUE...]: makes /dev/NAME, which keeps what is written, 4 KiB blocks.
null_make() {
	local folder=/sys/kernel/config/nullb/$1 mib=$2 pair
	shift 2

	[[ -d /sys/module/null_blk ]] || modprobe null_blk nr_devices=0 || return
	mounted /sys/kernel/config || mount -t configfs none /sys/kernel/config || return
	mkdir "$folder" || return
	for pair in size="$mib" memory_backed=1 discard=1 blocksize=4096 irqmode=0 "$@"; do
		echo "${pair#*=}" >"$folder/${pair%%=*}" || return
	done
	echo 1 >"$folder/power"
	settle
	# Older kernels name the disk by a number.
	[[ -b /dev/${folder##*/} ]] || ln -s "nullb$(<"$folder/index")" "/dev/${folder##*/}"
}

# mbr_make DISK TYPE FIRST NUMBER: an MBR with one partition, of that type (octal), of NUMBER of the disk's blocks from
# FIRST on.
mbr_make() {
	local entry="\\0\\0\\0\\0\\0$2\\0\\0\\0" word at

	for word in "$3" "$4"; do
		for at in 0 8 16 24; do
			printf -v entry '%s\\x%02x' "$entry" $((word >> at & 255))
		done
	done
	printf %b "$entry" | dd of="$1" bs=1 seek=446 conv=notrunc status=none &&
		printf '\125\252' | dd of="$1" bs=1 seek=510 conv=notrunc status=none
}

# null_rotates NAME 0|1: says of itself whether it rotates.
null_rotates() {
	echo "$2" >"$(disk_folder "/dev/$1")/queue/rotational"
}

null_drop() {
	rmdir "/sys/kernel/config/nullb/$1"
	[[ ! -L /dev/$1 ]] || rm "/dev/$1"
}

# null_spoil NAME BLOCK [N]: reads and writes of so many blocks of 4 KiB (1) fail, with all that was merged with them.
null_spoil() {
	echo "+$(($2 * 8))-$((($2 + ${3:-1}) * 8 - 1))" >"/sys/kernel/config/nullb/$1/badblocks"
}

# read_batch DEVICE BLOCK N: reads so many blocks, each by an I/O of its own, under one plug; how many failed.
read_batch() {
	fio --name=batch --filename="$1" --direct=1 --ioengine=libaio --rw=read --bs=4k --offset=$(($2 * 4096)) \
		--size=$(($3 * 4096)) --iodepth="$3" --iodepth_batch_submit="$3" --continue_on_error=read \
		--output-format=json 2>/dev/null | sed -n 's/.*"total_err" : \([0-9]*\).*/\1/p'
}

# disk_folder DEVICE: the folder in sysfs of a whole disk, also by another name than the kernel's.
disk_folder() {
	echo "/sys/block/$(basename "$(readlink -f "$1")")"
}

# number_of DEVICE: MAJOR:MINOR of a whole disk.
number_of() {
	cat "$(disk_folder "$1")/dev"
}

settle() {
	[[ ! -d /run/udev ]] || udevadm settle --timeout=10 2>/dev/null || sleep 0.2
}

# dm_folder NAME: the folder in sysfs of a device of device-mapper; fails where there is none. dmsetup takes a slow
# machine 80 ms.
dm_folder() {
	local file

	for file in /sys/block/dm-*/dm/name; do
		if [[ -e $file && $(<"$file") == "$1" ]]; then
			echo "${file%/dm/name}"
			return 0 # not the status of what has failed, where that is being cleaned up after
		fi
	done
	return 1
}

# dm_make NAME TABLE: makes or replaces /dev/mapper/NAME.
dm_make() {
	[[ -d /sys/module/dm_mod ]] || modprobe dm-mod || return
	if dm_folder "$1" >/dev/null; then
		dmsetup suspend --nolockfs "$1" && dmsetup load "$1" --table "$2" && dmsetup resume "$1"
	else
		dmsetup create "$1" --table "$2" && { [[ -e /dev/mapper/$1 ]] || dmsetup mknodes "$1"; } && settle
	fi
}

# The milliseconds for a dm-delay that is to hold I/O back until it is told to let go: dm_make does so, since a delay
# that is suspended lets all through at once. Whoever comes after that finds the new table.
# shellcheck disable=SC2034
HELD=3600000

# late_below reads|writes NAME: how many I/Os the dm-delay of /dev/mapper/NAME keeps back just now.
late_below() {
	dmsetup status "$2" | awk -v field="$([[ $1 == reads ]] && echo 4 || echo 5)" '
		$3 == "delay" { n += $field }
		END { print n + 0 }'
}

sectors_of() {
	local size=/sys/class/block/${1#/dev/}/size

	if [[ -e $size ]]; then
		show "$size"
	else
		blockdev --getsz "$1"
	fi
}

# Field N of the statistics of a block device (Documentation/block/stat: 1 reads, 3 sectors read, 5 writes,
# 7 sectors written, 9 in flight, 12 discards, 16 flushes).
stat_of() {
	local device=$1 fields

	[[ ! -L $device ]] || device=$(readlink -f "$device")
	read -r -a fields <"/sys/block/${device##*/}/stat"
	echo "${fields[$2 - 1]}"
}

# --- mswap devices

mswap_devices() {
	local folder list=''

	for folder in /sys/block/mswap*; do
		[[ -d $folder ]] && list+="${folder##*/mswap} "
	done
	echo "${list% }"
}

# mswap_add BACKING [FILE=VALUE...]: loads the module if needed, makes a device over BACKING and writes the
# files given before it is made ready. Sets MSWAP (/dev/mswapN) and SYS (its folder).
mswap_add() {
	local backing=$1 number pair
	shift

	[[ -d $CONTROL ]] || must modprobe mswap
	number=$(cat "$CONTROL/hot_add")
	# shellcheck disable=SC2034
	MSWAP=/dev/mswap$number
	SYS=/sys/block/mswap$number
	for pair in "$@"; do
		must mswap_set "${pair%%=*}" "${pair#*=}"
	done
	must mswap_set backing_dev "$backing"
	settle
}

mswap_set() {
	printf '%s' "$2" >"$SYS/$1"
}

get() {
	show "$SYS/$1"
}

# swapped_out PAGES: more than so many have gone out.
swapped_out() {
	(($(get pages_out) > $1))
}

# What `get` gives after it stopped changing: frees and writes that wait for company come a little later. Four times the
# same: where the machine stands still between two readings, a worker has done nothing meanwhile.
get_settled() {
	local value last='' same=0

	for _ in {1..100}; do
		value=$(get "$1")
		if [[ $value != "$last" ]]; then
			last=$value same=0
		elif ((++same == 3)); then
			break
		fi
		moment
	done
	echo "$value"
}

gives() {
	[[ $(get "$1") == "$2" ]]
}

# check_settles NAME FILE WANTED: the file comes to say so, however long it takes a worker to get there, and stays so.
check_settles() {
	wait_until 20 gives "$2" "$3"
	check_eq "$1" "$(get_settled "$2")" "$3"
}

# Removing can meet a device that udev has just opened.
mswap_remove() {
	local number=${1#/dev/mswap}

	for _ in {1..20}; do
		printf '%s' "$number" >"$CONTROL/hot_remove" 2>/dev/null && return
		sleep 0.2
	done
	printf '%s' "$number" >"$CONTROL/hot_remove"
}

# The page that an ext4 begins with, for superblocks_swapped.
mkfs_first_page() {
	truncate -s 8M "$WORK/image" && mkfs.ext4 -q "$WORK/image" && head -c 4096 "$WORK/image" >"$WORK/superblock" &&
		rm "$WORK/image"
}

# superblocks_swapped N: so many copies of the page $WORK/superblock are in memory, or swapped out.
superblocks_swapped() {
	local n=$1

	mount -t tmpfs -o size=$((n * 4 + 1024))K none "$WORK/tmpfs" || return
	yes "$WORK/superblock" | head -n "$n" | limited 16M xargs cat >"$WORK/tmpfs/superblocks"
}

swap_start() {
	mkswap "$1" >/dev/null && swapon "${@:2}" "$1"
}

# blocks_fill OPTION...: blkpattern writes blocks of the device.
blocks_fill() {
	must blkpattern "$@" fill "$MSWAP"
}

# blocks_right NAME MATCH OPTION...: so many of the blocks that the options name are as they were written.
blocks_right() {
	check_eq "$1" "$(blkpattern "${@:3}" scan "$MSWAP" | value_of match)" "$2"
}

# blocks_taken GENERATION: all are written; how many writes went well.
blocks_taken() {
	blkpattern -g "$1" fill "$MSWAP" | value_of match
}

# blocks_match GENERATION: how many are as that wrote them.
blocks_match() {
	blkpattern -g "$1" scan "$MSWAP" | value_of match
}

# all_taken GENERATION: as many as $blocks are.
all_taken() {
	(($(blocks_taken "$1") == blocks))
}

# blocks_shred: the device is full but for a fifth, of single blocks. Neighbours lie apart, so what its first fifth gives
# up is scattered. Sets blocks and fifth, how many there are.
blocks_shred() {
	blocks=$(($(get disksize) / 4096))
	fifth=$((blocks / 5))
	blocks_fill -b 1 -R -g 1
	must blkdiscard -l $((fifth * 4096)) "$MSWAP"
	check_eq 'a fifth is free' "$(get_settled slots_used)" $((blocks - fifth))
}

# --- memory

# limited LIMIT COMMAND...: runs it in a cgroup that is kept to so much memory (10M, or max).
limited() {
	local limit=$1
	shift

	cgroup_make "$limit" || return
	(
		echo "$BASHPID" >"$CGROUP/cgroup.procs" && exec "$@"
	)
}

# limited_into FILE LIMIT COMMAND...: the same, and what it prints goes to FILE through a process outside the cgroup: as
# part of that the file would be swapped out too, and be lost with the device.
limited_into() {
	limited "${@:2}" 2>&1 | cat >"$1"
	return "${PIPESTATUS[0]}"
}

# buscheck_start LIMIT MIB [OPTION]: buscheck fills and pages out so much memory. What goes out under a limit above its size stays
# in the swap cache too. Sets program.
buscheck_start() {
	rm -f "$WORK/lines" "$WORK/out"
	mkfifo "$WORK/lines"
	limited_into "$WORK/out" "$1" buscheck "${@:3}" "$2" <"$WORK/lines" &
	program=$!
	exec 8>"$WORK/lines"
	must wait_until 60 buscheck_said written 1
}

# buscheck_said PHASE N: it has said so N times.
buscheck_said() {
	(($(grep -c "phase=$1" "$WORK/out" 2>/dev/null) >= $2))
}

# buscheck_ask: it is to read all its memory.
buscheck_ask() {
	echo read >&8
}

# buscheck_read: asks it and waits; sets seen to what it answers.
buscheck_read() {
	local before
	before=$(grep -c phase=read "$WORK/out")

	buscheck_ask
	must wait_until 60 buscheck_said read $((before + 1))
	# shellcheck disable=SC2034
	seen=$(tail -n 1 "$WORK/out")
}

# buscheck_end: it ends, with its status.
buscheck_end() {
	exec 8>&-
	wait "$program"
}

# Reclaim keeps the cgroup to memory.high. With memory.max alone the kernel gives up after sixteen rounds that
# free nothing, and on a busy machine kills one such program in a few hundred on any swap device.
cgroup_make() {
	local most=$1

	[[ $1 == max ]] || most=$((${1%M} * 3 / 2))M
	mounted /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup || return
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control || return
	# Another program may make it just now.
	[[ -d $CGROUP ]] || mkdir -p "$CGROUP" || return
	echo "$most" >"$CGROUP/memory.max" && echo "$1" >"$CGROUP/memory.high"
}

# controller_on NAME: cgroups have it, until the test ends.
controller_on() {
	local file=/sys/fs/cgroup/cgroup.subtree_control

	[[ " $(<"$file") " != *" $1 "* ]] || return 0
	on_exit put "-$1" "$file"
	must put "+$1" "$file"
}

# cgroup_signal NAME: to all that is in it.
cgroup_signal() {
	local pid

	while read -r pid; do
		kill "-$1" "$pid"
	done <"$CGROUP/cgroup.procs"
}

# Kills all that is in it.
cgroup_kill() {
	if [[ -e $CGROUP/cgroup.kill ]]; then
		echo 1 >"$CGROUP/cgroup.kill"
	elif [[ -d $CGROUP ]]; then
		cgroup_signal KILL
	fi
}

# The N of "verified N pages, M bad" that a program printed, if M is 0 and N is not.
verified_pages() {
	local line

	while read -r line; do
		[[ ! $line =~ ^verified\ ([1-9][0-9]*)\ pages,\ 0\ bad$ ]] || echo "${BASH_REMATCH[1]}"
	done
}

# check_program NAME COMMAND...: the program passes, verified pages, and found none bad.
check_program() {
	local name=$1 output status line
	shift

	output=$("$@" 2>&1)
	status=$?
	if ((status == 0)) && [[ -z $(verified_pages <<<"$output") ]]; then
		status=1
	fi
	while read -r line; do
		[[ $line != verified* ]] || diag "$line"
	done <<<"$output"
	((status == 0)) || output=$(tail -n 8 <<<"$output")
	result "$name" "$status" "$* exited with $status: $output"
}

# huge_pages: how many the kernel has given out so far, at a fault or for small ones.
huge_pages() {
	awk '/^thp_(fault|collapse)_alloc / { n += $2 } END { print n + 0 }' /proc/vmstat
}

# check_huge CHECK NAME COMMAND...: what `CHECK NAME COMMAND...` checks, and one result more: its memory was huge pages,
# for some of the time at least.
check_huge() {
	local before
	before=$(huge_pages)

	"$@"
	if has_huge_pages; then
		check_that "$2: there were some" "$(huge_pages) - $before > 8"
	else
		skip "$2: there were some" "$NO_HUGE_PAGES"
	fi
}

# A kernel with PREEMPT_RT does without.
NO_HUGE_PAGES='the kernel has no huge pages'
has_huge_pages() {
	[ -d /sys/kernel/mm/transparent_hugepage ]
}

# Two programs that swap, each with its own content, until programs_end; again and again, so that a fast machine has
# them as long as a slow one.
programs_start() {
	local owner

	programs=()
	for owner in 1 2; do
		program_loop "$owner" >"$WORK/out.$owner" 2>&1 &
		programs+=($!)
	done
	must wait_until 60 test -s "$WORK/out.1" -a -s "$WORK/out.2"
}

# program OWNER: what they are, if the test says nothing else.
program() {
	limited 40M pagestride --owner "$1" -c 2 -k 1 -s 48 --rounds 2 --write-on-readback
}

program_loop() {
	while [[ ! -e $WORK/enough ]]; do
		program "$1" || return
	done
}

# Four results.
programs_end() {
	local owner

	touch "$WORK/enough"
	for owner in 1 2; do
		wait "${programs[owner - 1]}"
		check_eq "program $owner passed" $? 0
		check_that "program $owner verified pages" "$(verified_pages <"$WORK/out.$owner" | tail -n 1) + 0 > 0"
	done
}

# value_of KEY <<< "a=1 b=2"
value_of() {
	local words word value=''

	while read -r -a words; do
		for word in "${words[@]}"; do
			[[ $word != "$1="* ]] || value=${word#*=}
		done
	done
	[[ -z $value ]] || echo "$value"
}

# matches FILE...: how many pages in all were right.
matches() {
	local file n=0

	for file; do
		n=$((n + $(value_of match <"$file")))
	done
	echo "$n"
}

# --- taking down

# To find what there is to take down starts no program: a short test would have most of its own here.
test_maps() {
	local file name

	for file in /sys/block/dm-*/dm/name; do
		[[ -e $file ]] || continue
		name=$(<"$file")
		[[ $name != muster* ]] || echo "$name"
	done
}

# things: in THINGS what a machine may have had before the test, swap areas as "swap NAME", all else by a path. There
# are some two hundred modules: no pipe, which bash reads a byte at a time.
things() {
	local area path

	THINGS=()
	{
		read -r
		while read -r area _; do
			THINGS+=("swap $area")
		done
	} </proc/swaps
	for path in /sys/block/loop*/loop /sys/block/mswap* /sys/kernel/config/nullb/*/power /sys/module/*; do
		[[ ! -e $path ]] || THINGS+=("$path")
	done
}

# was_there THING: before the test.
was_there() {
	[[ -n ${THERE_BEFORE[$1]:-} ]]
}

# made PATTERN: the group of PATTERN, for each thing of this test.
made() {
	local thing

	things
	for thing in "${THINGS[@]}"; do
		was_there "$thing" || [[ ! $thing =~ ^$1$ ]] || echo "${BASH_REMATCH[1]}"
	done
}

swaps_off() {
	local area

	for area in $(made 'swap (.*)'); do
		swapoff "$area"
	done
}

# unload MODULE...
unload() {
	local module

	for module; do
		[[ ! -d /sys/module/$module ]] || was_there "/sys/module/$module" || rmmod "$module"
	done
}

teardown() {
	local name

	cgroup_kill
	swaps_off
	mounted "$WORK/mnt" && umount "$WORK/mnt"
	mounted "$WORK/tmpfs" && umount "$WORK/tmpfs"
	for name in $(made '/sys/block/mswap(.*)'); do
		mswap_remove "$name"
	done
	[[ -d /sys/module/mswap_frontswap ]] || unload mswap
	# First those that lie over others.
	for name in $(test_maps); do
		dmsetup remove "$name" 2>/dev/null
	done
	for name in $(test_maps); do
		dmsetup remove --retry "$name"
	done
	for name in $(made '/sys/block/(loop.*)/loop'); do
		losetup -d "/dev/$name"
	done
	for name in $(made '/sys/kernel/config/nullb/(.*)/power'); do
		null_drop "$name"
	done
	unload brd scsi_debug
	[[ -d $CGROUP ]] && rmdir "$CGROUP"
	# What takes down a program's last words may end a little later than the program.
	mounted "$WORK" && wait_until 5 umount "$WORK"
	return 0
}

declare -A THERE_BEFORE=()
things
for thing in "${THINGS[@]}"; do
	THERE_BEFORE[$thing]=1
done
on_exit teardown
must mkdir -p "$WORK"
must mount -t tmpfs -o size=64M none "$WORK"
must mkdir -p "$WORK/mnt" "$WORK/tmpfs"
