#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Passes, as the last of its boot, and leaves a process that panics once it has been judged.
. "$(dirname "$0")/../../lib/ktap.sh"
plan 1
check "true is true" true
# It is out of this test's process group, which is killed at its end, before the test ends.
setsid bash -c '
	touch /tmp/late
	until [ -e /out/meta.n_dies_late/status ]; do
		sleep 0.1
	done
	echo c >/proc/sysrq-trigger' >/dev/null 2>&1 &
until [ -e /tmp/late ]; do
	sleep 0.1
done
finish
