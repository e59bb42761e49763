# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# For the programs that guest.sh runs outside the cgroup, since only a part of each shall be in it. They have
# BENCH_CGROUP, the directory of the cgroup, and BENCH_ROOT, that of the programs they asked for. What comes before
# begin, or after the line "end", is not measured; after "figures" come figures that the report shows.

export LC_ALL=C
user=0:0	# that the programs are run as

# Runs a command of the programs in the cgroup.
in_cgroup() {
	# shellcheck disable=SC2016 # for the inner shell
	exec sh -c 'echo $$ >"$0/cgroup.procs" && exec chroot "$@"' "$BENCH_CGROUP" --userspec=$user "$BENCH_ROOT" "$@"
}

# Runs a command of the programs outside.
outside() {
	chroot --userspec=$user "$BENCH_ROOT" "$@"
}

# start COMMAND...: a server in the cgroup, which ends with this program.
start() {
	in_cgroup "$@" &
	server=$!
	trap stop EXIT
}

stop() {
	trap - EXIT
	kill "$server" 2>/dev/null || true
	wait "$server" || true
}

# Whoever reads this looks at the counters first.
begin() {
	echo ready
	sleep 1
	echo begin
}

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
	tries=$(($1 * 10))
	shift
	until "$@" 2>/dev/null; do
		tries=$((tries - 1))
		if [ $tries -eq 0 ] || ! kill -0 "$server" 2>/dev/null; then
			echo "in vain: $*" >&2
			exit 2
		fi
		sleep 0.1
	done
}
