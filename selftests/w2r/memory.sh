#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The cache takes no more memory than the table says, gives it back when the machine is short of it, and
# takes it again later.
# timeout: 300
# mem: 1G

# Functions are called by name, by check and must.
# shellcheck disable=SC2317

. "$(dirname "$0")/lib.sh"

plan 10

read_all() {
	dd if="$DEV" of=/dev/null bs=1M iflag=direct status=none
}

# The limit begins to grow again 5 s later.
gave_back() {
	(($(w2r_get reclaimed) > 1000 && $(w2r_get capacity_blocks) < 65536 - 500))
}

grown() {
	read_all && (($(w2r_get cache_bytes) > 200 * 1048576))
}

must null_make muster0 512 memory_backed=0
w2r_make muster /dev/muster0 16 readahead on planner stream
check_eq 'nothing is taken at first' "$(w2r_get cache_bytes)" 0
check_that 'tables take less than 8 % of the cache and 512 KiB' \
	"$(w2r_get footprint_bytes) < 16 * 1048576 * 8 / 100 + 524288"
must read_all
check_eq 'a read of 512 MiB fills 16 MiB and no more' "$(w2r_get cache_bytes)" $((16 * 1048576))
check_that 'and all entries' "$(w2r_get weighing_blocks) + $(w2r_get waiting_blocks) == 4096"

w2r_make muster /dev/muster0 256 readahead on planner stream
must read_all
check_that 'a cache of 256 MiB is full' "$(w2r_get cache_bytes) > 250 * 1048576"
stress-ng --quiet --vm 1 --vm-bytes 95% --vm-keep &
squeezer=$!
check 'it is given back when programs want the memory' wait_until 60 gave_back
check_that 'and the cache is smaller' "$(w2r_get cache_bytes) < (65536 - 500) * 4096"
diag "reclaimed $(w2r_get reclaimed) blocks, left $(w2r_get cache_bytes) bytes"
kill "$squeezer"
wait "$squeezer"
check 'later it grows again' wait_until 60 grown
check 'reading works' read_all
check_eq 'every block is accounted for' "$(unaccounted)" 0

finish
