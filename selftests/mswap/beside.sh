#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A test takes down what it made, and leaves what the machine had: --here does so to swap that is in use.

. "$(dirname "$0")/lib.sh"

plan 3

# make NUMBER: of each kind one.
make() {
	must null_make "muster$1" 64
	mswap_add "/dev/muster$1"
	must swap_start "$MSWAP"
	must losetup -f "/dev/ram$1"
}

# A test by itself, within this one.
one_more() (
	# shellcheck source=lib.sh
	. "$(dirname "$0")/lib.sh"
	plan 1
	make 1
	check_that 'there is one more of each' "$(made '(.*)' | grep -cv /sys/module/) == 4"
	finish
)

print_things() {
	things
	# shellcheck disable=SC2031
	printf '%s\n' "${THINGS[@]}"
}

must modprobe loop
must modprobe brd rd_nr=2 rd_size=10240
make 0
before=$(print_things)
check 'another test' one_more
check_eq 'leaves what was there' "$(grep -vxFf <(print_things) <<<"$before")" ''
check_eq 'and nothing else' "$(print_things | grep -vxF "$before" | grep -v /sys/module/)" ''

finish
