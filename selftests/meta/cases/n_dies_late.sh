#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Passes, as the last of its boot, and leaves a process that panics once it has been judged.
. "$(dirname "$0")/../../lib/ktap.sh"
plan 1
check "true is true" true
# It is out of this test's process group, which is killed at its end, before the test ends. The VM ends when nobody holds
# the output of guest-run, the parent of this one's parent, any more.
read -r _ _ _ harness _ <"/proc/$PPID/stat"
setsid bash -c '
	touch /tmp/late
	until [ -e /out/meta.n_dies_late/status ]; do
		sleep 0.1
	done
	echo c >/proc/sysrq-trigger' 3>"/proc/$harness/fd/1" >/dev/null 2>&1 &
until [ -e /tmp/late ]; do
	sleep 0.1
done
finish
