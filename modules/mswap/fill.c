// SPDX-License-Identifier: GPL-2.0-only
/* How pages get into batches: bios, copies, and the plugs they are gathered on. */
#include <linux/blkdev.h>
#include <linux/slab.h>

#include "batch.h"
#include "compat/page.h"
#include "slot_bio.h"

/* The largest bio that is taken over by copy, in bytes: of larger ones no two make a write. */
#define BATCH_STORE_BIO_MAX	(MSWAP_CLUSTER_PAGES_DEFAULT / 2 * PAGE_SIZE)

/* What a batch passes on of its bios' wishes. */
#define BATCH_OPF (REQ_SYNC | REQ_META | REQ_PRIO | REQ_FUA | REQ_SWAP)

struct batch_plug {
	struct blk_plug_cb cb;
	struct batch *batch;
	bool held;		/* counted in bt->held */
};

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
 * copy lets it have them at once. Somebody waits for a synchronous write, a very
 * large folio is a write of its own, and neither gains by waiting for company.
 */
static bool batch_may_store(struct batching *bt, const struct bio *bio)
{
	return (bio->bi_opf & (REQ_SWAP | REQ_SYNC)) == REQ_SWAP &&
	       bio->bi_iter.bi_size <= BATCH_STORE_BIO_MAX &&
	       READ_ONCE(bt->knobs->batch_usecs) &&
	       READ_ONCE(bt->knobs->policy) == CLUSTER_MOC;
}

static void batch_set_stored(struct cluster_page *cp, struct stored_page *s)
{
	cp->owner = s;
	cp->page = s->page;
	cp->pos = BATCH_PAGE_STORED;
}

/* @s, which holds the data, takes the place of the page @cp was named by. */
static void batch_hold(struct batching *bt, struct cluster_page *cp,
		       struct stored_page *s)
{
	store_hold(bt->store, s, cp->vslot);
	batch_set_stored(cp, s);
	mswap_count(bt->stats, MSWAP_PAGES_OUT_COPIED, 1);
}

static bool batch_store_slot(struct batch *b, struct cluster_page *cp,
			     struct bio *bio, bool whole)
{
	struct stored_page *s = store_get(b->bt->store);

	if (!s)
		return false;
	if (whole)
		compat_copy_page(s->page, cp->page);
	else
		slot_bio_copy(bio, bio->bi_iter, s->page, false);
	batch_hold(b->bt, cp, s);
	return true;
}

/* Adds the slot at the bio's bi_iter; false when memory is short. */
static bool batch_add_slot(struct batch *b, struct bio *bio, bool store,
			   gfp_t gfp)
{
	struct cluster_page *cp = &b->pages[b->n];
	bool whole = slot_bio_is_page(bio, bio->bi_iter);

	cp->owner = bio;
	cp->vslot = slot_bio_virt(bio->bi_iter);
	cp->page = bio_iter_page(bio, bio->bi_iter);
	cp->pos = BATCH_PAGE_OF_BIO;
	batch_name_page(cp, cp->page, bio->bi_opf & REQ_SWAP);
	if (store && batch_store_slot(b, cp, bio, whole)) {
		b->n++;
		return true;
	}
	if (!whole) {
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
 * The batch leaves its place first: outside ->submit_bio a submission may sleep,
 * and the scheduler's unplug would issue it again and free the plug's place.
 */
static void batch_issue_of(struct batch **bp, gfp_t gfp)
{
	struct batch *b = *bp;

	*bp = NULL;
	batch_issue(b, gfp);
}

/*
 * No page for a copy is to be had at once. The batch may hold all that there
 * are: it goes first, and only an empty one waits. False if it went.
 */
static bool batch_make_room(struct batch **bp, struct bio *bio)
{
	if ((*bp)->n) {
		batch_issue_of(bp, GFP_NOIO);
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

/* Memory is short: nothing came of a batch that is empty yet, which would wait for company. */
static bool batch_give_up(struct batch **bp)
{
	if (!(*bp)->n) {
		batch_put(*bp);
		*bp = NULL;
	}
	return false;
}

/* Has it room for @nr pages more? Then it does not go before they are in. */
static bool batch_takes(const struct batch *b, u32 nr)
{
	return cluster_fits(b->limit, b->n, nr) && b->n + nr <= b->cap;
}

/* The whole rest of @bio; *@bp goes when it is full. */
static bool batch_add_bio(struct batching *bt, struct batch **bp,
			  struct bio *bio, gfp_t gfp)
{
	u32 nr = bio->bi_iter.bi_size >> PAGE_SHIFT;
	blk_opf_t opf = bio->bi_opf & BATCH_OPF;
	bool store = batch_may_store(bt, bio);

	while (nr) {
		if (!*bp)
			*bp = batch_alloc(bt, nr, gfp);
		if (!*bp)
			return false;
		if (!batch_add_slot(*bp, bio, store, BATCH_GFP_NOWAIT)) {
			if (gfp == BATCH_GFP_NOWAIT)
				return batch_give_up(bp);
			if (!batch_make_room(bp, bio))
				continue;
		}
		(*bp)->opf |= opf;
		nr = batch_pass_slot(*bp, bio);
		if ((*bp)->n == (*bp)->cap || (!nr && batch_is_full(*bp)))
			batch_issue_of(bp, gfp);
		/* With none left, *bp may have gone with its plug. */
		if (nr && !*bp)
			cond_resched();
	}
	return true;
}

/*
 * Where the two do not fit together the larger one goes: the smaller one may find
 * company yet. But who waits for memory holds none.
 */
bool batch_fill(struct batching *bt, struct batch **bp, struct bio *bio,
		gfp_t gfp)
{
	u32 nr = bio->bi_iter.bi_size >> PAGE_SHIFT;
	struct batch *own = NULL;
	bool filled;

	if (!*bp || batch_takes(*bp, nr))
		return batch_add_bio(bt, bp, bio, gfp);
	if (nr <= (*bp)->n || gfp != BATCH_GFP_NOWAIT) {
		batch_issue_of(bp, gfp);
		return batch_add_bio(bt, bp, bio, gfp);
	}
	filled = batch_add_bio(bt, &own, bio, gfp);
	if (own)
		batch_issue_of(&own, gfp);
	return filled;
}

/*
 * Left-overs that hold up bios wait for company only while no copy is free: the
 * device is busy then, as a rule, and more so with many small writes.
 */
static bool batch_may_wait(const struct batch *b)
{
	const struct batching *bt = b->bt;

	if (!b->nr_bios)
		return true;
	return (b->opf & (REQ_SWAP | REQ_SYNC)) == REQ_SWAP &&
	       !batch_is_full(b) && READ_ONCE(bt->knobs->batch_usecs) &&
	       store_is_used_up(bt->store) && !store_nr_failed(bt->store);
}

static void batch_unplugged(struct batch *b, bool defer)
{
	if (batch_may_wait(b))
		gather_batch(b->bt, b, defer);
	else if (defer)
		batch_defer(b);
	else
		batch_issue(b, BATCH_GFP_NOWAIT);
}

/*
 * The scheduler unplugs a task that is about to sleep: it must not sleep here
 * once more, and its stack may be deep.
 */
static void batch_unplug(struct blk_plug_cb *cb, bool from_schedule)
{
	struct batch_plug *plug = container_of(cb, struct batch_plug, cb);
	struct batching *bt = cb->data;
	struct batch *b = plug->batch;

	kfree(plug);
	if (b)
		batch_unplugged(b, from_schedule || compat_must_not_submit());
	flight_end(&bt->held);
}

/*
 * The batch of the task's plug; without a plug, @alone. The plug stays after its
 * batch has gone, as long as the task does not sleep: the module must not go
 * before it.
 *
 * Who is called first at the end keeps those behind him waiting as long as he sleeps
 * or sends. An md array below may have bios behind, which a resync waits for, which
 * what is sent here waits for: others' callbacks come first.
 */
static struct batch **batch_of_plug(struct batching *bt, struct batch **alone)
{
	struct blk_plug_cb *cb = NULL;
	struct batch_plug *plug;

	if (compat_is_plugged())
		cb = blk_check_plugged(batch_unplug, bt, sizeof(*plug));
	if (!cb)
		return alone;
	plug = container_of(cb, struct batch_plug, cb);
	if (!plug->held) {
		list_move_tail(&cb->list, &current->plug->cb_list);
		plug->held = true;
		flight_begin(&bt->held);
	}
	return &plug->batch;
}

/*
 * To issue a batch may be to sleep, where the kernel makes a cgroup and a device
 * known to each other, and that frees the plug's place: unless @bio fits in, the
 * batch is filled outside, and put where the place is then.
 */
static bool batch_fill_plugged(struct batching *bt, struct batch **alone,
			       struct bio *bio)
{
	struct batch **bp = batch_of_plug(bt, alone), *b = *bp;
	bool filled;

	if (b && batch_takes(b, bio->bi_iter.bi_size >> PAGE_SHIFT))
		return batch_fill(bt, bp, bio, BATCH_GFP_NOWAIT);
	*bp = NULL;
	filled = batch_fill(bt, &b, bio, BATCH_GFP_NOWAIT);
	if (b)
		*batch_of_plug(bt, alone) = b;
	return filled;
}

void batch_bio(struct batching *bt, struct bio *bio)
{
	struct batch *alone = NULL;

	mswap_count(bt->stats, MSWAP_PAGES_OUT,
		    bio->bi_iter.bi_size >> PAGE_SHIFT);
	/*
	 * zswap and DAMON write without a plug, faster than some devices do. With no copy
	 * left each page would be a write of its own, up to as many as the device has
	 * tags: better to wait here than for a tag. What the copies are in has been sent
	 * before, of this task's as well.
	 */
	if (!compat_is_plugged() && batch_may_store(bt, bio))
		store_wait(bt->store);
	if (!batch_fill_plugged(bt, &alone, bio))
		batch_defer_bio(bt, bio);
	/*
	 * Copies may wait for company here, too: zswap writes back without a plug. Not
	 * bios: who sends the first of them would sleep.
	 */
	if (alone && !alone->nr_bios)
		gather_batch(bt, alone, false);
	else if (alone)
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

void batch_rewrite_in(struct batching *bt, unsigned long delay)
{
	if (likely(!store_nr_failed(bt->store)))
		return;
	/*
	 * Pairs with smp_store_mb() in batching_drain(): a batch that it does not see in
	 * bt->held, for which flight_begin() orders nothing, sees that it stops.
	 */
	smp_mb();
	if (!READ_ONCE(bt->stopping))
		queue_delayed_work(bt->retry_wq, &bt->rewrite_work, delay);
}

int batch_copy(struct batching *bt, u32 vslot, struct page *page)
{
	/* First, since to wait unplugs the task and takes its batch away. */
	struct stored_page *s = store_get_wait(bt->store);
	struct batch *alone = NULL;
	struct batch **bp;

	if (!s) {
		/* With all copies failed nothing else tells that it takes writes again. */
		batch_rewrite_in(bt, BATCH_PROBE_DELAY);
		return -ENOMEM;
	}
	bp = batch_of_plug(bt, &alone);
	if (!*bp)
		*bp = batch_alloc(bt, 1, BATCH_GFP_NOWAIT);
	if (!*bp) {
		store_put(bt->store, s);
		return -ENOMEM;
	}
	mswap_count(bt->stats, MSWAP_PAGES_OUT, 1);
	compat_copy_page(s->page, page);
	batch_add_copy(*bp, s, vslot, page);
	if (batch_is_full(*bp))
		batch_issue_of(bp, BATCH_GFP_NOWAIT);
	else if (alone)
		gather_batch(bt, alone, false);
	return 0;
}

/* Adds failed copies, up to @most if there are so many. */
static void batch_add_failed(struct batch *b, u32 most)
{
	struct cluster_page *cp;
	struct stored_page *s;

	while (b->n < most) {
		s = store_take_failed(b->bt->store);
		if (!s)
			return;
		cp = &b->pages[b->n++];
		cp->vslot = s->vslot;
		batch_name_page(cp, s->page, false);
		batch_set_stored(cp, s);
	}
}

/*
 * Each is tried once. To wait for memory could be to wait for a batch that
 * another work of this queue is to retry: what cannot be had now is left to
 * the next time.
 */
void batch_rewrite_work(struct work_struct *work)
{
	struct batching *bt = container_of(to_delayed_work(work),
					   struct batching, rewrite_work);
	u32 left = store_nr_failed(bt->store);
	struct batch *b;

	while (left) {
		b = batch_alloc(bt, 1, BATCH_GFP_NOWAIT);
		if (!b)
			return;
		batch_add_failed(b, min(left, b->limit));
		if (!b->n) {
			batch_put(b);
			return;
		}
		left -= b->n;
		b->opf = REQ_SWAP;
		batch_issue(b, BATCH_GFP_NOWAIT);
	}
}
