# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The kernel's fault injection (Documentation/fault-injection), for selftests that a debug kernel runs.
# All is off again when the test exits.

FAULTS=/sys/kernel/debug
MEMORY_FAULTS='failslab fail_page_alloc'
MANY=1000000

# faults_set POINT FILE=VALUE...
faults_set() {
	local point=$1 pair
	shift

	for pair in "$@"; do
		put "${pair#*=}" "$FAULTS/$point/${pair%%=*}" || return
	done
}

# Memory allocations of any kind can fail, but none does yet.
faults_prepare() {
	local point

	for point in $MEMORY_FAULTS; do
		on_exit faults_set "$point" probability=0
		faults_set "$point" probability=0 interval=1 verbose=0 task-filter=N ignore-gfp-wait=N || return
	done
	faults_set fail_page_alloc ignore-gfp-highmem=N min-order=0
}

# function_range NAME: sets from and to, the addresses of this function of the kernel.
function_range() {
	read -r from to < <(awk -v name="$1" '
		found && $1 != from { print "0x" from, "0x" $1; exit }
		$3 == name && !found { found = 1; from = $1 }' <(sort /proc/kallsyms))
	[[ $from == 0x* ]]
}

# faults_below [FUNCTION]: only allocations that this function of the kernel causes can fail; without it all.
faults_below() {
	local point from=0 to=0xffffffffffffffff

	[[ -z ${1:-} ]] || function_range "$1" || return
	for point in $MEMORY_FAULTS; do
		faults_set "$point" stacktrace-depth=32 require-start="$from" require-end="$to" || return
	done
}

# faults_not_below FUNCTION: allocations that this function of the kernel causes do not fail.
faults_not_below() {
	local point from to

	function_range "$1" || return
	for point in $MEMORY_FAULTS; do
		faults_set "$point" stacktrace-depth=32 reject-start="$from" reject-end="$to" || return
	done
}

# module_range NAME: sets from and to, the addresses of its code, which ends with a page; another module's may follow,
# where this one's data is elsewhere.
module_range() {
	read -r from to < <(awk -v name="[$1]" '$4 == name && $2 ~ /^[tT]$/' /proc/kallsyms |
		sort | sed -n '1p; $p' | awk '{ printf "0x%s ", $1 }')
	[[ $from == 0x* && $to == 0x* ]] && to=$(printf '0x%x' $(((to | 0xfff) + 1)))
}

# faults_random PERCENT MODULE BENEATH: so many of the allocations that the module makes or causes fail, but not those
# of the module of the device beneath.
faults_random() {
	local point from to reject_from reject_to

	module_range "$3" && reject_from=$from reject_to=$to || return
	module_range "$2" || return
	for point in $MEMORY_FAULTS; do
		faults_set "$point" stacktrace-depth=32 require-start="$from" require-end="$to" \
			reject-start="$reject_from" reject-end="$reject_to" times=$MANY probability="$1" || return
	done
}

# Prints how many were failed since faults_random.
faults_end() {
	local point sum=0

	for point in $MEMORY_FAULTS; do
		faults_set "$point" probability=0 || return
		sum=$((sum + MANY - $(cat "$FAULTS/$point/times")))
	done
	echo $sum
}

# walk NAME FEWEST failnth-ARGUMENT...: two results: all sites are gone through, which are at least FEWEST.
walk() {
	local name=$1 fewest=$2 output status
	shift 2

	output=$(failnth "$@" 2>&1)
	status=$?
	figure "$name: ${output##*$'\n'}"
	result "$name: fails cleanly or succeeds" "$status" "$output"
	check_ge "$name: places where memory was refused" "$(tail -n 1 <<<"$output" | value_of sites)" "$fewest"
}
