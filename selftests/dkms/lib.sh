# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the tests of packaging share. They run as root in a throw-away copy of a lab machine, which has one kernel
# and its headers; muster's sources are in /muster.

# shellcheck source=../lib/ktap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/ktap.sh"

export LC_ALL=C

VERSION=$(</muster/VERSION)
KVER=$(ls /lib/modules)
# shellcheck disable=SC2034 # tests use it
KDIR=/lib/modules/$KVER/build

dkms_install() {
	make -C /muster install KVER="$KVER"
}

# The installed file of module $1 for kernel $2, or nothing.
installed_file() {
	compgen -G "/lib/modules/${2:-$KVER}/updates/dkms/$1.ko*"
}

# dkms_says KERNEL STATE: DKMS says so of muster, whatever its release puts between the words.
dkms_says() {
	dkms status -m muster | sed 's|^muster, |muster/|' | grep -Fq "muster/$VERSION, $1, x86_64: $2"
}

# Every file of a package: what DKMS keeps, what is in the modules' folders but for the lists depmod makes, and the rest.
files() {
	find /usr/src /var/lib/dkms /lib/modules/ /usr/local -xdev ! -name 'modules.*' ! -path '*/dkms_dbversion' | sort
}
