# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2016 # part of guest.sh and w2r.sh: event, root and work are theirs
#
# What the programs that are measured say of their version, as events, before anything is timed.

# tell_version NAME COMMAND...: the first word of what the command prints that looks like one.
tell_version() {
	said=$(shift && "$@" 2>&1 </dev/null | grep -oE '[0-9]+(\.[0-9]+)+([-+~][0-9A-Za-z.+~]+)?' | head -n 1)
	event "event=version name=$1 version=${said:-unknown}"
}

# Of the programs in an archive that was unpacked.
tell_archive() {
	case $1 in
	memcached.tar) tell_version memcached chroot "$root" /usr/bin/memcached -V ;;
	redis.tar) tell_version redis chroot "$root" /usr/bin/redis-server --version ;;
	postgresql.tar) tell_version PostgreSQL chroot "$root" /usr/lib/postgresql/17/bin/postgres --version ;;
	gcc.tar) tell_version gcc chroot "$root" /usr/bin/gcc --version ;;
	stress-ng.tar) tell_version stress-ng chroot "$root" /usr/bin/stress-ng --version ;;
	numpy.tar)
		tell_version python chroot "$root" /usr/bin/python3 --version
		tell_version numpy find "$root/usr/lib/python3/dist-packages" -maxdepth 1 -name 'numpy-*'
		;;
	esac
}

tell_archives() {
	while read -r archive; do
		tell_archive "$archive"
	done <"$work/archives"
}

# Of one of the programs that work on files.
tell_file_program() {
	case $1 in
	compile) tell_version gcc sh -c 'gcc=$(ls /usr/bin/x86_64-linux-gnu-gcc-[0-9]* | tail -n 1) && $gcc --version' ;;
	cp | sort) tell_version coreutils "$1" --version ;;
	tar-*) tell_version tar tar --version ;;
	gzip | gunzip) tell_version gzip gzip --version ;;
	grep) tell_version grep grep --version ;;
	esac
}

tell_file_programs() {
	tell_version e2fsprogs mkfs.ext4 -V
	tell_version dmsetup dmsetup version
	dmsetup targets | while read -r target version; do
		event "event=version name=dm-$target version=$version"
	done
	while read -r program; do
		tell_file_program "$program"
	done <"$work/programs"
}
