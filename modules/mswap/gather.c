// SPDX-License-Identifier: GPL-2.0-only
#include <linux/delay.h>
#include <linux/string.h>

#include "batch.h"
#include "compat/timer.h"

/* Reclaim gets pages of bios back after their write only: they wait a part of the time. */
#define GATHER_BIOS_SHARE	8
/* How many times the wait of copies begins anew, at most. */
#define GATHER_WAITS		64

static void gather_start_timer(struct batching *bt, u32 share)
{
	u32 ns = READ_ONCE(bt->knobs->batch_usecs) * (u32)NSEC_PER_USEC / share;

	hrtimer_start(&bt->gather.timer, ns_to_ktime(ns), HRTIMER_MODE_REL);
}

/*
 * Nobody waits for copies. While others come, slowly, a write of a few of them is
 * followed by a write of the next few; and on a device that is busy, with reads
 * perhaps, one that is not full holds up the others.
 */
static bool gather_waits_on(struct batching *bt)
{
	struct gather *g = &bt->gather;

	lockdep_assert_held(&g->lock);
	return g->batch && !g->batch->nr_bios && g->waits &&
	       READ_ONCE(bt->knobs->batch_usecs) &&
	       (g->batch->n > g->had || !flight_idle(bt->flight));
}

static bool gather_has_room(const struct gather *g, const struct batch *b)
{
	const struct batch *into = g->batch;

	lockdep_assert_held(&g->lock);
	return into && cluster_fits(into->limit, into->n, b->n) &&
	       into->n + b->n <= into->cap;
}

/* The first @n pages of @b become @into's, which has room for them. */
static void gather_move(struct batch *into, struct batch *b, u32 n)
{
	struct cluster_page *pages = &into->pages[into->n];
	u32 i, nr_bios = 0;

	for (i = 0; i < n; i++)
		nr_bios += b->pages[i].pos != BATCH_PAGE_STORED;
	memcpy(pages, b->pages, n * sizeof(*pages));
	memmove(b->pages, b->pages + n, (b->n - n) * sizeof(*pages));
	into->n += n;
	into->nr_bios += nr_bios;
	into->opf |= b->opf;
	b->n -= n;
	b->nr_bios -= nr_bios;
}

/* Takes @b's pages over; @b is empty then and goes. */
static void gather_join(struct gather *g, struct batch *b)
{
	gather_move(g->batch, b, b->n);
	batch_put(b);
}

/* There is no room for all of @b: what waits takes as much of it as makes it full. */
static void gather_fill_up(struct gather *g, struct batch *b)
{
	struct batch *into = g->batch;

	lockdep_assert_held(&g->lock);
	if (into && into->n < into->limit)
		gather_move(into, b, min(into->limit - into->n, b->n));
}

static struct batch *gather_take(struct gather *g)
{
	struct batch *b = g->batch;

	lockdep_assert_held(&g->lock);
	g->batch = NULL;
	return b;
}

/*
 * Who evicted the first pages of bios in @led waits for company himself, and sends
 * it: where the device is slow, he waits there, too. A worker in his place would
 * leave him to evict ever more, which comes to nothing for as long.
 */
static void gather_lead(struct batching *bt, struct batch *led)
{
	u32 usecs = READ_ONCE(bt->knobs->batch_usecs) / GATHER_BIOS_SHARE + 1;
	struct gather *g = &bt->gather;
	bool mine;

	usleep_range(usecs, usecs + usecs / 4);
	spin_lock_irq(&g->lock);
	mine = g->batch == led;
	if (mine)
		gather_take(g);
	spin_unlock_irq(&g->lock);
	if (mine)
		batch_issue(led, BATCH_GFP_NOWAIT);
}

void gather_batch(struct batching *bt, struct batch *b, bool defer)
{
	struct gather *g = &bt->gather;
	struct batch *ready = NULL, *led = NULL;
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&g->lock, flags);
	if (gather_has_room(g, b)) {
		first = b->nr_bios && !g->batch->nr_bios;
		gather_join(g, b);
		if (batch_is_full(g->batch))
			ready = gather_take(g);
	} else {
		gather_fill_up(g, b);
		first = b->nr_bios;
		ready = gather_take(g);
		g->batch = b;
		g->waits = GATHER_WAITS;
		g->had = b->n;
		gather_start_timer(bt, 1);
	}
	if (first && defer)
		gather_start_timer(bt, GATHER_BIOS_SHARE);
	else if (first)
		led = g->batch;
	spin_unlock_irqrestore(&g->lock, flags);
	if (ready && defer)
		batch_defer(ready);
	else if (ready)
		batch_issue(ready, BATCH_GFP_NOWAIT);
	if (led)
		gather_lead(bt, led);
}

static enum hrtimer_restart gather_timer(struct hrtimer *timer)
{
	struct gather *g = container_of(timer, struct gather, timer);
	struct batching *bt = container_of(g, struct batching, gather);
	struct batch *b = NULL;
	unsigned long flags;

	spin_lock_irqsave(&g->lock, flags);
	if (gather_waits_on(bt)) {
		g->waits--;
		g->had = g->batch->n;
		gather_start_timer(bt, 1);
	} else {
		b = gather_take(g);
	}
	spin_unlock_irqrestore(&g->lock, flags);
	if (b)
		batch_defer(b);
	return HRTIMER_NORESTART;
}

void gather_init(struct batching *bt)
{
	spin_lock_init(&bt->gather.lock);
	bt->gather.batch = NULL;
	compat_hrtimer_init(&bt->gather.timer, gather_timer);
}

void gather_exit(struct batching *bt)
{
	hrtimer_cancel(&bt->gather.timer);
}
