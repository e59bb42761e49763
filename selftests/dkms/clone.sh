#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What make does in a clone: for one kernel after another, in a path with spaces, by another compiler, and cleaning.
# kernels: 5.10 newest
# asked-for: 5.10
# timeout: 3600

. "$(dirname "$0")/lib.sh"

plan 52

# Next to the real ones: some of these have links to what is beside them.
other=/usr/src/other-headers

# The same headers, of the same age, but for the name of the kernel.
other_headers() {
	local real

	real=$(readlink -f "$KDIR")
	cp -a "$real" "$other" && sed -i "s|$real|$other|" "$other"/Makefile &&
		sed -i 's/UTS_RELEASE ".*"/UTS_RELEASE "6.66-other"/' "$other"/include/generated/utsrelease.h &&
		touch -r "$real/Makefile" "$other"/Makefile "$other"/include/generated/utsrelease.h
}

release_of() {
	modinfo -F vermagic "$1" | cut -d' ' -f1
}

built_files() {
	find "$1" -name '*.ko' -o -name '*.o' -o -name .built-for
}

# What DKMS tells make of the compiler.
make_words() {
	(
		MAKE=()
		# shellcheck source=/dev/null
		. $work/dkms.conf
		grep -o '\(LLVM\|CC\)=[^ ]*' <<<"${MAKE[0]}"
	)
}

# A compiler that tells where it was used.
telling_compiler() {
	# shellcheck disable=SC2016 # the compiler expands it
	printf '#!/bin/sh\necho "$PWD $*" >>/root/cc.log\nexec %s "$@"\n' "$(compiler)" >/root/cc && chmod +x /root/cc
}

must few_modules
must small_sources $work
must other_headers
check 'make' make -C $work KVER="$KVER"
check_eq 'builds for that kernel' "$(release_of $work/modules/mswap/mswap.ko)" "$KVER"
time=$(stat -c %y $work/modules/mswap/mswap.o)
check 'make once more' make -C $work KVER="$KVER"
check_eq 'builds nothing anew' "$(stat -c %y $work/modules/mswap/mswap.o)" "$time"
check 'make for another kernel' make -C $work KVER=6.66-other KDIR=$other
check_eq 'builds for that one' "$(release_of $work/modules/mswap/mswap.ko)" 6.66-other

must cp -r $work '/root/a clone'
check_fails 'in a path with spaces make says why not' 'takes no path with spaces' make -C '/root/a clone' KVER="$KVER"
check_fails 'and make clean' 'takes no path with spaces' make -C '/root/a clone' clean KVER="$KVER"
for sign in "'" '"' '`' '$' '&' '(' '*' ';' '<' '?' '|' "\\" ':' '%' ',' '['; do
	must mkdir "/root/a${sign}clone"
	must cp $work/Makefile "/root/a${sign}clone"
	check_fails "in one with $sign, too" 'takes no path with spaces or signs' make -C "/root/a${sign}clone" KVER="$KVER"
done
check 'but make install works' make -C '/root/a clone' install KVER="$KVER"
check 'so does make uninstall' make -C '/root/a clone' uninstall

# A kernel that clang built, and a linker that tells of it and fails: Debian's headers name the compiler themselves.
must cp -a $other $other-clang
must sed -i "s|$other|$other-clang|" $other-clang/Makefile
must sed -i '/^CONFIG_LD_IS_BFD=/d' $other-clang/.config $other-clang/include/config/auto.conf
must sh -c "echo CONFIG_CC_IS_CLANG=y >>$other-clang/.config"
must sed -i "s/UTS_RELEASE \".*\"/UTS_RELEASE \"$KVER\"/" $other-clang/include/generated/utsrelease.h
printf '#!/bin/sh\n: >/root/lld-was-here\nexit 1\n' >/usr/bin/ld.lld && chmod +x /usr/bin/ld.lld
check_fails 'for a kernel that clang built' 'does not build for the kernel' install_work KDIR=$other-clang
check "clang's linker is used" rm /root/lld-was-here
check_not 'by make, too, whatever CC the environment has' env CC=gcc make -C $work KVER="$KVER" KDIR=$other-clang
check 'it is used then' rm /root/lld-was-here
check_eq "and DKMS's make is told" "$(CC=gcc kernel_source_dir=$other-clang make_words)" LLVM=1
check_eq "but with a CC of make's own" "$(MAKEFLAGS=' -- CC=gcc' kernel_source_dir=$other-clang make_words)" ''
must sh -c "echo CONFIG_LD_IS_BFD=y >>$other-clang/.config"
check_eq "or of clang, and GNU's linker" "$(kernel_source_dir=$other-clang make_words)" CC=clang
must rm /usr/bin/ld.lld

before=$(files)
check_fails 'what is meant for another folder is refused' 'not in DESTDIR=/root/dest' install_work DESTDIR=/root/dest
check_fails 'LLVM=1 goes to the trial build' 'does not build for the kernel' install_work LLVM=1
check_eq 'and nothing is installed without it' "$(files)" "$before"
must telling_compiler
TMPDIR='/root/a clone' check 'install by another compiler' install_work CC=/root/cc
check 'that did the trial build' grep -q /tmp/tmp /root/cc.log
check "and DKMS's" grep -q /var/lib/dkms/muster /root/cc.log

# A clone where DKMS keeps the sources, as many do it, and a pull since.
must cp -r $work /usr/src/muster-50
must sh -c 'echo 50 >/usr/src/muster-50/VERSION'
must dkms add -m muster -v 50
must sh -c 'echo 51 >/usr/src/muster-50/VERSION'
check_fails 'a clone that DKMS has for its sources' 'clone to another place' make -C /usr/src/muster-50 uninstall
check 'is not taken away' test -e /usr/src/muster-50/VERSION
must mkdir /usr/src/muster-50/.git
check_fails 'nor from another clone, by make install' 'muster-50 is a git clone' install_work
check_fails 'or make uninstall' 'muster-50 is a git clone' make -C $work uninstall
check 'which leave it as it is' test -e /usr/src/muster-50/.git
must dkms remove -m muster -v 50 --all
must rm -r /usr/src/muster-50

check 'without sbin in the PATH' env PATH=/usr/bin:/bin make -C $work uninstall
must mkdir -p "/usr/src/muster-$VERSION/.git"
check_fails 'a clone that DKMS does not know stays as well' 'is a git clone' install_work
check_fails 'whatever is asked for' 'is a git clone' make -C $work uninstall
check 'with all that it has' rmdir "/usr/src/muster-$VERSION/.git" "/usr/src/muster-$VERSION"
must ln -s $work "/usr/src/muster-$VERSION"
must mkdir $work/.git
check 'a link to one may go' make -C $work uninstall
must rmdir $work/.git
check_fails 'who is not root is told' 'must run as root' \
	setpriv --reuid 65534 --clear-groups make -C /muster install KVER="$KVER"

must without blkdev.h '(\*submit_bio)'
check 'make clean for a kernel that is refused' make -C $work clean KVER="$KVER"
check_eq 'leaves nothing that was built' "$(built_files $work)" ''

finish
