#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Attaching and detaching a device, several areas in any order, programs killed at any time, and a module
# that stays.
# timeout: 300
# kernels: 5.10
# stays: mswap mswap_frontswap

. "$(dirname "$0")/lib.sh"

plan 43

stride() {
	limited 24M pagestride "$@"
}

must null_make muster0 256
must null_make muster1 64

# Before it is there for good.
check_not 'the module is not loaded yet' test -d /sys/module/mswap_frontswap
mswap_add /dev/muster1
check_fails 'a load with a device that does not exist' 'No such device' \
	modprobe mswap-frontswap "device=${MSWAP#/dev/mswap}" device=63
check_not 'leaves no module' test -d /sys/module/mswap_frontswap
check 'nor keeps a device that was named before it' mswap_set reset 1
must mswap_set backing_dev /dev/muster1
check 'a load with a device' modprobe mswap-frontswap "device=${MSWAP#/dev/mswap}"
check_eq 'has that device' "/dev/mswap$(cat "$FSWAP")" "$MSWAP"
must fswap_attach -1
check 'and gives it back' mswap_remove "$MSWAP"

fswap_start /dev/muster0
number=${MSWAP#/dev/mswap}

check_eq 'the device is named' "$(cat "$FSWAP")" "$number"
for value in x 1x -2 999999999999; do
	refuse_logged "refused: '$value'" 'Invalid argument' "$FSWAP" "$value" 'device refused: it is the number'
	check_eq "'$value' changed nothing" "$(cat "$FSWAP")" "$number"
done
refuse_logged 'a device that does not exist' 'No such device' "$FSWAP" 63 'device refused: mswap63 does not exist'
refuse_logged 'a device in use is not reset' 'Device or resource busy' "$SYS/reset" 1 'in use'
check 'it may be named once more' fswap_attach "$number"
check_not 'nor opened' dd if="$MSWAP" of=/dev/null bs=4k count=1
check_fails 'others cannot change it' 'Permission denied' \
	setpriv --reuid=65534 --clear-groups --inh-caps=-all sh -c "echo -1 >$FSWAP"

areas 2 96

# Two areas at once, of which one goes while its pages are wanted.
stride -c 1 -k 0 -s 96 -r 3 >"$WORK/out" 2>&1 &
program=$!
must wait_until 40 grep -q 'phase=write' "$WORK/out"
refuse_logged 'a device that holds pages stays' 'Device or resource busy' "$FSWAP" -1 "device stays mswap$number"
check 'swapoff of the first area under load' swapoff /dev/mapper/muster-area0
wait "$program"
check_eq 'the program passed' $? 0
check 'the first area comes back' swapon /dev/mapper/muster-area0
check_program 'a program on both' stride -c 4 -s 128
must swapoff /dev/mapper/muster-area1
check_program 'a program on the first alone' stride -c 4 -s 64

# Killed at any time.
for delay in 0.1 0.3 0.7 1.3; do
	stride -c 1 -k 0 -s 96 --write-on-readback -r 9 >/dev/null 2>&1 &
	program=$!
	must wait_until 10 grep -q . "$CGROUP/cgroup.procs"
	sleep "$delay"
	cgroup_kill
	wait "$program"
done
check_fails 'the module stays, and rmmod says why' 'in use by: frontswap_keeps_its_backends' rmmod mswap-frontswap
check 'swapoff' swaps_off
check_settles 'killed programs leave no slot' slots_used 0
check_eq 'and no copy' "$(get_settled copies_held)" 0
check 'the device is given back' fswap_attach -1
check 'and can be reset' mswap_set reset 1
refuse_logged 'one that is not ready is refused' 'No such device or address' "$FSWAP" "$number" "device refused: mswap$number .*is not ready"
must swapon /dev/mapper/muster-area0
check_program 'without a device the ordinary area has all pages' stride -c 4 -s 64

finish
