#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Kernels that muster is not for are refused, by DKMS and by the build itself, and both say why.
# kernels: all 5.15 6.8 7.0
# timeout: 3600

. "$(dirname "$0")/lib.sh"

plan 22

OLD=5.9.0-1-amd64

# fake_kernel RELEASE: the headers of the one that is there, under another name.
fake_kernel() {
	mkdir -p "/lib/modules/$1" && ln -s "$(readlink -f "$KDIR")" "/lib/modules/$1/build"
}

# dkms_newer VERSION: the machine's DKMS is that new.
dkms_newer() {
	printf '%s\n' "$1" "$(dkms --version | sed 's/^dkms[-: ]*//')" | sort -CV
}

before=$(files)
must mkdir "/usr/src/muster-$VERSION"
must cp -r /muster/{VERSION,dkms.conf,Kbuild,modules} "/usr/src/muster-$VERSION"
must dkms add -m muster -v "$VERSION"
must fake_kernel "$OLD"
check_fails 'DKMS refuses an old kernel' 'BUILD_EXCLUSIVE' dkms build -m muster -v "$VERSION" -k "$OLD"
check_eq 'and has built nothing' "$(dkms status -m muster -k "$OLD" | grep -c built)" 0
check_fails 'without headers it says what is missing' 'No kernel headers' make -C /muster modules KVER=none

must cp -r /muster/Kbuild /muster/modules /root
headers=$(headers_dir)
if [ -e "$headers/genhd.h" ]; then
	# As before 5.10.234.
	must cp "$headers/genhd.h" /root
	must sed -i '/set_capacity_and_notify(/s/.*/void set_capacity_revalidate_and_notify(struct gendisk *disk, sector_t size, bool update_bdev);/' \
		"$headers/genhd.h"
	check 'the build knows an older name of a function' make -C "$KDIR" M=/root modules/mswap/front_blk.o
	must cp /root/genhd.h "$headers"
else
	skip 'the build knows an older name of a function' 'this kernel never had it'
fi
conf=$KDIR/include/config/auto.conf
must cp "$conf" /root
must sed -i '/^CONFIG_64BIT=/d' "$conf"
check_fails 'the build refuses a 32-bit machine' 'refused: it is not of a 64-bit machine' make -C "$KDIR" M=/root modules
must cp /root/auto.conf "$conf"
must sh -c "echo CONFIG_ARM64_PAGE_SHIFT=16 >>$conf"
check_fails 'and one with larger pages' 'refused: its pages are larger' make -C "$KDIR" M=/root modules
must cp /root/auto.conf "$conf"
if [ -e "$headers/genhd.h" ]; then
	must without genhd.h '^struct hd_struct {'
	must without genhd.h ' device_add_disk('
fi
must without blkdev.h ' device_add_disk('
check_fails 'the build refuses headers of disks that it does not know' 'refused: its disks are those' \
	make -C "$KDIR" M=/root modules
must without blkdev.h 'bdev_file_open_by_path('
must without blkdev.h 'bdev_open_by_path('
must without blkdev.h 'blkdev_get_by_path('
check_fails 'the build refuses headers that it does not know' 'refused: it opens block devices' \
	make -C "$KDIR" M=/root modules
check_fails 'and says what is supported' 'supported are kernels 5.10' make -C "$KDIR" M=/root modules
must without blkdev.h '(\*submit_bio)'
check_fails 'and those of an old kernel' 'have no submit_bio operation' make -C "$KDIR" M=/root modules
check_not 'and DKMS ends without a module' dkms install -m muster -v "$VERSION" -k "$KVER"
check_eq 'in place' "$(installed_file mswap)" ''

# As when a kernel's package is installed.
if dkms_newer 3.0.11; then
	check 'DKMS skips such a kernel, which can be installed' dkms autoinstall -k "$KVER"
else
	skip 'DKMS skips such a kernel, which can be installed' 'this release of DKMS fails at what is excluded'
fi
check_eq 'and builds nothing for it' "$(dkms status -m muster -k "$KVER" | grep -cE 'built|installed')" 0

must dkms remove -m muster -v "$VERSION" --all
must rm -r "/usr/src/muster-$VERSION" "/lib/modules/$OLD"
check_fails 'make install refuses it where nothing is installed' 'have no submit_bio operation' dkms_install
check_eq 'and leaves no file' "$(files)" "$before"
check_eq 'and nothing for DKMS to do' "$(dkms status -m muster)" ''

# told NAME FOLDER: DKMS has that there.
told() {
	mkdir -p /etc/dkms && echo "$1=$2" >/etc/dkms/framework.conf
}

must mkdir /srv/my
must told dkms_tree '"/srv/my dkms"'
check_fails 'what DKMS keeps in a path with blanks is refused' 'a path with blanks' dkms_install
check 'and what lies beside it stays' rmdir /srv/my
must told source_tree /srv
check_fails 'sources of DKMS that are elsewhere are refused' 'its source_tree elsewhere than in /usr/src' dkms_install
must told install_tree /srv
check_fails 'so are modules' 'its install_tree elsewhere than in /lib/modules' dkms_install
must ln -s /lib/modules /srv/modules
must told install_tree /srv/modules/
check_fails 'and not what is the same by another name' 'have no submit_bio operation' dkms_install

finish
