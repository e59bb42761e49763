/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Our own disks: bio-based, in whole pages, without partitions.
 *
 * A disk's whole device is what stands for the disk towards those who open it.
 * compat_disk_add() gets it, compat_disk_del() gives it back. Opening is
 * serialised by a lock that belongs to it.
 */
#ifndef MUSTER_COMPAT_DISK_H
#define MUSTER_COMPAT_DISK_H

#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/delay.h>
#include <linux/mutex.h>
#include <linux/pagemap.h>
#include <linux/part_stat.h>
#include <linux/sched/mm.h>

#define COMPAT_DISK_SECTORS_MAX	(256 * (PAGE_SIZE >> SECTOR_SHIFT))

#ifndef COMPAT_HAVE_DISK_NO_PART
#define GENHD_FL_NO_PART	GENHD_FL_NO_PART_SCAN
#endif

#ifndef COMPAT_HAVE_CAPACITY_NOTIFY
static inline void set_capacity_and_notify(struct gendisk *disk, sector_t size)
{
	set_capacity_revalidate_and_notify(disk, size, true);
}
#endif

#ifndef COMPAT_HAVE_DISK_ALLOC_LIMITS
static inline void compat_limit_to_pages(struct request_queue *q,
					 u32 max_discard_sectors)
{
	blk_queue_logical_block_size(q, PAGE_SIZE);
	blk_queue_physical_block_size(q, PAGE_SIZE);
	blk_queue_io_min(q, PAGE_SIZE);
	blk_queue_dma_alignment(q, SECTOR_SIZE - 1);
	blk_queue_max_hw_sectors(q, COMPAT_DISK_SECTORS_MAX);
	blk_queue_max_discard_sectors(q, max_discard_sectors);
	blk_queue_max_write_zeroes_sectors(q, max_discard_sectors);
	q->limits.discard_granularity = PAGE_SIZE;
#ifdef QUEUE_FLAG_DISCARD
	blk_queue_flag_set(QUEUE_FLAG_DISCARD, q);
#endif
}
#endif

/*
 * A disk for I/O in whole pages only, with discard and write-zeroes of any size
 * up to @max_discard_sectors. ERR_PTR on failure. compat_disk_free() frees one that
 * was never added, or is deleted.
 */
#if defined(COMPAT_HAVE_DISK_ALLOC_LIMITS)
static inline struct gendisk *compat_disk_alloc(u32 max_discard_sectors)
{
	struct queue_limits lim = {
		.logical_block_size = PAGE_SIZE,
		.physical_block_size = PAGE_SIZE,
		.io_min = PAGE_SIZE,
		.dma_alignment = SECTOR_SIZE - 1,
		.max_hw_sectors = COMPAT_DISK_SECTORS_MAX,
		.max_hw_discard_sectors = max_discard_sectors,
		.max_write_zeroes_sectors = max_discard_sectors,
		.discard_granularity = PAGE_SIZE,
	};
	struct gendisk *disk = blk_alloc_disk(&lim, NUMA_NO_NODE);

	if (!IS_ERR(disk))
		disk->flags |= GENHD_FL_NO_PART;
	return disk;
}
#elif defined(COMPAT_HAVE_DISK_ALLOC)
static inline struct gendisk *compat_disk_alloc(u32 max_discard_sectors)
{
	struct gendisk *disk = blk_alloc_disk(NUMA_NO_NODE);

	if (!disk)
		return ERR_PTR(-ENOMEM);
	compat_limit_to_pages(disk->queue, max_discard_sectors);
	disk->flags |= GENHD_FL_NO_PART;
	return disk;
}
#else
static inline struct gendisk *compat_disk_alloc(u32 max_discard_sectors)
{
	struct gendisk *disk = alloc_disk(1);

	if (!disk)
		return ERR_PTR(-ENOMEM);
	disk->queue = blk_alloc_queue(NUMA_NO_NODE);
	if (!disk->queue) {
		put_disk(disk);
		return ERR_PTR(-ENOMEM);
	}
	compat_limit_to_pages(disk->queue, max_discard_sectors);
	disk->flags |= GENHD_FL_NO_PART;
	return disk;
}
#endif

static inline void compat_disk_free(struct gendisk *disk)
{
#ifdef COMPAT_HAVE_DISK_CLEANUP
	blk_cleanup_disk(disk);
#else
	put_disk(disk);
#endif
}

/*
 * compat_disk_add() makes the disk known and sets *@whole for its control files
 * (@groups), which take @lock: before they are there, or holding @lock where
 * that cannot be. May sleep; on an error, which waits until nobody is in the
 * control files any more, the disk is as it was.
 * compat_disk_del() takes it away, while nobody has it open: from its return on
 * nobody is in its operations.
 */
#ifdef COMPAT_HAVE_DISK_OPEN_MUTEX
static inline int compat_disk_add(struct gendisk *disk,
				  const struct attribute_group **groups,
				  struct mutex *lock,
				  struct block_device **whole)
{
	*whole = disk->part0;
	return device_add_disk(NULL, disk, groups);
}

static inline void compat_disk_del(struct gendisk *disk,
				   struct block_device *whole)
{
	del_gendisk(disk);
}
#else
/* There is no way back here, so what little memory is lacking is waited for. */
static inline int compat_disk_add(struct gendisk *disk,
				  const struct attribute_group **groups,
				  struct mutex *lock,
				  struct block_device **whole)
{
	mutex_lock(lock);
	device_add_disk(NULL, disk, groups);
	while (!(*whole = bdget_disk(disk, 0)))
		msleep(20);
	mutex_unlock(lock);
	return 0;
}

/*
 * Who looked the disk up before it was deleted may still get to its open
 * operation: without private data that refuses.
 */
static inline void compat_disk_del(struct gendisk *disk,
				   struct block_device *whole)
{
	del_gendisk(disk);
	blk_cleanup_queue(disk->queue);
	mutex_lock(&whole->bd_mutex);
	disk->private_data = NULL;
	mutex_unlock(&whole->bd_mutex);
	bdput(whole);
}
#endif

/* The lock that opening and closing the disk holds, and how many have it open. */
static inline struct mutex *compat_disk_open_lock(struct block_device *whole)
{
#ifdef COMPAT_HAVE_DISK_OPEN_MUTEX
	return &whole->bd_disk->open_mutex;
#else
	return &whole->bd_mutex;
#endif
}

/* Under the open lock. */
static inline unsigned int compat_disk_openers(struct block_device *whole)
{
#ifdef COMPAT_HAVE_DISK_OPENERS
	return disk_openers(whole->bd_disk);
#else
	return whole->bd_openers;
#endif
}

/*
 * The disk's operations, as the kernel calls them:
 * int open(void *private_data, struct block_device *whole), under the open lock;
 * void submit(void *private_data, struct bio *bio).
 */
#ifdef COMPAT_HAVE_DISK_OPEN
#define COMPAT_DISK_OPEN(_name, _open)					\
static int _name(struct gendisk *disk, blk_mode_t mode)			\
{									\
	return _open(disk->private_data, disk->part0);			\
}
#else
#define COMPAT_DISK_OPEN(_name, _open)					\
static int _name(struct block_device *whole, fmode_t mode)		\
{									\
	void *private_data = whole->bd_disk->private_data;		\
									\
	return private_data ? _open(private_data, whole) : -ENXIO;	\
}
#endif

#ifdef COMPAT_HAVE_BIO_BDEV
#define compat_bio_disk(bio)	((bio)->bi_bdev->bd_disk)
#else
#define compat_bio_disk(bio)	((bio)->bi_disk)
#endif

#ifdef COMPAT_HAVE_DISK_SUBMIT_VOID
#define COMPAT_DISK_SUBMIT(_name, _submit)				\
static void _name(struct bio *bio)					\
{									\
	_submit(compat_bio_disk(bio)->private_data, bio);		\
}
#else
#define COMPAT_DISK_SUBMIT(_name, _submit)				\
static blk_qc_t _name(struct bio *bio)					\
{									\
	_submit(compat_bio_disk(bio)->private_data, bio);		\
	return BLK_QC_T_NONE;						\
}
#endif

/* Whether who changes a page of @disk's page cache waits while that is written. */
#ifdef COMPAT_HAVE_MAPPING_STABLE
static inline void compat_disk_stable_cache(struct gendisk *disk, bool stable)
{
#ifdef COMPAT_HAVE_BDEV_MAPPING
	struct address_space *cache = disk->part0->bd_mapping;
#else
	struct address_space *cache = disk->part0->bd_inode->i_mapping;
#endif

	if (stable)
		mapping_set_stable_writes(cache);
	else
		mapping_clear_stable_writes(cache);
}
#else
static inline void compat_disk_stable_cache(struct gendisk *disk, bool stable)
{
}
#endif

/*
 * Takes over from @bdev what a disk on top of it must promise alike: a volatile
 * write cache, FUA and stable pages. Not that it rotates: the swap core would read
 * ahead what lies beside a page on our disk, which says nothing of where it is, and
 * spread what it writes. The disk must have no I/O. Process context, may sleep.
 *
 * Where stable pages are a feature, a disk with checksums does not have it, since its
 * checksums say as much. A page cache is told of them by who adds the disk, which was
 * before @bdev was known.
 */
#ifdef COMPAT_HAVE_BLK_FEATURES
static inline int compat_disk_inherit(struct gendisk *disk,
				      struct block_device *bdev)
{
	const blk_features_t mask = BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA;
	struct queue_limits lim = queue_limits_start_update(disk->queue);
	bool stable = bdev_stable_writes(bdev);
	int err;

	lim.features &= ~(mask | BLK_FEAT_STABLE_WRITES);
	lim.features |= bdev_get_queue(bdev)->limits.features & mask;
	if (stable)
		lim.features |= BLK_FEAT_STABLE_WRITES;
	err = queue_limits_commit_update(disk->queue, &lim);
	if (!err)
		compat_disk_stable_cache(disk, stable);
	return err;
}
#else
static inline void compat_copy_queue_flag(unsigned int flag,
					  struct request_queue *to,
					  struct request_queue *from)
{
	if (test_bit(flag, &from->queue_flags))
		blk_queue_flag_set(flag, to);
	else
		blk_queue_flag_clear(flag, to);
}

static inline int compat_disk_inherit(struct gendisk *disk,
				      struct block_device *bdev)
{
	struct request_queue *from = bdev_get_queue(bdev);

	blk_queue_write_cache(disk->queue,
			      test_bit(QUEUE_FLAG_WC, &from->queue_flags),
			      test_bit(QUEUE_FLAG_FUA, &from->queue_flags));
	compat_copy_queue_flag(QUEUE_FLAG_STABLE_WRITES, disk->queue, from);
	compat_disk_stable_cache(disk, blk_queue_stable_writes(from));
	blk_queue_flag_set(QUEUE_FLAG_NONROT, disk->queue);
	return 0;
}
#endif

/*
 * Waits until no task is in the disk's submit operation and lets none in. What
 * it returns goes back to compat_disk_unfreeze().
 */
static inline unsigned int compat_disk_freeze(struct gendisk *disk)
{
#ifdef COMPAT_HAVE_FREEZE_MEMFLAGS
	return blk_mq_freeze_queue(disk->queue);
#else
	blk_mq_freeze_queue(disk->queue);
	return memalloc_noio_save();
#endif
}

static inline void compat_disk_unfreeze(struct gendisk *disk,
					unsigned int memflags)
{
#ifdef COMPAT_HAVE_FREEZE_MEMFLAGS
	blk_mq_unfreeze_queue(disk->queue, memflags);
#else
	memalloc_noio_restore(memflags);
	blk_mq_unfreeze_queue(disk->queue);
#endif
}

/* Counts @bio in its disk's statistics (count and sectors; no time). */
static inline void compat_disk_count(struct bio *bio)
{
	const int group = op_stat_group(bio_op(bio));
#ifdef COMPAT_HAVE_BIO_BDEV
	struct block_device *part = bio->bi_bdev;
#else
	struct hd_struct *part = &bio->bi_disk->part0;
#endif

	part_stat_lock();
	part_stat_inc(part, ios[group]);
	part_stat_add(part, sectors[group], bio_sectors(bio));
	part_stat_unlock();
}

#endif
