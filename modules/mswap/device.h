/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /dev/mswapN: the block frontend of an engine, and what its control files do.
 */
#ifndef MSWAP_DEVICE_H
#define MSWAP_DEVICE_H

#include <linux/blkdev.h>
#include <linux/mutex.h>

#include "engine.h"

#define MSWAP_DEVICES_MAX	64

struct mswap_device {
	struct gendisk *disk;
	struct mutex lock;	/* serialises the control files */
	bool claimed;		/* under disk->open_mutex: nobody may open it */
	int id;
	u64 disksize;		/* under lock: the wish, 0 = automatic */
	struct engine engine;
	char name[DISK_NAME_LEN];
};

/* front_blk.c */

/* -ENOMEM or what adding a disk gave. Process context. */
struct mswap_device *mswap_device_create(int id, int major);
/* -EBUSY while it is open; else it is gone. */
int mswap_device_destroy(struct mswap_device *dev);
bool mswap_device_is_open(struct mswap_device *dev);
/* The calls below want dev->lock held and log their refusals. */
int mswap_device_start(struct mswap_device *dev, const char *path);
int mswap_device_reset(struct mswap_device *dev);
/* @bytes 0 = automatic. */
int mswap_device_set_size(struct mswap_device *dev, u64 bytes);

/* sysfs.c */
extern const struct attribute_group *mswap_attr_groups[];

#endif
