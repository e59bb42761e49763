/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Block devices, and how bios get to them: what is sent inside ->submit_bio waits until
 * that has returned, and a task's plug is flushed at its end or when the task sleeps.
 */
#ifndef INTERLEAVE_BLOCK_H
#define INTERLEAVE_BLOCK_H

#include "bio.h"

#define DISK_NAME_LEN		32

struct backing_dev_info {
	unsigned long ra_pages;
};

struct xarray {
};

struct gendisk {
	struct xarray part_tbl;
	struct backing_dev_info *bdi;
	void *private_data;
};

struct request_queue {
	u32 max_sectors;
	u32 max_segments;
};

struct block_device {
	/* Owns the bio from here on. Process context. */
	void (*submit)(struct block_device *bdev, struct bio *bio);
	/* The task's plug is flushed: sends what was kept back for it. */
	void (*unplug)(struct block_device *bdev);
	/* Writes what its page cache holds; or NULL, if that holds nothing. May sleep. */
	void (*sync)(struct block_device *bdev);
	struct gendisk *bd_disk;
	struct request_queue queue;
	u64 nr_sectors;
	u32 block_size;
	bool synchronous;		/* I/O ends before it is submitted */
	bool knows_cgroup;		/* had a bio of another one than the root */
	void *private;
};

/* --- what a device is --- */

#define bdev_nr_bytes(bdev)		((bdev)->nr_sectors << SECTOR_SHIFT)
#define bdev_read_only(bdev)		((void)(bdev), false)
#define bdev_is_zoned(bdev)		((void)(bdev), false)
#define bdev_logical_block_size(bdev)	((bdev)->block_size)
#define bdev_synchronous(bdev)		((bdev)->synchronous)
#define bdev_rot(bdev)			((void)(bdev), false)
#define bdev_get_queue(bdev)		(&(bdev)->queue)
#define queue_max_sectors(q)		((q)->max_sectors)
#define queue_max_segments(q)		((q)->max_segments)

/* --- opening one by name --- */

struct file;

#define BLK_OPEN_READ	1
#define BLK_OPEN_WRITE	2

/* One device has a name, which the test gives it. */
void sim_name_device(const char *path, struct block_device *bdev);
struct block_device *sim_device_of(const char *path);
struct file *bdev_file_open_by_path(const char *path, int mode, void *holder, void *ops);
struct block_device *file_bdev(struct file *file);
void fput(struct file *file);

/* --- sending --- */

void submit_bio_noacct(struct bio *bio);
#define submit_bio(bio)		submit_bio_noacct(bio)
/* Waits; the errno. */
int submit_bio_wait(struct bio *bio);
int blkdev_issue_flush(struct block_device *bdev);
/* What a test's ->sync does; of what is read there is no page cache. */
int sync_blockdev(struct block_device *bdev);
void invalidate_bdev(struct block_device *bdev);

/* --- partitions: no disk has any --- */

struct kobject;

#define XA_PRESENT		1
#define bdev_is_partition(bdev)	((void)(bdev), false)
#define bdev_whole(bdev)	(bdev)
#define bdev_kobj(bdev)		((void)(bdev), (struct kobject *)NULL)

static inline void *xa_find_after(struct xarray *xa, unsigned long *index, unsigned long max,
				  int filter)
{
	return NULL;
}

static inline bool kobject_get_unless_zero(struct kobject *kobj)
{
	return kobj;
}

static inline void kobject_put(struct kobject *kobj)
{
}

/* --- plugs --- */

struct blk_plug_cb;
typedef void (*blk_plug_cb_fn)(struct blk_plug_cb *cb, bool from_schedule);

struct blk_plug_cb {
	struct list_head list;
	blk_plug_cb_fn callback;
	void *data;
};

#define PLUG_DEVICES_MAX	4

struct blk_plug {
	struct list_head cb_list;
	struct block_device *devices[PLUG_DEVICES_MAX];
	u32 nr_devices;
};

/* Plugs are on no heap here. */
#define object_is_on_stack(ptr)	((void)(ptr), true)

void blk_start_plug(struct blk_plug *plug);
void blk_finish_plug(struct blk_plug *plug);
/* That of the task's plug; NULL without a plug or memory. */
struct blk_plug_cb *blk_check_plugged(blk_plug_cb_fn unplug, void *data, int size);
void sim_flush_plug(struct blk_plug *plug, bool from_schedule);
/* @bdev keeps bios back until the task's plug is flushed. */
void sim_plug_device(struct blk_plug *plug, struct block_device *bdev);

#endif
