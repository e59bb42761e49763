#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# make install for one kernel does not take the modules of another away.
# kernels: 6.1 6.12
# asked-for: 6.1
# timeout: 3600

. "$(dirname "$0")/lib.sh"

plan 22

other=${KVER%-amd64}-other-amd64
bare=${KVER%-amd64}-bare-amd64

must few_modules
must small_sources $work
must no_trial_build
must mkdir "/lib/modules/$other"
must ln -s "$(readlink -f "$KDIR")" "/lib/modules/$other/build"
must mkdir -p "/lib/modules/$other/kernel" "/lib/modules/$bare/kernel"
# shellcheck disable=SC2119 # it needs no arguments
install_work >$work.told
named() {
	sed -n "s/.*kernel $1 has no modules of muster: //p" $work.told
}
check_eq 'a kernel that has none is named' "$(named "$other")" "make install KVER=$other builds them if it is supported"
check_eq 'and what it lacks' "$(named "$bare")" \
	"with linux-headers-$bare, make install KVER=$bare builds them if it is supported"
must rmdir "/lib/modules/$other/kernel" "/lib/modules/$bare/kernel" "/lib/modules/$bare"
must dkms install -m muster -v "$VERSION" -k "$other"
must sh -c "echo 97 >$work/VERSION"

must rm "/lib/modules/$other/build"
state=$(installed_state)
check_fails 'the headers of another kernel are gone' "installed for kernel $other too, whose headers are gone" \
	install_work
check_eq 'and all is as it was' "$(diff <(echo "$state") <(installed_state))" ''
# shellcheck disable=SC2119 # it needs no arguments
told=$(install_work 2>&1 | sed -n 's/.*do without it there: //p')
check_eq 'what to do is said' "$told" "dkms remove -m muster -v $VERSION -k $other"

must mkdir "/lib/modules/$other/build"
must sh -c "echo 'modules clean:; false' >/lib/modules/$other/build/Makefile"
must mkdir "/lib/modules/$other/build/include"
state=$(installed_state)
check_fails 'it cannot be built for the other kernel' "cannot be built for kernel $other" install_work
must cp /muster/VERSION $work
check_fails 'nor can the version that is there, and it says what to do' "do without it there: $told" install_work
must sh -c "echo 97 >$work/VERSION"
check_eq 'and all is as it was then' "$(diff <(echo "$state") <(installed_state))" ''

must rm -r "/lib/modules/$other/build"
must ln -s "$(readlink -f "$KDIR")" "/lib/modules/$other/build"
check 'with both it goes' install_work
check_eq 'the new version is there alone' \
	"$(dkms_status | cut -d, -f1 | sort -u)" muster/97
check 'for this kernel' installed_file mswap
check 'and the other' installed_file mswap "$other"

must rm "/lib/modules/$other/build"
check 'what was said does it' eval "${told/$VERSION/97}"
check_eq 'the other has none' "$(installed_file mswap "$other")" ''
check 'and the install goes on' install_work

# A compiler that, while DKMS builds, installs for the other kernel what there was before, as if that had just come.
# Before it compiles anything of the new version it does $1.
late_kernel() {
	cat >/root/cc <<-END
		#!/bin/sh
		if [ ! -e /root/came ] && [ -e /var/lib/dkms/muster/98/build ]; then
			: >/root/came
			env -i "PATH=\$PATH" dkms install -m muster -v 97 -k $other >/root/came 2>&1
		fi
		case "\$*" in */muster/98/*) $1 ;; esac
		exec $(compiler) "\$@"
	END
	chmod +x /root/cc
}

must late_kernel 'exit 1'
must ln -s "$(readlink -f "$KDIR")" "/lib/modules/$other/build"
must sh -c "echo 98 >$work/VERSION"
check_not 'one comes during an install that fails' install_work CC=/root/cc
check 'and keeps its modules' installed_file mswap "$other"
must dkms remove -m muster -v 97 -k "$other"
must rm /root/came
must late_kernel true
check 'one that comes during an install' install_work CC=/root/cc
must grep -q . /root/came
check 'has the new modules, too' installed_file mswap "$other"
check_eq 'and no others' "$(dkms_status | cut -d, -f1 | sort -u)" muster/98

must rm -r "/lib/modules/$other"
check 'a kernel that is gone is no hindrance' install_work
check 'nor to taking it away' make -C $work uninstall

finish
