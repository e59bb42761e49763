#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Writes to mswap and to another device under one plug: the other one ends the plug in the midst of its own I/O.
# kernels: all
# timeout: 240

. "$(dirname "$0")/lib.sh"

plan 3

# both NAME OPTION...: 128 I/Os at once, in turns to the one and the other, verified.
both() {
	check "$1" fio --name=both --filename="$MSWAP:/dev/muster1" --file_service_type=roundrobin --direct=1 \
		--ioengine=libaio --iodepth=128 --iodepth_batch_submit=128 --bs=4k --size=32M --randseed=4711 \
		--verify=crc32c --verify_fatal=1 --minimal --output="$WORK/fio" "${@:2}"
}

# A device below that takes bios, and one beside it that takes requests.
must modprobe brd rd_nr=1 rd_size=$((64 * 1024))
must null_make muster1 64 submit_queues=1 irqmode=2 completion_nsec=50000
mswap_add /dev/ram0
both 'random writes' --rw=randwrite
both 'random reads and writes' --rw=randrw
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'

finish
