#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Who pays for I/O on the device below: what is read is on the account of the cgroup that reads; what is written from
# copies is on no cgroup's, so that one which may hardly write there does not hold up what all have swapped out.
# kernels: all
# asked-for: 6.1
# timeout: 240

. "$(dirname "$0")/lib.sh"

plan 10

# io_of DEVICE KEY: bytes in the cgroup's io.stat, 0 if there are none.
io_of() {
	awk -v dev="$(number_of "$1")" -v key="$2=" '
		$1 == dev { for (i = 2; i <= NF; i++) if (index($i, key) == 1) n = substr($i, length(key) + 1) }
		END { print n + 0 }' "$CGROUP/io.stat"
}

swaps() {
	limited 16M pagestride -c 1 -k 0 -s 48 --write-on-readback
}

must null_make muster0 256
mswap_add /dev/muster0
must swap_start "$MSWAP"
must cgroup_make 16M
controller_on io
check_program 'a program swaps' swaps
wrote=$(($(get dev_pages_written) * 4096))
check_that 'the cgroup wrote to the swap device' "$(io_of "$MSWAP" wbytes) > 32 << 20"
copied=$(($(get pages_out_copied) * 4096))
check_that 'mswap wrote copies' "$copied > 16 << 20"
check_le 'which are not on its account' "$(io_of /dev/muster0 wbytes)" $((wrote - copied))
check_that 'what was read is' "$(io_of /dev/muster0 rbytes) > 32 << 20"
diag "on the device: $wrote bytes, $copied by copy; of the cgroup: $(io_of /dev/muster0 wbytes)"

# So little that it would take over a minute, and still not where, for want of free copies, some pages are its own I/O.
if [[ -e $CGROUP/io.max ]]; then
	number=$(number_of /dev/muster0)
	must put "$number wbps=$((524288 / ${MUSTER_SLOWER:-1}))" "$CGROUP/io.max"
	start=$SECONDS
	check_program 'one that may write little there swaps as well' swaps
	check_that 'and does not wait for that' "$SECONDS - $start < 40 * ${MUSTER_SLOWER:-1}"
else
	skip 'one that may write little there swaps as well' 'the kernel has no io.max'
	skip 'and does not wait for that' 'the kernel has no io.max'
fi
check_settles 'nothing waits to be written' copies_held 0
check 'swapoff' swapoff "$MSWAP"
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'

finish
