// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>
#include <linux/slab.h>

#include "pagein.h"
#include "read_op.h"
#include "slot_bio.h"

/* Reads and bounce pages that go on when no memory at all is left. */
#define PAGEIN_OPS_MIN		16
#define PAGEIN_BOUNCE_MIN	4
/* Bios that were split; for want of them some pages are read twice. */
#define PAGEIN_PARTS_MIN	4
/* Misses between two tries of a window that was shut, and pages that open it. */
#define RUN_PROBE_EVERY		64
#define RUN_PROBE_PAGES		16
#define STRANGERS_PROBE_EVERY	256
#define STRANGERS_PROBE_PAGES	8

static struct kmem_cache *read_op_cache;

enum step {
	STEP_NEXT,	/* the slot at bi_iter is served or under way */
	STEP_GONE,	/* the last reference of the bio went with it */
	STEP_DEFER,	/* memory is short: nothing was done */
};

/* What one walk over a bio carries along. */
struct walk {
	struct bio *bio;
	struct bio *rest;	/* of which it is a part; comes next */
	gfp_t gfp;
	bool alone;		/* read nothing else with it */
	bool whole;		/* there was no memory for a part */
	struct read_op *op;	/* spare */
	struct onward onward;	/* to be started when the bio, or the part, is done */
	u32 onward_from;	/* the slot whose hit starts it */
	struct reader onward_reader;	/* who asked for the page that starts it */
};

static void pagein_defer_to(struct pagein *pi, struct bio_list *list,
			    struct bio *bio)
{
	unsigned long flags;

	mswap_count(pi->stats, MSWAP_DEFERRED, 1);
	spin_lock_irqsave(&pi->deferred_lock, flags);
	bio_list_add(list, bio);
	queue_work(pi->wq, &pi->work);
	spin_unlock_irqrestore(&pi->deferred_lock, flags);
}

void pagein_defer(struct pagein *pi, struct bio *bio)
{
	pagein_defer_to(pi, &pi->deferred, bio);
}

void pagein_defer_alone(struct pagein *pi, struct bio *bio)
{
	pagein_defer_to(pi, &pi->alone, bio);
}

void pagein_defer_retry(struct pagein *pi, struct read_op *op)
{
	unsigned long flags;

	spin_lock_irqsave(&pi->deferred_lock, flags);
	list_add_tail(&op->retry, &pi->retries);
	queue_work(pi->retry_wq, &pi->retry_work);
	spin_unlock_irqrestore(&pi->deferred_lock, flags);
}

void read_op_release(struct pagein *pi, struct read_op *op)
{
	/* Somebody may be waiting for what the reserve lacks. */
	if (READ_ONCE(pi->ops.curr_nr) == PAGEIN_OPS_MIN)
		op = this_cpu_xchg(*pi->spares, op);
	if (op)
		mempool_free(op, &pi->ops);
}

static struct read_op *read_op_ready(struct pagein *pi, struct read_op *op)
{
	if (!op)
		return NULL;
	op->pi = pi;
	op->skip = 0;
	op->steady = STEADY_NONE;
	op->meant = 0;
	op->freed = 0;
	op->alone = false;
	op->giver = false;
	op->held = 0;
	op->closed = false;
	op->down = false;
	op->below = 0;
	op->nr_joined = 0;
	op->joined_pages = 0;
	op->front = NULL;
	op->bounce = NULL;
	op->want = 0;
	op->nr_want = 0;
	return op;
}

/* What is at hand on this CPU, or NULL. Any context. */
static struct read_op *read_op_spare(struct pagein *pi)
{
	return read_op_ready(pi, this_cpu_xchg(*pi->spares, NULL));
}

static struct read_op *read_op_alloc(struct pagein *pi, gfp_t gfp)
{
	struct read_op *op = read_op_spare(pi);

	return op ?: read_op_ready(pi, mempool_alloc(&pi->ops, gfp));
}

static void read_op_discard(struct pagein *pi, struct read_op *op)
{
	if (op->bounce)
		mempool_free(op->bounce, &pi->bounce);
	read_op_release(pi, op);
}

/*
 * How many of the bio's slots from bi_iter on lie one after the other, up to one
 * that is in memory, or on its way. @again: so is the first one, and the bio could
 * not join it: rather one I/O for all that is wanted than one for each page.
 */
static u32 count_wanted(struct pagein *pi, struct pagein_shard *sh,
			struct bio *bio, u32 slot, bool again)
{
	struct bvec_iter iter = bio->bi_iter;
	u32 most = min_t(u32, GRANULE_SLOTS - slot % GRANULE_SLOTS,
			 iter.bi_size >> PAGE_SHIFT);
	u32 at = slot % GRANULE_SLOTS, n = 1;
	u64 held = 0, rest;

	if (most > 1) {
		rest = GENMASK_ULL(at + most - 1, at + 1);
		held = again ? pagein_waiting(sh, slot - at, rest) :
			       pagein_held(sh, slot - at, rest);
	}
	for (; n < most; n++) {
		bio_advance_iter_single(bio, &iter, PAGE_SIZE);
		if (!pagein_lies_at(pi, slot_bio_virt(iter), slot + n) ||
		    !slot_bio_is_page(bio, iter) ||
		    held >> (at + n) & 1)
			break;
	}
	return n;
}

/* Starts the next window of a steady reader, so that it never waits. */
static noinline void pagein_ahead(struct pagein *pi, const struct walk *w)
{
	struct pagein_shard *sh = pagein_shard(pi, w->onward.slot);
	struct onward onward = w->onward;
	struct read_op *op;
	unsigned long flags;
	u32 wanted = 0;
	bool planned;

	onward.size = min_t(u32, onward.size, pagein_limit(pi));
	if (onward.slot >= pi->map->nr_phys || onward.size < 2)
		return;
	op = read_op_alloc(pi, GFP_NOWAIT | __GFP_NOWARN);
	if (!op)
		return;
	op->reader = w->onward_reader;
	spin_lock_irqsave(&sh->lock, flags);
	if (w->rest)
		wanted = pagein_wants_onward(pi, w->rest, &onward, w->onward_from);
	planned = read_plan_ahead(op, sh, &onward, w->onward_from, wanted);
	if (planned)
		flight_begin(pi->flight);
	spin_unlock_irqrestore(&sh->lock, flags);
	if (!planned) {
		read_op_discard(pi, op);
		return;
	}
	read_op_submit(op);
}

/*
 * @next is to be started when the bio is done. One from before, which the reader has not come
 * to meanwhile, goes first: the bio goes through several runs.
 */
static void note_onward(struct pagein *pi, struct walk *w, struct onward next,
			u32 from, struct reader reader)
{
	if (w->onward.slot != SLOT_NONE &&
	    granule_of(w->onward.slot) != granule_of(from))
		pagein_ahead(pi, w);
	w->onward = next;
	w->onward_from = from;
	w->onward_reader = reader;
}

/* The wanted page waits already: copies it, drops the lock. */
static enum step serve_waiting(struct pagein *pi, struct pagein_shard *sh,
			       struct walk *w, struct waiting_frame *f,
			       unsigned long flags)
	__releases(&sh->lock)
{
	struct waiting_fate used = { 0 };
	struct onward onward = f->onward;
	u32 slot = f->slot;

	if (onward.slot != SLOT_NONE)
		waiting_begun(&sh->room, f);
	waiting_take(&sh->room, f);
	waiting_note(&used, f);
	steady_earn(&sh->steady, f->steady);
	pagein_learn(pi, sh, &used, &waiting_no_fate);
	spin_unlock_irqrestore(&sh->lock, flags);
	slot_bio_copy(w->bio, w->bio->bi_iter, f->page, true);
	waiting_return(&sh->room, f);
	mswap_count(pi->stats, MSWAP_PAGES_IN_WAITING, 1);
	if (onward.slot != SLOT_NONE)
		note_onward(pi, w, onward, slot, reader_of(w->bio));
	bio_advance(w->bio, PAGE_SIZE);
	return STEP_NEXT;
}

/*
 * The wanted pages are being read: their reader will copy them. All that is left of the bio.
 * Drops the lock, and the bio may be gone.
 */
static void join_read(struct pagein *pi, struct pagein_shard *sh,
		      struct walk *w, struct read_op *op, u32 slot, u32 n,
		      unsigned long flags)
	__releases(&sh->lock)
{
	struct reader reader = reader_of(w->bio);
	struct onward onward = read_op_join(op, sh, w->bio, slot, n);

	mswap_count(pi->stats, MSWAP_PAGES_IN_WAITING, n);
	spin_unlock_irqrestore(&sh->lock, flags);
	if (onward.slot != SLOT_NONE)
		note_onward(pi, w, onward, slot + n - 1, reader);
}

/*
 * The first @n slots become a bio of their own, which can be read alone, should what it joins
 * fail. Never waits: who has the memory may wait for this task.
 */
static void part_bio(struct pagein *pi, struct walk *w, u32 n)
{
	struct bio *part = bio_split(w->bio, n * SLOT_SECTORS,
				     GFP_NOWAIT | __GFP_NOWARN, &pi->parts);

	if (IS_ERR_OR_NULL(part)) {
		w->whole = true;
		return;
	}
	bio_chain(part, w->bio);
	w->rest = w->bio;
	w->bio = part;
}

/* Memory that cannot be had under the lock. */
static bool get_spare_op(struct pagein *pi, struct walk *w)
{
	if (!w->op)
		w->op = read_op_alloc(pi, w->gfp);
	if (!w->op)
		return false;
	if (slot_bio_is_page(w->bio, w->bio->bi_iter))
		return true;
	w->op->bounce = mempool_alloc(&pi->bounce, w->gfp);
	return w->op->bounce;
}

static void submit_wanted(struct pagein *pi, struct walk *w)
{
	struct read_op *op = w->op;
	u32 bytes = op->nr_want << PAGE_SHIFT;

	w->op = NULL;
	op->front = w->bio;
	op->iter = w->bio->bi_iter;
	if (bytes < w->bio->bi_iter.bi_size) {
		bio_advance(w->bio, bytes);
		bio_inc_remaining(w->bio);
	} else {
		w->bio = NULL;
	}
	read_op_submit(op);
}

static void plan_step(struct pagein *pi, struct pagein_shard *sh,
		      struct walk *w, u32 slot, bool again)
{
	struct read_op *op = w->op;
	u32 want = op->bounce ? 1 : count_wanted(pi, sh, w->bio, slot, again);

	op->reader = reader_of(w->bio);
	if (w->alone) {
		op->alone = true;
		read_plan_wanted(op, sh, slot, want);
	} else {
		read_plan(op, sh, slot, want);
	}
}

static enum step pagein_step(struct pagein *pi, struct walk *w)
{
	u32 virt = slot_bio_virt(w->bio->bi_iter);
	struct waiting_frame *f;
	struct pagein_shard *sh;
	struct read_op *op;
	unsigned long flags;
	u32 slot, brought;

	/* Before the map, which a write's end updates before it drops the copy. */
	if (store_read(pi->store, w->bio, w->bio->bi_iter)) {
		mswap_count(pi->stats, MSWAP_PAGES_IN_COPIED, 1);
		bio_advance(w->bio, PAGE_SIZE);
		return STEP_NEXT;
	}
again:
	slot = slot_map_get(pi->map, virt);
	if (slot == SLOT_UNMAPPED) {
		slot_bio_copy(w->bio, w->bio->bi_iter, ZERO_PAGE(0), true);
		mswap_count(pi->stats, MSWAP_PAGES_IN_ZERO, 1);
		bio_advance(w->bio, PAGE_SIZE);
		return STEP_NEXT;
	}
	sh = pagein_shard(pi, slot);
	spin_lock_irqsave(&sh->lock, flags);
	/* Whoever takes the slot out of the map now waits for our lock. */
	if (slot_map_get(pi->map, virt) != slot) {
		spin_unlock_irqrestore(&sh->lock, flags);
		goto again;
	}
	pagein_note_order(sh, slot);
	f = waiting_find(&sh->room, slot);
	if (f)
		return serve_waiting(pi, sh, w, f, flags);
	op = pagein_find_read(sh, slot);
	brought = op && !w->alone ? read_op_brings(op, w->bio, slot) : 0;
	if (brought && brought == w->bio->bi_iter.bi_size >> PAGE_SHIFT) {
		join_read(pi, sh, w, op, slot, brought, flags);
		return STEP_GONE;
	}
	if (brought && !w->whole && !w->rest) {
		spin_unlock_irqrestore(&sh->lock, flags);
		part_bio(pi, w, brought);
		goto again;
	}
	if (!w->op)
		w->op = read_op_spare(pi);
	if (!w->op || (!w->op->bounce &&
		       !slot_bio_is_page(w->bio, w->bio->bi_iter))) {
		spin_unlock_irqrestore(&sh->lock, flags);
		if (!get_spare_op(pi, w))
			return STEP_DEFER;
		goto again;
	}
	plan_step(pi, sh, w, slot, op);
	/* From now on it keeps slots from being free. */
	flight_begin(pi->flight);
	spin_unlock_irqrestore(&sh->lock, flags);
	submit_wanted(pi, w);
	return w->bio ? STEP_NEXT : STEP_GONE;
}

/* To the end of the bio, of half a million pages perhaps, or of the part that there is by then. */
static void walk_bio(struct pagein *pi, struct walk *w)
{
	enum step step = STEP_NEXT;

	while (step == STEP_NEXT && w->bio->bi_iter.bi_size) {
		step = pagein_step(pi, w);
		if (step == STEP_NEXT && w->bio->bi_iter.bi_size)
			cond_resched();
	}
	if (step == STEP_DEFER)
		pagein_defer(pi, w->bio);
	else if (step == STEP_NEXT)
		bio_endio(w->bio);
	if (w->op)
		read_op_discard(pi, w->op);
	w->op = NULL;
	if (w->onward.slot != SLOT_NONE)
		pagein_ahead(pi, w);
	w->onward.slot = SLOT_NONE;
}

static void pagein_walk(struct pagein *pi, struct bio *bio, gfp_t gfp,
			bool alone)
{
	struct walk w = { .rest = bio, .gfp = gfp, .alone = alone,
			  .onward.slot = SLOT_NONE };

	while (w.rest) {
		w.bio = w.rest;
		w.rest = NULL;
		walk_bio(pi, &w);
	}
}

void pagein_read(struct pagein *pi, struct bio *bio)
{
	mswap_count(pi->stats, MSWAP_PAGES_IN,
		    bio->bi_iter.bi_size >> PAGE_SHIFT);
	pagein_walk(pi, bio, GFP_NOWAIT | __GFP_NOWARN, false);
}

static void pagein_work(struct work_struct *work)
{
	struct pagein *pi = container_of(work, struct pagein, work);
	struct bio *bio;
	bool alone;

	do {
		spin_lock_irq(&pi->deferred_lock);
		alone = !bio_list_empty(&pi->alone);
		bio = bio_list_pop(alone ? &pi->alone : &pi->deferred);
		spin_unlock_irq(&pi->deferred_lock);
		if (bio)
			pagein_walk(pi, bio, GFP_NOIO, alone);
		cond_resched();
	} while (bio);
}

/*
 * On a queue of its own: a retry holds memory of the pool that a deferred read
 * may be waiting for.
 */
static void pagein_retry_work(struct work_struct *work)
{
	struct pagein *pi = container_of(work, struct pagein, retry_work);
	struct read_op *op;

	do {
		spin_lock_irq(&pi->deferred_lock);
		op = list_first_entry_or_null(&pi->retries, struct read_op,
					      retry);
		if (op)
			list_del(&op->retry);
		spin_unlock_irq(&pi->deferred_lock);
		if (op)
			read_op_retry(op);
		cond_resched();
	} while (op);
}

int pagein_set_waiting_pages(struct pagein *pi, u32 pages)
{
	u32 each = DIV_ROUND_UP(pages, PAGEIN_SHARDS);
	u32 i;
	int err;

	for (i = 0; i < PAGEIN_SHARDS; i++) {
		err = waiting_resize(&pi->shards[i].room, &pi->shards[i].lock,
				     each);
		if (err)
			return err;
	}
	return 0;
}

u32 pagein_waiting_frames(struct pagein *pi)
{
	u32 i, n = 0;

	for (i = 0; i < PAGEIN_SHARDS; i++)
		n += READ_ONCE(pi->shards[i].room.nr_frames);
	return n;
}

u32 pagein_window(struct pagein *pi)
{
	u32 limit = pagein_limit(pi);
	u32 i, sum = 0;

	if (READ_ONCE(pi->knobs->readahead) != MSWAP_READAHEAD_AUTO)
		return limit;
	for (i = 0; i < PAGEIN_SHARDS; i++)
		sum += min(READ_ONCE(pi->shards[i].run_tuner.size), limit);
	return sum / PAGEIN_SHARDS;
}

static void pagein_init_shards(struct pagein *pi)
{
	u32 i, j;

	for (i = 0; i < PAGEIN_SHARDS; i++) {
		struct pagein_shard *sh = &pi->shards[i];

		spin_lock_init(&sh->lock);
		for (j = 0; j < PAGEIN_READS; j++)
			INIT_LIST_HEAD(&sh->reads[j]);
		waiting_init(&sh->room);
		pace_init(&sh->pace);
		steady_init(&sh->steady);
		order_init(&sh->order);
		window_tuner_init(&sh->run_tuner, RUN_PROBE_EVERY,
				  RUN_PROBE_PAGES);
		window_tuner_init(&sh->strangers_tuner, STRANGERS_PROBE_EVERY,
				  STRANGERS_PROBE_PAGES);
	}
}

static void pagein_exit_rooms(struct pagein *pi)
{
	u32 i;

	for (i = 0; i < PAGEIN_SHARDS; i++) {
		WARN_ON_ONCE(pi->shards[i].held);
		waiting_exit(&pi->shards[i].room);
	}
}

int pagein_init(struct pagein *pi)
{
	int err;

	INIT_WORK(&pi->work, pagein_work);
	INIT_WORK(&pi->retry_work, pagein_retry_work);
	spin_lock_init(&pi->deferred_lock);
	bio_list_init(&pi->deferred);
	bio_list_init(&pi->alone);
	INIT_LIST_HEAD(&pi->retries);
	pi->whole_left = 0;
	pi->shards = kvcalloc(PAGEIN_SHARDS, sizeof(*pi->shards), GFP_KERNEL);
	if (!pi->shards)
		return -ENOMEM;
	pagein_init_shards(pi);
	err = -ENOMEM;
	pi->spares = alloc_percpu(struct read_op *);
	if (!pi->spares)
		goto err_shards;
	err = mempool_init_slab_pool(&pi->ops, PAGEIN_OPS_MIN, read_op_cache);
	if (err)
		goto err_spares;
	err = mempool_init_page_pool(&pi->bounce, PAGEIN_BOUNCE_MIN, 0);
	if (err)
		goto err_ops;
	err = bioset_init(&pi->parts, PAGEIN_PARTS_MIN, 0, 0);
	if (err)
		goto err_bounce;
	err = pagein_set_waiting_pages(pi, pi->knobs->waiting_pages);
	if (err)
		goto err_waiting;
	return 0;

err_waiting:
	pagein_exit_rooms(pi);
	bioset_exit(&pi->parts);
err_bounce:
	mempool_exit(&pi->bounce);
err_ops:
	mempool_exit(&pi->ops);
err_spares:
	free_percpu(pi->spares);
err_shards:
	kvfree(pi->shards);
	return err;
}

void pagein_drain(struct pagein *pi)
{
	flush_work(&pi->work);
	flush_work(&pi->retry_work);
}

void pagein_exit(struct pagein *pi)
{
	struct read_op *op;
	int cpu;

	pagein_drain(pi);
	for_each_possible_cpu(cpu) {
		op = *per_cpu_ptr(pi->spares, cpu);
		if (op)
			mempool_free(op, &pi->ops);
	}
	free_percpu(pi->spares);
	pagein_exit_rooms(pi);
	bioset_exit(&pi->parts);
	mempool_exit(&pi->bounce);
	mempool_exit(&pi->ops);
	kvfree(pi->shards);
}

int pagein_module_init(void)
{
	read_op_cache = kmem_cache_create("mswap_read", sizeof(struct read_op),
					  0, SLAB_HWCACHE_ALIGN, NULL);
	return read_op_cache ? 0 : -ENOMEM;
}

void pagein_module_exit(void)
{
	kmem_cache_destroy(read_op_cache);
}
