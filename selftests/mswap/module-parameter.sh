#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The module parameter num_devices: what it makes, and what it refuses.
# timeout: 120
# kernels: all
# asked-for: 6.1

. "$(dirname "$0")/lib.sh"

declare -A bad=([65]='Invalid argument' [-1]='Invalid argument' [abc]='Invalid argument'
	[1x]='Invalid argument' [' ']='Invalid argument' [4294967297]='out of range')
plan $((5 + 2 * ${#bad[@]}))

check 'three devices at load' modprobe mswap num_devices=3
check_eq 'they are 0, 1 and 2' "$(mswap_devices)" '0 1 2'
check_eq 'the parameter can be read' "$(cat /sys/module/mswap/parameters/num_devices)" 3
must rmmod mswap
check '64 devices at load' modprobe mswap num_devices=64
check_eq 'there are 64' "$(mswap_devices | wc -w)" 64
must rmmod mswap
for value in "${!bad[@]}"; do
	check_fails "'$value' devices are refused" "${bad[$value]}" modprobe mswap "num_devices=$value"
	check_eq "and the module is not loaded" "$(mswap_devices)$(ls -d /sys/module/mswap 2>/dev/null)" ''
done

finish
