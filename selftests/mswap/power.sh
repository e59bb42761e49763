# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# How tests have the machine sleep, and hibernate.

# Can this kernel try to go to state STATE?
can_try() {
	[[ -w /sys/power/pm_test ]] && grep -qw "$1" /sys/power/state
}

# try_sleep STATE: freeze, which is suspension to memory, or disk, which is hibernation, as far as it is tried: all
# programs are frozen and thawed. Devices go on, for what the tests are read from would not come back.
try_sleep() {
	local delay=/sys/module/suspend/parameters/pm_test_delay before status

	before=$(show $delay)
	must put 0 $delay
	must put freezer /sys/power/pm_test
	put "$1" /sys/power/state
	status=$?
	must put none /sys/power/pm_test
	must put "$before" $delay
	return $status
}

can_hibernate() {
	grep -qw disk /sys/power/state
}

# hibernate_to DISK: the machine goes off, and returns where something boots it again.
hibernate_to() {
	number_of "$1" >/sys/power/resume
	put shutdown /sys/power/disk && put disk /sys/power/state
}

# sectors_written DISK
sectors_written() {
	local words

	read -r -a words <"$(disk_folder "$1")/stat"
	echo "${words[6]}"
}

# returns NAME: from /dev/vda. Two results. For tests with the header '# hibernates: yes'. The kernel that returns does
# not know that it has written an image.
returns() {
	local before

	before=$(sectors_written /dev/vda)
	check "$1" hibernate_to /dev/vda
	check_le "$1: it is the image that goes on" $(($(sectors_written /dev/vda) - before)) 2048
}
