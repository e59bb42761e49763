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

# program OWNER: two of them want twice as much as there is.
program() {
	pagestride --owner "$1" -c 3 -k 1 -s "$mib" --write-on-readback=2
}

# shortage_begins: programs that swap begin, until shortage_ends. Skips the test where memory cannot be set aside.
shortage_begins() {
	set_aside $((${MUSTER_SLOWER:-1} == 1 ? 160 : 80)) || skip_all "$NO_HUGE_PAGES"
	mib=$(($(available) * 4 / 3))
	by_kswapd=$(freed_by kswapd)
	programs_start
}

# Five results.
shortage_ends() {
	programs_end
	by_kswapd=$(($(freed_by kswapd) - by_kswapd))
	diag "programs of $mib MiB each; kswapd freed $by_kswapd pages"
	check_that 'kswapd was at work' "$by_kswapd > 5000"
}
