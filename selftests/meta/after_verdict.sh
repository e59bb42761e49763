# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# For the cases that leave something behind.

# after_verdict CASE COMMAND: leaves a process that runs COMMAND once CASE has been judged. It is out of this test's
# process group, which is killed at its end, before the test ends. The VM ends when nobody holds the output of guest-run,
# the parent of this one's parent, any more.
after_verdict() {
	local harness

	read -r _ _ _ harness _ <"/proc/$PPID/stat"
	# shellcheck disable=SC2016 # the process expands it
	setsid bash -c '
		touch "/tmp/late.$1"
		until [ -e "/out/meta.$1/status" ]; do
			sleep 0.1
		done
		eval "$2"' late "$1" "$2" 3>"/proc/$harness/fd/1" >/dev/null 2>&1 &
	until [ -e "/tmp/late.$1" ]; do
		sleep 0.1
	done
}
