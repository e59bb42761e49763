#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Guest side of the swap benchmark and of the demo: carries out a plan, step by step, in one boot.
#
#	guest.sh DIR
#
# DIR/plan is a list of lines:
#	device KIND		brd, null_blk-7us, -100us, -400us, -5ms, nvme or virtio: a device to make
#	size MIB		size of each of them
#	count KIND		count this device's bios by a tracepoint, as it keeps no statistics; costs time
#	limit BYTES		memory.max of the cgroup that the programs run in
#	knob NAME VALUE		control file of mswap, set before each of its steps
#	program NAME COMMAND	run in the cgroup; several lines with one name run at the same time
#	memory NAME BYTES	another memory.max for this program
#	outside NAME		it is run outside the cgroup and itself puts into it what shall be, see loads/load-lib.sh
#	charge 1			what mswap has of the machine's memory is taken off memory.max
#	instructions 1		the emulator counts instructions, and writes them to DIR/instructions.1, .2 and so on when
#				instmark runs
#	root NAME ARCHIVE	it has DIR/ARCHIVE, unpacked in memory as the root of what it starts; several lines: one
#				over the other
#	step N KIND SIDE PAGE_CLUSTER PROGRAM
#				SIDE: one of those of sides.sh
#
# What it does and finds goes to DIR: "events" (one line of key=value an event), and for each step N
# N.begin, N.middle, N.end (/proc/vmstat, the machine's CPU time on a line that starts with "cpustat", what the
# cgroup stalled for memory on one that starts with "memstall", its major faults on one that starts with "memfaults",
# the device's /sys/block/*/stat on one that starts with "blockstat", or "bio ... rwbs: W... hitcount: BIOS nr_sector:
# SECTORS" lines if they are counted), N.mswap.begin and N.mswap (files of mswap, NAME:VALUE), N.out.I (output of the
# I-th program), N.status.I (its exit status) and N.faults.I (major faults of it and what it started, from start to
# end). N.middle is taken when a program that says "phase=write" has ended that phase; what comes before one that says
# "begin", or after one that says "end", is left out. N.mswap.begin is taken when a program says "ready", a second before
# "begin". Where instructions are counted, N.begin.instructions and N.end.instructions are what plugin/instructions.c
# wrote, and N.symbols are the functions of /proc/kallsyms. N.settings is what side_settings of sides.sh prints. Events
# "version" name programs.
set -eu

out=$1
cgroup_root=/sys/fs/cgroup
cgroup=$cgroup_root/bench
bio_event=/sys/kernel/tracing/events/block/block_bio_queue

event() {
	echo "$*" >>"$out/events"
}

die() {
	event "event=error text=$(echo "$*" | tr ' ' '_')"
	echo "guest.sh: $*" >&2
	exit 1
}

setting() {
	sed -n "s/^$1 //p" "$plan"
}

# --- devices: each function prints the path of what it made

make_brd() {
	modprobe brd rd_nr=1 rd_size=$(($1 * 1024)) || return
	echo /dev/ram0
}

# make_null_blk MIB NS [QUEUES DEPTH]
make_null_blk() {
	nullb=/sys/kernel/config/nullb/nullb0
	modprobe null_blk nr_devices=0 || return
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config || return
	mkdir "$nullb" || return
	while read -r name value; do
		# Older kernels do not have it.
		[ "$name" != max_sectors ] || [ -e "$nullb/$name" ] || continue
		echo "$value" >"$nullb/$name" || return
	done <<-END
		size $1
		completion_nsec $2
		irqmode 2
		memory_backed 1
		blocksize 4096
		submit_queues ${3:-$(nproc)}
		hw_queue_depth ${4:-64}
		max_sectors 1024
		power 1
	END
	echo /dev/nullb0
}

wait_for() {
	modprobe "$2" 2>/dev/null || true
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		if [ -b "$1" ]; then
			echo "$1"
			return
		fi
		sleep 0.5
	done
	return 1
}

make_device() {
	case $1 in
	brd) make_brd "$2" ;;
	null_blk-7us) make_null_blk "$2" 7000 ;;
	null_blk-100us) make_null_blk "$2" 100000 ;;
	null_blk-400us) make_null_blk "$2" 400000 ;;
	null_blk-5ms) make_null_blk "$2" 5000000 1 1 && echo 1 >/sys/block/nullb0/queue/rotational ;;
	nvme) wait_for /dev/nvme0n1 nvme ;;
	nvme-tcp) make_nvme_tcp "$2" 100000 ;;
	virtio) wait_for /dev/vda virtio_blk ;;
	*) return 1 ;;
	esac
}

# The device's: the one in brackets, or the only word. Without a request queue there may be none.
io_scheduler() {
	sed 's/.*\[\(.*\)\].*/\1/' "/sys/block/${device##*/}/queue/scheduler" 2>/dev/null || true
}

# The first write to a page of a memory-backed device allocates it: no step shall pay for that.
prefill() {
	dd if=/dev/zero of="$1" bs=1M count="$2" oflag=direct 2>/dev/null
}

# --- swap

swap_start() {
	side_start
	mkswap "$swap" >/dev/null 2>&1 || die "mkswap $swap failed"
	swapon "$swap" || die "swapon $swap failed"
	side_settings >"$tmp/settings"
}

swap_stop() {
	swapoff "$swap" || die "swapoff $swap failed"
	side_stop
}

# --- one step

# The emulator's last two files of this step are of its begin and of its end.
name_instructions() {
	find "$out" -name 'instructions.[0-9]*' | sort -V | tail -n 2 >"$work/instructions"
	for name in begin end; do
		read -r file
		mv "$file" "$out/$step.$name.instructions"
	done <"$work/instructions"
	rm -f "$out"/instructions.[0-9]*
}

# Nothing here waits for the host, as the programs are being timed.
snapshot() {
	[ -z "$instructions" ] || [ "$1" = middle ] || instmark
	cat /proc/vmstat >"$tmp/$1"
	sed -n 's/^cpu /cpustat /p' /proc/stat >>"$tmp/$1"
	# A kernel may be built or booted without memory.pressure.
	sed -n -e 's/^full .*total=/memstall /p' -e 's/^pgmajfault /memfaults /p' \
		"$cgroup/memory.pressure" "$cgroup/memory.stat" 2>/dev/null >>"$tmp/$1" || true
	if [ "$count" = "$kind" ]; then
		sed -n 's/^{ dev:/bio/p' "$bio_event/hist" >>"$tmp/$1"
	else
		sed 's/^/blockstat /' "/sys/block/${device##*/}/stat" >>"$tmp/$1"
	fi
}

# The tracepoint writes a device as major << 20 | minor.
count_bios() {
	IFS=: read -r major minor <"/sys/block/${device##*/}/dev"
	echo "hist:keys=dev,rwbs:vals=nr_sector:size=128 if dev == $((major << 20 | minor))" >"$bio_event/trigger"
}

count_end() {
	sed -n 's/^hist:/!hist:/p' "$bio_event/trigger" | sed 's/ \[active\]$//' >"$work/trigger"
	cat "$work/trigger" >"$bio_event/trigger"
}

# In one process, as the programs are being timed.
mswap_counters() {
	side_is_ours || return 0
	(cd "/sys/block/$mswap" && grep -d skip -s . ./*) | sed 's,^\./,,' >"$tmp/$1"
}

# Unpacks what the program starts. It stays for the next step, which most often wants the same.
make_root() {
	setting "root $program" >"$work/archives"
	! cmp -s "$work/archives" "$work/unpacked" || return 0
	remove_root
	mkdir "$root"
	while read -r archive; do
		tar -C "$root" -xf "$out/$archive" || die "cannot unpack $archive"
	done <"$work/archives"
	[ ! -s "$work/archives" ] || for dir in dev proc sys; do
		mount --bind /$dir "$root/$dir" || die "cannot mount $root/$dir"
	done
	cp "$work/archives" "$work/unpacked"
	tell_archives
}

remove_root() {
	[ -d "$root" ] || return 0
	for dir in dev proc sys; do
		! mountpoint -q "$root/$dir" || umount "$root/$dir" || die "$root/$dir is in use"
	done
	rm -rf --one-file-system "$root"
}

# Runs the I-th command line.
run_program() {
	{
		status=0
		# shellcheck disable=SC2086,SC2016 # a line of the plan is a command with its arguments
		if grep -qx "outside $program" "$plan"; then
			BENCH_CGROUP=$cgroup BENCH_ROOT=$root sh -c 'exec "$@"' sh $2 2>&1 || status=$?
		else
			sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$cgroup" $2 2>&1 || status=$?
		fi
		echo $status >"$tmp/status.$1"
		# Of those that this shell started and waited for.
		read -r _ _ _ _ _ _ _ _ _ _ _ _ faults _ </proc/self/stat
		echo "$faults" >"$tmp/faults.$1"
	} | while read -r line; do
		echo "$line"
		case $line in
		phase=write*) [ "$1" != 1 ] || snapshot middle ;;
		# Before the timed part: to read them takes time, which stock swap does not need.
		ready*) mswap_counters mswap.begin ;;
		begin*)
			uptime_now >"$tmp/began"
			root_reads >"$tmp/began.reads"
			snapshot begin
			;;
		end*)
			uptime_now >"$tmp/ended"
			root_reads >"$tmp/ended.reads"
			snapshot end
			mswap_counters mswap
			;;
		esac
	done >"$tmp/out.$1"
}

uptime_now() {
	read -r now _ </proc/uptime
	echo "$now"
}

# The cgroup pays for what mswap has of the machine's memory: what is prefetched, up to 512 copies, map and tree.
charge_cgroup() {
	own=$((512 * 4096))
	for file in waiting_bytes footprint_bytes; do
		own=$((own + $(cat "/sys/block/$mswap/$file")))
	done
	[ "$side" != mswap-w2r ] || own=$((own + W2R_MIB * 1024 * 1024))
	rest=$(($(cat "$cgroup/memory.max") - own))
	[ $rest -gt 0 ] || die "nothing is left of the memory for $program: $side takes $own bytes"
	echo $rest >"$cgroup/memory.max"
	export BENCH_OWN=$own # for agedswap, which has a limit of its own
}

# Once more what the timed part starts, as the caches were dropped: where time counts instructions, to wait for the
# host's disk takes any time, seconds even.
warm_up() {
	echo x | grep -qx x
	sh -c 'exec "$@"' sh true
	# As zram_write_back does, in which it runs since before the caches were dropped.
	sleep 0
	# As loads/ do.
	chroot --userspec=0:0 / true
	cp /proc/uptime "$tmp/warm.copy"
	awk '{ print $2 - $1 }' /proc/uptime >/dev/null
	snapshot warm
	rm "$tmp/warm" "$tmp/warm.copy"
}

root_reads() {
	read -r reads _ <"/sys/block/$root_disk/stat"
	echo "$reads"
}

run_step() {
	rm -f "$tmp"/*
	make_root
	mkdir "$cgroup"
	memory=$(setting "memory $program")
	echo "${memory:-$limit}" >"$cgroup/memory.max"
	[ ! -e "$cgroup/memory.zswap.max" ] || echo 0 >"$cgroup/memory.zswap.max"
	echo "$page_cluster" >/proc/sys/vm/page-cluster
	device=$(cat "$work/device.$kind")
	swap_start
	scheduler=$(io_scheduler)
	unset BENCH_OWN
	! side_is_ours || [ -z "$(setting charge)" ] || charge_cgroup
	sync
	echo 3 >/proc/sys/vm/drop_caches
	setting "program $program" >"$work/commands"
	[ -s "$work/commands" ] || die "no program $program in the plan"

	export PAGE_RUN="$step"
	event "event=start step=$step"
	[ "$count" != "$kind" ] || count_bios
	mswap_counters mswap.begin
	warm_up
	reads_before=$(root_reads)
	snapshot begin
	begin=$(uptime_now)
	i=0
	programs=
	while read -r command; do
		i=$((i + 1))
		run_program $i "$command" &
		programs="$programs $!"
	done <"$work/commands"
	# shellcheck disable=SC2086 # several numbers
	wait $programs
	end=$(uptime_now)
	root_reads >"$tmp/last.reads"
	if [ -e "$tmp/began" ]; then
		begin=$(cat "$tmp/began")
		reads_before=$(cat "$tmp/began.reads")
	fi
	if [ -e "$tmp/ended" ]; then
		end=$(cat "$tmp/ended")
		cp "$tmp/ended.reads" "$tmp/last.reads"
	else
		snapshot end
		mswap_counters mswap
	fi
	[ "$count" != "$kind" ] || count_end
	if [ -n "$instructions" ]; then
		name_instructions
		grep -i ' [tw] ' /proc/kallsyms >"$out/$step.symbols"
	fi

	swap_stop
	rmdir "$cgroup"
	for file in "$tmp"/*; do
		cp "$file" "$out/$step.${file##*/}"
	done
	event "event=end step=$step begin=$begin end=$end root_reads=$(($(cat "$tmp/last.reads") - reads_before))" \
		"scheduler=$scheduler"
}

# --- the whole plan

prepare_device() {
	device=$(make_device "$kind" "$size") || die "cannot make a $kind device"
	echo "$device" >"$work/device.$kind"
	prefill "$device" "$size" || die "cannot write to $device"
	event "event=device kind=$kind path=$device" \
		"scheduler=$(io_scheduler)" \
		"queues=$(find "/sys/block/${device##*/}/mq" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)"
}

prepare() {
	event "event=boot kernel=$(uname -r) cpus=$(nproc)" \
		"memory_kib=$(sed -n 's/^MemTotal: *\([0-9]*\).*/\1/p' /proc/meminfo)"
	tell_version kernel uname -v
	mountpoint -q "$cgroup_root" || mount -t cgroup2 none "$cgroup_root"
	echo +memory >"$cgroup_root/cgroup.subtree_control" || die "no memory cgroup"
	setting hugepages >/sys/kernel/mm/transparent_hugepage/enabled || die "no such huge pages"
	[ ! -e /sys/module/zswap/parameters/enabled ] || echo N >/sys/module/zswap/parameters/enabled
	mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing
	swapoff -a

	size=$(setting size)
	limit=$(setting limit)
	count=$(setting count)
	instructions=$(setting instructions)
	setting device >"$work/kinds"
	while read -r kind; do
		prepare_device
	done <"$work/kinds"
}

# shellcheck source-path=SCRIPTDIR
. "${0%/*}/sides.sh"
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/remote.sh"
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/versions.sh"

work=$(mktemp -d)
# In memory, and not the cgroup's: nobody waits for the host in order to run them, or to read it.
cp -r "$out/bin" "$out/plan" "$work"
plan=$work/plan
PATH=$work/bin:$PATH
tmp=$work/step
mkdir "$tmp"
root_disk=sda # of the lab's machines
root=$work/root
: >"$work/unpacked"
prepare
setting step >"$work/steps"
while read -r step kind side page_cluster program <&3; do
	run_step
done 3<"$work/steps"
event "event=done"
