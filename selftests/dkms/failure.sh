#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# make install that fails on its way, or is ended, leaves what was there; headers are taken from KDIR.
# kernels: 5.10 6.1 6.12 5.15 6.8 7.0
# asked-for: 5.10 6.1
# timeout: 3600

. "$(dirname "$0")/lib.sh"

plan 42

conf=/etc/dkms/muster.conf

# unchanged NAME: all is as it was when $state was taken.
unchanged() {
	check_eq "$1" "$(diff <(echo "$state") <(installed_state))" ''
	check_eq '... and nothing is kept elsewhere' "$(compgen -G '/var/lib/muster*')" ''
}

headers_sum() {
	find /root/headers/ -type f -exec sha256sum {} + | sort | sha256sum
}

# DKMS takes so long to build that it can be ended meanwhile.
slow_make() {
	printf '#!/bin/sh\ntouch /root/building\nexec sleep 300\n' >/root/slow-make && chmod +x /root/slow-make &&
		echo 'MAKE[0]=/root/slow-make' >"$conf"
}

# end_install SIGNAL
end_install() {
	local group

	rm -f /root/building
	setsid make -C "$work" install KVER="$KVER" &
	group=$!
	until [ -e /root/building ] || ! kill -0 "$group" 2>/dev/null; do
		sleep 0.1
	done
	kill "-$1" -- "-$group"
	# Of some signals make dies without waiting for what it has begun.
	! wait "$group" && flock -w 900 /run/muster-setup.lock true && [ -e /root/building ]
}

# What it says goes nowhere, as when the terminal is gone.
install_untold() {
	# shellcheck disable=SC2119 # it needs no arguments
	install_work 2>/dev/full
}

# fill_up: where DKMS builds there is room for half of what it takes.
fill_up() {
	local used

	used=$(du -sk /var/lib/dkms | cut -f1)
	cp -a /var/lib/dkms /root/dkms-tree &&
		mount -t tmpfs -o "size=$((used + used / 4))k" full /var/lib/dkms && cp -aT /root/dkms-tree /var/lib/dkms
}

read_only() {
	mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"
}

# A disk that is full when DKMS keeps what it has built, with room for that before.
full_after_make() {
	# shellcheck disable=SC2016 # the script expands it
	printf '%s\n' '#!/bin/sh' 'make "$@" && { cat /dev/zero >/var/lib/dkms/filler; true; }' >/root/full-after-make &&
		chmod +x /root/full-after-make &&
		echo "MAKE[0]='/root/full-after-make -C $KDIR M=/var/lib/dkms/muster/$VERSION/build modules'" >"$conf" &&
		rm -rf /root/dkms-tree && cp -a /var/lib/dkms /root/dkms-tree &&
		mount -t tmpfs -o size=32M full /var/lib/dkms && cp -aT /root/dkms-tree /var/lib/dkms
}

# One with room for what is there only, where the modules go; these may be compressed.
full_in_place() {
	local dir

	dir=$(dirname "$(installed_file mswap)")
	cp -a "$dir" /root/in-place &&
		mount -t tmpfs -o "size=$(($(du -sk "$dir" | cut -f1) + 64))k" full "$dir" && cp -aT /root/in-place "$dir" &&
		head -c 1M /dev/urandom >/root/large &&
		echo 'asm(".pushsection .rodata; .incbin \"/root/large\"; .popsection");' >>"$work/modules/mswap/mswap.c"
}

must few_modules
must small_sources $work
must no_trial_build
state=$(installed_state)
must mkdir -p ${conf%/*}
must sh -c "echo 'MAKE[0]=false' >$conf"
check_not 'a first install that DKMS fails to build fails' install_work
unchanged 'and leaves nothing'
must rm $conf

must stand_in_cc
must install_work
state=$(installed_state)
must sh -c "echo 'MAKE[0]=false' >$conf"
check_not 'one more fails' install_work
unchanged 'and what was installed stays'
must sh -c "echo 97 >$work/VERSION"
must read_only /usr/local
check_not 'so does one where links cannot be changed' install_work
unchanged 'and what was installed stays there'
must umount /usr/local
check_not 'another version, too, and nobody can be told' install_untold
unchanged 'and what was installed stays then'
must cp /muster/VERSION $work
must slow_make
check 'make install is ended while DKMS builds' end_install TERM
unchanged 'and what was installed is there again'
check 'make install loses who reads what it says' end_install PIPE
unchanged 'and all is there again'
check 'make install is killed while DKMS builds' end_install KILL
must sh -c "echo 'MAKE[0]=false' >$conf"
check_not 'the next one fails as well' install_work
unchanged 'and what was installed before both is there again'
must rm $conf
must read_only /usr/local
check 'one that cannot change links goes well' install_work
check_eq 'as ever' "$(diff <(echo "$state") <(installed_state))" ''
must umount /usr/local

# Who is at it already has the lock.
in_vain() {
	flock 8 && check_fails 'two at once' 'is under way' install_work
} 8>/run/muster-setup.lock

in_vain
unchanged 'leave what is there'
must mkdir /var/lib/muster.before
must touch /var/lib/muster.before/kernels
check_fails 'what was cut off and cannot be put back' 'could not be put back' install_work
must rm -r /var/lib/muster.before
check_eq 'leaves what is there, too' "$(diff <(echo "$state") <(installed_state))" ''

must fill_up
check_not 'an install fails for want of room' install_work
unchanged 'and what was installed is there then'
must umount /var/lib/dkms

must full_after_make
check_fails 'an install whose modules find no room fails' 'is there room in /var/lib/dkms' install_work
must rm /var/lib/dkms/filler $conf
unchanged 'and what was installed is there as well'
must umount /var/lib/dkms
must full_in_place
state=$(installed_state)
check_fails 'so does one whose modules find none in their place' 'No space left on device' install_work
unchanged 'and what was there comes back'
must umount "$(dirname "$(installed_file mswap)")"
must sed -i '/large/d' $work/modules/mswap/mswap.c

must trial_build_again
must ln -s "$(readlink -f "$KDIR")" /root/headers
sum=$(headers_sum)
must rm "$KDIR"
check 'headers that are elsewhere' install_work KDIR=/root/headers
check 'are built with' dkms_says "$KVER" installed
check_eq 'and stay as they are' "$(headers_sum)" "$sum"
must mkdir -p /root/other/include/generated
must sh -c 'echo "#define UTS_RELEASE \"6.66\"" >/root/other/include/generated/utsrelease.h; touch /root/other/Makefile'
check_fails 'those of another kernel are refused' 'are of kernel 6.66' install_work KDIR=/root/other

finish
