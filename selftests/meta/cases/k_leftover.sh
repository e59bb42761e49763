#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Leaves a module loaded that cannot be unloaded: the machine is not fit for more tests. A bit later, when the test has
# been judged, the kernel complains.
. "$(dirname "$0")/../../lib/ktap.sh"
plan 1
check "module loads" insmod "$MUSTER_PROGS/muster_meta.ko" how=busy
# It is out of this test's process group, which is killed at its end, before the test ends. The VM ends when nobody holds
# the output of guest-run, the parent of this one's parent, any more.
read -r _ _ _ harness _ <"/proc/$PPID/stat"
setsid bash -c '
	touch /tmp/late
	until [ -e /out/meta.k_leftover/status ]; do
		sleep 0.1
	done
	echo "WARNING: late" >/dev/kmsg' 3>"/proc/$harness/fd/1" >/dev/null 2>&1 &
until [ -e /tmp/late ]; do
	sleep 0.1
done
finish
