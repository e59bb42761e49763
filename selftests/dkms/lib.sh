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
# Sources other than /muster, made by small_sources.
work=/root/work

dkms_install() {
	make -C /muster install KVER="$KVER"
}

# install_work [VARIABLE=VALUE...]
install_work() {
	make -C "$work" install KVER="$KVER" "$@"
}

# The installed file of module $1 for kernel $2, or nothing.
installed_file() {
	compgen -G "/lib/modules/${2:-$KVER}/updates/dkms/$1.ko*"
}

# What DKMS says of muster, whatever its release puts between the words: muster/VERSION, KERNEL, ...
dkms_status() {
	dkms status -m muster | sed 's|^muster, |muster/|'
}

# dkms_says KERNEL STATE
dkms_says() {
	dkms_status | grep -Fq "muster/$VERSION, $1, x86_64: $2"
}

# Every file of a package: what DKMS keeps, what is in the modules' folders but for the lists depmod makes, and the rest.
files() {
	find /usr/src /var/lib/dkms /lib/modules/ /usr/local /etc/systemd /usr/lib/muster -xdev ! -name 'modules.*' \
		! -path '*/dkms_dbversion' 2>/dev/null | sort
}

# small_sources DIR: a checkout whose modules do nothing, and build in seconds: without a header, as MODULE_LICENSE() wants.
small_sources() {
	local each name
	local license='static const char license[] __attribute__((used, section(".modinfo"))) = "license=GPL";'

	mkdir -p "$1/modules" && cp -r /muster/{COPYING,VERSION,Makefile,Kbuild,dkms.conf,tools} "$1" &&
		cp -r /muster/modules/{Kbuild,compat} "$1/modules" || return
	for each in mswap w2r frontswap; do
		case $each in
		mswap) name=mswap ;;
		w2r) name=dm-w2r ;;
		frontswap) name=mswap-frontswap ;;
		esac
		# shellcheck disable=SC2016 # make expands it
		mkdir "$1/modules/$each" &&
			printf 'include $(src)/../compat/probe.mk\nobj-m += %s.o\n' $name >"$1/modules/$each/Kbuild" &&
			echo "$license" >"$1/modules/$each/$name.c" || return
	done
}

# no_trial_build: make install in $work builds by DKMS alone. The build before that, which tells whether the sources build
# at all, takes half of the time; life, clone and refusal test it.
no_trial_build() {
	echo '#!/bin/sh' >"$work/tools/trial-build"
}

trial_build_again() {
	cp /muster/tools/trial-build "$work/tools"
}

# stand_in_cc [COMMAND]: a compiler that makes of any sources a script that says which version they are, after the COMMAND.
# Debian's machines have none that makes programs; what the real one makes is tested in selftests/musterctl.
stand_in_cc() {
	# Where there is one, it is a link to gcc.
	rm -f /usr/bin/cc
	cat >/usr/bin/cc <<-END
		#!/bin/sh
		case " \$* " in
		*' -E '*) exit 0 ;;
		esac
		${1:-:}
		printf '#!/bin/sh\necho %s\n' "\$(cat ../../VERSION)" >"\$(echo "\$*" | sed 's/.* -o \([^ ]*\).*/\1/')"
	END
	chmod +x /usr/bin/cc
}

# The folder of the headers that include/linux of the kernel's sources became.
headers_dir() {
	if [ -e "$KDIR/include/linux" ]; then
		readlink -f "$KDIR/include/linux"
		return
	fi
	echo "$(dirname "$(readlink -f "$KDIR")")"/linux-headers-*-common/include/linux
}

# The compiler that the kernel was built with.
compiler() {
	find /usr/bin -regex '.*/\(x86_64-linux-gnu-\)?gcc-[0-9]+' | head -n 1
}

# without HEADER TEXT: headers in which TEXT is something else.
without() {
	sed -i "s/$2/gone/" "$(headers_dir)/$1"
}

# Hides most of the kernel's own modules: depmod reads them all, for seconds, at each install and each removal. To remove
# them takes seconds, too. A kernel without any is one that is gone, says DKMS 3.2.
few_modules() {
	local all=/lib/modules/$KVER/kernel few=/root/few-modules

	mkdir "$few" && cp -a "$all/lib" "$few" && mount --bind "$few" "$all" && depmod "$KVER"
}

# What is installed, with the sums of the modules and programs.
installed_state() {
	files
	find /lib/modules -path '*/updates/dkms/*' -type f -exec sha256sum {} + | sort
	find /usr/lib/muster -type f -exec sha256sum {} + 2>/dev/null | sort
	dkms status -m muster
}
