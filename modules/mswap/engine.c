// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) "mswap: " fmt

#include <linux/blkdev.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/sched.h>

#include "engine.h"
#include "slot_bio.h"

/* Of all memory, taken whatever is free: for 1.7 times as many slots as it has pages. */
#define ENGINE_LITTLE_PART	512

/* Slots between two looks whether somebody else needs the CPU. */
#define DISCARD_SLICE	1024

static void engine_end(struct bio *bio, blk_status_t status)
{
	bio->bi_status = status;
	bio_endio(bio);
}

static void engine_refuse(struct engine *e, struct bio *bio, const char *why,
			  blk_status_t status)
{
	pr_err_ratelimited("%s: I/O of %u sectors at sector %llu %s\n",
			   e->name, bio_sectors(bio),
			   (u64)bio->bi_iter.bi_sector, why);
	engine_end(bio, status);
}

static bool engine_unmap(struct engine *e, u32 virt)
{
	/* In this order: a write that ends meanwhile leaves it in the map. */
	bool held = store_drop(&e->store, virt);
	u32 slot = slot_map_get(&e->map, virt);

	if (slot != SLOT_UNMAPPED)
		slot = slot_map_exchange(&e->map, virt, SLOT_UNMAPPED);
	if (slot == SLOT_UNMAPPED)
		return held;
	pagein_release(&e->pagein, slot);
	return true;
}

/*
 * Discard and write-zeroes: slots that hold nothing read as zeros. As part of
 * engine_submit() it would have each page save the registers that it wants.
 */
static noinline void engine_discard(struct engine *e, struct bio *bio)
{
	u32 virt = slot_bio_virt(bio->bi_iter);
	u32 n = bio_sectors(bio) / SLOT_SECTORS;
	u32 i, freed = 0;

	for (i = 0; i < n; i++) {
		freed += engine_unmap(e, virt + i);
		if (i % DISCARD_SLICE == DISCARD_SLICE - 1)
			cond_resched();
	}
	mswap_count(e->stats, MSWAP_DISCARDS, freed);
	engine_end(bio, BLK_STS_OK);
}

static noinline void engine_flush(struct engine *e, struct bio *bio)
{
	spin_lock(&e->flush_lock);
	bio_list_add(&e->flushes, bio);
	spin_unlock(&e->flush_lock);
	queue_work(e->wq, &e->flush_work);
}

/*
 * What was acknowledged is on the backing device or in its cache, so flushing
 * that cache is all there is to do. One flush serves all that were waiting.
 */
static void engine_flush_work(struct work_struct *work)
{
	struct engine *e = container_of(work, struct engine, flush_work);
	struct bio_list waiting = BIO_EMPTY_LIST;
	blk_status_t status;
	struct bio *bio;

	spin_lock(&e->flush_lock);
	bio_list_merge_init(&waiting, &e->flushes);
	spin_unlock(&e->flush_lock);
	if (bio_list_empty(&waiting))
		return;
	status = errno_to_blk_status(backing_flush(&e->backing));
	while ((bio = bio_list_pop(&waiting))) {
		if (status || !bio_sectors(bio))
			engine_end(bio, status);
		else
			batch_bio_wait(&e->batching, bio);
	}
}

void engine_submit(struct engine *e, struct bio *bio)
{
	/*
	 * A reset device keeps the limits of the backing device it had, the
	 * write cache among them: flushes come, and there is nothing to flush.
	 */
	if (!engine_is_ready(e)) {
		if (bio_sectors(bio))
			engine_refuse(e, bio, "has no backing device to go to",
				      BLK_STS_IOERR);
		else
			engine_end(bio, BLK_STS_OK);
		return;
	}
	if ((bio->bi_iter.bi_sector | bio_sectors(bio)) % SLOT_SECTORS) {
		engine_refuse(e, bio, "is not of whole 4 KiB slots",
			      BLK_STS_INVAL);
		return;
	}
	/* Linux 5.10 lets everything pass while the capacity is still 0. */
	if (bio_end_sector(bio) > (u64)e->map.nr_virt * SLOT_SECTORS) {
		engine_refuse(e, bio, "ends behind the last slot",
			      BLK_STS_IOERR);
		return;
	}
	switch (bio_op(bio)) {
	case REQ_OP_READ:
		pagein_read(&e->pagein, bio);
		break;
	case REQ_OP_WRITE:
		if (bio->bi_opf & REQ_PREFLUSH)
			engine_flush(e, bio);
		else if (bio_sectors(bio))
			batch_bio(&e->batching, bio);
		else
			engine_end(bio, BLK_STS_OK);
		break;
	case REQ_OP_DISCARD:
	case REQ_OP_WRITE_ZEROES:
		engine_discard(e, bio);
		break;
	default:
		engine_end(bio, BLK_STS_NOTSUPP);
	}
}

void engine_free_slot(struct engine *e, u32 virt)
{
	if (virt < e->map.nr_virt && engine_unmap(e, virt))
		mswap_count(e->stats, MSWAP_SLOT_FREES, 1);
}

/* Physical slots that may be written. Of one that is being set up none is retired. */
static u32 engine_good_slots(const struct engine *e)
{
	return e->backing.nr_slots - atomic_read(&e->space.retired);
}

u32 engine_fit_slots(const struct engine *e, u32 wish)
{
	u32 phys = engine_good_slots(e);
	u32 reserve = clamp_t(u32, phys / 64, ENGINE_RESERVE_MIN,
			      ENGINE_RESERVE_MAX);

	if (phys <= ENGINE_RESERVE_MIN)
		return 0;
	if (!wish)
		return phys - reserve;
	return wish <= phys - ENGINE_RESERVE_MIN ? wish : 0;
}

static int engine_fit(struct engine *e, u32 wish, u32 *slots)
{
	*slots = engine_fit_slots(e, wish);
	if (*slots)
		return 0;
	pr_err_ratelimited("%s: %u slots do not fit on %pg: it has %u, and %u are kept in reserve\n",
			   e->name, wish, e->backing.bdev, engine_good_slots(e),
			   ENGINE_RESERVE_MIN);
	return -ENOSPC;
}

/*
 * Rather than refuse memory the allocator kills who has some: @bytes for @slots slots
 * must be there already, or easily had. But who is short of memory is who wants to swap:
 * a little part of all memory, for a device as large as that, is never refused.
 */
static int engine_afford(struct engine *e, u32 slots, u64 bytes)
{
	u64 pages = bytes >> PAGE_SHIFT;

	if (pages <= totalram_pages() / ENGINE_LITTLE_PART || pages <= si_mem_available())
		return 0;
	pr_err_ratelimited("%s: no memory for %u slots: they take %llu MiB\n",
			   e->name, slots, bytes >> 20);
	return -ENOMEM;
}

static void engine_connect(struct engine *e)
{
	struct pagein *pi = &e->pagein;
	struct batching *bt = &e->batching;

	pi->map = &e->map;
	pi->store = &e->store;
	pi->space = &e->space;
	pi->backing = &e->backing;
	pi->flight = &e->flight;
	pi->givers = &e->givers;
	pi->stats = e->stats;
	pi->knobs = &e->knobs;
	pi->name = e->name;
	pi->wq = e->read_wq;
	pi->retry_wq = e->retry_wq;

	bt->map = &e->map;
	bt->space = &e->space;
	bt->backing = &e->backing;
	bt->pagein = pi;
	bt->store = &e->store;
	bt->flight = &e->flight;
	bt->givers = &e->givers;
	bt->stats = e->stats;
	bt->knobs = &e->knobs;
	bt->name = e->name;
	bt->wq = e->wq;
	bt->write_wq = e->write_wq;
	bt->retry_wq = e->retry_wq;
}

int engine_start(struct engine *e, const char *path, u32 slots)
{
	int err;

	err = backing_open(&e->backing, path, e->name, batch_write_pad());
	if (err)
		return err;
	err = engine_fit(e, slots, &slots) ?:
	      engine_afford(e, slots, slots * 4ull + e->backing.nr_slots / 2);
	if (err)
		goto err_backing;
	err = slot_map_init(&e->map, slots, e->backing.nr_slots);
	if (err)
		goto err_memory;
	err = space_init(&e->space, e->backing.nr_slots,
			 compat_bdev_rotates(e->backing.bdev));
	if (err)
		goto err_map;
	err = store_init(&e->store);
	if (err)
		goto err_space;
	err = pagein_init(&e->pagein);
	if (err)
		goto err_store;
	err = batching_init(&e->batching);
	if (err)
		goto err_pagein;
	mswap_stats_clear(e->stats);
	/* Last: what engine_submit() uses must be there for who sees it. */
	smp_store_release(&e->started, true);
	return 0;

err_pagein:
	pagein_exit(&e->pagein);
err_store:
	store_exit(&e->store);
err_space:
	space_exit(&e->space);
err_map:
	slot_map_exit(&e->map);
err_memory:
	pr_err_ratelimited("%s: no memory for %u slots (error %d)\n", e->name,
			   slots, err);
err_backing:
	backing_close(&e->backing);
	return err;
}

bool engine_shut(struct engine *e)
{
	if (!e->started)
		return false;
	WRITE_ONCE(e->started, false);
	return true;
}

void engine_stop(struct engine *e)
{
	flush_work(&e->flush_work);
	batching_drain(&e->batching);
	/* A worker that has ended a read may start a window ahead yet. */
	pagein_drain(&e->pagein);
	flight_wait_idle(&e->flight);
	batching_exit(&e->batching);
	pagein_exit(&e->pagein);
	store_exit(&e->store);
	space_exit(&e->space);
	slot_map_exit(&e->map);
	backing_close(&e->backing);
}

static bool engine_is_empty(const struct engine *e)
{
	return !store_nr_held(&e->store) &&
	       space_nr_free(&e->space) + atomic_read(&e->space.retired) ==
	       e->space.nr_slots;
}

/*
 * Copies that died with their slots may be on their way out yet, and reads of freed
 * slots under way. One that lives may be tried again for ever.
 */
static void engine_settle(struct engine *e)
{
	if (store_nr_held(&e->store))
		return;
	flight_wait_idle(&e->batching.held);
	/* It may be counting slots that take writes again. */
	flush_work(&e->batching.retry_work);
	pagein_drain(&e->pagein);
	flight_wait_idle(&e->flight);
}

int engine_resize(struct engine *e, u32 slots)
{
	int err;

	engine_settle(e);
	if (!engine_is_empty(e)) {
		pr_err_ratelimited("%s: disksize cannot change while slots hold something: reset first\n",
				   e->name);
		return -EBUSY;
	}
	err = engine_fit(e, slots, &slots) ?:
	      engine_afford(e, slots, slots * 4ull);
	if (err)
		return err;
	return slot_map_resize(&e->map, slots);
}

int engine_set_waiting_pages(struct engine *e, u32 pages)
{
	int err = 0;

	if (e->started)
		err = pagein_set_waiting_pages(&e->pagein, pages);
	if (!err)
		WRITE_ONCE(e->knobs.waiting_pages, pages);
	else
		pagein_set_waiting_pages(&e->pagein, e->knobs.waiting_pages);
	return err;
}

size_t engine_footprint(const struct engine *e)
{
	return slot_map_bytes(&e->map) + space_bytes(&e->space);
}

int engine_init(struct engine *e, const char *name)
{
	e->name = name;
	e->knobs = (struct mswap_knobs) {
		.policy = CLUSTER_MOC,
		.cluster_pages = MSWAP_CLUSTER_PAGES_DEFAULT,
		.batch_usecs = MSWAP_BATCH_USECS_DEFAULT,
		.readahead = MSWAP_READAHEAD_AUTO,
		.readahead_pages = MSWAP_READAHEAD_PAGES_DEFAULT,
		.waiting_pages = MSWAP_WAITING_PAGES_DEFAULT,
	};
	flight_init(&e->flight);
	flight_init(&e->givers);
	spin_lock_init(&e->flush_lock);
	bio_list_init(&e->flushes);
	INIT_WORK(&e->flush_work, engine_flush_work);
	e->stats = alloc_percpu(struct mswap_stats);
	if (!e->stats)
		return -ENOMEM;
	e->wq = alloc_workqueue("%s", WQ_MEM_RECLAIM | WQ_UNBOUND, 0, name);
	if (!e->wq)
		goto err_stats;
	e->read_wq = alloc_workqueue("%s-read", WQ_MEM_RECLAIM | WQ_UNBOUND,
				     0, name);
	if (!e->read_wq)
		goto err_wq;
	e->write_wq = alloc_workqueue("%s-write", WQ_MEM_RECLAIM | WQ_UNBOUND,
				      0, name);
	if (!e->write_wq)
		goto err_read_wq;
	e->retry_wq = alloc_workqueue("%s-retry", WQ_MEM_RECLAIM | WQ_UNBOUND,
				      0, name);
	if (!e->retry_wq)
		goto err_write_wq;
	engine_connect(e);
	return 0;

err_write_wq:
	destroy_workqueue(e->write_wq);
err_read_wq:
	destroy_workqueue(e->read_wq);
err_wq:
	destroy_workqueue(e->wq);
err_stats:
	free_percpu(e->stats);
	return -ENOMEM;
}

void engine_exit(struct engine *e)
{
	destroy_workqueue(e->retry_wq);
	destroy_workqueue(e->write_wq);
	destroy_workqueue(e->read_wq);
	destroy_workqueue(e->wq);
	free_percpu(e->stats);
}
