#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The whole machine is short of memory: kswapd and whoever wants some store their pages through frontswap; every page is
# right, and hardly any anonymous one is refused.
# timeout: 300
# mem: 1G
# virtio: 512M
# kernels: 5.10
# stays: mswap mswap_frontswap

. "$(dirname "$0")/lib.sh"
# shellcheck source=../mswap/machine-memory.sh
. "$(dirname "$0")/../mswap/machine-memory.sh"

plan 9

# Pages of tmpfs, which the machine's root is on: these go to the ordinary area.
shared() {
	awk '$1 == "Shmem:" { print $2 / 4 }' /proc/meminfo
}

must dm_make muster-first '0 524288 linear /dev/vda 0'
must dm_make muster-area '0 524288 linear /dev/vda 524288'
fswap_start /dev/mapper/muster-first
must swap_start /dev/mapper/muster-area

shared=$(shared) written=$(area_written)
shortage_begins
check 'pages go out' wait_until 60 swapped_out $(($(get pages_out) + 20000))
shortage_ends
shared=$((shared - $(shared))) written=$(($(area_written) - written))
diag "$written pages went to the ordinary area, $shared of them of tmpfs"
diag "$(cd "$SYS" && grep . pages_out dev_writes pages_in dev_reads stores_refused | paste -sd' ')"
check_that 'hardly any was refused, but for those of tmpfs' "$(get stores_refused) <= $shared + $(get pages_out) / 100"
check 'swapoff' swapoff /dev/mapper/muster-area
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'

finish
