// SPDX-License-Identifier: GPL-2.0-only
#include <linux/ktime.h>
#include <linux/math64.h>

#include "compat/bio.h"
#include "compat/dm.h"
#include "fetch.h"
#include "frames.h"
#include "read.h"
#include "trace.h"
#include "write.h"

#define POOL_BIOS	16
#define SPARE_BIOS	4	/* kept for the next reads, */
#define SPARE_VECS	4	/* as their vectors are in them */

/* Not REQ_POLLED: others may wait for what is read, and they do not poll. */
#define OWNER_FLAGS	(REQ_SYNC | REQ_META | REQ_PRIO | REQ_RAHEAD | \
			 REQ_FAILFAST_MASK)

struct w2r_fetch {
	struct w2r *c;
	struct w2r_filler filler;
	struct bio *owner;	/* whose read this is, or NULL; */
	struct w2r_io *io;	/* and his part of it */
	u32 n;
	u8 payer;		/* of PLAN_PAYERS */
	bool ahead;		/* a prefetch */
	struct page *holes;	/* read past: a chain by page_private() */
	struct bio bio;		/* last: its vectors follow */
};

static u32 fetch_blocks(const struct w2r *c)
{
	return min(W2R_IO_SECTORS >> c->block_shift, W2R_IO_BLOCKS);
}

static u32 block_bytes(const struct w2r *c)
{
	return c->block_sectors << SECTOR_SHIFT;
}

/* --- blocks that an I/O goes past, since they are here already --- */

static struct page *pop_page(struct page **chain)
{
	struct page *page = *chain;

	if (page) {
		*chain = (struct page *)page_private(page);
		set_page_private(page, 0);
	}
	return page;
}

static void push_page(struct page **chain, struct page *page)
{
	set_page_private(page, (unsigned long)*chain);
	*chain = page;
}

static void free_pages_of(struct w2r *c, struct page *chain)
{
	struct page *page;

	while ((page = pop_page(&chain)))
		__free_pages(page, get_order(block_bytes(c)));
}

/* A bio for up to @most blocks; the cgroup of @cause pays. */
static struct bio *get_bio(struct w2r *c, struct bio *cause, u32 most,
			   blk_opf_t opf)
{
	struct bio *bio = bio_list_peek(&c->spares);

	lockdep_assert_held(&c->lock);
	/* Some kernels let a bio have no more vectors than were asked for. */
	if (!bio || bio->bi_max_vecs < most)
		return compat_bio_alloc_for(cause, c->dev->bdev,
					    max_t(u32, most, SPARE_VECS), opf,
					    W2R_GFP, &c->bios);
	bio_list_pop(&c->spares);
	c->nr_spares--;
	compat_bio_reset_for(bio, cause, c->dev->bdev, opf);
	return bio;
}

/* To take a new one for each missed block costs as much as to find its entry. */
static void put_bio(struct w2r *c, struct bio *bio)
{
	lockdep_assert_held(&c->lock);
	if (bio->bi_max_vecs > SPARE_VECS || c->nr_spares == SPARE_BIOS) {
		bio_put(bio);
		return;
	}
	/* Its cgroup may go meanwhile. */
	bio_uninit(bio);
	bio_list_add_head(&c->spares, bio);
	c->nr_spares++;
}

static bool add_hole(struct w2r *c, struct w2r_fetch *f, u32 n)
{
	struct page *page, *got = NULL;
	u32 i;

	for (i = 0; i < n; i++) {
		page = w2r_alloc_frame(c);
		if (!page) {
			free_pages_of(c, got);
			return false;
		}
		push_page(&got, page);
	}
	while ((page = pop_page(&got))) {
		__bio_add_page(&f->bio, page, block_bytes(c), 0);
		push_page(&f->holes, page);
	}
	return true;
}

/* --- I/Os --- */

/* Every block of the I/O has one vector. */
static void copy_to_owner(struct w2r_fetch *f)
{
	struct bio *owner = f->owner;
	struct bvec_iter iter = owner->bi_iter;
	u32 skip = f->io->offset << SECTOR_SHIFT, bytes, i;

	for (i = 0; i < f->bio.bi_vcnt; i++) {
		bytes = min(block_bytes(f->c) - skip, iter.bi_size);
		w2r_copy_frame(owner, &iter, f->bio.bi_io_vec[i].bv_page, skip,
			       bytes, true);
		skip = 0;
	}
}

/*
 * What failed may be something that the owner did not ask for: another part of a
 * block, or a prefetch that the block layer merged with it.
 */
static void end_owner(struct w2r_fetch *f, bool good)
{
	if (good)
		bio_endio(f->owner);
	else
		w2r_send_anew(f->c, f->owner);
}

u32 w2r_under_way(const struct w2r *c, u32 payer)
{
	lockdep_assert_held(&c->lock);
	if (!payer)
		return c->prefetching;
	return plan_under_way(plan_limit(c->rooms.waiting_target, c->block_shift),
			      c->prefetching, c->prefetching_by[payer]);
}

u32 w2r_payer(struct bio *bio)
{
	return pure_one_of(compat_bio_payer(bio), PLAN_OTHERS);
}

static void count_ahead(struct w2r *c, const struct w2r_fetch *f, int by)
{
	c->prefetching += by;
	c->prefetching_by[f->payer] += by;
}

static void fetch_ended(struct bio *bio)
{
	struct w2r_fetch *f = container_of(bio, struct w2r_fetch, bio);
	struct w2r *c = f->c;
	unsigned long flags;

	if (f->owner && !bio->bi_status)
		copy_to_owner(f);
	w2r_filler_ended(c, &f->filler, !bio->bi_status);
	if (f->owner)
		end_owner(f, !bio->bi_status);
	free_pages_of(c, f->holes);
	/* The last one lets go of the lock before the target may vanish. */
	spin_lock_irqsave(&c->lock, flags);
	if (f->ahead)
		count_ahead(c, f, -(int)f->n);
	put_bio(c, bio);
	/* Who waits for it has the lock while he begins to. */
	if (!--c->own && waitqueue_active(&c->idle))
		wake_up(&c->idle);
	spin_unlock_irqrestore(&c->lock, flags);
}

static u32 take_blocks(struct w2r *c, struct w2r_fetch *f, u64 first, u32 n)
{
	enum room room = f->ahead ? ROOM_WAITING : ROOM_WEIGHING;
	u32 got, e;

	for (got = 0; got < n; got++) {
		e = w2r_take(c, first + got, room, &f->filler);
		if (e == ENTRY_NONE)
			break;
		__bio_add_page(&f->bio, c->slots[e].page, block_bytes(c), 0);
	}
	f->n += got;
	if (f->ahead) {
		count_ahead(c, f, got);
		w2r_count(c, W2R_PREFETCHED, got);
	}
	return got;
}

/*
 * A read of up to @n blocks from @first on, to which others may be added, up to
 * @most; the cgroup of @cause pays, also where a worker sends it.
 */
static struct w2r_fetch *begin(struct w2r *c, struct bio *cause, u64 first,
			       u32 n, u32 most, bool ahead, blk_opf_t opf)
{
	struct w2r_fetch *f;
	struct bio *bio;

	bio = get_bio(c, cause, most, REQ_OP_READ | opf);
	if (!bio)
		return NULL;
	bio->bi_iter.bi_sector = first << c->block_shift;
	bio->bi_end_io = fetch_ended;
	f = container_of(bio, struct w2r_fetch, bio);
	f->c = c;
	f->owner = NULL;
	f->n = 0;
	f->payer = w2r_payer(bio);
	f->ahead = ahead;
	f->holes = NULL;
	w2r_filler_init(&f->filler);
	if (!take_blocks(c, f, first, n)) {
		put_bio(c, bio);
		return NULL;
	}
	c->own++;
	return f;
}

static bool is_idle(int ioprio)
{
	return IOPRIO_PRIO_CLASS(ioprio) == IOPRIO_CLASS_IDLE;
}

static void set_priority(struct w2r_fetch *f, int ioprio)
{
	f->bio.bi_ioprio = ioprio;
	f->filler.limited = f->payer || is_idle(ioprio);
}

struct w2r_fetch *w2r_fetch_begin(struct w2r *c, struct bio *owner,
				  struct w2r_io *io)
{
	struct w2r_fetch *f;

	lockdep_assert_held(&c->lock);
	f = begin(c, owner, io->first, 1, min_t(u32, io->n, W2R_IO_BLOCKS),
		  false, owner->bi_opf & OWNER_FLAGS);
	if (!f)
		return NULL;
	f->owner = owner;
	f->io = io;
	set_priority(f, compat_bio_ioprio(owner));
	return f;
}

bool w2r_fetch_add(struct w2r *c, struct w2r_fetch *f, u64 block, bool keep)
{
	lockdep_assert_held(&c->lock);
	if (block >= c->nr_blocks || f->bio.bi_vcnt == f->bio.bi_max_vecs)
		return false;
	return (keep && take_blocks(c, f, block, 1)) || add_hole(c, f, 1);
}

struct bio *w2r_fetch_bio(struct w2r_fetch *f)
{
	return &f->bio;
}

/* --- prefetches --- */

/* The I/Os that carry out a plan; the last one may still grow. */
struct w2r_ahead {
	struct bio *cause;	/* the read that they follow from, or the last of them; */
	int ioprio;		/* its priority, */
	u32 payer;		/* and who pays */
	blk_opf_t opf;
	struct bio_list *bios;
	struct w2r_fetch *f;	/* the last one, or none */
	u64 end;		/* the block after it */
	u32 most;		/* blocks in an I/O */
	u32 limit;		/* prefetched blocks under way */
	u32 taken;		/* blocks so far, with those that are read past */
	u32 before;		/* of them, before the lock was last taken; */
	u64 since, ns;		/* when it was, and for how long before that */
};

/* Adds blocks to the last I/O, past a small hole perhaps; how many. */
static u32 go_on(struct w2r *c, struct w2r_ahead *a, u64 first, u32 n)
{
	u32 hole, left;

	if (!a->f || first - a->end > plan_hole(c->block_shift))
		return 0;
	hole = first - a->end;
	left = a->most - a->f->bio.bi_vcnt;
	if (left <= hole || (hole && !add_hole(c, a->f, hole)))
		return 0;
	a->taken += hole;
	return take_blocks(c, a->f, first, min(n, left - hole));
}

/* Behind demand reads, also where a scheduler sorts, and not before those of an idle class. */
static struct w2r_fetch *begin_ahead(struct w2r *c, u64 first, u32 n,
				     struct w2r_ahead *a)
{
	struct w2r_fetch *f = begin(c, a->cause, first, n, a->most, true,
				    REQ_RAHEAD | a->opf);

	if (!f)
		return NULL;
	set_priority(f, is_idle(a->ioprio) ? a->ioprio :
		     IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 7));
	w2r_count(c, W2R_ORIGIN_PREFETCHES, 1);
	bio_list_add(a->bios, &f->bio);
	/* Not sent before all are. */
	a->cause = &f->bio;
	return f;
}

static u32 fetch_ahead(struct w2r *c, struct w2r_ahead *a, u64 first, u32 n)
{
	u32 got = go_on(c, a, first, n);

	if (!got) {
		n = min(n, a->most);
		a->f = begin_ahead(c, first, n, a);
		got = a->f ? a->f->n : 0;
	}
	a->end = first + got;
	a->taken += got;
	return got;
}

static bool wanted(const void *ctx, u64 block)
{
	const struct w2r *c = ctx;

	return block < c->nr_blocks && !w2r_being_written(c, block) &&
	       rooms_where(&c->rooms, block) == ROOM_DISK;
}

/* How many blocks are taken next, without letting go of the lock. */
static u32 some_left(const struct w2r *c, const struct w2r_ahead *a)
{
	u32 left = plan_left(a->limit, w2r_under_way(c, a->payer),
			     plan_most(c->block_shift), a->taken);

	return c->suspended ? 0 :
	       min(left, a->before + W2R_LOCKED_BLOCKS - a->taken);
}

/* The target stays for those that are taken, and not sent yet. */
static void relock(struct w2r *c, struct w2r_ahead *a)
{
	if (a->taken - a->before < W2R_LOCKED_BLOCKS)
		return;
	a->ns += ktime_get_ns() - a->since;
	w2r_relock(c);
	a->since = ktime_get_ns();
	a->before = a->taken;
}

/* What of a run is not here yet, in as few I/Os as that makes. */
static u32 fetch_run(struct w2r *c, struct w2r_ahead *a, struct run rest)
{
	u32 got, left, n, total = 0;
	u64 first;

	while ((left = some_left(c, a))) {
		n = plan_cut(&rest, left, wanted, c, &first);
		if (!n)
			break;
		got = fetch_ahead(c, a, first, n);
		total += got;
		relock(c, a);
		if (!got)
			break;
		/* An I/O was full: the others come next. */
		rest.first -= n - got;
		rest.n += n - got;
	}
	return total;
}

/* Before anything is fetched, which may push it out. */
static void keep(struct w2r *c, const struct plan *plan)
{
	u32 i;

	for (i = 0; i < plan->n; i++)
		if (plan->keep[i])
			rooms_keep(&c->rooms, plan->runs[i].first,
				   plan->runs[i].n);
}

static enum room where(const void *ctx, u64 block)
{
	return rooms_where(ctx, block);
}

static void trace(struct w2r *c, struct bio_list *bios)
{
	struct w2r_fetch *f;
	struct bio *bio;

	bio_list_for_each(bio, bios) {
		f = container_of(bio, struct w2r_fetch, bio);
		if (f->ahead)
			trace_w2r_prefetch(c->devt, bio->bi_iter.bi_sector >>
					   c->block_shift, f->n);
	}
}

void w2r_trace_split(struct w2r *c)
{
	lockdep_assert_held(&c->lock);
	if (c->rooms.waiting_target == c->traced_target)
		return;
	trace_w2r_split(c->devt, c->rooms.waiting_target, c->traced_target);
	c->traced_target = c->rooms.waiting_target;
}

void w2r_relock(struct w2r *c)
{
	w2r_trace_split(c);
	spin_unlock_irq(&c->lock);
	spin_lock_irq(&c->lock);
}

void w2r_look_ahead(struct w2r *c, const struct reference *ref,
		    struct bio *cause, blk_opf_t opf, struct bio_list *bios)
{
	struct w2r_ahead a = {
		.cause = cause, .ioprio = compat_bio_ioprio(cause),
		.payer = w2r_payer(cause),
		.opf = opf, .bios = bios,
	};
	struct plan plan __uninitialized;
	u32 i, n = 0;

	lockdep_assert_held(&c->lock);
	if (!c->lookahead_on || c->suspended)
		return;
	planner_reference(c->planner, ref, where, &c->rooms, &plan);
	if (plan.waiting)
		rooms_grow_waiting(&c->rooms, plan.waiting);
	if (!plan.n)
		return;
	a.since = ktime_get_ns();
	keep(c, &plan);
	a.most = min(fetch_blocks(c), plan_blocks(&plan));
	/* Memory may be cleared when it is taken, with interrupts off. */
	a.limit = plan_limit(c->rooms.waiting_target, c->block_shift);
	for (i = 0; i < plan.n; i++) {
		n += fetch_run(c, &a, plan.runs[i]);
		if (plan.keep[i])
			rooms_expect(&c->rooms, plan.runs[i].first,
				     plan.runs[i].n);
	}
	trace(c, bios);
	if (n)
		toggle_cost(&c->toggle,
			    div_u64(a.ns + ktime_get_ns() - a.since, n));
}

void w2r_submit(struct bio_list *bios)
{
	struct bio *bio;

	while ((bio = bio_list_pop(bios)))
		compat_dm_submit(bio);
}

void w2r_submit_later(struct w2r *c, struct bio_list *bios)
{
	unsigned long flags;

	if (bio_list_empty(bios))
		return;
	spin_lock_irqsave(&c->lock, flags);
	bio_list_merge(&c->aheads, bios);
	/* Under the lock: when they have ended, the target may go. */
	queue_work(c->wq, &c->submit);
	spin_unlock_irqrestore(&c->lock, flags);
}

void w2r_submit_work(struct work_struct *work)
{
	struct w2r *c = container_of(work, struct w2r, submit);
	struct bio_list bios;

	spin_lock_irq(&c->lock);
	bios = c->aheads;
	bio_list_init(&c->aheads);
	spin_unlock_irq(&c->lock);
	w2r_submit(&bios);
}

int w2r_fetch_start(struct w2r *c)
{
	bio_list_init(&c->spares);
	c->nr_spares = 0;
	return bioset_init(&c->bios, POOL_BIOS,
			   offsetof(struct w2r_fetch, bio), BIOSET_NEED_BVECS);
}

void w2r_fetch_stop(struct w2r *c)
{
	struct bio *bio;

	while ((bio = bio_list_pop(&c->spares)))
		bio_put(bio);
	bioset_exit(&c->bios);
}
