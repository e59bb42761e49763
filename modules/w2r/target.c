// SPDX-License-Identifier: GPL-2.0-only
/* The device-mapper target: its life, and where each bio goes. */
#define DM_MSG_PREFIX "w2r"

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat/bdev.h"
#include "control.h"
#include "fetch.h"
#include "frames.h"
#include "read.h"
#include "readahead.h"
#include "sysfs.h"
#include "write.h"

#define TICK		HZ

/* --- making and taking down --- */

static void tick(struct work_struct *work)
{
	struct w2r *c = container_of(work, struct w2r, tick.work);

	w2r_frames_grow(c);
	w2r_readahead_update(c, true);
	queue_delayed_work(c->wq, &c->tick, TICK);
}

static const char *check_origin(struct w2r *c)
{
	/* Zones are reset by bios without a size; those here are flushes. */
	if (bdev_is_zoned(c->dev->bdev))
		return "origin must not be zoned";
	if (bdev_nr_bytes(c->dev->bdev) >> SECTOR_SHIFT < c->ti->len)
		return "origin must be at least as large as the target";
	if (bdev_logical_block_size(c->dev->bdev) >
	    c->block_sectors << SECTOR_SHIFT)
		return "block_kib must be at least the origin's logical block size";
	return NULL;
}

static const char *size_cache(struct w2r *c)
{
	u64 pages = (u64)c->table.cache_mib << (20 - PAGE_SHIFT);
	u32 entries;

	if (pages > totalram_pages())
		return "cache MiB must be at most the machine's memory";
	entries = c->table.cache_mib * (1024 / c->table.block_kib);
	entries = min_t(u64, entries, c->nr_blocks);
	c->nr_entries = max_t(u32, entries, ROOMS_ENTRIES_MIN);
	return NULL;
}

static int make_rooms(struct w2r *c)
{
	struct rooms_config config = {
		.entries = c->nr_entries,
		.step = table_split_step(&c->table, c->nr_entries),
		.policy = c->table.policy,
		.move_to_front = c->table.move_to_front,
		.one_room = c->table.one_room,
		.bounded = table_bounded(&c->table),
	};

	c->planner = vzalloc(sizeof(*c->planner));
	if (!c->planner)
		return -ENOMEM;
	planner_init(c->planner, c->table.planner);
	c->writers = vzalloc(array_size(W2R_WRITER_SETS, sizeof(*c->writers)));
	if (!c->writers)
		goto free_planner;
	c->mem = vmalloc(rooms_size(&config));
	if (!c->mem)
		goto free_writers;
	rooms_init(&c->rooms, c->mem, &config);
	c->traced_target = c->rooms.waiting_target;
	return 0;

free_writers:
	vfree(c->writers);
free_planner:
	vfree(c->planner);
	return -ENOMEM;
}

static void free_rooms(struct w2r *c)
{
	vfree(c->mem);
	vfree(c->writers);
	vfree(c->planner);
}

static int start(struct w2r *c)
{
	int err;

	err = make_rooms(c);
	if (err)
		return err;
	err = w2r_fetch_start(c);
	if (err)
		goto free_rooms;
	c->wq = alloc_workqueue("w2r", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!c->wq) {
		err = -ENOMEM;
		goto stop_fetch;
	}
	err = w2r_frames_start(c);
	if (err)
		goto free_wq;
	return 0;

free_wq:
	destroy_workqueue(c->wq);
stop_fetch:
	w2r_fetch_stop(c);
free_rooms:
	free_rooms(c);
	return err;
}

static void stop(struct w2r *c)
{
	cancel_delayed_work_sync(&c->tick);
	destroy_workqueue(c->wq);
	w2r_frames_stop(c);
	w2r_fetch_stop(c);
	free_rooms(c);
}

static const char *origin_error(int err)
{
	switch (err) {
	case -EBUSY:
		return "origin must not be mounted, swap, or held by somebody else";
	case -EROFS:
	case -EACCES:
		return "origin must be writable where the table is";
	case -ENOMEM:
		return "no memory to start";
	default:
		return "origin must be the path of a block device";
	}
}

static struct w2r *new_target(struct dm_target *ti)
{
	struct w2r *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return NULL;
	c->ti = ti;
	c->devt = disk_devt(dm_disk(dm_table_get_md(ti->table)));
	c->suspended = true;
	spin_lock_init(&c->lock);
	mutex_init(&c->ra_lock);
	init_waitqueue_head(&c->idle);
	bio_list_init(&c->resubmits);
	INIT_WORK(&c->resubmit, w2r_resubmit);
	INIT_LIST_HEAD(&c->wide_writers);
	INIT_LIST_HEAD(&c->late);
	INIT_WORK(&c->serve, w2r_serve_late);
	bio_list_init(&c->aheads);
	INIT_WORK(&c->submit, w2r_submit_work);
	INIT_DELAYED_WORK(&c->tick, tick);
	toggle_init(&c->toggle);
	return c;
}

static void set_up_target(struct w2r *c, struct dm_target *ti)
{
	ti->private = c;
	ti->per_io_data_size = sizeof(struct w2r_io);
	ti->num_flush_bios = 1;
	ti->num_discard_bios = 1;
	ti->num_secure_erase_bios = 1;
	ti->num_write_zeroes_bios = 1;
}

/* With ti->error set when it says no for a reason of ours. */
static int fit(struct w2r *c, struct dm_target *ti)
{
	int err;

	c->block_sectors = c->table.block_kib << (10 - SECTOR_SHIFT);
	c->block_shift = ilog2(c->block_sectors);
	c->nr_blocks = ti->len >> c->block_shift;
	ti->error = (char *)check_origin(c);
	if (ti->error)
		return -EINVAL;
	ti->error = (char *)size_cache(c);
	if (ti->error)
		return -EINVAL;
	ti->error = "no memory to start";
	err = dm_set_target_max_io_len(ti, W2R_IO_SECTORS);
	return err ? err : start(c);
}

static int w2r_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct w2r *c;
	int err;

	if (!argc) {
		ti->error = "origin must be the path of a block device";
		return -EINVAL;
	}
	c = new_target(ti);
	if (!c) {
		ti->error = "no memory to start";
		return -ENOMEM;
	}
	err = -EINVAL;
	ti->error = (char *)table_parse(&c->table, argc - 1, argv + 1);
	if (ti->error)
		goto free_target;
	err = dm_get_device(ti, argv[0], dm_table_get_mode(ti->table),
			    &c->dev);
	if (err) {
		ti->error = (char *)origin_error(err);
		goto free_target;
	}
	err = fit(c, ti);
	if (err)
		goto put_device;
	w2r_settle(c);
	set_up_target(c, ti);
	w2r_sysfs_add(c);
	return 0;

put_device:
	dm_put_device(ti, c->dev);
free_target:
	kfree(c);
	return err;
}

static void w2r_dtr(struct dm_target *ti)
{
	struct w2r *c = ti->private;

	w2r_sysfs_remove(c);
	stop(c);
	dm_put_device(ti, c->dev);
	kfree(c);
}

/* --- live or not --- */

static void w2r_presuspend(struct dm_target *ti)
{
	struct w2r *c = ti->private;

	spin_lock_irq(&c->lock);
	c->suspended = true;
	spin_unlock_irq(&c->lock);
}

static void w2r_presuspend_undo(struct dm_target *ti)
{
	struct w2r *c = ti->private;

	spin_lock_irq(&c->lock);
	c->suspended = false;
	spin_unlock_irq(&c->lock);
}

static void w2r_postsuspend(struct dm_target *ti)
{
	struct w2r *c = ti->private;

	cancel_delayed_work_sync(&c->tick);
	spin_lock_irq(&c->lock);
	wait_event_lock_irq(c->idle, !c->own, c->lock);
	spin_unlock_irq(&c->lock);
	w2r_sysfs_suspend(c);
	w2r_readahead_restore(c);
}

static void w2r_resume(struct dm_target *ti)
{
	struct w2r *c = ti->private;

	if (!w2r_sysfs_resume(c))
		DMERR("%s: no files in sysfs", dm_table_device_name(ti->table));
	w2r_readahead_update(c, false);
	w2r_presuspend_undo(ti);
	queue_delayed_work(c->wq, &c->tick, TICK);
}

/* --- bios --- */

static int w2r_map(struct dm_target *ti, struct bio *bio)
{
	struct w2r *c = ti->private;
	struct w2r_io *io = w2r_io_of(bio);
	u64 sector, last;

	io->kind = W2R_IO_PASS;
	if (!bio_sectors(bio)) {
		bio_set_dev(bio, c->dev->bdev);
		return DM_MAPIO_REMAPPED;
	}
	sector = dm_target_offset(ti, bio->bi_iter.bi_sector);
	last = sector + bio_sectors(bio) - 1;
	io->first = sector >> c->block_shift;
	io->offset = sector & (c->block_sectors - 1);
	io->n = (last >> c->block_shift) - io->first + 1;
	io->start_ns = 0;
	if (bio_op(bio) == REQ_OP_READ)
		return w2r_read(c, bio, io);
	w2r_write(c, bio);
	w2r_aim(c, bio);
	return DM_MAPIO_REMAPPED;
}

static int w2r_end_io(struct dm_target *ti, struct bio *bio,
		      blk_status_t *error)
{
	struct w2r *c = ti->private;
	struct w2r_io *io = w2r_io_of(bio);

	if (io->kind == W2R_IO_WRITE)
		w2r_write_ended(c, bio, *error);
	else if (io->kind == W2R_IO_PASS && bio_op(bio) == REQ_OP_READ)
		w2r_read_ended(c, bio, *error);
	return DM_ENDIO_DONE;
}

static int w2r_iterate_devices(struct dm_target *ti,
			       iterate_devices_callout_fn fn, void *data)
{
	struct w2r *c = ti->private;

	return fn(ti, c->dev, 0, ti->len, data);
}

static void w2r_io_hints(struct dm_target *ti, struct queue_limits *limits)
{
	struct w2r *c = ti->private;

	compat_dm_stable_writes(limits, c->dev->bdev);
}

static struct target_type w2r_target = {
	.name = "w2r",
	.version = { 1, 0, 0 },
	.module = THIS_MODULE,
	.ctr = w2r_ctr,
	.dtr = w2r_dtr,
	.map = w2r_map,
	.end_io = w2r_end_io,
	.presuspend = w2r_presuspend,
	.presuspend_undo = w2r_presuspend_undo,
	.postsuspend = w2r_postsuspend,
	.resume = w2r_resume,
	.status = w2r_status,
	.message = w2r_message,
	.iterate_devices = w2r_iterate_devices,
	.io_hints = w2r_io_hints,
};

static int __init w2r_init(void)
{
	int err;

	err = w2r_frames_init();
	if (err)
		return err;
	err = dm_register_target(&w2r_target);
	if (err)
		w2r_frames_exit();
	return err;
}

/*
 * A task that has ended the last fetch may have been preempted on its way out of
 * our text.
 */
static void __exit w2r_exit(void)
{
	dm_unregister_target(&w2r_target);
	w2r_frames_exit();
	synchronize_rcu_tasks();
}

module_init(w2r_init);
module_exit(w2r_exit);

MODULE_DESCRIPTION("device-mapper cache with a weighing and a waiting room");
MODULE_AUTHOR("The Muster developers");
MODULE_LICENSE("GPL");
