// SPDX-License-Identifier: GPL-2.0-only
#include <linux/ktime.h>
#include <linux/sched.h>

#include "compat/bio.h"
#include "compat/dm.h"
#include "fetch.h"
#include "frames.h"
#include "read.h"
#include "trace.h"
#include "write.h"

#define SAMPLE	8	/* of so many reads of the origin one is timed */

/* --- out of frames --- */

enum served {
	SERVED,
	WAITS,
	PASSES,		/* to the origin by itself */
};

/*
 * Pins the entries, all readable, or waits for the first one on its way. If its
 * cgroup's limit or idle priority may hold that back, no read of metadata is to
 * wait for it: others may need what its reader has locked.
 */
static enum served pin(struct w2r *c, struct bio *bio, const u32 *entries)
{
	struct w2r_io *io = w2r_io_of(bio);
	struct w2r_filler *f;
	u32 i;

	for (i = 0; i < io->n; i++) {
		if (w2r_entry(c, entries[i])->flags & ENTRY_FILLING) {
			f = c->slots[entries[i]].filler;
			if ((bio->bi_opf & REQ_META) && f->limited)
				return PASSES;
			list_add_tail(&io->wait, &f->waiters);
			return WAITS;
		}
		/* As many readers stand still while they copy it. */
		if (w2r_entry(c, entries[i])->pins == PINS_MAX)
			return PASSES;
	}
	for (i = 0; i < io->n; i++)
		rooms_pin(&c->rooms, entries[i]);
	return SERVED;
}

static enum served find_and_pin(struct w2r *c, struct bio *bio, u32 *entries)
{
	const struct w2r_io *io = w2r_io_of(bio);
	u32 i;

	lockdep_assert_held(&c->lock);
	for (i = 0; i < io->n; i++) {
		entries[i] = index_peek(&c->rooms.index, io->first + i);
		if (!rooms_readable(&c->rooms, entries[i]))
			return PASSES;
	}
	return pin(c, bio, entries);
}

/* The entries are pinned. @bio ends. */
static void serve(struct w2r *c, struct bio *bio, const u32 *entries)
{
	struct w2r_io *io = w2r_io_of(bio);
	struct bvec_iter iter = bio->bi_iter;
	unsigned long flags;
	u32 i;

	w2r_copy(c, bio, &iter, entries, io->n, io->offset, true);
	spin_lock_irqsave(&c->lock, flags);
	for (i = 0; i < io->n; i++)
		rooms_unpin(&c->rooms, entries[i]);
	spin_unlock_irqrestore(&c->lock, flags);
	bio_endio(bio);
}

static void send_anew(struct w2r *c, struct bio *bio)
{
	lockdep_assert_held(&c->lock);
	bio_list_add(&c->resubmits, bio);
	/* Under the lock: when it has ended, the target may go. */
	queue_work(c->wq, &c->resubmit);
}

void w2r_send_anew(struct w2r *c, struct bio *bio)
{
	unsigned long flags;

	spin_lock_irqsave(&c->lock, flags);
	send_anew(c, bio);
	spin_unlock_irqrestore(&c->lock, flags);
}

static void serve_waiter(struct w2r *c, struct w2r_io *io)
{
	struct bio *bio = dm_bio_from_per_bio_data(io, sizeof(*io));
	u32 entries[W2R_SERVE_MAX];
	enum served served;
	unsigned long flags;

	spin_lock_irqsave(&c->lock, flags);
	served = find_and_pin(c, bio, entries);
	if (served == PASSES)
		send_anew(c, bio);
	spin_unlock_irqrestore(&c->lock, flags);
	if (served == SERVED)
		serve(c, bio, entries);
}

static void serve_waiters(struct w2r *c, struct list_head *waiters,
			  bool may_sleep)
{
	struct w2r_io *io, *next;

	list_for_each_entry_safe(io, next, waiters, wait) {
		list_del(&io->wait);
		serve_waiter(c, io);
		if (may_sleep)
			cond_resched();
	}
}

/* Moves from @all to @now those that may be served with interrupts off. */
static void take_few(const struct w2r *c, struct list_head *all,
		     struct list_head *now)
{
	struct list_head *at;
	u32 sectors = 0;

	list_for_each(at, all) {
		sectors += list_entry(at, struct w2r_io, wait)->n <<
			   c->block_shift;
		if (sectors > W2R_SERVE_SECTORS)
			break;
	}
	list_cut_before(now, all, at);
}

/*
 * They are looked up when it is their turn, as those that are served at once: by
 * then the entries may have other blocks. Under the lock: when they have ended,
 * the target may go.
 */
static void serve_later(struct w2r *c, struct list_head *waiters)
{
	lockdep_assert_held(&c->lock);
	if (list_empty(waiters))
		return;
	list_splice_tail_init(waiters, &c->late);
	queue_work(c->wq, &c->serve);
}

void w2r_serve_late(struct work_struct *work)
{
	struct w2r *c = container_of(work, struct w2r, serve);
	LIST_HEAD(waiters);

	spin_lock_irq(&c->lock);
	list_splice_init(&c->late, &waiters);
	spin_unlock_irq(&c->lock);
	serve_waiters(c, &waiters, true);
}

void w2r_filler_ended(struct w2r *c, struct w2r_filler *f, bool good)
{
	unsigned long flags;
	LIST_HEAD(waiters);
	u32 e, after;

	spin_lock_irqsave(&c->lock, flags);
	for (e = f->head; e != ENTRY_NONE; e = after) {
		after = w2r_entry(c, e)->next;
		c->slots[e].filler = NULL;
		rooms_filled(&c->rooms, e, good);
	}
	take_few(c, &f->waiters, &waiters);
	serve_later(c, &f->waiters);
	spin_unlock_irqrestore(&c->lock, flags);
	serve_waiters(c, &waiters, false);
}

void w2r_resubmit(struct work_struct *work)
{
	struct w2r *c = container_of(work, struct w2r, resubmit);
	struct bio_list bios;
	struct bio *bio;

	spin_lock_irq(&c->lock);
	bios = c->resubmits;
	bio_list_init(&c->resubmits);
	spin_unlock_irq(&c->lock);
	while ((bio = bio_list_pop(&bios))) {
		w2r_io_of(bio)->kind = W2R_IO_PASS;
		/* What it was merged with may be what has failed. */
		bio->bi_opf |= REQ_NOMERGE;
		/* A debt of its cgroup: nobody sleeps here for one while others wait. */
		bio->bi_opf |= REQ_META;
		/*
		 * Its reader may poll for it already, which is only allowed when
		 * all of it has been sent.
		 */
		bio->bi_opf &= ~REQ_POLLED;
		w2r_aim(c, bio);
		submit_bio_noacct(bio);
	}
}

/* --- from the origin --- */

/* @bio is for its first @n blocks; dm sends the rest anew. */
static void cut(struct w2r *c, struct bio *bio, struct w2r_io *io, u32 n)
{
	u32 sectors = (n << c->block_shift) - io->offset;

	io->n = n;
	if (sectors < bio_sectors(bio))
		dm_accept_partial_bio(bio, sectors);
}

/* Blocks from the first one on that are hits, all of them referenced now. */
static u32 use_hits(struct w2r *c, const struct w2r_io *io, u32 *entries,
		    struct reference *ref)
{
	u32 most = min_t(u32, io->n, W2R_SERVE_MAX);
	struct hits hits;

	hits = rooms_use_hits(&c->rooms, io->first, most, io->offset, entries);
	w2r_count(c, W2R_HITS_WAITING, hits.waiting);
	w2r_count(c, W2R_HITS_WEIGHING, hits.n - hits.waiting);
	w2r_count(c, W2R_READ_BLOCKS, hits.n);
	ref->room = hits.room;
	ref->goes_on = hits.goes_on;
	return hits.n;
}

static void count_block(struct w2r *c, u32 e, bool missing)
{
	w2r_count(c, W2R_READ_BLOCKS, 1);
	if (rooms_readable(&c->rooms, e)) {
		/* Read again, since the I/O goes past it anyway. */
		w2r_count(c, w2r_entry(c, e)->room == ROOM_WAITING ?
			     W2R_HITS_WAITING : W2R_HITS_WEIGHING, 1);
		rooms_use(&c->rooms, e);
	} else {
		w2r_count(c, missing ? W2R_MISSES : W2R_BYPASSED, 1);
	}
}

/*
 * A read for @bio that fills entries, as many as it can; NULL if @bio is to go to
 * the origin by itself, for want of memory or because its first blocks, to which
 * it is cut, may not be kept. @room: where the first one is; @is_fault: it may move
 * the split.
 */
static struct w2r_fetch *fetch_missing(struct w2r *c, struct bio *bio,
				       struct w2r_io *io, enum room room,
				       bool is_fault)
{
	struct w2r_fetch *f = NULL;
	bool missing, tried = false;
	u64 block;
	u32 i, e;

	for (i = 0; i < io->n; i++) {
		block = io->first + i;
		if (i)
			e = rooms_find(&c->rooms, block);
		else
			e = room == ROOM_DISK ? ENTRY_NONE :
				index_peek(&c->rooms.index, block);
		missing = e == ENTRY_NONE && block < c->nr_blocks &&
			  !w2r_being_written(c, block);
		if (!i && missing) {
			if (is_fault)
				rooms_fault(&c->rooms, io->first, io->n);
			f = w2r_fetch_begin(c, bio, io);
			tried = true;
		} else if (f ? !w2r_fetch_add(c, f, block, missing) :
			       missing && !tried) {
			break;
		}
		count_block(c, e, missing);
		if (f && !((i + 1) % W2R_LOCKED_BLOCKS))
			w2r_relock(c);
	}
	cut(c, bio, io, i);
	return f;
}

/*
 * A prefetch right before or behind the read that caused it shall be one I/O
 * with it, where the reader plugs: a bio is merged with none but the one sent
 * before it, and only if both have one priority.
 */
static void join(const struct bio *bio, struct bio_list *bios)
{
	struct bio_list near = BIO_EMPTY_LIST, far = BIO_EMPTY_LIST;
	struct bio *ahead;

	while ((ahead = bio_list_pop(bios))) {
		if (ahead->bi_iter.bi_sector == bio_end_sector(bio) ||
		    bio_end_sector(ahead) == bio->bi_iter.bi_sector) {
			ahead->bi_ioprio = bio->bi_ioprio;
			bio_list_add(&near, ahead);
		} else {
			bio_list_add(&far, ahead);
		}
	}
	bio_list_merge(&near, &far);
	*bios = near;
}

/* With read-ahead on by order, what is prefetched depends on no time. */
static bool is_auto(const struct w2r *c)
{
	return c->table.readahead == READAHEAD_AUTO;
}

static bool is_slow(const struct w2r *c)
{
	return is_auto(c) && planner_is_slow(c->toggle.latency);
}

static u32 around(const struct w2r *c)
{
	return is_auto(c) ? planner_around(c->toggle.latency, c->block_shift) : 0;
}

static bool has_room(const struct w2r *c, bool slow)
{
	return planner_has_room(c->rooms.held[ROOM_WAITING], c->rooms.limit, slow);
}

/*
 * To the origin: what @bio misses, by @f if that is there, and then @bios. Without
 * @f there is no second try, should what it was merged with fail: it is merged with
 * nothing.
 */
static void send(struct w2r *c, struct bio *bio, struct w2r_fetch *f,
		 struct bio_list *bios)
{
	if (f) {
		bio = w2r_fetch_bio(f);
		join(bio, bios);
		compat_dm_submit(bio);
	} else {
		bio->bi_opf |= REQ_NOMERGE;
		w2r_aim(c, bio);
		submit_bio_noacct(bio);
	}
}

int w2r_read(struct w2r *c, struct bio *bio, struct w2r_io *io)
{
	struct bio_list bios = BIO_EMPTY_LIST;
	struct reference ref = { .first = io->first };
	struct w2r_fetch *f = NULL;
	u32 entries[W2R_SERVE_MAX] __uninitialized;
	enum served served = WAITS;
	u32 hits, asked = io->n;
	bool meta = bio->bi_opf & REQ_META;
	bool goes_on, slow, by_worker;

	/*
	 * The first bio of a cgroup on a device makes the two known to each other,
	 * for which Linux 7.2 turns interrupts on: not under the lock, where others
	 * get what this one got: an ancestor's, if that failed.
	 */
	if (compat_in_cgroup())
		bio_set_dev(bio, c->dev->bdev);
	spin_lock_irq(&c->lock);
	goes_on = planner_goes_on(c->planner, io->first);
	if (!goes_on)
		rooms_tick(&c->rooms);
	plan_bounds(&ref, c->table.lookahead, c->rooms.limit,
		    c->rooms.waiting_target, w2r_under_way(c, w2r_payer(bio)),
		    c->block_shift);
	ref.full = rooms_full(&c->rooms);
	hits = use_hits(c, io, entries, &ref);
	if (hits) {
		cut(c, bio, io, hits);
		io->kind = W2R_IO_SERVED;
		served = pin(c, bio, entries);
		if (served == WAITS)
			w2r_count(c, W2R_WAITED, 1);
		if (served == PASSES) {
			io->kind = W2R_IO_PASS;
			w2r_count(c, W2R_ORIGIN_READS, 1);
		}
	} else {
		cut(c, bio, io, rooms_missing(&c->rooms, io->first, io->n));
		/* The rest of a read that began with hits says nothing of the split. */
		f = fetch_missing(c, bio, io, ref.room, !goes_on);
		if (!(c->stats[W2R_ORIGIN_READS] % SAMPLE))
			io->start_ns = ktime_get_ns();
		w2r_count(c, W2R_ORIGIN_READS, 1);
	}
	if (!hits)
		trace_w2r_miss(c->devt, io->first, io->n);
	ref.n = io->n;
	slow = is_slow(c);
	ref.late = is_auto(c) && hits && served == WAITS;
	ref.slow = slow;
	ref.has_room = has_room(c, slow);
	ref.around = around(c);
	by_worker = slow && hits;
	/*
	 * The rest of a bio that was cut comes as one of its own, next. By REQ_META
	 * what is prefetched becomes a debt of the cgroup's, for which none sleeps
	 * who sends it: not the worker, as it sends for all, nor who reads metadata,
	 * as he may have locked what others need.
	 */
	if (planner_gather(c->planner, &ref, io->n < asked))
		w2r_look_ahead(c, &ref, bio, by_worker || meta ? REQ_META : 0,
			       &bios);
	w2r_trace_split(c);
	spin_unlock_irq(&c->lock);
	/* Somebody else may have ended @bio, if it waits. */
	if (!hits || served == PASSES)
		send(c, bio, f, &bios);
	else if (served == SERVED)
		serve(c, bio, entries);
	if (by_worker)
		w2r_submit_later(c, &bios);
	else
		w2r_submit(&bios);
	return DM_MAPIO_SUBMITTED;
}

/* Reading ahead may be refused by a healthy device, as by a suspended one of dm. */
void w2r_read_ended(struct w2r *c, struct bio *bio, blk_status_t status)
{
	const struct w2r_io *io = w2r_io_of(bio);
	unsigned long flags;

	if (status ? !!(bio->bi_opf & REQ_RAHEAD) : !io->start_ns)
		return;
	spin_lock_irqsave(&c->lock, flags);
	if (status)
		w2r_count(c, W2R_READ_ERRORS, 1);
	else
		toggle_latency(&c->toggle, ktime_get_ns() - io->start_ns);
	spin_unlock_irqrestore(&c->lock, flags);
}
