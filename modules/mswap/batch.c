// SPDX-License-Identifier: GPL-2.0-only
#include <linux/blkdev.h>
#include <linux/slab.h>

#include "batch.h"

/* Batches and copies that go on when no memory at all is left. */
static const struct {
	u32 pages;
	u32 reserve;
} batch_sizes[BATCH_SIZES] = {
	{ 32, 16 },
	{ 128, 8 },
	{ CLUSTER_PAGES_MAX, 2 },
};

#define BATCH_BOUNCE_MIN	16

/* The knob, as far as the device likes it. */
static u32 batch_limit(const struct batching *bt)
{
	return backing_fit_pages(bt->backing,
				 READ_ONCE(bt->knobs->cluster_pages));
}

static u32 batch_size_for(u32 pages)
{
	u32 size = 0;

	while (size < BATCH_SIZES - 1 && batch_sizes[size].pages < pages)
		size++;
	return size;
}

struct batch *batch_alloc(struct batching *bt, u32 pages, gfp_t gfp)
{
	u32 limit = batch_limit(bt);
	u32 size = batch_size_for(max(limit, pages));
	struct batch *b = mempool_alloc(&bt->batches[size], gfp);

	if (!b)
		return NULL;
	flight_begin(&bt->held);
	b->bt = bt;
	atomic_set(&b->refs, 1);
	b->n = 0;
	b->limit = limit;
	b->cap = batch_sizes[size].pages;
	b->size = size;
	b->next = 0;
	b->behind = SLOT_NONE;
	b->nr_bios = 0;
	b->policy = READ_ONCE(bt->knobs->policy);
	b->opf = 0;
	b->sorted = false;
	b->in_pieces = false;
	return b;
}

void batch_defer_bio(struct batching *bt, struct bio *bio)
{
	unsigned long flags;

	mswap_count(bt->stats, MSWAP_DEFERRED, 1);
	spin_lock_irqsave(&bt->deferred_lock, flags);
	bio_list_add(&bt->deferred_bios, bio);
	/*
	 * Before the worker can take the bio and end it: once nothing is under
	 * way, flush_work() must see all that was queued.
	 */
	queue_work(bt->wq, &bt->work);
	spin_unlock_irqrestore(&bt->deferred_lock, flags);
}

void batch_defer(struct batch *b)
{
	struct batching *bt = b->bt;
	unsigned long flags;

	mswap_count(bt->stats, MSWAP_DEFERRED, 1);
	spin_lock_irqsave(&bt->deferred_lock, flags);
	list_add_tail(&b->list, &bt->deferred_batches);
	queue_work(bt->write_wq, &bt->write_work);
	spin_unlock_irqrestore(&bt->deferred_lock, flags);
}

void batch_put(struct batch *b)
{
	struct batching *bt = b->bt;

	if (!atomic_dec_and_test(&b->refs))
		return;
	mempool_free(b, &bt->batches[b->size]);
	flight_end(&bt->held);
}

/* Behind the pages, where sorting them has room to work. */
static u64 *batch_scratch(struct batch *b)
{
	return (u64 *)&b->pages[b->cap];
}

void batch_issue(struct batch *b, gfp_t gfp)
{
	if (!b->sorted) {
		if (b->policy == CLUSTER_MOC)
			cluster_lay(b->pages, b->n, batch_scratch(b));
		else if (b->policy == CLUSTER_OBJECT)
			cluster_sort(b->pages, b->n, batch_scratch(b));
		b->sorted = true;
		mswap_count(b->bt->stats, MSWAP_BATCHES, 1);
	}
	while (b->next < b->n) {
		u32 want = cluster_next_write(b->policy, b->pages, b->n,
					      b->next);

		if (!batch_write(b, want, gfp)) {
			batch_defer(b);
			return;
		}
	}
	batch_put(b);
}

/*
 * Where free slots are scattered a batch is many writes, which the device gets
 * in one go. A worker has no plug of its own.
 */
static void batch_issue_plugged(struct batch *b)
{
	struct blk_plug plug;

	blk_start_plug(&plug);
	batch_issue(b, GFP_NOIO);
	blk_finish_plug(&plug);
}

/*
 * Waits for a batch, perhaps until one of those that batch_defer() was given is
 * written: hence two workers, each with a queue and so a rescuer of its own.
 */
static void batch_work(struct work_struct *work)
{
	struct batching *bt = container_of(work, struct batching, work);
	struct batch *filled = NULL;
	struct bio *bio;

	do {
		spin_lock_irq(&bt->deferred_lock);
		bio = bio_list_pop(&bt->deferred_bios);
		spin_unlock_irq(&bt->deferred_lock);
		if (bio)
			batch_fill(bt, &filled, bio, GFP_NOIO);
		cond_resched();
	} while (bio);
	if (filled)
		batch_issue_plugged(filled);
}

static void batch_write_work(struct work_struct *work)
{
	struct batching *bt = container_of(work, struct batching, write_work);
	struct batch *b;

	do {
		spin_lock_irq(&bt->deferred_lock);
		b = list_first_entry_or_null(&bt->deferred_batches,
					     struct batch, list);
		if (b)
			list_del(&b->list);
		spin_unlock_irq(&bt->deferred_lock);
		if (b)
			batch_issue_plugged(b);
		cond_resched();
	} while (b);
}

static size_t batch_bytes(u32 pages)
{
	return sizeof(struct batch) + pages * sizeof(struct cluster_page) +
	       CLUSTER_WORK(pages) * sizeof(u64);
}

static void batching_exit_pools(struct batching *bt)
{
	u32 i;

	mempool_exit(&bt->bounce);
	for (i = 0; i < BATCH_SIZES; i++)
		mempool_exit(&bt->batches[i]);
}

/* A pool that was never set up is all zero, and its exit does nothing. */
static int batching_init_pools(struct batching *bt)
{
	int err;
	u32 i;

	memset(bt->batches, 0, sizeof(bt->batches));
	memset(&bt->bounce, 0, sizeof(bt->bounce));
	err = mempool_init_page_pool(&bt->bounce, BATCH_BOUNCE_MIN, 0);
	for (i = 0; i < BATCH_SIZES && !err; i++)
		err = mempool_init_kmalloc_pool(&bt->batches[i],
						batch_sizes[i].reserve,
						batch_bytes(batch_sizes[i].pages));
	if (err)
		batching_exit_pools(bt);
	return err;
}

int batching_init(struct batching *bt)
{
	int cpu, err;

	INIT_WORK(&bt->work, batch_work);
	INIT_WORK(&bt->write_work, batch_write_work);
	INIT_WORK(&bt->retry_work, batch_retry_work);
	INIT_DELAYED_WORK(&bt->rewrite_work, batch_rewrite_work);
	bt->stopping = false;
	spin_lock_init(&bt->deferred_lock);
	bio_list_init(&bt->deferred_bios);
	INIT_LIST_HEAD(&bt->deferred_batches);
	INIT_LIST_HEAD(&bt->failed);
	bt->nr_failed = 0;
	retired_init(&bt->retired);
	gather_init(bt);
	flight_init(&bt->held);
	err = batching_init_pools(bt);
	if (err)
		return err;
	bt->tails = alloc_percpu(struct batch_tail);
	if (!bt->tails) {
		batching_exit_pools(bt);
		return -ENOMEM;
	}
	for_each_possible_cpu(cpu)
		per_cpu_ptr(bt->tails, cpu)->slot = SLOT_NONE;
	return 0;
}

/* A write that ended before it saw bt->stopping may have queued a rewrite. */
void batching_drain(struct batching *bt)
{
	/*
	 * Before the look at who is under way: his end has seen it, or is waited for. Pairs
	 * with smp_mb() in batch_rewrite_in().
	 */
	smp_store_mb(bt->stopping, true);
	flight_wait_idle(&bt->held);
	cancel_delayed_work_sync(&bt->rewrite_work);
	flight_wait_idle(&bt->held);
}

void batching_exit(struct batching *bt)
{
	gather_exit(bt);
	flush_work(&bt->work);
	flush_work(&bt->write_work);
	flush_work(&bt->retry_work);
	retired_exit(&bt->retired);
	free_percpu(bt->tails);
	batching_exit_pools(bt);
}
