#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Looks into the headers of the kernel that is built for.
#
#	probe.sh SRCTREE OBJTREE
#
# Prints -DCOMPAT_PROBED and -DCOMPAT_HAVE_NAME for all that is there; README.md says what each is for. A kernel that
# cannot be built for: says why on standard error, prints nothing and exits with 1.
set -u
include=$1/include
symvers=$2/Module.symvers
config=$2/include/config/auto.conf

refuse() {
	echo "muster: refused: $1" >&2
	echo "muster: supported are kernels 5.10 and from 5.15 on, as Debian 11 (5.10), 12 (6.1) and 13 (6.12 and backports) and Ubuntu 22.04 (5.15), 24.04 (6.8) and 26.04 (7.0) have them, on 64-bit machines with pages of 4 KiB" >&2
	exit 1
}

# configured REGEX: the kernel's configuration has such a line.
configured() {
	grep -Eqsx -e "$1" "$config"
}

# has HEADERS REGEX: one of the headers has such a line.
has() {
	for header in $1; do
		grep -Eqs -e "$2" "$include/$header" && return
	done
	return 1
}

# have NAME HEADERS REGEX
have() {
	if has "$2" "$3"; then
		echo "-DCOMPAT_HAVE_$1"
	fi
}

[ -e "$include/linux/blkdev.h" ] || refuse "there are no kernel headers in $include"
has linux/blkdev.h '\(\*submit_bio\) ?\(struct bio \*' ||
	refuse "its block devices have no submit_bio operation, as those of kernels before 5.9"
has linux/blkdev.h 'bdev_file_open_by_path\(|bdev_open_by_path\(|blkdev_get_by_path\(' ||
	refuse "it opens block devices in a way that is not known here"
has 'linux/blkdev.h linux/genhd.h' '^int (__must_check )?device_add_disk\(' ||
	has linux/genhd.h '^struct hd_struct \{' ||
	refuse "its disks are those of kernels between 5.11 and 5.14"
configured CONFIG_64BIT=y || refuse "it is not of a 64-bit machine, or not configured: see $config"
! configured 'CONFIG_((ARM64|PPC)_)?PAGE_SHIFT=1[^2]|CONFIG_(IA64_)?PAGE_SIZE_(8|16|32|64|256)KB=y' ||
	refuse "its pages are larger than 4 KiB"

echo -DCOMPAT_PROBED
have ACCOUNT_RECLAIMED linux/swap.h 'mm_account_reclaimed_pages\('
have BDEV_FILE linux/blkdev.h 'bdev_file_open_by_path'
have BDEV_FLUSH_PLAIN linux/blkdev.h 'blkdev_issue_flush\(struct block_device \*[a-z]*\)'
have BDEV_HANDLE linux/blkdev.h 'bdev_open_by_path\('
have BDEV_MAPPING linux/blk_types.h 'struct address_space[[:space:]]+\*bd_mapping;'
have BDEV_NR_BYTES linux/blkdev.h 'bdev_nr_bytes'
have BDEV_OPEN_FLAGS linux/blkdev.h 'blkdev_get_by_path\(const char \*path, blk_mode_t'
have BDEV_ROT linux/blkdev.h 'bdev_rot\('
have BDEV_SYNCHRONOUS linux/blkdev.h 'bdev_synchronous'
have BIO_ADVANCE_SINGLE linux/bio.h 'bio_advance_iter_single'
have BIO_BDEV linux/blk_types.h 'struct block_device[[:space:]]+\*bi_bdev;'
have BIO_BLKCG_CSS linux/blk-cgroup.h 'bio_blkcg_css\('
have BIO_LIST_MERGE_INIT linux/bio.h 'bio_list_merge_init'
have BIO_OF_BDEV linux/bio.h 'bio_init\(struct bio \*bio, struct block_device \*'
have BLK_FEATURES linux/blkdev.h 'blk_features_t'
have BLK_OPF linux/blk_types.h 'blk_opf_t;'
have CAPACITY_NOTIFY 'linux/blkdev.h linux/genhd.h' 'set_capacity_and_notify\('
have CLASS_CONST linux/device/class.h '\*show\)\(const struct class \*'
have DISK_ALLOC 'linux/blkdev.h linux/genhd.h' 'define blk_alloc_disk\('
have DISK_ALLOC_LIMITS linux/blkdev.h '__blk_alloc_disk\(struct queue_limits \*'
have DISK_BDI 'linux/blkdev.h linux/genhd.h' 'struct backing_dev_info[[:space:]]+\*bdi;'
have DISK_CLEANUP 'linux/blkdev.h linux/genhd.h' 'blk_cleanup_disk\('
have DISK_NO_PART 'linux/blkdev.h linux/genhd.h' 'GENHD_FL_NO_PART[[:space:]]'
have DISK_OPEN linux/blkdev.h '\(\*open\) ?\(struct gendisk \*'
have DISK_OPENERS linux/blkdev.h 'disk_openers\(struct gendisk \*'
have DISK_OPEN_MUTEX 'linux/blkdev.h linux/genhd.h' 'struct mutex open_mutex;'
have DISK_SUBMIT_VOID linux/blkdev.h 'void \(\*submit_bio\)'
have FOLIO linux/page-flags.h 'page_folio'
have FREEZE_MEMFLAGS linux/blk-mq.h 'blk_mq_unfreeze_queue\(struct request_queue \*q, unsigned int'
have HRTIMER_SETUP linux/hrtimer.h 'hrtimer_setup\('
have KMAP_LOCAL 'linux/highmem.h linux/highmem-internal.h' 'kunmap_local\('
have MAPPING_STABLE linux/pagemap.h 'mapping_clear_stable_writes\('
have MEMCPY_PAGE linux/highmem.h 'memcpy_page\('
have SHRINKER_ALLOC linux/shrinker.h 'shrinker_alloc\('
have SHRINKER_NAMED linux/shrinker.h 'register_shrinker\(struct shrinker \*shrinker,'
have TRACE_ASSIGN_SHORT trace/stages/stage6_event_callback.h '__assign_str\(dst\)'
if has linux/frontswap.h 'frontswap_register_ops' && grep -qs 'frontswap_register_ops' "$symvers" &&
	configured CONFIG_MEMORY_FAILURE=y; then
	echo -DCOMPAT_HAVE_FRONTSWAP
fi
