#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# In the VM: runs the eight kinds of programs of the SA-W2R paper on an ext4 on a slow device, each with a cold
# page cache, and records what reaches the device.
#
#	record.sh DIR [READ_AHEAD_KB...]
#
# DIR/bin has blktrace and blkparse. For each read-ahead setting N (default 128 and 0) and each program P it
# leaves DIR/raN-P.blkparse, the text of blkparse with what was queued, sector 0 being the device's first.
set -euo pipefail

out=$1
shift
settings=("${@:-128}")
(($#)) || settings=(128 0)
PATH=$out/bin:$PATH
export LD_LIBRARY_PATH=$out/bin

size_mib=768
latency_ns=1000000	# one I/O at a time, so a disk of 1,000 I/Os a second
memory_max=96M		# of the programs with their page cache
dev=/dev/nullb0
mnt=/mnt
headers=$(echo /usr/src/linux-headers-*-common)
objects=(modules/mswap/backing.o modules/mswap/pagein.o)

make_device() {
	local dir=/sys/kernel/config/nullb/nullb0

	modprobe null_blk nr_devices=0
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
	mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
	mkdir "$dir"
	echo "$size_mib" >"$dir/size"
	echo 1 >"$dir/memory_backed"
	echo 2 >"$dir/irqmode"
	echo "$latency_ns" >"$dir/completion_nsec"
	echo 1 >"$dir/submit_queues"
	echo 1 >"$dir/hw_queue_depth"
	echo 1 >"$dir/power"
	mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$dev"
}

make_cgroup() {
	mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	mkdir /sys/fs/cgroup/programs
	echo "$memory_max" >/sys/fs/cgroup/programs/memory.max
}

# What the programs work on: headers of the kernel as they are for whoever builds modules, and our modules.
fill_device() {
	mkdir "$mnt/muster" "$mnt/tmp"
	cp -a "$headers/include" "$mnt/include"
	cp -r /muster/Kbuild /muster/modules "$mnt/muster"
	find "$mnt/muster" -name '*.o*' -delete
	find "$mnt/include/linux" -name '*.h' -exec cat {} + >"$mnt/text"
}

chill() {
	sync
	umount "$mnt"
	mount -o noatime "$dev" "$mnt"
	mount --bind "$mnt/include" "$headers/include"
	echo 3 >/proc/sys/vm/drop_caches
}

warm_up() {
	umount "$headers/include"
}

program() {
	case $1 in
	compile)	make -s -C "/lib/modules/$(uname -r)/build" M="$mnt/muster" "${objects[@]}" ;;
	cp)		cp -r "$mnt/include/linux" "$mnt/copy" ;;
	tar-c)		tar -C "$mnt/include" -cf "$mnt/tree.tar" linux ;;
	tar-x)		mkdir "$mnt/tree" && tar -C "$mnt/tree" -xf "$mnt/tree.tar" ;;
	gzip)		gzip -1 "$mnt/tree.tar" ;;
	gunzip)		gunzip "$mnt/tree.tar.gz" ;;
	sort)		sort -S 2M -T "$mnt/tmp" -o "$mnt/sorted" "$mnt/text" ;;
	grep)		grep -rc list_head "$mnt/include/linux" >/dev/null ;;
	esac
}

record() {
	local name=$1 tracer

	echo "$name: $(cut -d ' ' -f 1 /proc/uptime)"
	blktrace -d "$dev" -a queue -D /tmp/trace -o "$name" >/tmp/tracer.log 2>&1 &
	tracer=$!
	until [ -e /sys/kernel/debug/block/nullb0/dropped ]; do
		kill -0 "$tracer" || { cat /tmp/tracer.log >&2; return 1; }
		sleep 0.1
	done
	(
		echo "$BASHPID" >/sys/fs/cgroup/programs/cgroup.procs
		program "${name#*-}"
	)
	sync
	kill -INT "$tracer"
	wait "$tracer"
	blkparse -q -D /tmp/trace -i "$name" -o "$out/$name.blkparse" >/dev/null
	rm -r /tmp/trace
}

make_cgroup
make_device
mount -o noatime "$dev" "$mnt"
fill_device
mount --bind "$mnt/include" "$headers/include"
for kib in "${settings[@]}"; do
	echo "$kib" >/sys/block/nullb0/queue/read_ahead_kb
	for name in compile cp tar-c tar-x gzip gunzip sort grep; do
		warm_up
		chill
		record "ra$kib-$name"
	done
	rm -r "$mnt/copy" "$mnt/tree" "$mnt/tree.tar" "$mnt/sorted"
	find "$mnt/muster" \( -name '*.o' -o -name '.*.cmd' \) -delete
done
warm_up
umount "$mnt"
echo "done: $(cut -d ' ' -f 1 /proc/uptime)"
