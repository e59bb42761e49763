#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What cannot be a backing device, and sizes that cannot be: refused with an errno and a line in the log,
# nothing changes, and what was refused to mswap stays free for others.
# timeout: 180
# kernels: all
# asked-for: 5.10 6.1 newest
# expect-dmesg: I/O error, dev (muster|nullb)
# expect-dmesg: Buffer I/O error on dev (muster|nullb)

. "$(dirname "$0")/lib.sh"

must modprobe loop
truncate -s 64M "$WORK/large"
large=$(losetup --show -f --sector-size 8192 "$WORK/large" 2>/dev/null)
plan $((95 + (${#large} ? 3 : 1)))

# refuse_backing NAME ERROR PATH PATTERN
refuse_backing() {
	refuse_logged "backing device: $1" "$2" "$SYS/backing_dev" "$3" "mswap0.*$4"
	check_eq "still none: $1" "$(get initstate) $(get backing_dev)" '0 none'
}


must null_make muster0 64
must null_make muster1 64
must modprobe mswap num_devices=1
MSWAP=/dev/mswap0 SYS=/sys/block/mswap0

refuse_backing 'no such path' 'No such file or directory' /dev/nothing-here nothing-here
refuse_backing 'a file' 'Block device required' /etc/passwd passwd
refuse_backing 'a folder' 'Block device required' /tmp /tmp
refuse_backing 'a character device' 'Block device required' /dev/null /dev/null
refuse_backing 'an empty path' 'Invalid argument' $'\n' 'no path'
# What is shown of the kernel log must not end with a line of such bytes.
refuse_backing 'a path of any bytes' 'No such file or directory' "$(printf '/\303\277\001%.0s' {1..500})" 'cannot use'
refuse_backing 'itself, which has no size yet' 'No space left on device' "$MSWAP" "$MSWAP"

# refuse_behind FILE VALUE: VALUE (printf's) has something behind the byte that ends it.
refuse_behind() {
	local before got

	read_state "$SYS/policy"
	before=$STATE
	# shellcheck disable=SC2059
	got=$({ printf "$2" >"$1"; } 2>&1)
	read_state "$SYS/policy"
	check_eq "what is behind the end of a value is refused, and changes nothing: ${1##*/}" "${got##*: } $STATE" \
		"Invalid argument $before"
}

refuse_behind "$SYS/readahead" 'off\0on'
refuse_behind "$SYS/waiting_pages" '128\0x'
refuse_behind "$SYS/disksize" '32M\0x'
refuse_behind "$SYS/backing_dev" '/dev/muster0\0x'
refuse_behind "$SYS/reset" '1\0x'
refuse_behind "$CONTROL/hot_remove" '0\0x'

must mkfs.ext4 -qF /dev/muster1
must mount /dev/muster1 "$WORK/mnt"
refuse_backing 'a mounted device' 'Device or resource busy' /dev/muster1 muster1
check 'and the mount still works' touch "$WORK/mnt/file"
must umount "$WORK/mnt"
must swap_start /dev/muster1
refuse_backing 'a swap device' 'Device or resource busy' /dev/muster1 muster1
must swapoff /dev/muster1

must blockdev --setro /dev/muster1
refuse_backing 'a read-only device' 'Read-only file system' /dev/muster1 muster1
must blockdev --setrw /dev/muster1

truncate -s $((8 * 1024 * 1024 - 4096)) "$WORK/small"
small=$(losetup --show -f "$WORK/small")
refuse_backing 'a device below 8 MiB' 'No space left on device' "$small" "$small"
if [[ $large ]]; then
	refuse_backing 'blocks of 8 KiB' 'Invalid argument' "$large" "$large"
else
	skip 'backing device: blocks of 8 KiB' 'this kernel has no block device with blocks above a page'
fi
must null_make musterz 64 zoned=1 zone_size=4 memory_backed=0 discard=0
refuse_backing 'a zoned device' 'Invalid argument' /dev/musterz musterz

for size in -1 x 1X 1.5M '1 M' 99999999999999999999 16777216T 1MM '33554432                x'; do
	refuse_logged "disksize $size" 'Invalid argument' "$SYS/disksize" "$size" 'mswap0: disksize refused: not a number'
done
refuse_logged 'disksize of less than a slot' 'Invalid argument' "$SYS/disksize" 4095 'mswap0: disksize'
refuse_logged 'disksize of a slot too many' 'Invalid argument' "$SYS/disksize" $((((1 << 32) - 1) * 4096)) 'mswap0: disksize'
must mswap_set disksize 1T
refuse_backing 'a size beyond the device' 'No space left on device' /dev/muster0 muster0
check_eq 'the wish stays' "$(get disksize)" $((1 << 40))
must mswap_set disksize 0

must mswap_set backing_dev /dev/muster0
refuse_logged 'a second backing device' 'Device or resource busy' "$SYS/backing_dev" /dev/muster1 'mswap0: backing_dev'
refuse_logged 'a larger disksize than fits' 'No space left on device' "$SYS/disksize" 1G 'mswap0.*slots do not fit'
refuse_logged 'a disksize that leaves 63 slots' 'No space left on device' "$SYS/disksize" \
	$(((64 * 256 - EDGES - 63) * 4096)) 'mswap0.*slots do not fit'
must blkpattern -n 1 fill "$MSWAP"
refuse_logged 'a disksize while a slot is in use' 'Device or resource busy' "$SYS/disksize" 32M \
	'mswap0: disksize .*reset first'
must blkdiscard "$MSWAP"
must mswap_set disksize 32M
check_eq 'when none is, the device has this size' "$(blockdev --getsize64 "$MSWAP")" $((32 << 20))
for value in 0 2 x '1 1'; do
	refuse_logged "reset $value" 'Invalid argument' "$SYS/reset" "$value" 'mswap0: reset refused: write 1'
done

must mswap_set reset 1
check_eq 'reset keeps the wish' "$(get disksize)" $((32 << 20))
must null_make muster2 64 blocksize=512
check 'a device of 512-byte blocks is fine' mswap_set backing_dev /dev/muster2
must mswap_set reset 1

# Whoever has it open, what is written to where slots are stays in memory.
exec 8<>/dev/muster0
write_as_others() {
	dd if=/dev/urandom of=/dev/muster0 bs=4k seek="$EDGE" count=64 status=none
}

must write_as_others
must mswap_set backing_dev /dev/muster0
must blkpattern -n 64 -b 64 fill "$MSWAP"
sync
check_eq 'what others wrote before comes over no slot' "$(blkpattern -n 64 scan "$MSWAP" | value_of match)" 64
must mswap_set reset 1
must write_as_others
must null_spoil muster0 $EDGE 64
refuse_backing 'a device that does not take what others wrote' 'Input/output error' /dev/muster0 'others wrote'
exec 8>&-

# What others wrote to it cannot be written just now, so that to make it ready takes long.
has_ended() {
	! kill -0 "$1" 2>/dev/null
}

must dm_make muster "0 $(sectors_of /dev/muster2) linear /dev/muster2 0"
exec 8<>/dev/mapper/muster
must dmsetup suspend --noflush --nolockfs muster
must dd if=/dev/zero of=/dev/mapper/muster bs=4k count=64 conv=notrunc status=none
mswap_set backing_dev /dev/mapper/muster &
starting=$!
sleep 1
cat "$SYS"/{backing_dev,disksize,slots_total} >"$WORK/read" &
check 'who reads meanwhile does not wait' wait_until 10 has_ended $!
check_not 'but who makes it ready' has_ended $starting
must dmsetup resume muster
wait $starting
check_eq 'then it is ready' "$(get initstate) $(get backing_dev)" '1 /dev/mapper/muster'
exec 8>&-

finish
