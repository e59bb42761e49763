// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) "mswap: " fmt

#include <linux/module.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include "compat/disk.h"
#include "device.h"
#include "slot_bio.h"

/* What is told of discards, 128 MiB; the block layer splits none for a device that takes bios. */
#define DISCARD_SECTORS_MAX	(32768 * SLOT_SECTORS)

static void mswap_submit(struct mswap_device *dev, struct bio *bio)
{
	compat_disk_count(bio);
	engine_submit(&dev->engine, bio);
}
COMPAT_DISK_SUBMIT(mswap_submit_bio, mswap_submit)

/*
 * While an image of the memory may be written: the map is part of it, so that an
 * image on a device of ours could not be found again without itself. The kernel
 * opens the device that it writes it to.
 */
static bool mswap_shut;

static int mswap_open(struct mswap_device *dev, struct block_device *whole)
{
	lockdep_assert_held(compat_disk_open_lock(whole));
	if (READ_ONCE(mswap_shut)) {
		pr_err_ratelimited("%s: opening refused: the machine hibernates, and an image on this device would be lost\n",
				   dev->name);
		return -EBUSY;
	}
	return dev->claimed ? -EBUSY : 0;
}
COMPAT_DISK_OPEN(mswap_open_disk, mswap_open)

static void mswap_slot_free_notify(struct block_device *bdev,
				   unsigned long index)
{
	struct mswap_device *dev = bdev->bd_disk->private_data;

	/* Early 6.1 takes partitions; there the slot counts from the start of one. */
	if (bdev_is_partition(bdev))
		return;
	engine_free_slot(&dev->engine, index);
}

static const struct block_device_operations mswap_fops = {
	.owner = THIS_MODULE,
	.submit_bio = mswap_submit_bio,
	.open = mswap_open_disk,
	.swap_slot_free_notify = mswap_slot_free_notify,
};

/* While the claim holds nobody can open the device. */
static int mswap_claim(struct mswap_device *dev, const char *what)
{
	int err = 0;

	mutex_lock(compat_disk_open_lock(dev->whole));
	if (compat_disk_openers(dev->whole) || dev->claimed)
		err = -EBUSY;
	else
		dev->claimed = true;
	mutex_unlock(compat_disk_open_lock(dev->whole));
	if (err)
		pr_err_ratelimited("%s: %s refused: the device is in use (swap, mount, frontswap, or a program)\n",
				   dev->name, what);
	return err;
}

static void mswap_unclaim(struct mswap_device *dev)
{
	mutex_lock(compat_disk_open_lock(dev->whole));
	dev->claimed = false;
	mutex_unlock(compat_disk_open_lock(dev->whole));
}

void mswap_devices_shut(bool shut)
{
	WRITE_ONCE(mswap_shut, shut);
}

bool mswap_device_is_ready(struct mswap_device *dev)
{
	bool ready;

	mutex_lock(&dev->lock);
	ready = dev->engine.started;
	mutex_unlock(&dev->lock);
	return ready;
}

int mswap_device_claim_ready(struct mswap_device *dev)
{
	int err = -ENXIO;

	mutex_lock(&dev->lock);
	if (dev->engine.started)
		err = mswap_claim(dev, "lending");
	mutex_unlock(&dev->lock);
	return err;
}

void mswap_device_give_back(struct mswap_device *dev)
{
	mswap_unclaim(dev);
}

static sector_t mswap_capacity(const struct mswap_device *dev)
{
	u64 slots = dev->engine.started ? dev->engine.map.nr_virt : 0;

	return slots * SLOT_SECTORS;
}

/* From or to nothing, of which nobody is told. */
static void mswap_publish_size(struct mswap_device *dev)
{
	set_capacity_and_notify(dev->disk, mswap_capacity(dev));
}

static void mswap_tell_of_size(struct mswap_device *dev)
{
	char *resized[2] = { "RESIZE=1", NULL };

	kobject_uevent_env(&disk_to_dev(dev->disk)->kobj, KOBJ_CHANGE, resized);
}

/* The wish in slots; false if there can be no such device. */
static bool mswap_wish_slots(struct mswap_device *dev, u64 bytes, u32 *slots)
{
	u64 n = bytes >> PAGE_SHIFT;

	*slots = n;
	if (n <= BACKING_SLOTS_MAX && (n || !bytes))
		return true;
	pr_err_ratelimited("%s: disksize %llu: a device has 1 to %u slots of 4 KiB\n",
			   dev->name, bytes, BACKING_SLOTS_MAX);
	return false;
}

/*
 * There is no I/O, but the last reader may still be in ->submit_bio, starting a
 * window ahead, or one who has it open for a flush: the freeze waits for them. It
 * is over before anything is taken down, which takes locks that are held elsewhere
 * while memory is reclaimed, and so swapped out.
 */
static void mswap_stop(struct mswap_device *dev)
{
	if (!dev->engine.started)
		return;
	sync_blockdev(dev->whole);
	invalidate_bdev(dev->whole);
	engine_shut(&dev->engine);
	compat_disk_unfreeze(dev->disk, compat_disk_freeze(dev->disk));
	engine_stop(&dev->engine);
	mswap_publish_size(dev);
}

int mswap_device_start(struct mswap_device *dev, const char *path)
{
	u32 slots;
	int err;

	lockdep_assert_held(&dev->lock);
	if (dev->engine.started) {
		pr_err_ratelimited("%s: backing_dev is %pg already: reset first\n",
				   dev->name, dev->engine.backing.bdev);
		return -EBUSY;
	}
	if (!mswap_wish_slots(dev, dev->disksize, &slots))
		return -EINVAL;
	err = engine_start(&dev->engine, path, slots);
	if (err)
		return err;
	err = compat_disk_inherit(dev->disk, dev->engine.backing.bdev);
	if (err) {
		pr_err_ratelimited("%s: cannot take over the limits of %pg (error %d)\n",
				   dev->name, dev->engine.backing.bdev, err);
		mswap_stop(dev);
		return err;
	}
	mswap_publish_size(dev);
	return 0;
}

int mswap_device_reset(struct mswap_device *dev)
{
	int err;

	lockdep_assert_held(&dev->lock);
	err = mswap_claim(dev, "reset");
	if (err)
		return err;
	mswap_stop(dev);
	mswap_unclaim(dev);
	return 0;
}

int mswap_device_set_size(struct mswap_device *dev, u64 bytes)
{
	bool changed = false;
	u32 slots;
	int err;

	lockdep_assert_held(&dev->lock);
	if (!mswap_wish_slots(dev, bytes, &slots))
		return -EINVAL;
	if (!dev->engine.started) {
		WRITE_ONCE(dev->disksize, bytes);
		return 0;
	}
	err = mswap_claim(dev, "a change of disksize");
	if (err)
		return err;
	err = engine_resize(&dev->engine, slots);
	if (!err) {
		WRITE_ONCE(dev->disksize, bytes);
		changed = mswap_capacity(dev) != get_capacity(dev->disk);
		set_capacity(dev->disk, mswap_capacity(dev));
	}
	mswap_unclaim(dev);
	/* Who is told, as udev is, opens it: neither while it is claimed nor at its old size. */
	if (changed)
		mswap_tell_of_size(dev);
	return err;
}

static int mswap_add_disk(struct mswap_device *dev, int major)
{
	struct gendisk *disk;
	int err;

	disk = compat_disk_alloc(DISCARD_SECTORS_MAX);
	if (IS_ERR(disk))
		return PTR_ERR(disk);
	disk->major = major;
	disk->first_minor = dev->id;
	disk->minors = 1;
	disk->fops = &mswap_fops;
	disk->private_data = dev;
	strscpy(disk->disk_name, dev->name, DISK_NAME_LEN);
	dev->disk = disk;
	set_capacity(disk, 0);
	err = compat_disk_add(disk, mswap_attr_groups, &dev->lock, &dev->whole);
	if (err) {
		/* A control file may have made it ready meanwhile. */
		if (engine_shut(&dev->engine))
			engine_stop(&dev->engine);
		compat_disk_free(disk);
	}
	return err;
}

struct mswap_device *mswap_device_create(int id, int major)
{
	struct mswap_device *dev;
	int err;

	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	dev->id = id;
	mutex_init(&dev->lock);
	snprintf(dev->name, sizeof(dev->name), "mswap%d", id);
	err = engine_init(&dev->engine, dev->name);
	if (err)
		goto err_dev;
	err = mswap_add_disk(dev, major);
	if (err)
		goto err_engine;
	pr_info("%s: added\n", dev->name);
	return dev;

err_engine:
	engine_exit(&dev->engine);
err_dev:
	kfree(dev);
	return ERR_PTR(err);
}

int mswap_device_destroy(struct mswap_device *dev)
{
	int err;

	mutex_lock(&dev->lock);
	err = mswap_claim(dev, "removal");
	if (!err)
		mswap_stop(dev);
	mutex_unlock(&dev->lock);
	if (err)
		return err;
	/* A control file may make it ready once more until it is gone. */
	compat_disk_del(dev->disk, dev->whole);
	if (engine_shut(&dev->engine))
		engine_stop(&dev->engine);
	compat_disk_free(dev->disk);
	pr_info("%s: removed\n", dev->name);
	engine_exit(&dev->engine);
	kfree(dev);
	return 0;
}
