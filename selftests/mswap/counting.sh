# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the tests share that add counters up: with each other, and with what the device beneath has seen.

# shellcheck disable=SC2034 # tests use it
SECTORS=8 # in a page

# below_from NAME: from now on since tells of this device of device-mapper, which takes I/Os as they come, without
# merging, and counts each of mswap's as one.
below_from() {
	below=$(dm_folder "$1")
	below=${below##*/}
	read -r -a below_base <"/sys/block/$below/stat"
}

# since FIELD: how much field FIELD of the device's statistics has grown.
since() {
	echo $(($(stat_of "$below" "$1") - below_base[$1 - 1]))
}

# hist_sum 0: the writes of cluster_hist; hist_sum 1: the pages in them.
hist_sum() {
	awk -v pages="$1" '{ sum += pages ? $1 * $2 : $2 } END { print sum + 0 }' "$SYS/cluster_hist"
}
