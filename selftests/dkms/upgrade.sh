#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A second kernel is installed from its packages: the modules are built for it without a word; it goes, they go.
# kernels: all
# asked-for: newest
# timeout: 3600

. "$(dirname "$0")/lib.sh"

plan 11

packages=(/var/lib/lab-upgrade/*.deb)
flavour=${KVER%-amd64}-cloud-amd64
# Nothing boots here.
export INITRD=No DEBIAN_FRONTEND=noninteractive

must few_modules
must small_sources $work
must no_trial_build
must install_work
check 'a second kernel is installed' dpkg --install "${packages[@]}"
check 'the module is in place for it' installed_file mswap "$flavour"
check_eq 'it is for that kernel' "$(modinfo -k "$flavour" -F vermagic mswap | cut -d' ' -f1)" "$flavour"
check 'DKMS says installed for it' dkms_says "$flavour" installed
check 'and for the first one still' dkms_says "$KVER" installed
check 'install once more' install_work
check 'is for the first one' dkms_says "$KVER" installed
check 'and for the second one' installed_file mswap "$flavour"

names=()
for package in "${packages[@]}"; do
	names+=("$(dpkg-deb --field "$package" Package)")
done
check 'the second kernel is removed' dpkg --purge "${names[@]}"
check_eq 'its modules are gone' "$(installed_file mswap "$flavour")" ''
check 'those of the first one are not' installed_file mswap

finish
