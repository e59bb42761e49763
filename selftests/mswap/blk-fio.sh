#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# fio's own verification: 4 KiB to 1 MiB random writes and reads at depth 32, direct I/O.
# timeout: 240
# kernels: all

. "$(dirname "$0")/lib.sh"

plan 4

# verified NAME OPTIONS...
verified() {
	check "$1" fio --name=verify --filename="$MSWAP" --direct=1 --verify=crc32c --verify_fatal=1 \
		--iodepth=32 --size=64M --randseed=4711 --minimal --output="$WORK/fio" "${@:2}"
}

must null_make muster0 128 blocksize=512
mswap_add /dev/muster0
verified 'random writes of 4 KiB to 1 MiB' --ioengine=libaio --rw=randwrite --bsrange=4k-1m
verified 'random mix of 4 KiB, read back' --ioengine=libaio --rw=randrw --bs=4k --io_size=48M
verified 'io_uring, random writes of 4 KiB to 256 KiB' --ioengine=io_uring --rw=randwrite --bsrange=4k-256k
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'

finish
