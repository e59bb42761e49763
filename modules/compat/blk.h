/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The block layer's interfaces that differ between kernels, under the name and
 * with the meaning they have here.
 */
#ifndef MUSTER_COMPAT_BLK_H
#define MUSTER_COMPAT_BLK_H

#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/part_stat.h>
#include <linux/sched/mm.h>

/* An exclusively opened block device. */
struct compat_bdev {
	struct file *file;
};

/*
 * Opens @path for reading and writing with @holder as the exclusive owner.
 * Process context. The error is the open's own (-EBUSY: held by others).
 */
static inline int compat_bdev_open(struct compat_bdev *b, const char *path,
				   void *holder)
{
	b->file = bdev_file_open_by_path(path, BLK_OPEN_READ | BLK_OPEN_WRITE,
					 holder, NULL);
	return PTR_ERR_OR_ZERO(b->file);
}

static inline void compat_bdev_close(struct compat_bdev *b)
{
	fput(b->file);
	b->file = NULL;
}

static inline struct block_device *compat_bdev(const struct compat_bdev *b)
{
	return file_bdev(b->file);
}

/*
 * A disk for bio-based I/O in whole pages only, with discard and write-zeroes
 * of any size up to @max_discard_sectors. ERR_PTR on failure.
 */
static inline struct gendisk *compat_alloc_page_disk(u32 max_discard_sectors)
{
	struct queue_limits lim = {
		.logical_block_size = PAGE_SIZE,
		.physical_block_size = PAGE_SIZE,
		.io_min = PAGE_SIZE,
		.dma_alignment = SECTOR_SIZE - 1,
		.max_hw_sectors = 256 * (PAGE_SIZE >> SECTOR_SHIFT),
		.max_hw_discard_sectors = max_discard_sectors,
		.max_write_zeroes_sectors = max_discard_sectors,
		.discard_granularity = PAGE_SIZE,
	};

	return blk_alloc_disk(&lim, NUMA_NO_NODE);
}

/*
 * Takes over from @bdev what a disk on top of it must promise alike: a volatile
 * write cache, FUA, stable pages, rotation, and that I/O ends before submission
 * returns. The disk must have no I/O.
 */
static inline int compat_disk_inherit(struct gendisk *disk,
				      struct block_device *bdev)
{
	const blk_features_t mask = BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA |
				    BLK_FEAT_STABLE_WRITES |
				    BLK_FEAT_SYNCHRONOUS |
				    BLK_FEAT_ROTATIONAL;
	struct queue_limits lim = queue_limits_start_update(disk->queue);

	lim.features &= ~mask;
	lim.features |= bdev_get_queue(bdev)->limits.features & mask;
	return queue_limits_commit_update(disk->queue, &lim);
}

/* Does @bdev end its I/O before submission returns, as a ramdisk does? */
static inline bool compat_bdev_synchronous(struct block_device *bdev)
{
	return bdev_synchronous(bdev);
}

/*
 * Waits until no task is in the disk's ->submit_bio and lets none in. What it
 * returns goes back to compat_unfreeze_disk().
 */
static inline unsigned int compat_freeze_disk(struct gendisk *disk)
{
	blk_mq_freeze_queue(disk->queue);
	return memalloc_noio_save();
}

static inline void compat_unfreeze_disk(struct gendisk *disk,
					unsigned int memflags)
{
	memalloc_noio_restore(memflags);
	blk_mq_unfreeze_queue(disk->queue);
}

/* Counts @bio in the disk's statistics (count and sectors; no time). */
static inline void compat_count_bio(struct bio *bio)
{
	const int group = op_stat_group(bio_op(bio));

	part_stat_lock();
	part_stat_inc(bio->bi_bdev, ios[group]);
	part_stat_add(bio->bi_bdev, sectors[group], bio_sectors(bio));
	part_stat_unlock();
}

#endif
