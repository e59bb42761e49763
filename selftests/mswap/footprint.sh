#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The memory a device takes: at most 4.5 bytes a slot, told and real; how large a device can be.
# timeout: 180
# kernels: all
# asked-for: 5.10 6.1 newest

. "$(dirname "$0")/lib.sh"

plan 17

SMALL=65536 # bytes a small device may take more

# KiB the rest of the machine may take meanwhile; a debug kernel keeps what was freed for a while
NOISE=$((${MUSTER_SLOWER:-1} == 1 ? 24576 : 49152))

# With the pages on the CPUs' lists, which MemAvailable leaves out: they keep much of what was just given back.
free_kib() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^MemAvailable:/ { kib += $2 } $1 == "count:" { kib += 4 * $2 } END { print kib }' \
		/proc/meminfo /proc/zoneinfo
}

# footprint NAME: 2 x footprint <= 9 x slots + what is allowed on small devices.
footprint() {
	check_that "$1: footprint of $(get footprint_bytes) bytes for $(get slots_total) slots" \
		"$(get footprint_bytes) > 0 && 2 * $(get footprint_bytes) <= 9 * $(get slots_total) + 2 * $SMALL"
}

for mib in 8 9 63 1024 2048; do
	must null_make "muster$mib" "$mib" memory_backed=0 discard=0
	mswap_add "/dev/muster$mib"
	footprint "$mib MiB"
	must mswap_remove "$MSWAP"
done

# 64 GiB without the 64 KiB, and what the machine really has less.
must null_make muster64g 65536 memory_backed=0 discard=0
before=$(free_kib)
mswap_add /dev/muster64g
check_eq '64 GiB: slots' "$(get slots_total)" $((64 * 1024 * 256 - EDGES))
check_eq '64 GiB: the reserve is at most 65536 slots' "$(get slots_reserved)" 65536
check_that '64 GiB: at most 4.5 bytes a slot' "2 * $(get footprint_bytes) <= 9 * $(get slots_total)"
used=$(((before - $(free_kib)) * 1024))
check_that '64 GiB: and really so' \
	"$used < $(get footprint_bytes) + $(get waiting_bytes) + $NOISE * 1024"
must mswap_set reset 1
check_that 'reset gives the memory back' "$(free_kib) > $before - $NOISE"
check_eq 'not ready: nothing is held' "$(get footprint_bytes) $(get waiting_bytes)" '0 0'

# A device for whose map others would have to be killed; 9 bytes for 2 slots, of which the map alone takes 8.
memory() {
	awk -v name="$1:" '$1 == name { print int($2 / 1024) }' /proc/meminfo
}
must null_make mustermem $((($(memory MemTotal) + $(memory MemAvailable)) * 512)) memory_backed=0 discard=0
refuse_logged 'a map that there is no memory for' 'Cannot allocate memory' "$SYS/backing_dev" /dev/mustermem \
	'mswap0: no memory for [0-9]* slots: they take [0-9]* MiB'
must mswap_set disksize 1G
must mswap_set backing_dev /dev/mustermem
refuse_logged 'nor for a larger one' 'Cannot allocate memory' "$SYS/disksize" 0 'mswap0: no memory for [0-9]* slots'
must mswap_set reset 1
must mswap_set disksize 0

# 2^32 - 2 slots are the most: between the edges there are 2 more.
must null_make muster16t $((16 * 1024 * 1024 + 7)) memory_backed=0 discard=0
refuse_logged '16 TiB and 7 MiB' 'File too large' "$SYS/backing_dev" /dev/muster16t 'mswap0.*muster16t'

finish
