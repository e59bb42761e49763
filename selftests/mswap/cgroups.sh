# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the tests of cgroups' I/O share: what io.stat says, and two cgroups on /dev/muster0: for io.max, or for io.cost, with
# which poor gets next to nothing of it as long as rich wants more than there is. To write costs nothing.

COST=/sys/fs/cgroup/io.cost
CHEAP=1000000000

# io_of DEVICE KEY [FOLDER]: what io.stat of $CGROUP, or of that folder in it, says; 0 if nothing.
io_of() {
	awk -v dev="$(number_of "$1")" -v key="$2=" '
		$1 == dev { for (i = 2; i <= NF; i++) if (index($i, key) == 1) n = substr($i, length(key) + 1) }
		END { print n + 0 }' "$CGROUP/${3:-.}/io.stat"
}

# reclaim_asks_all: until the test ends, who reclaims memory asks every cgroup and every shrinker. The multi-gen LRU ends
# with the first cgroups that have enough. And it asks no shrinker while a cgroup that was removed is first in turn and
# kswapd, which does not get to run, is in the middle of its generations: who wants memory then gets none, and the OOM
# killer comes.
reclaim_asks_all() {
	local file=/sys/kernel/mm/lru_gen/enabled

	[[ -e $file ]] || return 0
	on_exit put "$(<"$file")" "$file"
	must put 0 "$file"
}

# poor_and_rich CONTROLLERS: makes both in $CGROUP, with these.
poor_and_rich() {
	local name

	must put "$1" "$CGROUP/cgroup.subtree_control"
	on_exit put "${1//+/-}" "$CGROUP/cgroup.subtree_control"
	for name in poor rich; do
		must mkdir "$CGROUP/$name"
		on_exit rmdir "$CGROUP/$name"
	done
	on_exit cgroup_kill
}

# cost_start: makes both; skips the test where there is no io.cost.
cost_start() {
	local number stats=/sys/module/blk_cgroup/parameters/blkcg_debug_stats

	must cgroup_make max
	[[ -e $COST.qos ]] || skip_all 'the kernel has no io.cost'
	number=$(number_of /dev/muster0)
	on_exit put "$number enable=0" $COST.qos
	controller_on io
	must put 1 $stats
	on_exit put 0 $stats
	poor_and_rich '+memory +io'
	must put 4M "$CGROUP/poor/memory.high"
	must put 4M "$CGROUP/rich/memory.high"
	must put 1 "$CGROUP/poor/io.weight"
	must put 10000 "$CGROUP/rich/io.weight"
}

# cost_of_reads N: from now on the device is taken to do so many a second.
cost_of_reads() {
	local number

	number=$(number_of /dev/muster0)
	put "$number ctrl=user model=linear rseqiops=$1 rrandiops=$1 rbps=$CHEAP wseqiops=$CHEAP wrandiops=$CHEAP \
		wbps=$CHEAP" $COST.model && put "$number enable=1 ctrl=user rpct=0 wpct=0 min=100 max=100" $COST.qos
}

# in_group NAME COMMAND...
in_group() {
	echo "$BASHPID" >"$CGROUP/$1/cgroup.procs" && shift && exec "$@"
}

# has_waited NAME: for its share.
has_waited() {
	(($(io_of /dev/muster0 cost.wait "$1") > 0))
}

# hog_start: rich wants more than there is, of the device itself.
hog_start() {
	in_group rich sh -c 'while :; do dd if=/dev/muster0 of=/dev/null bs=4k count=16 iflag=direct status=none; done' 2>/dev/null &
	hog=$!
	must wait_until 60 has_waited rich
}

# max_start CONTROLLERS: makes both with these, +io among them, and sets number, that of /dev/muster0, for io.max; skips the
# test where there is none.
max_start() {
	must cgroup_make max
	controller_on io
	[[ -e $CGROUP/io.max ]] || skip_all 'the kernel has no io.max'
	poor_and_rich "$1"
	# shellcheck disable=SC2034
	number=$(number_of /dev/muster0)
}

# rich_reads CHECK NAME COMMAND...: CHECK that rich does it; how many pages each of its reads of /dev/muster0 brings is in $each.
rich_reads() {
	local bytes reads checking=$1 name=$2
	shift 2

	bytes=$(io_of /dev/muster0 rbytes rich) reads=$(io_of /dev/muster0 rios rich)
	"$checking" "$name" in_group rich "$@"
	bytes=$(($(io_of /dev/muster0 rbytes rich) - bytes)) reads=$(($(io_of /dev/muster0 rios rich) - reads))
	each=$((bytes / 4096 / reads))
	diag "$each pages a read"
}

# share_all: poor may have all it wants.
share_all() {
	must kill "$hog"
	must put 10000 "$CGROUP/poor/io.weight"
	must cost_of_reads 100000
}

# null_mend NAME: none of its blocks is spoiled any more.
null_mend() {
	echo "-0-$(($(sectors_of "/dev/$1") - 1))" >"/sys/kernel/config/nullb/$1/badblocks"
}
