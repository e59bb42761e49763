#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Nobody but root changes anything, and only the files that the manual calls writable can be written.
# timeout: 120
# kernels: all
# asked-for: 5.10 6.1 newest

. "$(dirname "$0")/lib.sh"

writable='backing_dev disksize reset policy cluster_pages batch_usecs readahead readahead_pages waiting_pages'
read_only='initstate pages_out pages_out_copied pages_in pages_in_waiting pages_in_copied pages_in_zero dev_writes dev_pages_written dev_reads
	dev_pages_read dev_pages_passed batches prefetched prefetch_used prefetch_wasted window slot_frees discards write_errors
	write_retries read_errors nospace stores_refused deferred cluster_hist slots_total slots_used slots_reserved
	slots_retired footprint_bytes copies_held waiting_bytes'

nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"
}

# writable_in FOLDER: the files in it that somebody may write, sorted.
writable_in() {
	find "$1/" -maxdepth 1 -type f -perm /0222 -printf '%f\n' | sort
}

plan $((10 + 2 * 9 + 2 * 32))

must null_make muster0 64
mswap_add /dev/muster0

check_eq 'files others may write' \
	"$(find "$CONTROL/" "$SYS/" -maxdepth 1 -type f -perm /0022)" ''
# What mswap lets root write is what the block layer gives to every disk, and these.
# shellcheck disable=SC2086
check_eq 'files that can be written at all' \
	"$(comm -23 <(writable_in "$SYS") <(writable_in "$(disk_folder /dev/muster0)"))" \
	"$(printf '%s\n' $writable | sort)"
check_eq 'module parameters others may write' "$(find /sys/module/mswap/parameters -type f -perm /0222)" ''
for file in $writable; do
	check_eq "mode of $file" "$(stat -c %a "$SYS/$file")" "$([[ $file == reset ]] && echo 200 || echo 644)"
	check_fails "others cannot write $file" 'Permission denied' nobody sh -c "echo 1 >$SYS/$file"
done
for file in $read_only; do
	check_eq "mode of $file" "$(stat -c %a "$SYS/$file")" 444
done
for file in $read_only; do
	written=$(write_error "$SYS/$file" 1)
	check_that "not even root writes $file" ${#written}
done
check_fails 'others cannot add' 'Permission denied' nobody cat "$CONTROL/hot_add"
check_fails 'others cannot remove' 'Permission denied' nobody sh -c "echo 0 >$CONTROL/hot_remove"
check_fails 'others cannot read the device' 'Permission denied' nobody head -c 1 "$MSWAP"
check_fails 'others cannot unload the module' 'not permitted' nobody rmmod mswap
check_eq 'nothing changed' "$(mswap_devices) $(get initstate) $(get policy)" '0 1 moc'

finish
