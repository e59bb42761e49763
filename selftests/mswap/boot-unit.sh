#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The unit over a device that systemd does not see when it is blank, as one of dm-crypt: run by a systemd of its own, with
# the devices that udev tells of.
# asked-for: newest
# timeout: 240
# udev: yes

. "$(dirname "$0")/lib.sh"

DEVICE=/dev/mapper/mustercrypt
UNIT=mswap@dev-mapper-mustercrypt.service
SYSTEMD=/usr/lib/systemd/systemd
SYSTEMD_CGROUP=/sys/fs/cgroup/muster-systemd
# Where the machine has no systemd, this makes one take it for booted.
BOOTED=/run/systemd/system

[ -x "$SYSTEMD" ] || skip_all 'no systemd here'
[ -e /usr/lib/udev/rules.d/99-systemd.rules ] || skip_all 'no udev rules of systemd here'
export XDG_RUNTIME_DIR=$WORK/systemd
export SYSTEMD_UNIT_PATH=$WORK/units:/usr/lib/systemd/system
unset DBUS_SESSION_BUS_ADDRESS

swap_areas() {
	awk 'NR > 1 { print $1, $5 }' /proc/swaps
}

ready() {
	[ -e "$DEVICE" ] && ! not_ready
}

not_ready() {
	udevadm info --query=property "$DEVICE" | grep -qx SYSTEMD_READY=0
}

ctl() {
	timeout $((40 * ${MUSTER_SLOWER:-1})) systemctl --user "$@"
}

is() {
	[ "$(ctl is-active "$2")" = "$1" ]
}

# A user's instance, as root: it manages devices too, and leaves the rest of the machine alone.
systemd_start() {
	must mkdir -p "$XDG_RUNTIME_DIR" "$WORK/units/$UNIT.d" "$SYSTEMD_CGROUP"
	must cp /etc/systemd/system/mswap@.service "$WORK/units"
	# As docs/boot.md gives one device options of its own.
	printf '[Service]\nEnvironmentFile=\nEnvironment="MSWAP_OPTIONS=priority=80"\n' >"$WORK/units/$UNIT.d/override.conf"
	if [ ! -d "$BOOTED" ]; then
		must mkdir -p "$BOOTED"
		on_exit rmdir "$BOOTED"
	fi
	printf '[Unit]\nAllowIsolate=yes\n' | tee "$WORK/units/muster-one.target" >"$WORK/units/muster-two.target"
	(
		echo "$BASHPID" >"$SYSTEMD_CGROUP/cgroup.procs"
		exec "$SYSTEMD" --user --unit=muster-one.target --log-target=console
	) >"$WORK/systemd.log" 2>&1 &
	systemd=$!
	on_exit systemd_end
	must wait_until 30 is active muster-one.target
}

# SIGRTMIN+24: at once.
systemd_end() {
	kill -s RTMIN+24 "$systemd"
	wait "$systemd"
	find "$SYSTEMD_CGROUP" -depth -type d -exec rmdir {} +
}

plan 18

must null_make muster0 64
must modprobe dm-mod
must dmsetup create --uuid CRYPT-PLAIN-mustercrypt mustercrypt --table '0 131072 linear /dev/muster0 0'
on_exit dmsetup remove --retry mustercrypt
systemd_start
check 'a blank device is not ready' wait_until 10 not_ready
must mkswap "$DEVICE"
check 'as swap it is' wait_until 10 ready

check 'start' ctl start "$UNIT"
on_exit mswap-swap stop "$DEVICE"
check_eq 'there is swap' "$(swap_areas)" '/dev/mswap0 80'
must mkfs_first_page
check 'pages that look like a file system are swapped out' superblocks_swapped 6144
must udevadm trigger --settle --action=change "$DEVICE"
check 'the device stays what it is' ready
check 'for systemd, too' is active dev-mapper-mustercrypt.device
must umount "$WORK/tmpfs"
check 'restart' ctl restart "$UNIT"
check_eq 'there is swap again' "$(swap_areas)" '/dev/mswap0 80'
check 'another target alone' ctl isolate muster-two.target
check_eq 'leaves swap on' "$(swap_areas)" '/dev/mswap0 80'
check 'stop, then start' eval "ctl stop $UNIT && wait_until 10 ready && ctl start $UNIT"
check 'stop' ctl stop "$UNIT"
check_eq 'no swap, no device' "$(swap_areas)$(mswap_devices)" ''

# Each signal may take as long as a stop, and what hangs in the kernel outlives them all: the job ends before.
micros() {
	systemd-analyze timespan "$(ctl show --value -p "$1" "$UNIT")" | awk 'NR == 2 { print $2 }'
}

check_that 'a job may take longer than a stop' "$(micros JobRunningTimeoutUSec) > $(micros TimeoutStopUSec)"
check_that 'and no time as long as two' "$(micros JobRunningTimeoutUSec) < 2 * $(micros TimeoutStopUSec)"
printf '[Unit]\nJobRunningTimeoutSec=5\n[Service]\nTimeoutStartSec=2\nTimeoutStopSec=60\n' \
	>"$WORK/units/$UNIT.d/short.conf"
must ctl daemon-reload
must dmsetup suspend --nolockfs mustercrypt
# Or "a timeout was exceeded", where what hung could be killed.
check_fails 'a device that hangs' 'time' ctl start "$UNIT"
must dmsetup resume mustercrypt
check 'when it is back, what hung ends' wait_until 60 is failed "$UNIT"

finish
