# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the tests of layers share: devices as people put them together, each with its own way to take bios.

KEY=$(printf '%064x' 1 2)
CHUNK=128 # sectors of a pool that are given out together

# crypt_make NAME DEVICE: what is written to it lies encrypted on the device.
crypt_make() {
	must dm_make "$1" "0 $(sectors_of "$2") crypt aes-xts-plain64 $KEY 0 $2 0"
}

# checked_make NAME DEVICE: with checksums of each 4 KiB as it was sent, which its reads look at. The device begins
# with zeros; with the least number of sectors it is told how many there may be. All are written once, by one
# who, unlike blkdiscard, reads nothing before: what was not written has no checksum, and may be read ahead.
checked_make() {
	local words="integrity $2 0 - D 2 internal_hash:crc32c block_size:4096"

	must dm_make "$1" "0 8 $words"
	must dmsetup remove --retry "$1"
	must dm_make "$1" "0 $(od -An -t u8 -j 16 -N 8 "$2" | tr -d ' ') $words"
	must blkpattern fill "/dev/mapper/$1"
}

# pool_make MIB: muster-pool, or its table anew, which has so much of /dev/musterdata to give; then it refuses.
pool_make() {
	must dm_make muster-pool \
		"0 $(($1 * 2048)) thin-pool /dev/mustermeta /dev/musterdata $CHUNK 0 1 error_if_no_space"
}

# thin_make NAME MIB: the first device in the pool, which promises so much.
thin_make() {
	must dmsetup message muster-pool 0 'create_thin 0'
	must dm_make "$1" "0 $(($2 * 2048)) thin /dev/mapper/muster-pool 0"
}

# file_make DEVICE SIZE: a file on a file system there. Sets loop, the device that it is.
file_make() {
	must modprobe loop
	must mkfs.ext4 -q "$1"
	must mount "$1" "$WORK/mnt"
	must truncate -s "$2" "$WORK/mnt/file"
	loop=$(losetup --show -f "$WORK/mnt/file")
}

file_drop() {
	must losetup -d "$loop"
	must umount "$WORK/mnt"
}
