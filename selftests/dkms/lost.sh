#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What somebody has deleted by hand, the sources that DKMS keeps, does not keep from installing and removing.
# kernels: 5.10 6.12
# asked-for: 5.10
# timeout: 3600

. "$(dirname "$0")/lib.sh"

plan 13

must few_modules
must small_sources $work
must no_trial_build
before=$(files)
must install_work
must rm -r "/usr/src/muster-$VERSION"
check 'without its sources it can be installed again' install_work
check 'as DKMS says' dkms_says "$KVER" installed
must rm -r "/usr/src/muster-$VERSION"
must sh -c "echo 97 >$work/VERSION"
check 'and in another version' install_work
check_eq 'in place of the one before' "$(dkms_status | cut -d, -f1)" muster/97
must rm -r /usr/src/muster-97
must cp /muster/VERSION $work
check 'and be removed' make -C $work uninstall
check_eq 'to the last file' "$(files)" "$before"

must install_work
must rm -r "/usr/src/muster-$VERSION" /var/lib/dkms/muster
check_fails 'of what DKMS has forgotten make uninstall says so' "$(installed_file mswap)" make -C $work uninstall
must rm "$(installed_file mswap)" "$(installed_file dm-w2r)"
rm -f "$(installed_file mswap-frontswap)"
must depmod "$KVER"

# tell WORD: from now on the sources' mswap says that.
tell() {
	sed -i '/"told=/d' "$work/modules/mswap/mswap.c" &&
		echo "static const char told[] __attribute__((used, section(\".modinfo\"))) = \"told=$1\";" \
			>>"$work/modules/mswap/mswap.c"
}

# What modprobe would load.
told() {
	modinfo -k "$KVER" -F told mswap
}

# Neither what it says nor what DKMS knows tells that module from the new one.
must install_work
must rm -r "/usr/src/muster-$VERSION" /var/lib/dkms/muster
must tell other
check 'over what DKMS has forgotten other sources can be installed' install_work
check_eq 'and that is what is there' "$(told)" other
must mkdir -p "/lib/modules/$KVER/updates"
must cp "$(installed_file mswap)" "/lib/modules/$KVER/updates"
must tell another
check 'over what somebody has copied, too' install_work
check_eq 'and that is what is there then' "$(told)" another
must make -C $work uninstall

# A script that a shell is running: it goes on in the file that it began.
must install_work
script=/usr/local/sbin/mswap-swap
must sh -c "echo '# the old one' >>$script"
exec 3<$script
check 'install, while the script of the boot is in use' install_work
check_eq 'leaves that one as it is' "$(tail -n 1 <&3)" '# the old one'

finish
