#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# make install and its way through DKMS: installed, again, replaced by something that does not build, removed. The real
# modules are installed this way in each machine that boots.
# kernels: all 5.15 6.8 7.0
# asked-for: newest
# timeout: 3600

. "$(dirname "$0")/lib.sh"

plan 35

# A copy of the sources that does not build.
break_sources() {
	cp -r "$work" /root/broken && echo '#error broken on purpose' >>/root/broken/modules/mswap/mswap.c
}

# A header and what includes it.
change_sources() {
	sed -i 's/TOLD/TOLD ", changed too"/' "$work/modules/mswap/mswap.c" &&
		echo '#define TOLD "changed"' >"$work/modules/mswap/told.h"
}

# Units of a boot with a network and, over that, /usr/local.
boot_units() {
	mkdir -p "$1" && printf '[Mount]\nWhat=server:/local\nWhere=/usr/local\nType=nfs\n' >"$1/usr-local.mount" &&
		printf '[Unit]\nBefore=network.target\nWants=network.target\n[Service]\nExecStart=true\n' >"$1/net.service" &&
		printf '[Unit]\nWants=basic.target mswap@dev-sdb.service net.service usr-local.mount\n' >"$1/boot.target"
}

# cycles DIR: whether one waits for another that waits for it, then.
cycles() {
	SYSTEMD_UNIT_PATH=$1: systemd-analyze verify --man=no boot.target 2>&1 | grep 'ordering cycle'
}

install_told() {
	make -C "$work" install KVER="$KVER" >/root/told 2>&1
}

# A systemd that runs, and does not listen.
install_untold_systemd() {
	mkdir -p /run/systemd/system /root/deaf && printf '#!/bin/sh\nexit 1\n' >/root/deaf/systemctl &&
		chmod +x /root/deaf/systemctl && PATH=/root/deaf:$PATH install_told && rmdir /run/systemd/system
}

uninstall_told() {
	make -C "$work" uninstall >/root/told 2>&1
}

ctl=/usr/local/bin/musterctl
wants=/etc/systemd/system/swap.target.wants
enabled=$wants/'mswap@dev-disk-by\x2did-a.service'

must few_modules
must small_sources $work
# As umask 077 leaves a clone.
must chmod -R go= $work
before=$(files)
must mkdir /usr/lib/muster
must touch /usr/lib/muster/musterctl
must ln -s /usr/lib/muster/musterctl $ctl
check 'install' install_told
check_eq 'without libsmartcols it says in a line how to get musterctl' "$(grep musterctl /root/told)" \
	'muster: installed without musterctl: apt install gcc libsmartcols-dev, then make install once more'
check_not 'which is not there, nor is an older one' ls /usr/lib/muster/musterctl
check_not 'nor its name' ls -d $ctl
check 'DKMS says installed' dkms_says "$KVER" installed
check_eq 'so it does to others than root' "$(setpriv --reuid 65534 --clear-groups dkms status -m muster 2>&1)" \
	"$(dkms status -m muster)"
check 'mswap is in place' installed_file mswap
check 'dm-w2r is in place' installed_file dm-w2r
check 'so are the files for the boot' ls /usr/lib/muster/mswap-swap /etc/systemd/system/mswap@.service
check 'the licence lies with the sources' cmp /muster/COPYING "/usr/src/muster-$VERSION/COPYING"
check_fails 'and a name for people' 'usage: mswap-swap' /usr/local/sbin/mswap-swap
if command -v systemd-analyze >/dev/null; then
	must boot_units /root/units
	check_eq 'with /usr/local on another machine it boots' "$(cycles /root/units)" ''
	must mkdir /root/units/mswap@.service.d
	printf '[Unit]\nRequiresMountsFor=/usr/local\n' >/root/units/mswap@.service.d/local.conf
	check 'which it would not if the unit waited for that' cycles /root/units
else
	skip 'with /usr/local on another machine it boots' 'no systemd here'
	skip 'which it would not if the unit waited for that' 'no systemd here'
fi
check 'modprobe would find it' modprobe --dry-run --set-version "$KVER" mswap
check_eq 'it is for this kernel' "$(modinfo -k "$KVER" -F vermagic mswap | cut -d' ' -f1)" "$KVER"
if grep -qw frontswap_register_ops "$KDIR/Module.symvers"; then
	check 'mswap-frontswap is in place' installed_file mswap-frontswap
else
	skip 'mswap-frontswap is in place' "kernel $KVER lets no module do frontswap"
fi

must stand_in_cc 'exit 1'
check 'install once more' install_untold_systemd
check_eq 'is none of musterctl if that cannot be built' "$(grep 'without musterctl' /root/told)" \
	'muster: installed without musterctl, which could not be built'
check_eq 'and says what systemd could not be told' "$(grep 'does not know' /root/told)" \
	'muster: systemd does not know of its unit what is so now: try systemctl daemon-reload'

must break_sources
sum=$(sha256sum "$(installed_file mswap)")
check_fails 'sources that do not build are refused' 'what is installed stays as it is' \
	make -C /root/broken install KVER="$KVER"
check_eq 'and the old module stays' "$(sha256sum "$(installed_file mswap)")" "$sum"
check 'as DKMS says' dkms_says "$KVER" installed

# The same as a new version that DKMS builds itself.
must cp -r /root/broken "/usr/src/muster-99"
must sed -i 's/^PACKAGE_VERSION=.*/PACKAGE_VERSION=99/' /usr/src/muster-99/dkms.conf
must dkms add -m muster -v 99
check_not 'a new version that does not build fails' dkms install -m muster -v 99 -k "$KVER"
check_eq 'and the old module is still there' "$(sha256sum "$(installed_file mswap)")" "$sum"
must dkms remove -m muster -v 99 --all
must rm -r /usr/src/muster-99

# Built in the clone, then changed, and another version: what is installed is what the sources say now.
echo '#define TOLD "first"' >$work/modules/mswap/told.h
printf '#include <linux/module.h>\n#include "told.h"\nMODULE_INFO(told, TOLD);\n' >>$work/modules/mswap/mswap.c
must make -C $work KVER="$KVER"
check_eq 'make builds modules' "$(modinfo -F told $work/modules/mswap/mswap.ko)" first
must change_sources
must sh -c "echo 98 >$work/VERSION"
must install -D /muster/tools/boot/mswap@.service /usr/local/lib/systemd/system/mswap@.service
must cp --remove-destination /muster/tools/boot/mswap-swap /usr/local/sbin
must stand_in_cc
check 'install of another version, from a clone that was built, then changed' install_work
check_eq 'gives the modules of the changed sources' "$(modinfo -k "$KVER" -F told mswap)" 'changed, changed too'
check_eq 'in place of the version before' "$(dkms_status | cut -d, -f1)" muster/98
check_not 'and of the unit where older versions had it' ls -d /usr/local/lib/systemd
check_eq 'and of the script' "$(readlink /usr/local/sbin/mswap-swap)" /usr/lib/muster/mswap-swap
check_eq 'musterctl comes with it' "$(setpriv --reuid 65534 --clear-groups $ctl)" 98

check 'dkms remove --all' dkms remove -m muster -v 98 --all
check_eq 'leaves no file but the sources behind' \
	"$(diff <(echo "$before") <(files) | grep '^[<>]' | grep -vE '^> /(usr/(src/muster-98|lib/muster|local/s?bin)|etc/systemd/)')" ''
must mkdir -p $wants
must ln -s ../mswap@.service "$enabled"
must uninstall_told
check_eq 'make uninstall names what is enabled still' "$(grep enabled /root/told)" \
	"muster: ${enabled##*/} is still enabled: rm '$enabled'"
must rm "$enabled"
must rmdir $wants
check_eq 'and takes these too' "$(files)" "$before"

finish
