#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Leaves a module loaded that cannot be unloaded: the machine is not fit for more tests. A bit later, when the test has
# been judged, the kernel complains.
. "$(dirname "$0")/../../lib/ktap.sh"
plan 1
check "module loads" insmod "$MUSTER_PROGS/muster_meta.ko" how=busy
setsid bash -c '
	until dmesg | grep -q "selftest meta.k_leftover ends"; do
		sleep 0.1
	done
	sleep 0.3
	echo "WARNING: late" >/dev/kmsg' >/dev/null 2>&1 &
finish
