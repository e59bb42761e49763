# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Part of w2r.sh: what is mounted, side by side. Types of sides, and their words:
#
#	plain [SECTORS]			the device itself, with a read-ahead of SECTORS where it is not left as it is
#	w2r [OPTION VALUE...]		dm-w2r with these words of the table
#	w2r-keep-ra [OPTION VALUE...]	the same, and the page cache reads ahead as on the plain device
#	dm-cache SECTORS		dm-cache with policy smq and blocks of SECTORS, on a ramdisk
#	bcache CUTOFF			bcache that lets sequential readers of more than CUTOFF bytes pass by (0: none), on
#					a ramdisk
#
# All are write-through and begin empty. The caches that want a device get $cache MiB for blocks and META_MIB beside
# them for what they know of them. side_start leaves in $top what to mount; side_settings prints what the kernel says of
# it, DIR/FILE:VALUE.

META_MIB=4
BUCKET_KIB=64

top_make() {
	dmsetup create w2r-top --table "0 $(sectors "$device") $*" || die "no target: $*"
	dmsetup mknodes
	top=/dev/mapper/w2r-top
}

# linear NAME START SECTORS: a part of the ramdisk for caches.
linear() {
	dmsetup create "$1" --table "0 $3 linear /dev/ram0 $2" || die "no $1"
}

# A new dm-cache of blocks of so many sectors.
start_dm_cache() {
	dd if=/dev/zero of=/dev/ram0 bs=1M count=$META_MIB 2>/dev/null
	linear w2r-meta 0 $((META_MIB * 2048))
	linear w2r-fast $((META_MIB * 2048)) $((cache * 2048))
	dmsetup mknodes
	top_make cache /dev/mapper/w2r-meta /dev/mapper/w2r-fast "$device" "$1" 1 writethrough smq 0
}

# wait_for NOT|"" PATH
wait_for() {
	for _ in $(seq 500); do
		# shellcheck disable=SC2086
		! test $1 -e "$2" || return 0
		sleep 0.02
	done
	die "waited in vain for $2"
}

# A new bcache. What it writes at the start of its backing device goes to the ramdisk, so that the device holds the
# same as with the others.
start_bcache() {
	dd if=/dev/zero of=/dev/ram0 bs=1M count=$((META_MIB + cache + 1)) 2>/dev/null
	linear w2r-fast 0 $(((META_MIB + cache) * 2048))
	dmsetup create w2r-backing <<-END || die "no backing device"
		0 2048 linear /dev/ram0 $(((META_MIB + cache) * 2048))
		2048 $(sectors "$device") linear $device 0
	END
	dmsetup mknodes
	set_uuid=$(cat /proc/sys/kernel/random/uuid)
	make-bcache --block 4k --bucket ${BUCKET_KIB}k --data-offset 2048 --cset-uuid "$set_uuid" \
		-C /dev/mapper/w2r-fast -B /dev/mapper/w2r-backing >/dev/null || die "make-bcache failed"
	for each in fast backing; do
		readlink -f "/dev/mapper/w2r-$each" >/sys/fs/bcache/register || die "bcache does not take its $each device"
	done
	wait_for "" /sys/block/bcache0/bcache/cache
	wait_for "" /dev/bcache0
	top=/dev/bcache0
	echo 0 >/sys/block/bcache0/bcache/cache/congested_read_threshold_us
	echo 0 >/sys/block/bcache0/bcache/cache/congested_write_threshold_us
	echo "$1" >/sys/block/bcache0/bcache/sequential_cutoff
}

stop_bcache() {
	echo 1 >"/sys/block/bcache0/bcache/stop"
	wait_for ! /sys/block/bcache0
	echo 1 >"/sys/fs/bcache/$set_uuid/stop"
	wait_for ! "/sys/fs/bcache/$set_uuid"
	dmsetup remove --retry w2r-backing || die "the backing device stays"
	dmsetup remove --retry w2r-fast || die "the cache's device stays"
}

side_start() {
	device=/dev/$(cat "$work/$kind")
	top=$device
	read -r type words <<-END
		$(setting "side $side")
	END
	count=$(echo "$words" | wc -w)
	case $type in
	plain)
		ra_before=$(blockdev --getra "$device")
		[ -z "$words" ] || blockdev --setra "$words" "$device"
		;;
	dm-cache) start_dm_cache "$words" ;;
	bcache) start_bcache "$words" ;;
	w2r*) top_make w2r "$device" "$cache" "$count" "$words" ;;
	*) die "no side $side" ;;
	esac
	if [ "$type" = w2r-keep-ra ]; then
		blockdev --setra "$(blockdev --getra "$device")" "$top"
	fi
}

side_stop() {
	case $type in
	plain) blockdev --setra "$ra_before" "$device" ;;
	bcache) stop_bcache ;;
	*) dmsetup remove --retry w2r-top || die "the target stays" ;;
	esac
	if [ "$type" = dm-cache ]; then
		dmsetup remove --retry w2r-fast || die "the cache's device stays"
		dmsetup remove --retry w2r-meta || die "the metadata's device stays"
	fi
}

side_settings() {
	disk=${top##*/}
	case $type in
	plain | bcache) ;;
	*)
		disk=$(dm_name w2r-top)
		echo "dmsetup/table:$(dmsetup table w2r-top)"
		;;
	esac
	echo "device/scheduler:$(cat "/sys/block/${device##*/}/queue/scheduler" 2>/dev/null)"
	# Not every side has all.
	(cd "/sys/block/$disk" && grep -sH . queue/read_ahead_kb w2r/readahead w2r/lookahead w2r/policy w2r/planner \
		w2r/rooms w2r/index w2r/block_kib w2r/capacity_blocks bcache/cache_mode bcache/sequential_cutoff \
		bcache/cache/congested_*_threshold_us) || true
}

cache_counters() {
	case $type in
	w2r*)
		for file in "/sys/block/$(dm_name w2r-top)/w2r"/*; do
			echo "${file##*/}:$(cat "$file")"
		done
		;;
	dm-cache)
		dmsetup status w2r-top | awk '{ print "read_hits:" $8 "\nread_misses:" $9 "\npromotions:" $13 }'
		;;
	esac
}
