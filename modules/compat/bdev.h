/* SPDX-License-Identifier: GPL-2.0-only */
/* Other devices: opening them, and what can be asked of them. */
#ifndef MUSTER_COMPAT_BDEV_H
#define MUSTER_COMPAT_BDEV_H

#include <linux/blkdev.h>
#include <linux/fs.h>

/* An exclusively opened block device. */
struct compat_bdev {
#if defined(COMPAT_HAVE_BDEV_FILE)
	struct file *file;
#elif defined(COMPAT_HAVE_BDEV_HANDLE)
	struct bdev_handle *handle;
#else
	struct block_device *bdev;
	void *holder;
#endif
};

/*
 * compat_bdev_open() opens @path for reading and writing with @holder as the
 * exclusive owner. Process context. The error is the open's own (-EBUSY: held
 * by others).
 */
#if defined(COMPAT_HAVE_BDEV_FILE)
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
#elif defined(COMPAT_HAVE_BDEV_HANDLE)
static inline int compat_bdev_open(struct compat_bdev *b, const char *path,
				   void *holder)
{
	b->handle = bdev_open_by_path(path, BLK_OPEN_READ | BLK_OPEN_WRITE,
				      holder, NULL);
	return PTR_ERR_OR_ZERO(b->handle);
}

static inline void compat_bdev_close(struct compat_bdev *b)
{
	bdev_release(b->handle);
	b->handle = NULL;
}

static inline struct block_device *compat_bdev(const struct compat_bdev *b)
{
	return b->handle->bdev;
}
#else
static inline int compat_bdev_open(struct compat_bdev *b, const char *path,
				   void *holder)
{
#ifdef COMPAT_HAVE_BDEV_OPEN_FLAGS
	b->bdev = blkdev_get_by_path(path, BLK_OPEN_READ | BLK_OPEN_WRITE,
				     holder, NULL);
#else
	b->bdev = blkdev_get_by_path(path, FMODE_READ | FMODE_WRITE | FMODE_EXCL,
				     holder);
#endif
	b->holder = holder;
	return PTR_ERR_OR_ZERO(b->bdev);
}

static inline void compat_bdev_close(struct compat_bdev *b)
{
#ifdef COMPAT_HAVE_BDEV_OPEN_FLAGS
	blkdev_put(b->bdev, b->holder);
#else
	blkdev_put(b->bdev, FMODE_READ | FMODE_WRITE | FMODE_EXCL);
#endif
	b->bdev = NULL;
}

static inline struct block_device *compat_bdev(const struct compat_bdev *b)
{
	return b->bdev;
}
#endif

/* The disk that @bdev, which is open, is a partition of, or is itself. */
#ifndef bdev_whole
#define bdev_whole(bdev)	((bdev)->bd_contains)
#endif

/* For compat_bdev_sync(): the page caches of @disk's partitions. */
#ifdef COMPAT_HAVE_DISK_OPEN_MUTEX
static inline struct block_device *compat_disk_get_part_after(struct gendisk *disk,
							      unsigned long *nr)
{
	struct block_device *part;

	rcu_read_lock();
	do {
		part = xa_find_after(&disk->part_tbl, nr, ULONG_MAX, XA_PRESENT);
	} while (part && !kobject_get_unless_zero(bdev_kobj(part)));
	rcu_read_unlock();
	return part;
}

static inline int compat_disk_sync_parts(struct gendisk *disk)
{
	struct block_device *part;
	unsigned long nr = 0;
	int err = 0, ret;

	while ((part = compat_disk_get_part_after(disk, &nr))) {
		ret = sync_blockdev(part);
		err = err ?: ret;
		kobject_put(bdev_kobj(part));
	}
	return err;
}
#else
static inline int compat_disk_sync_parts(struct gendisk *disk)
{
	struct disk_part_iter iter;
	struct block_device *part;
	struct hd_struct *hd;
	int err = 0, ret;

	disk_part_iter_init(&iter, disk, 0);
	while ((hd = disk_part_iter_next(&iter))) {
		part = bdget_disk(disk, hd->partno);
		if (!part)
			continue;
		ret = sync_blockdev(part);
		err = err ?: ret;
		bdput(part);
	}
	disk_part_iter_exit(&iter);
	return err;
}
#endif

/*
 * Writes out what page caches hold of @bdev: its own, and that of the disk that it is a
 * partition of, or those of its partitions. Who has one of them open, without a claim,
 * left it there. Process context, may sleep. The error of the first that cannot be
 * written; the others are all the same.
 */
static inline int compat_bdev_sync(struct block_device *bdev)
{
	int err = bdev_is_partition(bdev) ? sync_blockdev(bdev_whole(bdev)) :
					    compat_disk_sync_parts(bdev->bd_disk);
	int own = sync_blockdev(bdev);

	return err ?: own;
}

#ifndef COMPAT_HAVE_BDEV_NR_BYTES
static inline loff_t bdev_nr_bytes(struct block_device *bdev)
{
	return i_size_read(bdev->bd_inode);
}
#endif

/*
 * Does @bdev end its I/O before submission returns, as a ramdisk does? Where
 * the queue does not tell, the swap core takes an operation on single pages,
 * which only such devices have, for a sign of it.
 */
static inline bool compat_bdev_synchronous(struct block_device *bdev)
{
#ifdef COMPAT_HAVE_BDEV_SYNCHRONOUS
	return bdev_synchronous(bdev);
#else
	return bdev->bd_disk->fops->rw_page;
#endif
}

/* Says @bdev that it rotates, as a disk whose heads go from place to place? */
static inline bool compat_bdev_rotates(struct block_device *bdev)
{
#ifdef COMPAT_HAVE_BDEV_ROT
	return bdev_rot(bdev);
#else
	return !blk_queue_nonrot(bdev_get_queue(bdev));
#endif
}

/* Flushes the device's cache and waits. GFP_NOIO context, may sleep. */
static inline int compat_bdev_flush(struct block_device *bdev)
{
#ifdef COMPAT_HAVE_BDEV_FLUSH_PLAIN
	return blkdev_issue_flush(bdev);
#else
	return blkdev_issue_flush(bdev, GFP_NOIO);
#endif
}

#endif
