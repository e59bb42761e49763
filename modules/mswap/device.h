/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /dev/mswapN: the block frontend of an engine, and what its control files do.
 */
#ifndef MSWAP_DEVICE_H
#define MSWAP_DEVICE_H

#include <linux/blkdev.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include "engine.h"

#define MSWAP_DEVICES_MAX	64

struct mswap_device {
	struct gendisk *disk;
	struct block_device *whole;	/* see compat_disk_add() */
	struct mutex lock;	/* serialises what is written to the control files */
	bool claimed;		/* changed under the open lock: nobody may open it */
	int id;
	u64 disksize;		/* written under lock: the wish, 0 = automatic */
	struct engine engine;
	char name[DISK_NAME_LEN];
};

/* Is what was written to a control file all of a value? The byte that ends one may come with it. */
static inline bool mswap_is_value(const char *buf, size_t count)
{
	return strnlen(buf, count) + 1 >= count;
}

/* front_blk.c */

/*
 * The next two are called under the lock of the list of devices (main.c).
 * -ENOMEM or what adding a disk gave. Process context.
 */
struct mswap_device *mswap_device_create(int id, int major);
/* -EBUSY while it is open; else it is gone. Takes dev->lock. */
int mswap_device_destroy(struct mswap_device *dev);
/* From @shut true on nobody opens any device, -EBUSY; who has one open goes on. */
void mswap_devices_shut(bool shut);
/* Takes dev->lock. */
bool mswap_device_is_ready(struct mswap_device *dev);
/* -ENXIO: not ready; -EBUSY: in use. Else nobody can use it any more. Takes dev->lock. */
int mswap_device_claim_ready(struct mswap_device *dev);
void mswap_device_give_back(struct mswap_device *dev);
/*
 * The calls below want dev->lock held and log their refusals, but not every
 * -ENOMEM. -EBUSY: in use, or ready already; -EINVAL: no size; and what
 * engine_start(), engine_resize() give.
 */
int mswap_device_start(struct mswap_device *dev, const char *path);
int mswap_device_reset(struct mswap_device *dev);
/* @bytes 0 = automatic. */
int mswap_device_set_size(struct mswap_device *dev, u64 bytes);

/* main.c */

/* Claims device @id, which is ready; ERR_PTR with -ENODEV and as above. */
struct mswap_device *mswap_device_lend(int id);

/* sysfs.c */
extern const struct attribute_group *mswap_attr_groups[];

#endif
