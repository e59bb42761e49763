// SPDX-License-Identifier: GPL-2.0-only
#include "block.h"

/* --- opening --- */

struct file {
	struct block_device *bdev;
};

static const char *device_path;
static struct block_device *device;
static void *device_holder;

void sim_name_device(const char *path, struct block_device *bdev)
{
	device_path = path;
	device = bdev;
}

struct block_device *sim_device_of(const char *path)
{
	return device_path && !strcmp(path, device_path) ? device : NULL;
}

struct file *bdev_file_open_by_path(const char *path, int mode, void *holder, void *ops)
{
	struct file *file;

	if (!sim_device_of(path))
		return ERR_PTR(-ENOENT);
	if (device_holder)
		return ERR_PTR(-EBUSY);
	file = kzalloc(sizeof(*file), GFP_KERNEL);
	if (!file)
		return ERR_PTR(-ENOMEM);
	device_holder = holder;
	file->bdev = device;
	return file;
}

struct block_device *file_bdev(struct file *file)
{
	return file->bdev;
}

void fput(struct file *file)
{
	device_holder = NULL;
	kfree(file);
}

/* --- sending --- */

/* The plug lies deeper in the stack than what @bio has sent. */
static noinline void submit_plugged(struct block_device *bdev, struct bio *bio)
{
	struct blk_plug plug;

	blk_start_plug(&plug);
	bdev->submit(bdev, bio);
	blk_finish_plug(&plug);
}

/* What @bio had sent goes before what waits already; of that, the devices below first. */
static void submit_one(struct bio *bio, struct bio_list *rest)
{
	struct bio_list sent = BIO_EMPTY_LIST, same = BIO_EMPTY_LIST, lower = BIO_EMPTY_LIST;
	struct block_device *bdev = bio->bi_bdev;

	current->bio_list = &sent;
	if (sim.plugs_each)
		submit_plugged(bdev, bio);
	else
		bdev->submit(bdev, bio);
	while ((bio = bio_list_pop(&sent)))
		bio_list_add(bio->bi_bdev == bdev ? &same : &lower, bio);
	bio_list_merge(&lower, &same);
	bio_list_merge(&lower, rest);
	*rest = lower;
}

void submit_bio_noacct(struct bio *bio)
{
	struct bio_list rest = BIO_EMPTY_LIST;

	might_sleep();
	if (bio->sent)
		sim_fail("a bio is sent twice");
	if (bio->ended)
		sim_fail("a bio that has ended is sent");
	if (bio_sectors(bio) && bio_end_sector(bio) > bio->bi_bdev->nr_sectors)
		sim_fail("sector %llu is beyond the device's end", bio_end_sector(bio) - 1);
	bio->sent = true;
	bio->was_sent = true;
	if (current->bio_list) {
		bio_list_add(current->bio_list, bio);
		return;
	}
	do {
		submit_one(bio, &rest);
	} while ((bio = bio_list_pop(&rest)));
	current->bio_list = NULL;
}

static void end_wait(struct bio *bio)
{
	complete(bio->bi_private);
}

int submit_bio_wait(struct bio *bio)
{
	DECLARE_COMPLETION_ONSTACK(done);

	bio->bi_private = &done;
	bio->bi_end_io = end_wait;
	bio->bi_opf |= REQ_SYNC;
	submit_bio(bio);
	wait_for_completion_io(&done);
	return blk_status_to_errno(bio->bi_status);
}

int sync_blockdev(struct block_device *bdev)
{
	lock_check_sleep("writing what the page cache holds");
	if (bdev->sync)
		bdev->sync(bdev);
	return 0;
}

void invalidate_bdev(struct block_device *bdev)
{
	(void)bdev;
	lock_check_sleep("emptying the page cache");
}

int blkdev_issue_flush(struct block_device *bdev)
{
	struct bio bio;
	int err;

	bio_init(&bio, bdev, NULL, 0, REQ_OP_WRITE | REQ_PREFLUSH);
	err = submit_bio_wait(&bio);
	bio_uninit(&bio);
	return err;
}

/* --- plugs --- */

void blk_start_plug(struct blk_plug *plug)
{
	INIT_LIST_HEAD(&plug->cb_list);
	plug->nr_devices = 0;
	if (!current->plug)
		current->plug = plug;
}

static void run_callbacks(struct blk_plug *plug, bool from_schedule)
{
	struct blk_plug_cb *cb;
	LIST_HEAD(taken);

	while (!list_empty(&plug->cb_list)) {
		list_splice_init(&plug->cb_list, &taken);
		while ((cb = list_first_entry_or_null(&taken, struct blk_plug_cb, list))) {
			list_del(&cb->list);
			cb->callback(cb, from_schedule);
		}
	}
}

static void unplug_devices(struct blk_plug *plug)
{
	struct block_device *bdev;

	while (plug->nr_devices) {
		bdev = plug->devices[--plug->nr_devices];
		bdev->unplug(bdev);
	}
}

void sim_flush_plug(struct blk_plug *plug, bool from_schedule)
{
	run_callbacks(plug, from_schedule);
	unplug_devices(plug);
}

void blk_finish_plug(struct blk_plug *plug)
{
	if (plug != current->plug)
		return;
	sim_flush_plug(plug, false);
	current->plug = NULL;
}

struct blk_plug_cb *blk_check_plugged(blk_plug_cb_fn unplug, void *data, int size)
{
	struct blk_plug *plug = current->plug;
	struct blk_plug_cb *cb;

	if (!plug)
		return NULL;
	list_for_each_entry(cb, &plug->cb_list, list)
		if (cb->callback == unplug && cb->data == data)
			return cb;
	cb = kzalloc(size, GFP_ATOMIC);
	if (!cb)
		return NULL;
	cb->callback = unplug;
	cb->data = data;
	list_add(&cb->list, &plug->cb_list);
	return cb;
}

void sim_plug_device(struct blk_plug *plug, struct block_device *bdev)
{
	u32 i;

	for (i = 0; i < plug->nr_devices; i++)
		if (plug->devices[i] == bdev)
			return;
	SIM_CHECK(plug->nr_devices < PLUG_DEVICES_MAX);
	plug->devices[plug->nr_devices++] = bdev;
}
