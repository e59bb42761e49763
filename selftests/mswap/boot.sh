#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What the systemd unit runs: mswap-swap, as make install has put it in place.
# timeout: 500
# kernels: all
# asked-for: 5.10 6.1 newest
# expect-dmesg: Buffer I/O error on dev dm-

. "$(dirname "$0")/lib.sh"

# The commands of the unit, run as systemd would run them with $MSWAP_OPTIONS empty.
unit() {
	sed -n "s|^$1=||p" /etc/systemd/system/mswap@.service | sed "s|%f|$2|; s| \$MSWAP_OPTIONS||"
}

swap_areas() {
	awk 'NR > 1 { print $1, $5 }' /proc/swaps
}

content() {
	md5sum <"$1"
}

# refused NAME TEXT DEVICE [OPTION...]: it says so, and leaves no device, no swap area and DEVICE as it was.
refused() {
	local name=$1 text=$2 before

	before=$(content "$3")
	check_fails "$name" "$text" mswap-swap start "${@:3}"
	check_eq "$name: nothing was done" "$(mswap_devices) $(swap_areas) $(content "$3")" "  $before"
}

# A superblock of squashfs beside the other file system's.
two_marks() {
	printf hsqs | dd of="$1" conv=notrunc && printf '\4\0' | dd of="$1" bs=1 seek=28 conv=notrunc
}

# By a link that is gone when it is stopped.
start_by_link() {
	ln -sfn /dev/muster0 "$WORK/link" && mswap-swap start "$WORK/link"
}

# The second header of a LUKS volume, which libblkid takes for the first one: it looks for it at up to 4 MiB.
luks_page() {
	{
		printf 'SKUL\272\276\0\1'
		head -c 160 /dev/zero
		printf 11111111-2222-3333-4444-555555555555
		head -c 3892 /dev/zero
	} >"$WORK/superblock"
}

# superblock_at PLACE: that page lies there on the disk.
superblock_at() {
	cmp -n 4096 "$WORK/superblock" <(dd if=/dev/muster0 bs=4K skip="$1" iflag=skip_bytes count=1 status=none)
}

# superblock_from SLOT: that slot is written, and the page lies on one of the 128 from there on: pages of programs may
# be before it.
superblock_from() {
	! cmp -s -n 4096 /dev/zero <(dd if=/dev/muster0 bs=4K skip=$((EDGE + $1)) count=1 status=none) &&
		dd if=/dev/muster0 bs=4K skip=$((EDGE + $1)) count=128 status=none |
		split -b 4096 --filter="cmp -s - $WORK/superblock && echo found" | grep -q found
}

marks() {
	wipefs --noheadings --output TYPE,LABEL "$1" | tr -s ' '
}

# stand_in PROGRAM: the script that comes in runs in its place where $WORK/PROGRAM is first in the PATH.
stand_in() {
	mkdir -p "$WORK/$1" && cat >"$WORK/$1/$1" && chmod +x "$WORK/$1/$1"
}

plan 85

must null_make muster0 64
must modprobe mswap

check 'start' eval "$(unit ExecStart /dev/muster0)"
check_eq 'there is one device' "$(mswap_devices)" 0
check_eq 'and swap on it' "$(swap_areas)" '/dev/mswap0 90'
check 'once more changes nothing' mswap-swap start /dev/muster0
check_eq 'there is one device still' "$(mswap_devices) $(swap_areas)" '0 /dev/mswap0 90'
check_fails 'it cannot be uninstalled meanwhile' 'mswap0 is in use' "$(dirname "$0")/../../tools/dkms-setup" uninstall
check 'the script for that is still there' command -v mswap-swap
check_program 'swapping' limited 24M pagestride -c 1 -s 48
check 'stop' eval "$(unit ExecStop /dev/muster0)"
check_eq 'no swap, no device' "$(swap_areas)$(mswap_devices)" ''
check_eq 'and the disk is marked as swap' "$(marks /dev/muster0)" 'swap mswap'
check_eq 'stop of what is not there says so' "$(mswap-swap stop /dev/muster0)" \
	'mswap-swap: there is no mswap device over /dev/muster0'
check 'and is no failure' mswap-swap stop /dev/muster0
check_fails 'a relative path is refused' 'give the whole path' env -C /dev mswap-swap start muster0
for words in 'start /dev/muster0' 'stop /dev/muster0'; do
	# shellcheck disable=SC2086 # words
	check_fails "$words by another user" 'must run as root' setpriv --reuid 65534 --clear-groups mswap-swap $words
done
check 'start on what it was, with options' mswap-swap start /dev/muster0 cluster_pages=64 disksize=32M priority=7
check_eq 'they are set' "$(swap_areas) $(cat /sys/block/mswap0/{cluster_pages,disksize})" $'/dev/mswap0 7 64\n33554432'
swapoff /dev/mswap0 &
check 'stop while somebody else swaps it off' mswap-swap stop /dev/muster0
wait $!
check_eq 'it is gone' "$(swap_areas)$(mswap_devices)" ''

must start_by_link
must rm "$WORK/link"
check 'stop without the link' mswap-swap stop "$WORK/link"
check_eq 'takes the device away' "$(mswap_devices)" ''
must start_by_link
check 'stop by another name' mswap-swap stop /dev/muster0
check_eq 'takes it away as well' "$(mswap_devices)" ''

# Whatever is swapped out, the machine may stop at once.
must mswap-swap start /dev/muster0
must mkfs_first_page
check 'pages that look like a file system' superblocks_swapped 6144
check 'are swapped out' superblock_at 8M
check_eq 'and the disk is marked as swap' "$(marks /dev/muster0)" 'swap mswap'
must umount "$WORK/tmpfs"
must mswap-swap stop /dev/muster0
must mswap-swap start /dev/muster0
must luks_page
check 'pages that look like a volume' superblocks_swapped 6144
check 'are swapped out to where slots begin' superblock_from 1
check_eq 'and the disk is marked as swap still' "$(marks /dev/muster0)" 'swap mswap'
must umount "$WORK/tmpfs"
must mswap-swap stop /dev/muster0

# Its mkswap waits for the pipe, but the one that marks the disk does not.
start_with_slow_mkswap() {
	stand_in mkswap <<-EOF
		#!/bin/sh
		if [ "\$1" != -L ]; then
			: >$WORK/waits
			read -r _ <$WORK/pipe
		fi
		exec /sbin/mkswap "\$@"
	EOF
	mkfifo "$WORK/pipe"
	PATH=$WORK/mkswap:$PATH mswap-swap start /dev/muster0 &
}

# strict KIB: the kernel promises no more memory than so much and swap.
strict() {
	echo "$1" >/proc/sys/vm/overcommit_kbytes && echo 2 >/proc/sys/vm/overcommit_memory
}

# A ratio stands for no number of KiB.
relax() {
	echo 0 >/proc/sys/vm/overcommit_memory
	echo "$ratio" >/proc/sys/vm/overcommit_ratio
}

committed_kib() {
	awk '$1 == "Committed_AS:" { print $2 }' /proc/meminfo
}

must wipefs -q -a /dev/muster0
must mswap-swap start /dev/muster0
ratio=$(</proc/sys/vm/overcommit_ratio)
on_exit relax
must strict $(($(committed_kib) - 16 * 1024))
check_fails 'stop without memory for what is swapped out' 'no memory for what is swapped out' \
	mswap-swap stop /dev/muster0
relax
check_eq 'leaves the swap on' "$(swap_areas)" '/dev/mswap0 90'
must swapoff /dev/mswap0
check_fails 'start over a device that is no swap says what to do' \
	'in use by mswap0, which is no swap: mswap-swap stop /dev/muster0' mswap-swap start /dev/muster0
check 'which does it' mswap-swap stop /dev/muster0

no_swapoff() {
	printf '#!/bin/sh\nexit 127\n' | stand_in swapoff
}

# shellcheck disable=SC2016 # the script expands it
killed_swapoff() {
	printf '#!/bin/sh\nkill -9 $$\n' | stand_in swapoff
}

check 'start without sbin in the PATH' env PATH=/usr/bin:/bin "$(command -v mswap-swap)" start /dev/muster0
must no_swapoff
check_fails 'stop without swapoff says so' 'swapoff cannot be run' \
	env "PATH=$WORK/swapoff:$PATH" mswap-swap stop /dev/muster0
check_eq 'and leaves the swap on' "$(swap_areas)" '/dev/mswap0 90'
must killed_swapoff
check_fails 'stop whose swapoff is killed says so at once' 'no memory for what is swapped out' \
	timeout $((20 * ${MUSTER_SLOWER:-1})) env "PATH=$WORK/swapoff:$PATH" mswap-swap stop /dev/muster0
check_eq 'and leaves the swap on, too' "$(swap_areas)" '/dev/mswap0 90'
check 'stop without sbin in the PATH' env PATH=/usr/bin:/bin "$(command -v mswap-swap)" stop /dev/muster0

start_with_slow_mkswap
must wait_until 10 test -e "$WORK/waits"
kill "$!"
echo go >"$WORK/pipe"
wait "$!"
check_eq 'a start that is stopped fails' $? 143
check_eq 'and undoes what it did' "$(swap_areas)$(mswap_devices)" ''
check_eq 'and marks the disk' "$(marks /dev/muster0)" 'swap mswap'

# What reads hot_add ends all of its group, and itself, when there is a device that it has told nobody of: systemd and
# terminals send signals to all.
start_with_killing_cat() {
	stand_in cat <<-'EOF'
		#!/bin/sh
		text=$(/bin/cat "$@")
		case $1 in
		*/hot_add) kill 0 ;;
		esac
		echo "$text"
	EOF
	PATH=$WORK/cat:$PATH setsid --wait mswap-swap start /dev/muster0
}

start_with_killing_cat
check_eq 'so does one that is stopped with all that it runs' $? 143
check_eq 'it undoes what it did, too' "$(swap_areas)$(mswap_devices)" ''

# by_uuid DEVICE: as udev names what is swap, until it is made anew.
by_uuid() {
	mkdir -p /dev/disk/by-uuid && ln -sfn "$1" /dev/disk/by-uuid/muster && on_exit rm -f /dev/disk/by-uuid/muster
}

# Once mswap-swap has looked at the disk, the name is that of the other one.
renaming_cat() {
	stand_in cat <<-EOF
		#!/bin/sh
		case \$1 in
		*/hot_add) ln -sfn /dev/muster1 $WORK/link ;;
		esac
		exec /bin/cat "\$@"
	EOF
}

check "by the unit the kernel's name of what is marked will do" env MSWAP_BY_UNIT=yes mswap-swap start /dev/muster0
must mswap-swap stop /dev/muster0

# A small disk: all of it is summed before and after.
must null_make muster1 16
MSWAP_BY_UNIT=yes refused "and that of what is not, is refused" 'another disk at each boot' /dev/muster1
must mkswap -L mswap /dev/muster1
refused 'an unknown option' 'unknown option: reset=1' /dev/muster1 reset=1
refused 'a value out of range' 'refuses cluster_pages=0' /dev/muster1 cluster_pages=0
refused 'a size that does not fit' 'refuses /dev/muster1' /dev/muster1 disksize=17M
must by_uuid /dev/muster1
check 'a disk that is marked may go by its UUID' mswap-swap start /dev/disk/by-uuid/muster
must mswap-swap stop /dev/disk/by-uuid/muster
must mkswap /dev/muster1
refused 'the UUID that the mark takes away' 'a name that changes' /dev/disk/by-uuid/muster
must wipefs -q -a /dev/muster1
must mkfs.ext4 -q /dev/muster1
refused 'a file system' 'holds ext4' /dev/muster1
before=$(content /dev/muster1)
must ln -sfn /dev/muster0 "$WORK/link"
must renaming_cat
check_fails 'a name that becomes that of another disk' 'has become another disk' \
	env "PATH=$WORK/cat:$PATH" mswap-swap start "$WORK/link"
check_eq 'which stays as it was' "$(swap_areas)$(mswap_devices)$(content /dev/muster1)" "$before"
must wipefs -q -a /dev/muster1
must mbr_make /dev/muster1 203 2048 1000
refused 'a partition table' 'holds dos' /dev/muster1
must wipefs -q -a /dev/muster1
must mkfs.ext4 -q /dev/muster1
must two_marks /dev/muster1
refused 'two file systems' 'holds ' /dev/muster1
must wipefs -q -a /dev/muster1
for type in 101 102; do
	must mbr_make /dev/muster1 $type 2048 1000
	must blockdev --rereadpt /dev/muster1
	refused "a partition of type 0$type" 'which may hold anything' "$(readlink -f /dev/muster1)p1"
done
# blkid_says TYPE [DEVICE]: it takes that device, or any, for a partition of that type.
# shellcheck disable=SC2016 # the script expands it
blkid_says() {
	printf '#!/bin/sh\ncase "$*" in *%s) echo %s ;; esac\n' "${2:-}" "$1" | stand_in blkid
}

must dd if=/dev/zero of=/dev/muster1 bs=512 count=1 conv=notrunc
must blkid_says 0657fd6d-a4ab-43c4-84e5-0933c84b4f4f
PATH=$WORK/blkid:$PATH refused "a GPT's swap" 'on which systemd may swap at boot' /dev/muster1
must blockdev --rereadpt /dev/muster1
must wipefs -q -a /dev/muster1
# One lies on the other, as dm-crypt on LVM.
must dm_make muster-lower '0 32768 linear /dev/muster1 0'
must dm_make muster-upper '0 32768 linear /dev/mapper/muster-lower 0'
must blkid_says 0657fd6d-a4ab-43c4-84e5-0933c84b4f4f "$(readlink -f /dev/muster1)"
for name in lower upper; do
	PATH=$WORK/blkid:$PATH refused "a GPT's swap under $name" 'which systemd may take at boot' "/dev/mapper/muster-$name"
done
must mkswap -L mswap /dev/mapper/muster-upper
PATH=$WORK/blkid:$PATH check 'but what is marked may lie on it' mswap-swap start /dev/mapper/muster-upper
must mswap-swap stop /dev/mapper/muster-upper
must dmsetup remove --retry muster-upper
must dmsetup remove --retry muster-lower
must wipefs -q -a /dev/muster1
must dm_make broken '0 131072 error'
check_fails 'a disk that cannot be read' 'cannot be read' mswap-swap start /dev/mapper/broken
must dmsetup remove --retry broken
check_fails 'no block device' 'not a block device' mswap-swap start /dev/null
# As a container has it.
check_fails 'where /sys cannot be written' 'is /sys read-only' \
	unshare --mount sh -c 'mount -o remount,bind,ro /sys && mswap-swap start /dev/muster0'
check_eq 'no device is made' "$(mswap_devices)" ''
for words in '' start 'start-it /dev/muster0' 'stop /dev/muster0 now'; do
	# shellcheck disable=SC2086 # words
	check_fails "mswap-swap $words" 'usage: ' mswap-swap $words
done
check_eq 'nothing is left' "$(swap_areas)$(mswap_devices)" ''

finish
