#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every wrong word of a table is refused with its name and what it may be, and nothing is made; the same
# for messages and knobs.
# timeout: 180
# kernels: all
# asked-for: 5.10 6.1 newest
# expect-dmesg: device-mapper: table: 

. "$(dirname "$0")/lib.sh"

must modprobe loop
must dd if=/dev/urandom of="$WORK/large" bs=1M count=8 status=none
large=$(losetup --show -f --sector-size 8192 "$WORK/large" 2>/dev/null)
plan $((2 * 38 + (${#large} ? 3 : 1) + 2 * 8 + 10))

# refused NAME TEXT TABLE: two results.
refused() {
	local before why=''

	before=$(log_count "$2")
	check_not "$1" dmsetup create muster-bad --table "$3"
	(($(log_count "$2") > before)) || why="no '$2' in: $(kernel_log | tail -n 3)"
	if dm_folder muster-bad >/dev/null; then
		why+=' muster-bad is there'
		dmsetup remove muster-bad
	fi
	result "$1: the log says so, and nothing is made" ${#why} "$why"
}

log_count() {
	kernel_log | grep -cF -- "$1"
}

refused_messages() {
	kernel_log | grep -c 'w2r: .*refused'
}

# wrong NAME TEXT WORDS...: a table over the device with these words after the origin.
wrong() {
	refused "$1" "$2" "0 131072 w2r /dev/muster0 ${*:3}"
}

# refused_message TEXT...: two results.
refused_message() {
	local before after

	before=$(refused_messages)
	check_not "message '$*'" dmsetup message muster 0 "$@"
	after=$(refused_messages)
	if ((after == before)); then
		sleep 6
		dmsetup message muster 0 "$@" 2>/dev/null
		after=$(refused_messages)
	fi
	check_that "message '$*': the log says so" "$after > $before"
}

must modprobe dm-w2r
must null_make muster0 64
must null_make muster1 64 blocksize=4096
mib='cache MiB must be a number from 1 to 1048576'
even='number of option words must be an even number from 0 to 14'
follow='number of option words must be how many words follow it'
ahead='lookahead must be a number of blocks from 1 to 1024'
kib='block_kib must be 4, 8, 16, 32 or 64'

refused 'no origin' 'origin must be' '0 131072 w2r'
refused 'an origin that is not there' 'origin must be' '0 131072 w2r /dev/nothing 8'
refused 'an origin that is no device' 'origin must be' '0 131072 w2r /etc/passwd 8'
refused 'an origin that is too small' 'origin must be at least as large' '0 131080 w2r /dev/muster0 8'
must mkfs.ext4 -qF /dev/muster1
must mount /dev/muster1 "$WORK/mnt"
refused 'an origin that is mounted' 'origin must not be mounted, swap' '0 131072 w2r /dev/muster1 8'
must umount "$WORK/mnt"
must modprobe scsi_debug dev_size_mb=64 wp=1
must wait_until 10 compgen -G '/sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*/block/*'
protected=$(basename /sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*/block/*)
refused 'a write-protected origin' 'origin must be writable' "0 131072 w2r /dev/$protected 8"
must null_make musterz 64 zoned=1 zone_size=4 memory_backed=0 discard=0
refused 'a zoned origin' 'origin must not be zoned' '0 131072 w2r /dev/musterz 8'
if [[ $large ]]; then
	refused 'blocks below those of the origin' "block_kib must be at least the origin's logical block size" \
		"$(table_of "$large" 8 block_kib 4)"
	w2r_make muster "$large" 8 block_kib 8
	check_eq 'but as large as those' "$(md5sum <"$DEV")" "$(md5sum <"$large")"
	must dmsetup remove --retry muster
else
	skip 'blocks below those of the origin' 'this kernel has no block device with blocks above a page'
fi
refused 'no size' "$mib" '0 131072 w2r /dev/muster0'
wrong 'size 0' "$mib" 0
wrong 'a negative size' "$mib" -1
wrong 'a size with a tail' "$mib" 8M
wrong 'a size that is a word' "$mib" much
wrong 'a size beyond the range' "$mib" 1048577
wrong 'a size of many digits' "$mib" 99999999999999999999
wrong 'a size of 2^64 + 4' "$mib" 18446744073709551620
wrong 'more than the memory' "cache MiB must be at most the machine's memory" 1048576
wrong 'no number of words' "$even" 8 policy lru
wrong 'an odd number of words' "$even" 8 3 policy lru index
wrong 'a negative number of words' "$even" 8 -2 policy lru
wrong 'too many words' "$even" 8 16 policy lru
wrong 'fewer words than said' "$follow" 8 4 policy lru
wrong 'more words than said' "$follow" 8 2 policy lru index mtf
wrong 'an unknown option' 'option must be readahead, lookahead, policy, planner, rooms, index or block_kib' 8 2 colour red
wrong 'an option twice' 'policy is given twice' 8 4 policy lru policy arc
wrong 'readahead' 'readahead must be auto, on or off' 8 2 readahead 1
wrong 'lookahead 0' "$ahead" 8 2 lookahead 0
wrong 'lookahead beyond the range' "$ahead" 8 2 lookahead 1025
wrong 'lookahead as a word' "$ahead" 8 2 lookahead far
wrong 'policy' 'policy must be lru, s3fifo or arc' 8 2 policy fifo
wrong 'policy in capitals' 'policy must be lru, s3fifo or arc' 8 2 policy LRU
wrong 'planner' 'planner must be obl, stream, pattern, region, near or auto' 8 2 planner none
wrong 'rooms' 'rooms must be two or one' 8 2 rooms three
wrong 'index' 'index must be mtf or plain' 8 2 index tree
wrong 'block_kib 0' "$kib" 8 2 block_kib 0
wrong 'block_kib 2' "$kib" 8 2 block_kib 2
wrong 'block_kib 12' "$kib" 8 2 block_kib 12
wrong 'block_kib 128' "$kib" 8 2 block_kib 128
wrong 'block_kib with a tail' "$kib" 8 2 block_kib 4k

w2r_make muster /dev/muster1 8
refused_message nonsense
refused_message clear_stats now
refused_message invalidate
refused_message invalidate 7
refused_message invalidate 9-3
refused_message invalidate 0-131072
refused_message invalidate 0-5x
refused_message invalidate 0-18446744073709551616

for pair in readahead=maybe lookahead=0 lookahead=1025 lookahead= planner=none planner=AUTO \
	'lookahead=4               5'; do
	before=$(w2r_get "${pair%%=*}")
	got=$(write_error "$FILES/${pair%%=*}" "${pair#*=}"$'\n')
	check_eq "$pair is refused and changes nothing" "$got $(w2r_get "${pair%%=*}")" "Invalid argument $before"
done
got=$({ printf 'off\0on' >"$FILES/readahead"; } 2>&1)
check_eq 'what follows the end of a word is refused and changes nothing' "${got##*: } $(w2r_get readahead)" \
	'Invalid argument auto'
check_eq 'the table is as it was' "$(dmsetup table muster | cut -d' ' -f5-)" \
	'8 14 readahead auto lookahead 512 policy arc planner auto rooms two index mtf block_kib 4'
check_eq 'and nothing else was made' "$(dmsetup ls | grep -c muster)" 1

finish
