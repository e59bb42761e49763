#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A backing device that hangs and returns, and one that is unplugged under load: who waits gets the right data or an
# error, nothing hangs, and the control files can clear up.
# nvme: 512M
# timeout: 240
# races: 6.12
# expect-dmesg: (Read|Write)-error on swap-device
# expect-dmesg: (read|write) of .* of the backing device failed
# expect-dmesg: reads no longer pass over slots

. "$(dirname "$0")/lib.sh"

plan 15

NVME=/dev/nvme0n1

swapped_in() {
	(($(get pages_in) > $1))
}

# rounds_read N: so often has the program read all its memory.
rounds_read() {
	(($(grep -c '^phase=read' "$WORK/stride") >= $1))
}

stands_still() {
	local before

	before="$(get pages_in) $(get pages_out)"
	sleep 2
	[[ "$(get pages_in) $(get pages_out)" == "$before" ]]
}

# buscheck reads its memory over and over, so that it is at it whenever the device goes.
keep_reading() {
	local n

	buscheck_ask
	for ((n = 1; ; n++)); do
		buscheck_ask
		wait_until 60 buscheck_said read "$n" || return
		[[ ! -e $WORK/enough ]] || return 0
	done
}

# The device keeps all I/O back for some seconds.
must dm_make muster "0 $(sectors_of $NVME) linear $NVME 0"
mswap_add /dev/mapper/muster
must swap_start "$MSWAP"
limited_into "$WORK/stride" 24M pagestride -c 1 -s 64 --until-term &
load=$!
must wait_until 60 swapped_out 4000
must dmsetup suspend --noflush --nolockfs muster
sleep 4
check 'the program waits for the device' wait_until 1 stands_still
rounds=$(grep -c '^phase=read' "$WORK/stride")
must dmsetup resume muster
must wait_until 60 rounds_read $((rounds + 1))
must cgroup_signal TERM
wait "$load"
check_eq 'it passes when the device is back' $? 0
check_that 'all pages are right' "$(verified_pages <"$WORK/stride") > 8000"
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'
check 'swapoff' swapoff "$MSWAP"
must mswap_remove "$MSWAP"
must dmsetup remove muster

# The controller is unplugged while a program reads.
mswap_add $NVME
must swap_start "$MSWAP"
buscheck_start 10M 32
before=$(get read_errors)
pages=$(get pages_in)
keep_reading &
asker=$!
must wait_until 60 swapped_in $((pages + 1000))
check 'the controller is unplugged' put 1 "$(readlink -f /sys/block/${NVME#/dev/}/device/device)/remove"
touch "$WORK/enough"
wait "$asker"
buscheck_read
check_not 'no page is wrong' grep -E 'bad=[1-9]' "$WORK/out"
check_that 'pages that are gone are a SIGBUS' "$(value_of sigbus <<<"$seen") > 0"
check_that 'read errors are counted' "$(get read_errors) > $before"
buscheck_end
check_eq 'the program passed otherwise' $? 0
check 'swapoff' swapoff "$MSWAP"
check 'reset' mswap_set reset 1
check_eq 'it is not ready' "$(get initstate) $(get backing_dev)" '0 none'

must put 1 /sys/bus/pci/rescan
must wait_until 30 test -b $NVME
check 'the new device is taken' mswap_set backing_dev $NVME
settle
check_program 'and works' blkcheck -s 2 -t 2 -r 1 -S 16 "$MSWAP"

finish
