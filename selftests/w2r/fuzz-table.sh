#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Tables and messages that are right, nearly right or nonsense, devices that are loaded, made live, suspended, asked
# and removed by several threads at once, nonsense in the targets' files, and I/O meanwhile: nothing breaks.
# MUSTER_FUZZ_SECONDS and MUSTER_FUZZ_SEED repeat a run.
# kernels: debug kcsan
# timeout: 240
# I/O that waits while a device is suspended may be beyond the end that its next table has: dm sends it then.
# expect-dmesg: dm-[0-9]+: rw=[0-9]+, sector=[0-9]+, nr_sectors = [0-9]+ limit=(8|131071)$

. "$(dirname "$0")/lib.sh"

plan 10

seconds=${MUSTER_FUZZ_SECONDS:-60}
seed=${MUSTER_FUZZ_SEED:-$((RANDOM + 1))}
log_level=$(cut -f1 /proc/sys/kernel/printk)

# Each refusal of a table is a line in the log, which the console would be too slow for.
quiet_console() {
	on_exit dmesg -n "$log_level"
	dmesg -n 1
}

tables=()
for words in '' ' 2 readahead off' ' 4 policy lru planner obl' ' 4 rooms one planner obl' \
	' 14 readahead on lookahead 64 policy s3fifo planner pattern rooms one index plain block_kib 4' ' 6 block_kib 64 readahead auto planner region' ' 4 index mtf lookahead 1024'; do
	for origin in '/dev/muster0 8' '/dev/muster0 1' '/dev/muster1 32'; do
		tables+=(-T "0 131072 w2r $origin$words")
	done
done
tables+=(-T '0 8 w2r /dev/muster0 8' -T '0 131079 w2r /dev/muster0 8' -T '0 131071 w2r /dev/muster1 8 2 block_kib 64'
	-T '8 131064 w2r /dev/muster0 8' -T '0 131072 linear /dev/muster0 0' -T '0 131072 error')
messages=(-m clear_stats -m 'invalidate 0-131071' -m 'invalidate 8-8' -m 'invalidate 0-18446744073709551615'
	-m 'CLEAR_STATS' -m 'invalidate 131071-131072')
words=()
for word in /dev/muster0 /dev/muster1 /dev/null readahead lookahead policy planner rooms index block_kib one two \
	auto on off lru s3fifo arc obl stream pattern region near mtf plain invalidate clear_stats - ' ' '  ' "\\"; do
	words+=(-w "$word")
done
files=()
for number in 200 201 202; do
	for file in readahead lookahead planner policy waiting_target lookups planner_active cache_bytes; do
		files+=("/sys/block/dm-$number/w2r/$file")
	done
done

must modprobe dm-w2r
must null_make muster0 64
must null_make muster1 64 irqmode=2 completion_nsec=100000 blocksize=512
must quiet_console
filefuzz -s "$seed" -t "$seconds" -n 1 "${words[@]}" "${files[@]}" >"$WORK/files" 2>&1 &
files_fuzzer=$!
output=$(dmfuzz -s "$seed" -t "$seconds" -n 3 "${words[@]}" "${messages[@]}" "${tables[@]}" 2>&1)
result 'tables and messages' $? "$output"
figure "$output"
wait $files_fuzzer
result 'files' $? "$(<"$WORK/files")"
figure "files: $(<"$WORK/files")"
for pair in tables=60 loaded=20 live=20 taken=3 removed=3 ios=200; do
	check_ge "enough: ${pair%%=*}" "$(value_of "${pair%%=*}" <<<"$output")" "${pair#*=}"
done
check_eq 'no device is left' "$(dmsetup ls --target w2r | grep -c muster)" 0
w2r_make muster /dev/muster0 8
check_program 'the target works as before' blkcheck -DA -s 3 -t 2 -r 1 "$DEV"

finish
