#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Readers that poll, over an origin that can be polled and cuts what it gets: each of their reads is sent anew by the
# worker, while they poll for it already. And writers whose writes w2r gets in two parts, over an origin of
# device-mapper's: each keeps what it polls for in its caller's bio.
# timeout: 180
# races: all
# expect-dmesg: I/O error, dev (muster|nullb)

# Functions are called by name, by check and must.
# shellcheck disable=SC2317

. "$(dirname "$0")/lib.sh"

plan 6

MIB=4
READS=1000

# A linear target for each 4 KiB.
pieces() {
	local at

	for ((at = 0; at < sectors; at += 8)); do
		echo "$at 8 linear /dev/muster0 $at"
	done
}

# poll_reads: of each block of 64 KiB all but its last 4 KiB, again and again, and looks at what it got.
poll_reads() {
	fio --name=polled --filename="$DEV" --ioengine=io_uring --hipri --direct=1 --rw=randread --bs=56k --blockalign=64k \
		--norandommap --io_size=$((READS * 56))k --iodepth=1 --verify=pattern --verify_pattern=0xa5
}

# poll_writes: every other one crosses what device-mapper cuts at.
poll_writes() {
	fio --name=polled --filename="$DEV" --ioengine=io_uring --hipri --direct=1 --rw=write --bs=1m --offset=512k \
		--size=3m --loops=20 --iodepth=1 --verify=pattern --verify_pattern=0x5a --do_verify=1
}

must null_make muster0 "$MIB" poll_queues=1
sectors=$(sectors_of /dev/muster0)
tr '\0' '\245' </dev/zero | must dd of=/dev/muster0 bs=64k count=$((MIB * 16)) iflag=fullblock oflag=direct
must dm_make muster-o "$(pieces)"
w2r_make muster /dev/mapper/muster-o "$MIB" readahead off block_kib 64
must test "$(show "${FILES%/w2r}/queue/io_poll")" = 1
# A block that has a bad part is never cached, and who asked for another one is sent to the origin by himself.
for ((block = 15; block < MIB * 256; block += 16)); do
	must null_spoil muster0 "$block"
done

check 'all reads get what is there' poll_reads
check_that 'each was one' "$(w2r_get origin_reads) >= $READS"
check_eq 'nothing was kept' "$(w2r_get weighing_blocks)" 0
check_eq 'every block is accounted for' "$(unaccounted)" 0

must dmsetup remove --retry muster
must dmsetup remove --retry muster-o
must null_make muster1 "$MIB" poll_queues=1
# What was never written null_blk allocates when it is polled, where it may not sleep.
must dd if=/dev/zero of=/dev/muster1 bs=1M count="$MIB" oflag=direct status=none
must dm_make muster-o "0 $(sectors_of /dev/muster1) linear /dev/muster1 0"
w2r_make muster /dev/mapper/muster-o "$MIB" readahead off
check 'writes in two parts' poll_writes
check_that 'were as many' "$(w2r_get written_blocks) >= 20 * 768"

finish
