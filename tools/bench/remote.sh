# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# A device of "another machine": an NVMe over TCP target in this one, reached through the loopback interface.

# nvmet_share NQN PATH: the device at PATH, as namespace 1 of the subsystem NQN, port 4420 of 127.0.0.1.
nvmet_share() {
	nvmet=/sys/kernel/config/nvmet
	modprobe -a nvmet nvmet-tcp || return
	loopup || return
	mkdir -p "$nvmet/subsystems/$1/namespaces/1" "$nvmet/ports/1" || return
	while read -r name value; do
		echo "$value" >"$nvmet/$name" || return
	done <<-END
		subsystems/$1/attr_allow_any_host 1
		subsystems/$1/namespaces/1/device_path $2
		subsystems/$1/namespaces/1/enable 1
		ports/1/addr_adrfam ipv4
		ports/1/addr_trtype tcp
		ports/1/addr_traddr 127.0.0.1
		ports/1/addr_trsvcid 4420
	END
	ln -s "$nvmet/subsystems/$1" "$nvmet/ports/1/subsystems/$1"
}

# make_nvme_tcp MIB NS: without multipath, whose disk keeps no statistics of its own.
make_nvme_tcp() {
	share=$(make_null_blk "$@") || return
	# nvmet would load it, with multipath.
	modprobe nvme_core multipath=0 || return
	nvmet_share muster "$share" || return
	modprobe nvme-tcp || return
	echo "nqn=muster,transport=tcp,traddr=127.0.0.1,trsvcid=4420" >/dev/nvme-fabrics || return
	wait_for /dev/nvme0n1 nvme-tcp
}
