# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What a selftest prints and how it cleans up. A test sources this file, then:
#
#	plan 3				number of results to come
#	must modprobe brd		preparation: ends the test as failed when it fails
#	on_exit rmmod brd		cleaned up at the end, last one first, whatever happens
#	check "it is there" test -b /dev/ram0
#	check_eq "size" "$(cat size)" 4096
#	check_that "it grew" "$(cat size) > $before + 4096"
#	check_fails "no such device" "No such device" cmd...	fails, and says so
#	result "sum" $((a == b ? 0 : 1)) "a=$a b=$b"
#	skip_all "why"			exit 4: cannot run here
#	finish				the last line of every test
#
# Lines are KTAP. The exit status is 0 = passed, 1 = failed, 4 = skipped.
# The header of a test may ask for:
#	# kernels: all  # timeout: SECS  # nvme: SIZE  # virtio: SIZE  # mem: SIZE  # cpus: N  # udev: yes
#	# asked-for: KERNELS	there it runs only for who names it or the kernel
#	# races: KERNELS	needs CPUs that run at the same time there, not in turn
#	# expect-dmesg: REGEX	kernel log lines that are no failure of this test (may be repeated)

ktap_root=${BASH_SOURCE[0]%/*}/..
[[ $ktap_root == /* ]] || ktap_root=$PWD/$ktap_root
PATH=$PATH:${MUSTER_PROGS:-$ktap_root/bin}
ktap_planned=0
ktap_count=0
ktap_bad=0
ktap_cleanup=()
# A pipe that nobody writes to and that has no end, as both its ends are open here. Not made when it is first read: $!
# would be another one then.
exec {ktap_never}<> <(:)

ktap_end() {
	local status=$? i

	trap - EXIT
	set +e
	for ((i = ${#ktap_cleanup[@]} - 1; i >= 0; i--)); do
		eval "${ktap_cleanup[i]}" || echo "# clean-up failed: ${ktap_cleanup[i]}"
	done
	exit "$status"
}
trap ktap_end EXIT
trap 'exit 143' TERM INT HUP

# plan N: says how many results follow.
plan() {
	ktap_planned=$1
	echo "KTAP version 1"
	echo "1..$1"
}

# on_exit CMD...: cleans up when the test ends. Words are kept as they are.
on_exit() {
	ktap_cleanup+=("${*@Q}")
}

# diag TEXT: a remark in the log.
diag() {
	local line

	while IFS= read -r line; do
		echo "# $line"
	done <<<"$*"
}

# figure TEXT: a remark that also goes in the table of a run.
figure() {
	echo "# figure: $*"
}

# result NAME STATUS [WHY]: one result; STATUS 0 is good.
result() {
	ktap_count=$((ktap_count + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $ktap_count $1"
		return 0
	fi
	ktap_bad=$((ktap_bad + 1))
	echo "not ok $ktap_count $1"
	[ -z "${3:-}" ] || diag "$3"
	return 0
}

# skip NAME WHY: one result that cannot be had here.
skip() {
	ktap_count=$((ktap_count + 1))
	echo "ok $ktap_count $1 # SKIP $2"
}

# skip_all WHY: the whole test cannot run here.
skip_all() {
	echo "1..0 # SKIP $1"
	exit 4
}

# must CMD...: a preparation without which nothing can be tested.
must() {
	local output status

	output=$("$@" 2>&1) && status=0 || status=$?
	[ "$status" -ne 0 ] || return 0
	diag "$* (status $status): $output"
	echo "Bail out! preparation failed: $*"
	exit 1
}

# check NAME CMD...: good when CMD succeeds; otherwise its output is shown.
check() {
	local name=$1 output status

	shift
	output=$("$@" 2>&1) && status=0 || status=$?
	result "$name" "$status" "$* (status $status): $output"
}

# check_not NAME CMD...: good when CMD fails, whatever it says.
check_not() {
	local name=$1 output status

	shift
	output=$("$@" 2>&1) && status=1 || status=0
	result "$name" "$status" "succeeded: $* : $output"
}

# check_fails NAME TEXT CMD...: good when CMD fails and its output contains TEXT
# (such as strerror's "Device or resource busy").
check_fails() {
	local name=$1 text=$2 output

	shift 2
	if output=$("$@" 2>&1); then
		result "$name" 1 "succeeded: $*"
	elif [[ $output != *"$text"* ]]; then
		result "$name" 1 "$* failed without '$text': $output"
	else
		result "$name" 0
	fi
}

# check_eq NAME GOT WANTED
check_eq() {
	local status=0

	[ "$2" = "$3" ] || status=1
	result "$1" "$status" "got '$2', wanted '$3'"
}

# check_le NAME GOT LIMIT, check_ge NAME GOT LIMIT: integers; what is none is bad.
check_le() {
	local status=0

	[ "$2" -le "$3" ] 2>/dev/null || status=1
	result "$1" "$status" "got '$2', wanted at most '$3'"
}

check_ge() {
	local status=0

	[ "$2" -ge "$3" ] 2>/dev/null || status=1
	result "$1" "$status" "got '$2', wanted at least '$3'"
}

# check_that NAME EXPRESSION: an arithmetic expression of numbers is true. A word would be a variable, worth 0, and
# where a number is missing the + or - behind it would be a sign: a sign has its number right behind it.
check_that() {
	local status=0 sign='^[[:space:]]+[-+]|(^|[^[:alnum:])[:space:]])[[:space:]]*[-+][[:space:]]'

	if [[ $2 == *[[:alpha:]_]* || $2 =~ $sign ]] || ! (($2)) 2>/dev/null; then
		status=1
	fi
	result "$1" "$status" "not so: $2"
}

# put VALUE FILE: writes to a control file; the errno's text goes to standard error.
put() {
	printf '%s\n' "$1" >"$2"
}

# show FILE: what a control file says. Unlike cat it starts no program, which takes a slow machine 15 ms.
show() {
	local value

	value=$(<"$1") && echo "$value"
}

# mounted DIR: something is mounted there.
mounted() {
	local where

	while read -r _ where _; do
		[[ $where != "$1" ]] || return 0
	done </proc/mounts
	return 1
}

# kernel_log: all of it. util-linux's takes a system call for each line, and three times as long.
kernel_log() {
	busybox dmesg 2>/dev/null || dmesg
}

# moment: lasts a tenth of a second. sleep is a program, which takes a slow machine 20 ms and more.
moment() {
	read -rt 0.1 -u "$ktap_never" _ || true
}

# wait_until SECS CMD...: tries CMD a tenth of a second apart, ten times for each of SECS; fails when it never succeeds.
# Tries and not the clock, which goes on where the machine stands still. Slow kernels get more.
wait_until() {
	local tries=$((10 * $1 * ${MUSTER_SLOWER:-1}))

	shift
	until "$@" >/dev/null 2>&1; do
		((tries-- > 0)) || return 1
		moment
	done
}

# finish: ends the test; bad results or a wrong plan fail it.
finish() {
	if [ "$ktap_count" -ne "$ktap_planned" ]; then
		diag "planned $ktap_planned results, gave $ktap_count"
		exit 1
	fi
	[ "$ktap_bad" -eq 0 ] || exit 1
	exit 0
}
