#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The whole machine is short of memory: kswapd and whoever wants some write to two devices, one of them on a w2r cache,
# while other devices and caches are made, changed, used, reset and removed; every page verified.
# kernels: all
# asked-for: 6.1
# short-form: yes
# timeout: 300
# mem: 1G
# virtio: 512M

. "$(dirname "$0")/../w2r/lib.sh"
# shellcheck source=machine-memory.sh
. "$(dirname "$0")/machine-memory.sh"

plan 15

# half NAME FIRST: half of the disk, from that sector on.
half() {
	dm_make "$1" "0 524288 linear /dev/vda $2"
}

# step N: the device and the cache that nobody swaps on.
step() {
	local knob SYS=$other_files

	for knob in policy=object cluster_pages=$((1 + $1 * 7)) readahead=off policy=page policy=moc readahead=on; do
		mswap_set "${knob%=*}" "${knob#*=}" || return
	done
	dd if=/dev/zero of="$other" bs=64k count=64 oflag=direct status=none && mswap_set reset 1 &&
		mswap_set backing_dev /dev/muster0 && w2r_make muster-other /dev/muster1 $((1 + $1 % 8)) readahead on &&
		dd if="$DEV" of=/dev/null bs=256k count=16 iflag=direct status=none && dmsetup remove --retry muster-other
}

must null_make muster0 64 memory_backed=0
must null_make muster1 64 memory_backed=0
must half muster-first 0
must half muster-second 524288
mswap_add /dev/muster0
other=$MSWAP other_files=$SYS
mswap_add /dev/mapper/muster-first
areas=("$MSWAP") files=("$SYS")
w2r_make muster-cache /dev/mapper/muster-second 8 readahead on
mswap_add /dev/mapper/muster-cache
areas+=("$MSWAP") files+=("$SYS")
for area in "${areas[@]}"; do
	must swap_start "$area" -p 10
done

shortage_begins
steps=0 failed=0
for knob in policy=object waiting_pages=4096 readahead=off policy=page readahead=on waiting_pages=1000 policy=moc \
	readahead=auto; do
	for SYS in "${files[@]}"; do
		mswap_set "${knob%=*}" "${knob#*=}" || ((++failed))
	done
	step $((++steps)) || ((++failed))
done
check_eq "$steps rounds of others that come and go" $failed 0
shortage_ends
for i in 0 1; do
	SYS=${files[i]}
	diag "$(cd "$SYS" && grep . pages_out dev_writes pages_in dev_reads | paste -sd' ')"
	check_that "area $i: pages went out and in" "$(get pages_out) > 2000 && $(get pages_in) > 1000"
	check 'swapoff' swapoff "${areas[i]}"
	check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'
	check 'removal' mswap_remove "${areas[i]}"
done
check 'removal of the other' mswap_remove "$other"

finish
