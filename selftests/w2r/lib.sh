# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the selftests of dm-w2r share, on top of those of mswap: targets, their files and counters.
# Everything made through it is taken down when the test exits.

# shellcheck source=../mswap/lib.sh
. "${BASH_SOURCE[0]%/*}/../mswap/lib.sh"

# table_of ORIGIN MIB [OPTION VALUE...]: a table line over all of ORIGIN.
table_of() {
	local origin=$1 mib=$2
	shift 2

	echo "0 $(sectors_of "$origin") w2r $origin $mib $#${*:+ $*}"
}

# w2r_make NAME ORIGIN MIB [OPTION VALUE...]: makes, or makes anew, /dev/mapper/NAME, NAME being muster...
# Sets DEV and FILES (its folder in sysfs).
w2r_make() {
	local name=$1
	shift

	[[ -d /sys/module/dm_w2r ]] || must modprobe dm-w2r
	must dm_make "$name" "$(table_of "$@")"
	w2r_use "$name"
}

# w2r_use NAME: sets DEV and FILES for a device that is there.
w2r_use() {
	# shellcheck disable=SC2034
	DEV=/dev/mapper/$1
	FILES=$(dm_folder "$1")/w2r
}

w2r_get() {
	show "$FILES/$1"
}

w2r_set() {
	printf '%s' "$2" >"$FILES/$1"
}

# The value of KEY in the status line of NAME.
status_of() {
	local words i

	read -r -a words <<<"$(dmsetup status "$1")"
	for i in "${!words[@]}"; do
		[[ ${words[i]} != "$2" ]] || echo "${words[i + 1]}"
	done
}

# read_range FILE FROM N: the blocks of 4 KiB on standard output, read one by one past the page cache.
read_range() {
	dd if="$1" bs=4k skip="$2" count="$3" iflag=direct status=none
}

# The same without output.
touch_range() {
	read_range "$@" >/dev/null
}

sum_range() {
	read_range "$@" | md5sum
}

# The sum of the counters that say where each block of a read came from, less what was read: 0.
unaccounted() {
	echo $(($(w2r_get hits_weighing) + $(w2r_get hits_waiting) + $(w2r_get misses) + $(w2r_get bypassed) - \
		$(w2r_get read_blocks)))
}

w2r_teardown() {
	local name

	swaps_off
	mounted "$WORK/mnt" && umount "$WORK/mnt"
	for name in $(dmsetup ls --target w2r 2>/dev/null); do
		[[ $name == muster* ]] || continue
		dmsetup resume "$name"
		dmsetup remove --retry "$name"
	done
	unload dm_w2r
	return 0
}

on_exit w2r_teardown
