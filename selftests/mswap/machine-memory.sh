# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# For tests in which the whole machine is short of memory, not a cgroup.

# available: MiB that are to be had.
available() {
	awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo
}

# set_aside MIB: so much memory is to be had until the test ends, and what there is more is kept, to want all of which
# would take a slow machine long: as huge pages, or where the kernel has none, by a disk.
set_aside() {
	local file=/proc/sys/vm/nr_hugepages more before mib

	more=$(($(available) - $1))
	((more > 0)) || return 0
	if [[ -e $file ]]; then
		before=$(<"$file")
		on_exit put "$before" "$file"
		must put $((before + more / 2)) "$file"
		return
	fi
	must null_make musteraside "$more"
	# Of its own memory it needs some, too.
	for ((mib = 0; $(available) > $1; mib += 16)); do
		must dd if=/dev/zero of=/dev/musteraside bs=1M seek=$mib count=16 oflag=direct status=none
	done
}

# freed_by kswapd|direct: pages that it has freed, or whoever wanted memory himself.
freed_by() {
	awk -v key="^pgsteal_$1" '$1 ~ key { n += $2 } END { print n + 0 }' /proc/vmstat
}
