// SPDX-License-Identifier: GPL-2.0-only
#include <linux/blkdev.h>
#include <linux/slab.h>

#include "batch.h"
#include "compat/page.h"
#include "slot_bio.h"

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
/* Pages of the largest bio that is taken over by copy. */
#define BATCH_STORE_BIO_MAX	16

#define BATCH_GFP_NOWAIT	(GFP_NOWAIT | __GFP_NOWARN)
/* What a batch passes on of its bios' wishes. */
#define BATCH_OPF (REQ_SYNC | REQ_META | REQ_PRIO | REQ_FUA | REQ_SWAP)

struct batch_plug {
	struct blk_plug_cb cb;
	struct batch *batch;
};

u32 batch_limit(const struct batching *bt)
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

static struct batch *batch_alloc(struct batching *bt, u32 pages, gfp_t gfp)
{
	u32 size = batch_size_for(pages);
	struct batch *b = mempool_alloc(&bt->batches[size], gfp);

	if (!b)
		return NULL;
	flight_begin(&bt->held);
	b->bt = bt;
	atomic_set(&b->refs, 1);
	b->n = 0;
	b->cap = batch_sizes[size].pages;
	b->size = size;
	b->next = 0;
	b->nr_bios = 0;
	b->policy = READ_ONCE(bt->knobs->policy);
	b->opf = 0;
	b->sorted = false;
	return b;
}

/*
 * Names the page by its anonymous object. The anon_vma is a key and is never
 * followed, so it does not matter if it goes away. Pages without one (shmem in
 * swap, KSM, file systems) are known by their place on the device.
 */
static void batch_name_page(struct cluster_page *cp, struct page *page,
			    bool swap)
{
	if (swap && compat_page_anon_name(page, &cp->object, &cp->index))
		return;
	cp->object = 0;
	cp->index = cp->vslot;
}

/*
 * A task that evicts pages may be short of memory until they are written: a
 * copy lets it have them at once. Somebody waits for a synchronous write, a
 * large bio is a cluster of its own, and neither gains by waiting for company.
 */
static bool batch_may_store(struct batching *bt, const struct bio *bio)
{
	return (bio->bi_opf & (REQ_SWAP | REQ_SYNC)) == REQ_SWAP &&
	       bio->bi_iter.bi_size <= BATCH_STORE_BIO_MAX * PAGE_SIZE &&
	       READ_ONCE(bt->knobs->batch_usecs) &&
	       READ_ONCE(bt->knobs->policy) == CLUSTER_MOC &&
	       !bt->backing->synchronous;
}

/* @s, which holds the data, takes the place of the page @cp was named by. */
static void batch_hold(struct batching *bt, struct cluster_page *cp,
		       struct stored_page *s)
{
	store_hold(bt->store, s, cp->vslot);
	cp->owner = s;
	cp->page = s->page;
	cp->pos = BATCH_PAGE_STORED;
	mswap_count(bt->stats, MSWAP_PAGES_OUT_COPIED, 1);
}

static bool batch_store_slot(struct batch *b, struct cluster_page *cp,
			     struct bio *bio)
{
	struct stored_page *s = store_get(b->bt->store);

	if (!s)
		return false;
	slot_bio_copy(bio, bio->bi_iter, s->page, false);
	batch_hold(b->bt, cp, s);
	return true;
}

/* Adds the slot at the bio's bi_iter; false when memory is short. */
static bool batch_add_slot(struct batch *b, struct bio *bio, bool store,
			   gfp_t gfp)
{
	struct cluster_page *cp = &b->pages[b->n];
	struct page *page = bio_iter_page(bio, bio->bi_iter);

	cp->owner = bio;
	cp->vslot = slot_bio_virt(bio->bi_iter);
	cp->page = page;
	cp->pos = BATCH_PAGE_OF_BIO;
	batch_name_page(cp, page, bio->bi_opf & REQ_SWAP);
	if (store && batch_store_slot(b, cp, bio)) {
		b->n++;
		return true;
	}
	if (!slot_bio_is_page(bio, bio->bi_iter)) {
		cp->page = mempool_alloc(&b->bt->bounce, gfp);
		if (!cp->page)
			return false;
		slot_bio_copy(bio, bio->bi_iter, cp->page, false);
		cp->pos = BATCH_PAGE_BOUNCED;
	}
	b->n++;
	b->nr_bios++;
	return true;
}

/*
 * No page for a copy is to be had at once. The batch may hold all that there
 * are: it goes first, and only an empty one waits. False if it went.
 */
static bool batch_make_room(struct batch **bp, struct bio *bio)
{
	if ((*bp)->n) {
		batch_issue(*bp, GFP_NOIO);
		*bp = NULL;
		return false;
	}
	return batch_add_slot(*bp, bio, false, GFP_NOIO);
}

/*
 * The slot at the bio's bi_iter was added to @b: each page of the bio's own
 * holds a reference of it, the last slot the caller's. Returns the slots left.
 */
static u32 batch_pass_slot(const struct batch *b, struct bio *bio)
{
	bool stored = b->pages[b->n - 1].pos == BATCH_PAGE_STORED;
	u32 nr;

	bio_advance(bio, PAGE_SIZE);
	nr = bio->bi_iter.bi_size >> PAGE_SHIFT;
	if (nr && !stored)
		bio_inc_remaining(bio);
	if (!nr && stored)
		bio_endio(bio);
	return nr;
}

/*
 * Adds the rest of @bio, a ready-made cluster, to *@bp, which is written first
 * where the cluster does not fit. False when memory is short: the caller still
 * owns the bio, whose bi_iter tells what is left.
 */
static bool batch_fill(struct batching *bt, struct batch **bp, struct bio *bio,
		       gfp_t gfp)
{
	u32 nr = bio->bi_iter.bi_size >> PAGE_SHIFT;
	u32 limit = batch_limit(bt);
	blk_opf_t opf = bio->bi_opf & BATCH_OPF;
	bool store = batch_may_store(bt, bio);

	if (*bp && (!cluster_fits(limit, (*bp)->n, nr) ||
		    (*bp)->n + nr > (*bp)->cap)) {
		batch_issue(*bp, gfp);
		*bp = NULL;
	}
	while (nr) {
		if (!*bp)
			*bp = batch_alloc(bt, bt->backing->synchronous ?
						nr : max(limit, nr), gfp);
		if (!*bp)
			return false;
		if (!batch_add_slot(*bp, bio, store, BATCH_GFP_NOWAIT)) {
			if (gfp == BATCH_GFP_NOWAIT)
				return false;
			if (!batch_make_room(bp, bio))
				continue;
		}
		(*bp)->opf |= opf;
		nr = batch_pass_slot(*bp, bio);
		if ((*bp)->n == (*bp)->cap || (!nr && (*bp)->n >= limit)) {
			batch_issue(*bp, gfp);
			*bp = NULL;
		}
	}
	return true;
}

static void batch_defer_bio(struct batching *bt, struct bio *bio)
{
	unsigned long flags;

	mswap_count(bt->stats, MSWAP_DEFERRED, 1);
	spin_lock_irqsave(&bt->deferred_lock, flags);
	bio_list_add(&bt->deferred_bios, bio);
	spin_unlock_irqrestore(&bt->deferred_lock, flags);
	queue_work(bt->wq, &bt->work);
}

void batch_defer(struct batch *b)
{
	struct batching *bt = b->bt;
	unsigned long flags;

	mswap_count(bt->stats, MSWAP_DEFERRED, 1);
	spin_lock_irqsave(&bt->deferred_lock, flags);
	list_add_tail(&b->list, &bt->deferred_batches);
	spin_unlock_irqrestore(&bt->deferred_lock, flags);
	queue_work(bt->wq, &bt->work);
}

void batch_put(struct batch *b)
{
	struct batching *bt = b->bt;

	if (!atomic_dec_and_test(&b->refs))
		return;
	mempool_free(b, &bt->batches[b->size]);
	flight_end(&bt->held);
}

void batch_issue(struct batch *b, gfp_t gfp)
{
	if (!b->sorted) {
		if (b->policy != CLUSTER_PAGE && b->n > 1)
			cluster_sort(b->pages, b->n);
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
 * The scheduler unplugs a task that is about to sleep: it must not sleep here
 * once more, and its stack may be deep.
 */
static void batch_unplug(struct blk_plug_cb *cb, bool from_schedule)
{
	struct batch_plug *plug = container_of(cb, struct batch_plug, cb);
	struct batch *b = plug->batch;

	kfree(plug);
	if (!b)
		return;
	if (!b->nr_bios)
		gather_batch(b->bt, b, from_schedule);
	else if (from_schedule)
		batch_defer(b);
	else
		batch_issue(b, BATCH_GFP_NOWAIT);
}

/* The batch of the task's plug; without a plug, @alone. */
static struct batch **batch_of_plug(struct batching *bt, struct batch **alone)
{
	struct blk_plug_cb *cb = blk_check_plugged(batch_unplug, bt,
						   sizeof(struct batch_plug));

	return cb ? &container_of(cb, struct batch_plug, cb)->batch : alone;
}

/*
 * On a synchronous device the swap core waits for each page, so there is nothing
 * to gather, and to be unplugged by that wait would cost two switches a page.
 */
void batch_bio(struct batching *bt, struct bio *bio)
{
	struct batch *alone = NULL;
	struct batch **bp = &alone;

	mswap_count(bt->stats, MSWAP_PAGES_OUT,
		    bio->bi_iter.bi_size >> PAGE_SHIFT);
	if (!bt->backing->synchronous)
		bp = batch_of_plug(bt, &alone);
	if (!batch_fill(bt, bp, bio, BATCH_GFP_NOWAIT))
		batch_defer_bio(bt, bio);
	if (alone)
		batch_issue(alone, BATCH_GFP_NOWAIT);
}

void batch_bio_wait(struct batching *bt, struct bio *bio)
{
	struct batch *b = NULL;

	mswap_count(bt->stats, MSWAP_PAGES_OUT,
		    bio->bi_iter.bi_size >> PAGE_SHIFT);
	batch_fill(bt, &b, bio, GFP_NOIO);
	if (b)
		batch_issue(b, GFP_NOIO);
}

static void batch_add_copy(struct batch *b, struct stored_page *s, u32 vslot,
			   struct page *page)
{
	struct cluster_page *cp = &b->pages[b->n];

	cp->vslot = vslot;
	batch_name_page(cp, page, true);
	batch_hold(b->bt, cp, s);
	b->opf |= REQ_SWAP;
	b->n++;
}

int batch_copy(struct batching *bt, u32 vslot, struct page *page)
{
	/* First, since to wait unplugs the task and takes its batch away. */
	struct stored_page *s = store_get_wait(bt->store);
	struct batch *alone = NULL;
	struct batch **bp;

	if (!s)
		return -ENOMEM;
	bp = batch_of_plug(bt, &alone);
	if (!*bp)
		*bp = batch_alloc(bt, batch_limit(bt), BATCH_GFP_NOWAIT);
	if (!*bp) {
		store_put(bt->store, s);
		return -ENOMEM;
	}
	mswap_count(bt->stats, MSWAP_PAGES_OUT, 1);
	copy_highpage(s->page, page);
	batch_add_copy(*bp, s, vslot, page);
	if ((*bp)->n >= batch_limit(bt)) {
		batch_issue(*bp, BATCH_GFP_NOWAIT);
		*bp = NULL;
	} else if (alone) {
		gather_batch(bt, alone, false);
	}
	return 0;
}

static struct batch *batch_pop_deferred(struct batching *bt, struct bio **bio)
{
	struct batch *b;

	*bio = NULL;
	spin_lock_irq(&bt->deferred_lock);
	b = list_first_entry_or_null(&bt->deferred_batches, struct batch, list);
	if (b)
		list_del(&b->list);
	else
		*bio = bio_list_pop(&bt->deferred_bios);
	spin_unlock_irq(&bt->deferred_lock);
	return b;
}

/*
 * Batches go before bios: they hold what a bio's new batch may have to wait
 * for.
 */
static void batch_work(struct work_struct *work)
{
	struct batching *bt = container_of(work, struct batching, work);
	struct batch *b, *filled = NULL;
	struct bio *bio;

	do {
		b = batch_pop_deferred(bt, &bio);
		if (b)
			batch_issue(b, GFP_NOIO);
		else if (bio)
			batch_fill(bt, &filled, bio, GFP_NOIO);
	} while (b || bio);
	if (filled)
		batch_issue(filled, GFP_NOIO);
}

static size_t batch_bytes(u32 pages)
{
	return sizeof(struct batch) + pages * sizeof(struct cluster_page);
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
	INIT_WORK(&bt->retry_work, batch_retry_work);
	spin_lock_init(&bt->deferred_lock);
	bio_list_init(&bt->deferred_bios);
	INIT_LIST_HEAD(&bt->deferred_batches);
	INIT_LIST_HEAD(&bt->failed);
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

void batching_drain(struct batching *bt)
{
	flight_wait_idle(&bt->held);
}

void batching_exit(struct batching *bt)
{
	gather_exit(bt);
	flush_work(&bt->work);
	flush_work(&bt->retry_work);
	free_percpu(bt->tails);
	batching_exit_pools(bt);
}
