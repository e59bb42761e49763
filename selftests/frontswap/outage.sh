#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A backing device that takes no writes until every copy has failed: when it is back, it is written to again though none
# of the failed ones was freed. One that stands still does not hold up who evicts.
# timeout: 240
# kernels: 5.10
# stays: mswap mswap_frontswap
# expect-dmesg: write of .* of the backing device failed

. "$(dirname "$0")/lib.sh"

plan 14

COPIES=512

none_held() {
	(($(get copies_held) == 0))
}

loads_wait() {
	(($(get dev_reads) > reads))
}

must null_make muster0 64
sectors=$(blockdev --getsz /dev/muster0)
must dm_make muster "0 $sectors linear /dev/muster0 0"
fswap_start /dev/mapper/muster
areas 1 224

must dm_make muster "0 $sectors error"
buscheck_start 10M 16
check_eq 'every copy has failed' "$(get_settled copies_held)" $COPIES
check_settles 'and none was written' slots_used 0
must dm_make muster "0 $sectors linear /dev/muster0 0"
check_program 'another program swaps' limited 24M pagestride -c 1 -k 0 -s 40
check 'the failed copies are written' wait_until 30 none_held
refused=$(get stores_refused) out=$(get pages_out)
check_program 'the next one swaps' limited 24M pagestride -c 1 -k 0 -s 40
# A machine that stands still for a second has no free copy for so long.
check_le 'and hardly anything of it is refused' $(($(get stores_refused) - refused)) $((($(get pages_out) - out) / 1000))
buscheck_end

# What is stored and on the device is asked for while that stands still.
buscheck_start 10M 16
check 'all is on the device' wait_until 30 none_held
must dmsetup suspend muster
reads=$(get dev_reads)
buscheck_ask
check 'a load waits for the device' wait_until 10 loads_wait
check_fails 'nobody waits for it to be told that the device stays' 'Device or resource busy' fswap_attach -1
must dmsetup resume muster
check 'the load ends' wait_until 60 buscheck_said read 1
buscheck_end

# Who evicts a page waits a second for a free copy, once for all of them.
must dmsetup suspend muster
start=$SECONDS written=$(area_written)
buscheck_start 10M 14
check_that 'a device that stands still does not hold up a program' "$SECONDS - $start < 60"
check_that 'most of whose pages go to the ordinary area' "$(area_written) > $written + 14 * 256 / 2"
check_eq 'and no copy is free' "$(get copies_held)" $COPIES
must dmsetup resume muster
check 'once it goes on the copies are written' wait_until 30 none_held
buscheck_end

finish
