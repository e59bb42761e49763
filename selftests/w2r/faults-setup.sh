#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every memory allocation of loading a table and of making it live fails once: the call fails with "no memory" or
# succeeds, and nothing is left of it. The module's own loading allocates nothing.
# The kernel shows where a cache or a name could not be had; its other reports still fail the test.
# kernels: debug
# timeout: 300
# expect-dmesg: Call Trace:
# The leak detector wants memory of its own, and is refused it too.
# expect-dmesg: kmemleak: Cannot allocate a scan area
# expect-dmesg: SLUB: Unable to allocate memory
# expect-dmesg: kobject_add_internal failed for w2r .*error: -12\b

. "$(dirname "$0")/lib.sh"
# shellcheck source=../mswap/faults.sh
. "$(dirname "$0")/../mswap/faults.sh"

plan 12

must faults_prepare
must null_make muster0 64
w2r_make muster /dev/muster0 8
must faults_below
# Where the kernel cannot show a cache in sysfs, it forgets its name: that is its own leak.
must faults_not_below sysfs_slab_add

walk 'loading a table' 20 table muster "$(table_of /dev/muster0 16 policy s3fifo)"
check_eq 'the table is as it was' "$(dmsetup table muster | cut -d' ' -f5)" 8
# Its files are there since the first table: memory is had before the device is suspended.
walk 'making it live' 1 resume muster "$(table_of /dev/muster0 4 policy lru)"
check_eq 'the last one is live' "$(dmsetup table muster | cut -d' ' -f5)" 4

# Over another target a table brings its files with it, and takes them away.
must dm_make muster "0 $(sectors_of /dev/muster0) linear /dev/muster0 0"
walk 'loading a table, with files' 300 table muster "$(table_of /dev/muster0 16 policy s3fifo)"

must dm_make muster "$(table_of /dev/muster0 8)"
w2r_use muster
check_eq 'its files are there' "$(w2r_get policy)" arc
check_program 'the device works' blkcheck -DA -s 3 -t 2 -r 1 "$DEV"
check 'it can be removed' dmsetup remove --retry muster
check 'the module can be unloaded' rmmod dm_w2r

finish
