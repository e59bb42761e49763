#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Not everywhere DKMS puts modules where it does on Debian, nor what it keeps: they are found there too, for each kernel.
# kernels: 6.1 6.12
# asked-for: 6.1
# timeout: 3600

. "$(dirname "$0")/lib.sh"

plan 6

other=${KVER%-amd64}-other-amd64

must few_modules
must small_sources $work
must no_trial_build
must sed -i 's/^ID=.*/ID=fedora/' /etc/os-release
must mkdir /srv/dkms
must sh -c 'echo dkms_tree=/srv/dkms >/etc/dkms/framework.conf.d/muster.conf'
must mkdir "/lib/modules/$other"
must ln -s "$(readlink -f "$KDIR")" "/lib/modules/$other/build"
must install_work
must dkms install -m muster -v "$VERSION" -k "$other"
must sh -c "echo 98 >$work/VERSION"
check 'another version' install_work
check 'is for this kernel' ls "/lib/modules/$KVER"/extra/mswap.ko*
check 'and the other' ls "/lib/modules/$other"/extra/mswap.ko*
check 'it is taken away' make -C $work uninstall
check_eq 'from all of them' "$(find /lib/modules -name 'mswap.ko*')" ''
check_eq 'and from what DKMS keeps' "$(find /srv/dkms -name '*muster*')" ''

finish
