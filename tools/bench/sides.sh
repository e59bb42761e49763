# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2034 # part of guest.sh: device, kind, size, side and swap are its
#
# The sides of the swap benchmark: how each makes what is swapped to of a device, and takes it away again.
#
#	stock			swap on the device
#	stock-slots		the same, but read-ahead is of the slots beside the one asked for, not of the addresses, as
#				it is by itself on a device that rotates
#	stock-deadline		the same as stock, but the device's I/O scheduler is mq-deadline
#	linear			swap on dm-linear on the device
#	mswap[-POLICY]		mswap on the device
#	mswap-slots		the same as mswap, read-ahead of the swap core as with stock-slots
#	mswap-w2r		mswap on dm-w2r on the device, with W2R_MIB of memory outside the cgroup
#	frontswap		mswap on the device behind frontswap, swap on dm-linear on a ramdisk
#	zswap-COMPRESSOR	swap on the device behind zswap, whose memory the cgroup pays
#	zram-COMPRESSOR		swap on zram: compressed memory outside the cgroup, nothing on the device
#	zramwb-COMPRESSOR	zram that writes to the device, every second, what was idle for that second
#
# side_start sets swap, what to swapon; side_stop comes after swapoff. side_settings prints what the kernel says of how
# it swaps there, DIR/FILE:VALUE; mswap's own files are those of mswap_counters.

W2R_MIB=64

frontswap=/sys/module/mswap_frontswap/parameters/device
by_address=/sys/kernel/mm/swap/vma_ra_enabled
zswap=/sys/module/zswap/parameters
mswap=
zram=
writeback=

mswap_set() {
	echo "$2" >"/sys/block/$mswap/$1" || die "mswap refuses $1=$2"
}

# mswap_start BACKING
mswap_start() {
	if [ -z "$mswap" ]; then
		modprobe mswap || die "modprobe mswap failed"
		mswap=mswap$(cat /sys/class/mswap-control/hot_add)
	fi
	mswap_set policy moc
	setting knob | while read -r name value; do
		mswap_set "$name" "$value"
	done
	mswap_set backing_dev "$1"
	swap=/dev/$mswap
}

mswap_stop() {
	mswap_set reset 1
}

scheduler_set() {
	echo "$1" >"/sys/block/${device##*/}/queue/scheduler"
}

# Where the kernel has no such scheduler the step fails, as the scheduler that it had is told with it.
deadline_start() {
	scheduler_before=$(io_scheduler)
	scheduler_set mq-deadline || true
	swap=$device
}

deadline_stop() {
	scheduler_set "$scheduler_before" || true
	[ "$(io_scheduler)" = "$scheduler_before" ] || die "$device keeps its scheduler"
}

# dm_start NAME DEVICE TARGET ARGUMENT: NAME is all of DEVICE by one target whose first argument is a device.
dm_start() {
	dmsetup create --noudevsync "$1" --table "0 $(blockdev --getsz "$2") $3 $2 $4" || die "dm-$3 refuses $2"
	dmsetup mknodes "$1"
}

dm_stop() {
	dmsetup remove --noudevsync "$1" || die "$1 stays"
}

w2r_start() {
	modprobe dm-w2r || die "modprobe dm-w2r failed"
	dm_start bench-w2r "$device" w2r "$W2R_MIB"
}

linear_start() {
	dm_start bench-linear "$device" linear 0
	swap=/dev/mapper/bench-linear
}

# The area takes memory only for what is written to it, which is next to nothing. Past a ramdisk's own face the
# swap core reads by the swap cache, as it does with the disks that people have: a page read back keeps its slot.
frontswap_start() {
	[ "$kind" != brd ] || die "frontswap needs the ramdisk for its area"
	[ -b /dev/ram0 ] || make_brd "$size" >/dev/null || die "cannot make a ramdisk"
	dm_start bench-area /dev/ram0 linear 0
	modprobe mswap-frontswap || die "modprobe mswap-frontswap failed"
	echo "${mswap#mswap}" >"$frontswap" || die "mswap-frontswap refuses $mswap"
	swap=/dev/mapper/bench-area
}

# Its shrinker writes to the device what nobody asks for, where the kernel has it.
zswap_start() {
	modprobe "$1" || die "no compressor $1"
	echo "$1" >$zswap/compressor || die "zswap refuses $1"
	[ ! -e $zswap/zpool ] || echo zsmalloc >$zswap/zpool || die "zswap refuses zsmalloc"
	[ ! -e $zswap/shrinker_enabled ] || echo Y >$zswap/shrinker_enabled
	echo Y >$zswap/enabled || die "zswap is not to be had"
	[ ! -e "$cgroup/memory.zswap.max" ] || echo max >"$cgroup/memory.zswap.max"
	swap=$device
}

zram_start() {
	modprobe zram num_devices=0 || die "modprobe zram failed"
	zram=$(cat /sys/class/zram-control/hot_add)
	echo "$1" >"/sys/block/zram$zram/comp_algorithm" || die "zram refuses $1"
	swap=/dev/zram$zram
}

zram_size() {
	echo "${size}M" >"/sys/block/zram$zram/disksize" || die "zram refuses $size MiB"
}

zram_write_back() {
	while sleep 1; do
		echo idle >"/sys/block/zram$zram/writeback" || true
		echo all >"/sys/block/zram$zram/idle" || true
	done
}

zramwb_start() {
	zram_start "$1"
	echo "$device" >"/sys/block/zram$zram/backing_dev" || die "zram refuses $device"
	zram_size
	zram_write_back 2>/dev/null &
	writeback=$!
}

zram_stop() {
	if [ -n "$writeback" ]; then
		kill "$writeback"
		wait "$writeback" || true
		writeback=
	fi
	echo 1 >"/sys/block/zram$zram/reset" || die "reset of zram$zram failed"
	echo "$zram" >/sys/class/zram-control/hot_remove || die "zram$zram stays"
}

side_start() {
	case $side in
	*-slots) echo false >$by_address ;;
	esac
	case $side in
	stock | stock-slots) swap=$device ;;
	stock-deadline) deadline_start ;;
	linear) linear_start ;;
	mswap | mswap-slots) mswap_start "$device" ;;
	mswap-w2r)
		w2r_start
		mswap_start /dev/mapper/bench-w2r
		;;
	mswap-*)
		mswap_start "$device"
		mswap_set policy "${side#mswap-}"
		;;
	frontswap)
		mswap_start "$device"
		frontswap_start
		;;
	zswap-*) zswap_start "${side#zswap-}" ;;
	zram-*)
		zram_start "${side#zram-}"
		zram_size
		;;
	zramwb-*) zramwb_start "${side#zramwb-}" ;;
	*) die "unknown side $side" ;;
	esac
}

side_stop() {
	case $side in
	stock-deadline) deadline_stop ;;
	linear) dm_stop bench-linear ;;
	mswap-w2r)
		mswap_stop
		dm_stop bench-w2r
		;;
	mswap*) mswap_stop ;;
	frontswap)
		echo -1 >"$frontswap" || die "mswap-frontswap keeps $mswap"
		dm_stop bench-area
		mswap_stop
		;;
	zswap-*) echo N >$zswap/enabled ;;
	zram*) zram_stop ;;
	esac
	case $side in
	*-slots) echo true >$by_address ;;
	esac
}

side_settings() {
	set -- /proc/sys/vm/swappiness $by_address /sys/kernel/mm/transparent_hugepage/enabled
	for file in scheduler nr_requests read_ahead_kb rotational max_sectors_kb; do
		set -- "$@" "/sys/block/${device##*/}/queue/$file"
	done
	case $side in
	zswap-*) set -- "$@" $zswap/* ;;
	zram*) set -- "$@" "/sys/block/zram$zram/comp_algorithm" "/sys/block/zram$zram/disksize" ;;
	mswap-w2r)
		disk=/sys/block/dm-$(dmsetup info -c --noheadings -o minor bench-w2r)
		for file in readahead lookahead policy planner rooms index block_kib capacity_blocks; do
			set -- "$@" "$disk/w2r/$file"
		done
		;;
	esac
	# Not every kernel has all.
	grep -s . "$@" | sed 's,^.*/\([^/:]*/[^/:]*:\),\1,'
}

# Whether its counters are those of mswap.
side_is_ours() {
	case $side in
	mswap* | frontswap) ;;
	*) return 1 ;;
	esac
}
