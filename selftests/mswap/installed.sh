#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What DKMS installed is what the machine loaded by name when it booted, and what modprobe loads again.
# kernels: all
# append: modules_load=mswap,dm-w2r

. "$(dirname "$0")/lib.sh"

plan 8

running=$(uname -r)

says_installed() {
	dkms status -m muster | grep -F ", $running, x86_64: installed"
}

check 'DKMS says installed' says_installed
check_eq 'the module is DKMS'\''s' "$(dirname "$(modinfo -n mswap)")" "/lib/modules/$running/updates/dkms"
check 'mswap was loaded at boot' test -d /sys/module/mswap
check 'and so was dm-w2r' test -d /sys/module/dm_w2r
check_eq 'it is the installed one' "$(cat /sys/module/mswap/srcversion)" "$(modinfo -F srcversion mswap)"
check 'it unloads' modprobe -r mswap
check 'it loads again, by name' modprobe mswap
check 'and unloads again' modprobe -r mswap

finish
