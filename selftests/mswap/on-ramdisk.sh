#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The same on a ramdisk, which has done its work before the submission returns: batches and windows all the same.
# timeout: 180
# kernels: all
# asked-for: 6.1

. "$(dirname "$0")/lib.sh"

plan 8

must modprobe brd rd_nr=1 rd_size=$((256 * 1024))
mswap_add /dev/ram0
must swap_start "$MSWAP"
check_program 'single pages' limited 16M pagestride -c 1 -s 80
check_ge 'pages a write' $(($(get dev_pages_written) / $(get dev_writes))) 8
check_ge 'pages a read' $(($(get dev_pages_read) / $(get dev_reads))) 4
check_program 'copy-on-write' limited 32M forkcow -n 2 -s 20 -r 1
check 'swapoff' swapoff "$MSWAP"
check_program 'racing block I/O' blkcheck -s 3 -t 4 -r 2 -S 64 "$MSWAP"
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'
check 'removal' mswap_remove "$MSWAP"

finish
