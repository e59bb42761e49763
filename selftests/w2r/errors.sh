#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An origin that fails, for good or for a second: reads that failed are not remembered, a prefetch that failed harms
# nobody, and a write that failed leaves nothing of itself in the cache.
# short-form: yes
# timeout: 180
# kernels: all
# races: 6.12
# expect-dmesg: (Buffer I/O error|I/O error, dev) .*(dm-|muster|nullb)

# Functions are called by name, by check and must.
# shellcheck disable=SC2317

. "$(dirname "$0")/lib.sh"

plan 28

# origin_...: what muster-o is from now on.
origin_good() {
	must dm_make muster-o "0 $sectors linear /dev/muster0 0"
}

origin_bad() {
	must dm_make muster-o "0 8000 linear /dev/muster0 0
8000 800 error
8800 $((sectors - 8800)) linear /dev/muster0 8800"
}

origin_refuses_writes() {
	must modprobe dm-flakey
	must dm_make muster-o "0 $sectors flakey /dev/muster0 0 0 3600 1 error_writes"
}

# For a second all is well, in the next one all I/O fails, and so on.
origin_comes_and_goes() {
	must modprobe dm-flakey
	must dm_make muster-o "0 $sectors flakey /dev/muster0 0 1 1"
}

origin_works() {
	touch_range /dev/mapper/muster-o 0 1
}

# more_failed READS WRITES: than so many.
more_failed() {
	(($(w2r_get read_errors) > $1 && $(w2r_get write_errors) > $2))
}

read_anything() {
	(($(w2r_get read_blocks) > 0))
}

write_block() {
	dd if="$2" of="$DEV" bs=4k seek="$1" count=1 oflag=direct conv=notrunc status=none
}

must null_make muster0 16
sectors=$(sectors_of /dev/muster0)
must blkpattern -b 64 fill /dev/muster0
must dd if=/dev/urandom of="$WORK/block" bs=4k count=1 status=none

origin_bad
w2r_make muster /dev/mapper/muster-o 8 readahead on planner obl
check_not 'a read of the bad region fails' touch_range "$DEV" 1010 1
check_not 'and fails again' touch_range "$DEV" 1010 1
check_not 'also as a part of a larger one' touch_range "$DEV" 990 32
check_that 'the errors are counted' "$(w2r_get read_errors) > 0"
check_eq 'nothing of it is cached' "$(w2r_get hits_weighing)" 0
check_eq 'up to the edge all is read' "$(sum_range "$DEV" 960 40)" "$(sum_range /dev/muster0 960 40)"
check_eq 'behind it too' "$(sum_range "$DEV" 1100 40)" "$(sum_range /dev/muster0 1100 40)"
w2r_make muster /dev/mapper/muster-o 8 block_kib 64
check_eq 'so is the good part of a block that has a bad one' "$(sum_range "$DEV" 992 8)" \
	"$(sum_range /dev/muster0 992 8)"
w2r_make muster /dev/mapper/muster-o 8 readahead on planner obl
origin_good
check_eq 'when the origin works again the data is right' "$(sum_range "$DEV" 990 120)" \
	"$(sum_range /dev/muster0 990 120)"
check_eq 'and is cached from then on' "$(sum_range "$DEV" 990 120)" "$(sum_range /dev/muster0 990 120)"
check_that 'with hits' "$(w2r_get hits_weighing) >= 120"

must touch_range "$DEV" 2000 1
hits=$(w2r_get hits_weighing)
must touch_range "$DEV" 2000 1
check_eq 'block 2000 is cached' "$(w2r_get hits_weighing)" $((hits + 1))
origin_refuses_writes
check_not 'a write fails' write_block 2000 "$WORK/block"
check_that 'the error is counted' "$(w2r_get write_errors) > 0"
origin_good
check_eq 'the cache has nothing of it' "$(sum_range "$DEV" 2000 1)" "$(sum_range /dev/muster0 2000 1)"
hits=$(w2r_get hits_weighing)
must touch_range "$DEV" 2000 1
check_eq 'which is cached from then on' "$(w2r_get hits_weighing)" $((hits + 1))
check 'the same write now works' write_block 2000 "$WORK/block"
check_eq 'and is read back' "$(sum_range "$DEV" 2000 1)" "$(md5sum <"$WORK/block")"
check_eq 'as from the origin' "$(sum_range /dev/muster0 2000 1)" "$(md5sum <"$WORK/block")"
check_eq 'every block is accounted for' "$(unaccounted)" 0

# All fits in the cache: what is wrong there is found at the end.
w2r_make muster /dev/mapper/muster-o 16 readahead on
blkcheck -EA -s 3600 -t 3 -r 3 "$DEV" >"$WORK/out" 2>&1 &
checker=$!
must wait_until 20 read_anything
origin_comes_and_goes
for outage in 1 2; do
	before="$(w2r_get read_errors) $(w2r_get write_errors)"
	# shellcheck disable=SC2086
	check "outage $outage: reads and writes fail" wait_until 10 more_failed $before
	must wait_until 10 origin_works
done
origin_good
kill $checker
wait $checker
check_eq 'all that was acknowledged is read' "$? $(verified_pages <"$WORK/out" | grep -c .)" '0 1'
diag "$(tail -n 2 "$WORK/out")"
must dmsetup message muster 0 clear_stats
check_eq 'as from the origin' "$(sum_range "$DEV" 0 4096)" "$(sum_range /dev/muster0 0 4096)"
check_that 'though it comes out of the cache' "$(w2r_get hits_weighing) + $(w2r_get hits_waiting) > 2048"
check_eq 'nothing of it is lost' "$(unaccounted)" 0

# The block layer merges a prefetch with the read that it follows.
must null_make muster1 16
must null_spoil muster1 20
w2r_make muster /dev/muster1 8 readahead on planner obl
merged=$(stat_of /dev/muster1 2)
check_eq 'of a batch only the read of the bad block fails' "$(read_batch "$DEV" 19 4)" 1
check_that 'some of which were merged' "$(stat_of /dev/muster1 2) > $merged"

finish
