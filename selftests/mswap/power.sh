# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# How tests try that the machine sleeps: all programs are frozen and thawed. Devices go on, for what the tests are read
# from would not come back.

# Can this kernel try to go to state STATE?
can_try() {
	[[ -w /sys/power/pm_test ]] && grep -qw "$1" /sys/power/state
}

# try_sleep: suspension to memory, as far as it is tried.
try_sleep() {
	local delay=/sys/module/suspend/parameters/pm_test_delay before status

	before=$(show $delay)
	must put 0 $delay
	must put freezer /sys/power/pm_test
	put freeze /sys/power/state
	status=$?
	must put none /sys/power/pm_test
	must put "$before" $delay
	return $status
}
