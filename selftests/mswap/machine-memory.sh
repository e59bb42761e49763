# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# For tests in which the whole machine is short of memory, not a cgroup.

# available: MiB that are to be had.
available() {
	awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo
}

# set_aside MIB: so much memory is to be had until the test ends, and what there is more is kept as huge pages, to want
# all of which would take a slow machine long. Fails where the kernel has none.
set_aside() {
	local file=/proc/sys/vm/nr_hugepages more before

	[[ -e $file ]] || return
	more=$((($(available) - $1) / 2))
	((more > 0)) || return 0
	before=$(<"$file")
	on_exit put "$before" "$file"
	must put $((before + more)) "$file"
}

# freed_by kswapd|direct: pages that it has freed, or whoever wanted memory himself.
freed_by() {
	awk -v key="^pgsteal_$1" '$1 ~ key { n += $2 } END { print n + 0 }' /proc/vmstat
}
