#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Targets come and go: create, status, rename, suspend and resume, refusal while in use, unloading.
# timeout: 180
# kernels: all
# races: 6.12

# Functions are called by name, by check and must.
# shellcheck disable=SC2317

. "$(dirname "$0")/lib.sh"
# shellcheck source=../mswap/tracing.sh
. "$(dirname "$0")/../mswap/tracing.sh"

plan 39

many_cycles() {
	local i

	for ((i = 0; i < $1; i++)); do
		dmsetup create muster-c --table "$(table_of /dev/muster0 4)" &&
			dmsetup remove --retry muster-c || return
	done
}

suspend_and_remove() {
	dm_make muster "$(table_of /dev/muster0 4)" && dmsetup suspend --noflush muster &&
		dmsetup remove --retry muster
}

# Two targets, behind what is none.
TWO='0 4096 zero
4096 8192 w2r /dev/muster0 4
12288 8192 w2r /dev/muster1 4'

# two_right: each reads its own device from the begin on, the second time from the cache.
two_right() {
	local i

	for i in 0 1 0 1; do
		cmp -n 4M <(dd if=/dev/mapper/muster bs=4k skip=$((512 + i * 1024)) iflag=direct status=none) \
			<(dd "if=/dev/muster$i" bs=4k iflag=direct status=none) || return
	done
}

# two_written: what is written across their border is on both devices.
two_written() {
	dd if=/dev/urandom of="$WORK/data" bs=1M count=2 status=none &&
		dd if="$WORK/data" of=/dev/mapper/muster bs=1M seek=5 oflag=direct conv=notrunc status=none &&
		cmp -n 1M <(dd if=/dev/muster0 bs=1M skip=3 iflag=direct status=none) "$WORK/data" &&
		cmp -n 1M -i 0:1M <(dd if=/dev/muster1 bs=1M iflag=direct status=none) "$WORK/data" &&
		two_right
}

load_and_remove() {
	dmsetup create muster --notable && dmsetup load muster --table "$(table_of /dev/muster0 4)" &&
		dmsetup remove --retry muster
}

# From here on IMA measures what is loaded, where the kernel has it. Of a machine in use that is not ours to say.
measure() {
	[[ ! ${MUSTER_USED:-} ]] || return
	mount -t securityfs none /sys/kernel/security 2>/dev/null
	echo 'measure func=CRITICAL_DATA label=device-mapper' >/sys/kernel/security/ima/policy
} 2>/dev/null

# measured TEXT: it is part of what was measured.
measured() {
	grep -q "$(printf %s "$1" | od -An -v -tx1 | tr -d ' \n')" /sys/kernel/security/ima/ascii_runtime_measurements
}

# The functions by which a shrinker comes and goes, one of each kind in each kernel.
SHRINKER_FUNCTIONS='register_shrinker shrinker_register unregister_shrinker shrinker_free'

# watch_shrinkers: from now on their calls are counted, where the kernel can.
watch_shrinkers() {
	local name n=0

	mounted "$TRACING" || mount -t tracefs none "$TRACING" || return
	on_exit unwatch_shrinkers
	for name in $SHRINKER_FUNCTIONS; do
		echo "p:muster/$name $name" >>"$TRACING/kprobe_events" && put 1 "$TRACING/events/muster/$name/enable" && n=$((n + 1))
	done
	((n == 2))
} 2>/dev/null

unwatch_shrinkers() {
	local name

	for name in $SHRINKER_FUNCTIONS; do
		[[ ! -d $TRACING/events/muster/$name ]] || {
			put 0 "$TRACING/events/muster/$name/enable"
			echo "-:muster/$name" >>"$TRACING/kprobe_events"
		}
	done
	put '' "$TRACING/trace"
}

shrinker_calls() {
	awk '{ n += $2 } END { print n + 0 }' "$TRACING/kprobe_profile"
}

must null_make muster0 64
if measure; then
	w2r_make muster /dev/muster0 16
	check 'the type of the target is measured' measured 'target_name=w2r,target_version='
	check 'and its words' measured ",origin_device_name=$(dmsetup table muster | awk '{ print $4 }'),cache_mib=16,"
	must dmsetup remove --retry muster
else
	skip 'the type of the target is measured' 'no IMA here for device-mapper'
	skip 'and its words' 'no IMA here for device-mapper'
fi
w2r_make muster /dev/muster0 16
check 'there is a block device' test -b "$DEV"
check_eq 'as large as its origin' "$(sectors_of "$DEV")" "$(sectors_of /dev/muster0)"
check 'it has files in sysfs' test -r "$FILES/read_blocks"
check_fails 'unloading while a target is there' 'in use' rmmod dm_w2r

table=$(dmsetup table muster)
options='readahead auto lookahead 512 policy arc planner auto rooms two index mtf block_kib 4'
check_eq 'the table says all options' "$table" \
	"0 131072 w2r $(dmsetup table muster | awk '{ print $4 }') 16 14 $options"
must dmsetup remove --retry muster
check 'the printed table makes it again' dmsetup create muster --table "$table"
check_eq 'and prints itself' "$(dmsetup table muster)" "$table"
must dmsetup mknodes
w2r_use muster
check_eq 'nothing was read' "$(status_of muster read_blocks)" 0
must touch_range "$DEV" 0 100
check_eq 'status counts what is read' "$(status_of muster read_blocks)" 100

check 'suspend' dmsetup suspend muster
check_not 'its files have no values while it is suspended' cat "$FILES/read_blocks"
check_not 'and take none' w2r_set lookahead 4
check_eq 'status while suspended' "$(status_of muster read_blocks)" 100
check 'resume' dmsetup resume muster
check 'its files are back' test -r "$FILES/read_blocks"
check_eq 'what was cached still is' "$(sum_range "$DEV" 0 100; w2r_get misses)" \
	"$(sum_range /dev/muster0 0 100; status_of muster misses)"
check_that 'from the weighing room' "$(w2r_get hits_weighing) >= 100"

# What a new table needs of sysfs is there before the device is suspended.
folder=$(stat -c %i "$FILES")
must dm_make muster "$(table_of /dev/muster0 8)"
check_eq 'a new table of ours has the same files' "$(stat -c %i "$FILES") $(w2r_get read_blocks)" "$folder 0"
must dm_make muster "0 131072 linear /dev/muster0 0"
check_not 'another target has none' test -e "$FILES"
must dmsetup load muster --table "$(table_of /dev/muster0 16)"
check 'they come with the table' test -e "$FILES/read_blocks"
must dmsetup resume muster
check_eq 'and have values when it is live' "$(w2r_get read_blocks)" 0
must touch_range "$DEV" 0 200

check 'rename' dmsetup rename muster muster-other
check_that 'it goes on under its new name' "$(status_of muster-other read_blocks) == 200"
must dmsetup rename muster-other muster
must dmsetup mknodes

must mkfs.ext4 -qF "$DEV"
must mount "$DEV" "$WORK/mnt"
check_fails 'removal while mounted' 'busy' dmsetup remove muster
check 'it still works' touch "$WORK/mnt/file"
must umount "$WORK/mnt"
check 'removal when unused' dmsetup remove --retry muster

check '30 times made and removed' many_cycles 30
check 'suspended without a flush and removed' suspend_and_remove
check 'loaded but never live' load_and_remove
must null_make muster1 64
must blkpattern -o 1 fill /dev/muster0
must blkpattern -o 2 fill /dev/muster1
check 'a target in the middle of a table' dmsetup create muster --table "$TWO"
check 'each has its own blocks' two_right
check 'also those written across both' two_written
check_eq 'has files of its own' \
	"$(cd "$(dm_folder muster)" && echo w2r*)" 'w2r-12288 w2r-4096'
must dmsetup remove --retry muster
check 'unloading' rmmod dm_w2r

# Up to Linux 6.4 a shrinker that comes or goes waits for all who reclaim memory, and one of them may wait for a device
# that is suspended.
if watch_shrinkers; then
	must modprobe dm-w2r
	check_eq 'the module has a shrinker' "$(shrinker_calls)" 1
	w2r_make muster /dev/muster0 4
	w2r_make muster /dev/muster0 8
	must dmsetup remove --retry muster
	check_eq 'that tables come and go changes nothing of that' "$(shrinker_calls)" 1
	must rmmod dm_w2r
	check_eq 'it goes with the module' "$(shrinker_calls)" 2
else
	for name in 'the module has a shrinker' 'that tables come and go changes nothing of that' 'it goes with the module'; do
		skip "$name" 'this kernel has no kprobes'
	done
fi

finish
