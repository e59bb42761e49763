#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A cgroup that has spent what io.cost gives it of the origin waits by itself: another one, which has its share still,
# reads meanwhile, also where reads of both have failed and wait for a worker to send them anew.
# kernels: 6.12 newest
# asked-for: newest
# timeout: 200
# expect-dmesg: I/O error, dev (muster0|dm-)

. "$(dirname "$0")/lib.sh"
# shellcheck source=../mswap/cgroups.sh
. "$(dirname "$0")/../mswap/cgroups.sh"

plan 6

PART=2048 # blocks of each reader of the first cgroup; one more is the other's

# reader GROUP PART N: reads so many blocks of that part, whether they can be read or not; then there is done-PART.
reader() {
	(in_group "$1" dd if="$DEV" of=/dev/null bs=4k skip=$(($2 * PART)) count="$3" iflag=direct conv=noerror,sync status=none) \
		2>/dev/null
	echo ended >"$WORK/done-$2"
}

# ended PART...
ended() {
	local part

	for part; do
		[[ -s $WORK/done-$part ]] || return
	done
}

must null_make muster0 64
for ((part = 1; part < 7; part++)); do
	for ((i = 0; i < PART; i += 64)); do
		must null_spoil muster0 $((part * PART + i)) 64
	done
done
for ((i = 8; i < 256; i += 16)); do
	must null_spoil muster0 $i
done
w2r_make muster /dev/muster0 4 readahead on planner near
cost_start
must cost_of_reads $((100 / ${MUSTER_SLOWER:-1}))
for ((part = 1; part < 7; part++)); do
	reader poor $part 600 &
done
check 'a cgroup waits for its share of the device' wait_until 60 has_waited poor
hog_start
errors=$(w2r_get read_errors)
reader rich 0 256 &
check 'another one reads' wait_until 60 ended 0
check_that 'which failed reads were part of' "$(w2r_get read_errors) > $errors + 15"
check_not 'while the first waits still' ended 1
share_all
check 'so does the first when it may' wait_until 60 ended 1 2 3 4 5 6
check_eq 'every block is accounted for' "$(unaccounted)" 0

finish
