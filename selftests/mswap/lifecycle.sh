#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Devices come and go: hot_add, hot_remove, reset, disksize, unloading; refused while in use.
# timeout: 180
# kernels: all
# races: 6.12

. "$(dirname "$0")/lib.sh"
# shellcheck source=power.sh
. "$(dirname "$0")/power.sh"

plan 85

hold_open() {
	exec 9<>"$MSWAP"
}

release() {
	exec 9>&-
}

# refused_in_use HOW: while somebody has the device open, nothing takes it away.
refused_in_use() {
	refuse_logged "reset while $1" 'Device or resource busy' "$SYS/reset" 1 "mswap0: reset .*in use"
	refuse_logged "removal while $1" 'Device or resource busy' "$CONTROL/hot_remove" 0 "mswap0: removal .*in use"
	refuse_logged "a change of disksize while $1" 'Device or resource busy' "$SYS/disksize" 32M \
		"mswap0: a change of disksize .*in use"
	check_fails "unloading while $1" 'in use' rmmod mswap
	check_eq "still ready while $1" "$(get initstate)" 1
}

# no_number NAME VALUE: it is not the number of a device that could be removed.
no_number() {
	refuse_logged "removal of $1" 'Invalid argument' "$CONTROL/hot_remove" "$2" 'hot_remove refused: not a device number'
}

# sleep_allowed WHAT STATE WHEN: one result.
sleep_allowed() {
	if can_try "$2"; then
		check "$1 while $3" try_sleep "$2"
	else
		skip "$1 while $3" 'this kernel cannot try it'
	fi
}

# Whoever reads an image opens this for writing, and whoever writes one for reading.
read_image() {
	: >/dev/snapshot
}

# skip_images NUMBER: so many results, where no program can read or write an image.
skip_images() {
	local i

	[[ ! -e /dev/snapshot ]] || return
	for ((i = 1; i <= $1; i++)); do
		skip "images, $i" 'this kernel has no /dev/snapshot'
	done
}

# Six results, with a device that is ready.
images_and_device() {
	local before

	skip_images 6 && return
	before=$(log_lines 'mswap0: opening refused: the machine hibernates')
	exec 8</dev/snapshot
	result 'a program may write an image' $?
	check_fails 'the device cannot be opened meanwhile' 'Device or resource busy' dd if="$MSWAP" of=/dev/null count=1
	check_that 'and the kernel log says so' "$(log_lines 'mswap0: opening refused: the machine hibernates') > $before"
	exec 8<&-
	check 'it can be opened afterwards' dd if="$MSWAP" of=/dev/null bs=4k count=1 status=none
	before=$(log_lines 'mswap0: return from hibernation refused: ')
	check_fails 'no program may return to an image' 'Device or resource busy' read_image
	check_that 'and the kernel log says so' "$(log_lines 'mswap0: return from hibernation refused: ') > $before"
}

# One result, with none that is ready.
image_allowed() {
	skip_images 1 || check 'a program may return to an image' read_image
}

one_cycle() {
	local number
	number=$(cat "$CONTROL/hot_add") &&
		echo "$1" >"/sys/block/mswap$number/backing_dev" &&
		mswap_remove "$number"
}

many_cycles() {
	local i
	for ((i = 0; i < $1; i++)); do
		one_cycle /dev/muster0 || return
	done
}

fill_numbers() {
	while cat "$CONTROL/hot_add" 2>&1; do :; done | tail -n 1
}

must null_make muster0 64
must modprobe mswap
check_eq 'loading makes no device' "$(mswap_devices)" ''
check_eq 'the first device is number 0' "$(cat "$CONTROL/hot_add")" 0
check_eq 'the second device is number 1' "$(cat "$CONTROL/hot_add")" 1
check 'there is a block device' test -b /dev/mswap0
check 'device 1 can be removed' mswap_remove 1
check_eq 'one device is left' "$(mswap_devices)" 0
refuse_logged 'removal of what is not there' 'No such device' "$CONTROL/hot_remove" 1 'no device 1'
no_number 'a negative number' -1
no_number 'minus nought' -0
no_number 'no number' zero
no_number 'a number with a tail' 0x
no_number 'more than there can be' 2147483648
no_number nothing $'\n'

MSWAP=/dev/mswap0 SYS=/sys/block/mswap0
check_eq 'not ready yet' "$(get initstate) $(get backing_dev) $(get disksize)" '0 none 0'
check_eq 'no size yet' "$(blockdev --getsize64 "$MSWAP")" 0
must null_rotates muster0 1
must mswap_set backing_dev /dev/muster0
check_eq 'it does not rotate, whatever the disk does' "$(get queue/rotational)" 0
check_eq 'ready' "$(get initstate) $(get backing_dev)" '1 /dev/muster0'
check_eq 'automatic size leaves 1/64, here 228 slots' "$(get disksize)" $((64 * 1024 * 1024 - (EDGES + 228) * 4096))
check_eq 'the device has this size' "$(blockdev --getsize64 "$MSWAP")" "$(get disksize)"
check_fails 'others cannot have the backing device' 'in use' mkfs.ext4 -qF /dev/muster0

hold_open
refused_in_use 'open'
sleep_allowed hibernation disk 'one has it open'
release
must swap_start "$MSWAP"
refused_in_use 'swap is on'
sleep_allowed hibernation disk 'swap is on'
sleep_allowed 'suspension to memory' freeze 'swap is on'
must swapoff "$MSWAP"
must mkfs.ext4 -qF "$MSWAP"
must mount "$MSWAP" "$WORK/mnt"
refused_in_use 'mounted'
must umount "$WORK/mnt"

images_and_device
must mswap_set policy page
check 'reset when unused' wait_until 5 mswap_set reset 1
image_allowed
check_eq 'reset leaves nothing ready' "$(get initstate) $(get backing_dev)" '0 none'
check_eq 'nor a size' "$(blockdev --getsize64 "$MSWAP")" 0
check_eq 'and nothing of what a ready device is made of' "$(cat "$SYS"/{slots_{total,used,reserved,retired},window,{footprint,waiting}_bytes,copies_held} | sort -u)" 0
check_eq 'reset keeps the knobs' "$(get policy)" page
check 'the backing device is free again' mkfs.ext4 -qF /dev/muster0
check 'ready once more' mswap_set backing_dev /dev/muster0
check_eq 'and nothing of the old content is left' \
	"$(blkpattern scan "$MSWAP" | value_of zero)" $(($(get disksize) / 4096))

check_eq 'who is told that it gets smaller can open it' "$(openresized "$MSWAP" "$SYS/disksize" 32M)" opened
check_eq 'it is smaller' "$(blockdev --getsize64 "$MSWAP")" $((32 << 20))
check_eq 'who is told that it gets larger can open it' "$(openresized "$MSWAP" "$SYS/disksize" 48M)" opened
check_eq 'it is larger' "$(blockdev --getsize64 "$MSWAP")" $((48 << 20))
must blockdev --setro "$MSWAP"
check 'reset of a read-only one' wait_until 5 mswap_set reset 1
must mswap_set backing_dev /dev/muster0
check_eq 'it stays read-only' "$(blockdev --getro "$MSWAP")" 1
check_not 'it takes no write' dd if=/dev/zero of="$MSWAP" bs=4k count=1 oflag=direct status=none
check_eq 'and has had none' "$(get pages_out)" 0
check 'removal when unused' mswap_remove 0

check '40 times made, made ready and removed' many_cycles 40
refused=$(log_lines 'hot_add refused: no device number')
fill_numbers >/dev/null
check_that 'the kernel log says that there is no number more' \
	"$(log_lines 'hot_add refused: no device number') > $refused"
check_eq 'numbers end at 64 devices' "$(mswap_devices | wc -w)" 64
check 'unloading removes all of them' rmmod mswap
check_eq 'no device is left' "$(mswap_devices)" ''
check_eq 'nor the number of their kind' "$(awk '$2 == "mswap"' /proc/devices)" ''
check_eq 'the control folder is gone' "$(ls -d "$CONTROL" 2>/dev/null)" ''

finish
