// SPDX-License-Identifier: GPL-2.0-only
#include <linux/ioprio.h>
#include <linux/ktime.h>
#include <linux/math64.h>

#include "compat/bio.h"
#include "fetch.h"
#include "frames.h"
#include "read.h"
#include "trace.h"
#include "write.h"

#define FETCH_SECTORS	2048	/* most in one I/O */
#define POOL_BIOS	16

struct w2r_fetch {
	struct w2r *c;
	struct w2r_filler filler;
	u32 n;
	bool ahead;		/* a prefetch */
	struct bio bio;		/* last: its vectors follow */
};

static u32 fetch_blocks(const struct w2r *c)
{
	return clamp_t(u32, FETCH_SECTORS >> c->block_shift, 1, W2R_IO_BLOCKS);
}

static void fetch_ended(struct bio *bio)
{
	struct w2r_fetch *f = container_of(bio, struct w2r_fetch, bio);
	struct w2r *c = f->c;
	u32 ahead = f->ahead ? f->n : 0;
	unsigned long flags;

	w2r_filler_ended(c, &f->filler, !bio->bi_status);
	bio_put(bio);
	/* The last one lets go of the lock before the target may vanish. */
	spin_lock_irqsave(&c->lock, flags);
	c->prefetching -= ahead;
	if (!--c->own)
		wake_up(&c->idle);
	spin_unlock_irqrestore(&c->lock, flags);
}

u32 w2r_fetch(struct w2r *c, u64 first, u32 n, enum room room,
	      struct bio_list *bios)
{
	bool ahead = room == ROOM_WAITING;
	struct w2r_fetch *f;
	struct bio *bio;
	u32 e;

	lockdep_assert_held(&c->lock);
	n = min(n, fetch_blocks(c));
	bio = compat_bio_alloc(c->dev->bdev, n,
			       REQ_OP_READ | (ahead ? REQ_RAHEAD : 0),
			       GFP_NOWAIT | __GFP_NOWARN, &c->bios);
	if (!bio)
		return 0;
	f = container_of(bio, struct w2r_fetch, bio);
	f->c = c;
	f->ahead = ahead;
	w2r_filler_init(&f->filler);
	for (f->n = 0; f->n < n; f->n++) {
		e = w2r_take(c, first + f->n, room, &f->filler);
		if (e == ENTRY_NONE)
			break;
		__bio_add_page(bio, c->slots[e].page,
			       c->block_sectors << SECTOR_SHIFT, 0);
	}
	if (!f->n) {
		bio_put(bio);
		return 0;
	}
	bio->bi_iter.bi_sector = first << c->block_shift;
	bio->bi_end_io = fetch_ended;
	if (ahead) {
		/* Behind demand reads, also where a scheduler sorts. */
		bio->bi_ioprio = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 7);
		c->prefetching += f->n;
		w2r_count(c, W2R_PREFETCHED, f->n);
		w2r_count(c, W2R_ORIGIN_PREFETCHES, 1);
		trace_w2r_prefetch(c->devt, first, f->n);
	} else {
		w2r_count(c, W2R_ORIGIN_READS, 1);
	}
	c->own++;
	bio_list_add(bios, bio);
	return f->n;
}

static bool wanted(const void *ctx, u64 block)
{
	const struct w2r *c = ctx;

	return block < c->nr_blocks && !w2r_being_written(c, block) &&
	       rooms_where(&c->rooms, block) == ROOM_DISK;
}

/* What of a run is not here yet, in as few I/Os as that makes. */
static u32 fetch_run(struct w2r *c, const struct run *run, u32 room_left,
		     struct bio_list *bios)
{
	struct run rest = *run;
	u32 got, n, total = 0;
	u64 first;

	while (total < room_left) {
		n = min(room_left - total, fetch_blocks(c));
		n = plan_cut(&rest, n, wanted, c, &first);
		if (!n)
			break;
		got = w2r_fetch(c, first, n, ROOM_WAITING, bios);
		total += got;
		if (got < n)
			break;
	}
	return total;
}

static enum room where(const void *ctx, u64 block)
{
	return rooms_where(ctx, block);
}

void w2r_look_ahead(struct w2r *c, const struct reference *ref,
		    struct bio_list *bios)
{
	struct plan plan = { .n = 0 };
	u32 most, i, n = 0;
	u64 start;

	lockdep_assert_held(&c->lock);
	if (!c->lookahead_on || c->suspended)
		return;
	planner_reference(c->planner, ref, where, &c->rooms, &plan);
	if (!plan.n)
		return;
	start = ktime_get_ns();
	/* More than the waiting room holds would push itself out. */
	most = clamp_t(u32, c->rooms.waiting_target, 1, LOOKAHEAD_MAX);
	for (i = 0; i < plan.n && c->prefetching < most; i++)
		n += fetch_run(c, &plan.runs[i], most - c->prefetching, bios);
	if (n)
		toggle_cost(&c->toggle, div_u64(ktime_get_ns() - start, n));
}

void w2r_submit(struct w2r *c, struct bio_list *bios)
{
	struct bio *bio;

	while ((bio = bio_list_pop(bios)))
		submit_bio_noacct(bio);
}

int w2r_fetch_start(struct w2r *c)
{
	return bioset_init(&c->bios, POOL_BIOS,
			   offsetof(struct w2r_fetch, bio), BIOSET_NEED_BVECS);
}

void w2r_fetch_stop(struct w2r *c)
{
	bioset_exit(&c->bios);
}
