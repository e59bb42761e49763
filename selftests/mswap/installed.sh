#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What DKMS installed is what modprobe loads by name on the running kernel, as at boot from modules-load.d.
# kernels: all

. "$(dirname "$0")/lib.sh"

plan 5

running=$(uname -r)

says_installed() {
	dkms status -m muster | grep -F ", $running, x86_64: installed"
}

check 'DKMS says installed' says_installed
check_eq 'the module is DKMS'\''s' "$(dirname "$(modinfo -n mswap)")" "/lib/modules/$running/updates/dkms"
# Every line of a file in modules-load.d is a name that is loaded so.
check 'it loads by name' modprobe -a mswap
check_eq 'it is the installed one' "$(cat /sys/module/mswap/srcversion)" "$(modinfo -F srcversion mswap)"
check 'it unloads' modprobe -r mswap

finish
