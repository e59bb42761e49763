#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The same on a PCIe device that completes in interrupts and out of order: memory under pressure and racing
# block I/O, all verified.
# timeout: 240
# nvme: 512M
# kernels: all
# asked-for: 5.10 6.1
# races: 6.12

. "$(dirname "$0")/lib.sh"

plan 9

must wait_until 10 test -b /dev/nvme0n1
mswap_add /dev/nvme0n1
check_program 'racing block I/O' blkcheck -s 4 -t 4 -r 2 -S 64 "$MSWAP"
check_program 'racing block I/O on few blocks' blkcheck -s 3 -t 2 -r 4 -S 2 "$MSWAP"
must blkdiscard "$MSWAP"
must swap_start "$MSWAP"
check_program 'single pages' limited 16M pagestride -c 1 -s 80
check_program 'copy-on-write' limited 32M forkcow -n 2 -s 20 -r 1
check_huge check_program 'huge pages' limited 48M hugecheck -n 2 -s 32 -r 1
check 'swapoff' swapoff "$MSWAP"
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'
check 'removal' mswap_remove "$MSWAP"

finish
