#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A disk whose content is checked where it was read to (T10 protection information): a read that passes over slots has
# each of them in a page of its own, so that it is not taken for one that went wrong. What is written is checked, too, so
# that nobody may change a page on its way: whoever asks a device on top of such a disk is told so.
# kernels: all
# asked-for: 5.10 6.1 newest
# timeout: 240

. "$(dirname "$0")/lib.sh"

REGION=512 # blocks

scsi_disk() {
	local folder

	for folder in /sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*/block/*; do
		[[ -d $folder ]] && echo "${folder##*/}"
	done
}

scsi_disk_there() {
	[[ -n $(scsi_disk) ]]
}

# stable FOLDER: whether pages that are written to the device must not change meanwhile.
stable() {
	cat "$1/queue/stable_writes"
}

# The disk is there before the kernel is told what its checksums are.
checks_reads() {
	[[ $(<"/sys/block/$disk/integrity/format") == *CRC* ]]
}

# delay FILE VALUE: how long the disk takes for an I/O, by one of the driver's files.
delay() {
	echo "$2" >"/sys/bus/pseudo/drivers/scsi_debug/$1"
}

is_writing() {
	(($(stat_of "/dev/$disk" 9)))
}

# change_waits DEVICE: who changes a page of its page cache that is on its way to the disk waits until it is there.
change_waits() {
	local fd began waited

	exec {fd}<>"$1" && head -c 4096 /dev/zero >&"$fd"
	sync "$1" &
	wait_until 5 is_writing
	began=${EPOCHREALTIME/./}
	dd if=/dev/zero of="$1" bs=4096 count=1 conv=notrunc,nocreat status=none
	waited=$(((${EPOCHREALTIME/./} - began) / 1000))
	wait $!
	exec {fd}>&-
	diag "who changed a page of $1 waited for $waited ms"
	((waited > 300))
}

[[ -d /sys/module/scsi_debug ]] || modprobe scsi_debug dev_size_mb=32 dif=1 dix=1 delay=0 2>/dev/null ||
	skip_all 'the kernel has no scsi_debug'
must wait_until 20 scsi_disk_there
disk=$(scsi_disk)
wait_until 5 checks_reads || skip_all 'the kernel does not check what it reads'
settle

plan 11

# Other tests in this boot may have made it true of their devices.
told=$(log_lines 'no longer pass over slots')
check_eq 'what is read is checked' "$(<"/sys/block/$disk/integrity/read_verify")" 1
sectors=$(blockdev --getsz "/dev/$disk")
must dm_make muster "0 $sectors linear /dev/$disk 0"
must null_make muster0 32
mswap_add /dev/muster0
check_eq 'pages need not be stable on their way to a disk without checksums' "$(stable "$SYS")" 0
must wait_until 5 mswap_set reset 1
must modprobe dm-w2r
must dm_make muster-w2r "0 $sectors w2r /dev/mapper/muster 8"
check_eq 'they must to this one, also through w2r' "$(stable "$(dm_folder muster-w2r)")" 1
must dmsetup remove --retry muster-w2r
must mswap_set backing_dev /dev/mapper/muster
check_eq 'and through mswap' "$(stable "$SYS")" 1
must delay ndelay 900000000
if change_waits "/dev/$disk"; then
	check 'who changes a page on its way there waits' change_waits "$MSWAP"
else
	skip 'who changes a page on its way there waits' 'nobody waits for that on this kernel'
fi
must delay delay 0
blocks_shred
# First the reserve, which is in one piece.
blocks_fill -b 64 -g 2 -f "$REGION" -n 192
blocks_fill -b 64 -g 2 -n "$REGION"

# An I/O is to cost so much that slots are passed over.
must modprobe dm-delay
must dm_make muster "0 $sectors delay /dev/$disk 0 4 /dev/$disk 0 0"
blocks_right 'one block after the other, each is right' "$REGION" -b 1 -g 2 -n "$REGION"
must dm_make muster "0 $sectors linear /dev/$disk 0"
diag "$(get dev_reads) reads passed over $(get dev_pages_passed) slots"
check_that 'reads pass over slots' "$(get dev_pages_passed) > $REGION"
check_eq 'and none of them failed' "$(get read_errors)" 0
check_eq 'nor is any said to have' "$(log_lines 'no longer pass over slots')" "$told"
blocks_right 'so are the strangers' $((blocks - fifth)) -b 1 -R -g 1 -f "$fifth" -n $((blocks - fifth))

finish
