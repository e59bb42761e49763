#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Guest side of the benchmark of dm-w2r: carries out a plan, step by step, in one boot.
#
#	w2r.sh DIR
#
# DIR/plan is a list of lines:
#	device KIND			null_blk-100us, -400us, -5ms, -20ms, delay-4ms or brd: a device to make
#	size MIB			size of each of them and of the file system
#	cache MIB			memory for the caches
#	tree PATH...			which of the kernel headers' include/ go to src/include in the file system;
#					patterns too
#	unit HEADER...			what unit.c includes of linux/
#	text BYTES			size of text, which is made of the headers
#	side NAME TYPE [WORD...]	what is mounted: see w2r-sides.sh
#	program NAME COMMAND		run by sh in the file system's root, where out/ is empty and src/ is the tree
#	check NAME COMMAND		prints something that depends on all of what the program made
#	written NAME			program that each step runs once more at its end, to read back what it wrote
#	cost ROUNDS			measure what a hit and a miss cost
#	step N KIND SIDE		all programs, one after the other, each with a cold page cache
#
# What it does and finds goes to DIR: "events" (one line of key=value an event), and for each program of step N
# N.NAME.begin, N.NAME.end (the device's /sys/block/*/stat, on a line that starts with "blockstat", the machine's CPU
# time on one that starts with "cpu", then what it waited for I/O (PSI, us), its major faults, the reads of the VM's
# root disk and the cache's counters, NAME:VALUE), N.NAME.status, N.NAME.output, N.NAME.sum and, once,
# expected.NAME (the same from a memory file system), N.written (the sum of what was
# read back), N.settings (what side_settings of w2r-sides.sh prints); cost.hit and cost.miss are what readcost prints.
# Events "version" name programs.
#
# Where time counts instructions, what the host does takes none, or all up to the next timer. So while a program is
# timed nothing is asked of the host: DIR is written before and after, its programs are copied to memory, and those of
# the root disk are in the page cache from the run that says what they make. That they were is checked: root_reads.
set -eu

out=$1
nullb=/sys/kernel/config/nullb
root=sda # of the lab's machines
mnt=/mnt/w2r
work=/mnt/work
plan=$work/plan
LC_ALL=C
export LC_ALL

event() {
	echo "$*" >>"$out/events"
}

die() {
	event "event=error text=$(echo "$*" | tr ' ' '_')"
	echo "w2r.sh: $*" >&2
	exit 1
}

setting() {
	sed -n "s/^$1 //p" "$plan"
}

sectors() {
	blockdev --getsz "$1"
}

# --- devices: make_KIND NAME MIB

# make_null_blk NAME MIB MEMORY_BACKED NANOSECONDS QUEUES DEPTH
make_null_blk() {
	mkdir "$nullb/$1" || return
	while read -r name value; do
		echo "$value" >"$nullb/$1/$name" || return
	done <<-END
		size $2
		memory_backed $3
		completion_nsec $4
		submit_queues $5
		hw_queue_depth $6
		irqmode 2
		blocksize 4096
		max_sectors 1024
		power 1
	END
}

# The kernel's name of a target's device, in /dev as in /sys/block.
dm_name() {
	echo "dm-$(dmsetup info -c --noheadings -o minor "$1")"
}

# The device of KIND is /dev/$(cat $work/KIND).
make_device() {
	case $1 in
	brd) echo ram2 ;;
	null_blk-100us)
		make_null_blk nullb0 "$2" 1 100000 "$(nproc)" 64 && echo nullb0
		;;
	null_blk-400us)
		make_null_blk nullb3 "$2" 1 400000 "$(nproc)" 64 && echo nullb3
		;;
	null_blk-5ms)
		make_null_blk nullb1 "$2" 1 5000000 1 1 && echo nullb1
		;;
	null_blk-20ms)
		make_null_blk nullb4 "$2" 1 20000000 1 1 && echo nullb4
		;;
	delay-4ms)
		dmsetup create w2r-slow --table "0 $(($2 * 2048)) delay /dev/ram1 0 4" && dm_name w2r-slow
		;;
	*) return 1 ;;
	esac >"$work/$1"
}

# --- programs

snapshot() {
	sed 's/^/blockstat /' "/sys/block/${device##*/}/stat"
	awk '{ print "root_reads:" $1 }' "/sys/block/$root/stat"
	cache_counters
}

# What the machine has spent. Not every kernel tells what it waited for.
usage() {
	sed -n '/^cpu /p' /proc/stat
	sed -n 's/^\([a-z]*\) .*total=/io_\1_us:/p' /proc/pressure/io 2>/dev/null || true
	sed -n 's/^pgmajfault /major_faults:/p' /proc/vmstat
}

# run_program NAME PREFIX: in the current directory.
run_program() {
	status=0
	sh -c "$(setting "program $1")" >"$2.output" 2>&1 </dev/null || status=$?
	echo $status >"$2.status"
}

# What NAME made, as one line.
sum_program() {
	sh -c "$(setting "check $1")" 2>&1 | md5sum
}

# What a program's reading ahead has under way is its own.
wait_for_reads() {
	while read -r reads _ <"/sys/block/${device##*/}/inflight" && [ "$reads" != 0 ]; do
		sleep 0.01
	done
}

one_program() {
	prefix=$work/found/$step.$program
	mount -o noatime "$top" "$mnt" || die "cannot mount $top"
	cd "$mnt"
	mkdir out
	snapshot >"$prefix.begin"
	usage >>"$prefix.begin"
	begin=$(now)
	run_program "$program" "$prefix"
	end=$(now)
	usage >"$prefix.end"
	wait_for_reads
	snapshot >>"$prefix.end"
	sum_program "$program" >"$prefix.sum"
	rm -rf out
	cd /
	umount "$mnt" || die "cannot unmount"
	cp "$prefix".* "$out"
	event "event=program step=$step program=$program begin=$begin end=$end"
}

# What was written through the cache, read back with a cold page cache; after all that is timed.
verify_written() {
	mount -o noatime "$top" "$mnt" || die "cannot mount $top"
	cd "$mnt"
	mkdir out
	run_program "$written" "$work/written"
	cd /
	umount "$mnt" || die "cannot unmount"
	mount -o noatime "$top" "$mnt" || die "cannot mount $top"
	cd "$mnt"
	sum_program "$written" >"$out/$step.written"
	rm -rf out
	cd /
	umount "$mnt" || die "cannot unmount"
}

run_step() {
	event "event=start step=$step"
	begin_step=$(now)
	dd if="$work/image" of="/dev/$(cat "$work/$kind")" bs=512k oflag=direct 2>/dev/null || die "cannot write to $kind"
	side_start
	side_settings >"$out/$step.settings"
	while read -r program <&4; do
		one_program
	done 4<"$work/programs"
	[ -z "$written" ] || verify_written
	side_stop
	event "event=end step=$step seconds=$(echo "$(now) $begin_step" | awk '{ print $1 - $2 }')"
}

# --- the file system that all devices get, and what the programs make of it in memory

# Of ext4's hash of names, in whose order directories are read: drawn anew, it would decide how much of the tree the next
# program finds in a cache that does just not hold it. By this one the largest directory comes last, which is worse.
hash_seed=d7c670ee-3d31-4c27-94ff-8f0c21dce92a

# Written by mkfs itself, in the order of names.
make_tree() {
	headers=$(echo /usr/src/linux-headers-*-common)
	generated=/usr/src/linux-headers-$(uname -r)
	mkdir -p "$stage/src/include" "$stage/src/generated"
	# shellcheck disable=SC2046 # its words may be patterns of names there
	(cd "$headers/include" && cp -rL --parents $(setting tree) "$stage/src/include") || die "no such headers"
	cp -rL "$headers/arch/x86/include" "$stage/src/asm"
	cp -rL "$generated/include/generated" "$stage/src/generated/generated"
	cp -rL "$generated/arch/x86/include/generated" "$stage/src/generated/asm"
	# shellcheck disable=SC2046
	printf '#include <linux/%s.h>\n' $(setting unit) >"$stage/unit.c"
	find "$stage/src/include" -type f | sort | xargs cat 2>/dev/null | head -c "$(setting text)" >"$stage/text"
	tar -C "$stage" --sort=name -cf "$stage/base.tar" src/include
	gzip -1 -n -c "$stage/base.tar" >"$stage/base.tar.gz"
}

expect_all() {
	cd "$stage"
	while read -r program <&4; do
		mkdir out
		run_program "$program" "$work/expected"
		[ "$(cat "$work/expected.status")" = 0 ] || die "$program fails: $(tail -n 3 "$work/expected.output")"
		sum_program "$program" >"$work/expected.$program"
		cp "$work/expected.$program" "$out"
		rm -rf out
	done 4<"$work/programs"
	cd /
}

make_image() {
	stage=$work/stage
	make_tree
	expect_all
	truncate -s "${size}M" "$work/image"
	mkfs.ext4 -q -b 4096 -E "lazy_itable_init=0,lazy_journal_init=0,hash_seed=$hash_seed" -d "$stage" "$work/image" ||
		die "mkfs failed"
	# As the kernel would have made it: large directories indexed, and read in the order of their hashes.
	e2fsck -fyD "$work/image" >/dev/null 2>&1 || [ $? = 1 ] || die "e2fsck failed"
	event "event=tree files=$(find "$stage" -type f | wc -l) kib=$(du -sk "$stage" | cut -f1)"
	rm -rf "$stage"
}

# --- what a hit and a miss cost

measure_costs() {
	# So large that hardly any of its blocks is still in the cache when it is read again.
	make_null_blk nullb2 65536 0 100000 "$(nproc)" 64 || die "no null_blk"
	device=/dev/ram0
	# What was never written is not copied when it is read.
	dd if=/dev/zero of=/dev/ram0 bs=1M count="$cache" oflag=direct 2>/dev/null
	dmsetup create w2r-linear --table "0 $(sectors /dev/ram0) linear /dev/ram0 0" || die "no linear"
	top_make w2r /dev/ram0 $((cache + 16))
	dd if=$top of=/dev/null bs=1M count="$cache" iflag=direct 2>/dev/null
	readcost -r "$1" -m "$cache" /dev/mapper/w2r-linear $top >"$out/cost.hit" || die "readcost failed"
	dmsetup remove --retry w2r-top
	dmsetup remove --retry w2r-linear
	device=/dev/nullb2
	dmsetup create w2r-linear --table "0 $(sectors /dev/nullb2) linear /dev/nullb2 0" || die "no linear"
	top_make w2r /dev/nullb2 16
	readcost -r "$1" -t 400 /dev/nullb2 /dev/mapper/w2r-linear $top >"$out/cost.miss" || die "readcost failed"
	dmsetup remove --retry w2r-top
	dmsetup remove --retry w2r-linear
	event "event=cost"
}

# --- the whole plan

prepare() {
	event "event=boot kernel=$(uname -r) cpus=$(nproc)" \
		"memory_kib=$(sed -n 's/^MemTotal: *\([0-9]*\).*/\1/p' /proc/meminfo)"
	size=$(setting size)
	cache=$(setting cache)
	written=$(setting written)
	tell_version kernel uname -v
	modprobe brd rd_nr=3 rd_size=$((size * 1024)) || die "no brd"
	modprobe null_blk nr_devices=0 || die "no null_blk"
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
	! grep -qe ' w2r' -e '^cost' "$plan" || modprobe dm-w2r || die "no dm-w2r"
	! grep -q ' dm-cache' "$plan" || modprobe -a dm-cache dm-cache-smq || die "no dm-cache"
	! grep -q ' bcache' "$plan" || modprobe bcache || die "no bcache"
	sed -n 's/^program \([^ ]*\) .*/\1/p' "$plan" >"$work/programs"
	tell_file_programs
	# wait_for_reads() starts it within a program's time: it is read from the root disk before.
	sleep 0.01
	mkdir -p "$mnt"
	setting device >"$work/kinds"
	while read -r kind; do
		make_device "$kind" "$size" || die "cannot make a $kind device"
	done <"$work/kinds"
	make_image
}

mkdir -p "$work"
mount -t tmpfs -o size=80% none "$work"
mkdir "$work/found"
cp -r "$out/plan" "$out/bin" "$work"
PATH=$work/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
. "${0%/*}/w2r-sides.sh"
. "${0%/*}/versions.sh"
prepare
rounds=$(setting cost)
[ -z "$rounds" ] || measure_costs "$rounds"
setting step >"$work/steps"
while read -r step kind side <&3; do
	run_step
done 3<"$work/steps"
event "event=done"
