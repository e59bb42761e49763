// SPDX-License-Identifier: GPL-2.0-only
#include <linux/string.h>

#include "batch.h"
#include "compat/timer.h"

/* Takes @b's pages over; @b is empty then and goes. */
static void gather_join(struct batch *into, struct batch *b)
{
	memcpy(&into->pages[into->n], b->pages, b->n * sizeof(b->pages[0]));
	into->n += b->n;
	into->opf |= b->opf;
	batch_put(b);
}

static bool gather_has_room(const struct batch *into, const struct batch *b)
{
	return cluster_fits(into->limit, into->n, b->n) &&
	       into->n + b->n <= into->cap;
}

static void gather_wait(struct batching *bt, struct batch *b)
{
	u64 ns = READ_ONCE(bt->knobs->batch_usecs) * (u64)NSEC_PER_USEC;

	bt->gather.batch = b;
	hrtimer_start(&bt->gather.timer, ns_to_ktime(ns), HRTIMER_MODE_REL);
}

void gather_batch(struct batching *bt, struct batch *b, bool defer)
{
	struct gather *g = &bt->gather;
	struct batch *ready = NULL;
	unsigned long flags;

	spin_lock_irqsave(&g->lock, flags);
	if (!g->batch) {
		gather_wait(bt, b);
	} else if (gather_has_room(g->batch, b)) {
		gather_join(g->batch, b);
		if (batch_is_full(g->batch)) {
			ready = g->batch;
			g->batch = NULL;
		}
	} else {
		ready = g->batch;
		gather_wait(bt, b);
	}
	spin_unlock_irqrestore(&g->lock, flags);
	if (ready && defer)
		batch_defer(ready);
	else if (ready)
		batch_issue(ready, BATCH_GFP_NOWAIT);
}

static enum hrtimer_restart gather_timer(struct hrtimer *timer)
{
	struct gather *g = container_of(timer, struct gather, timer);
	struct batch *b;
	unsigned long flags;

	spin_lock_irqsave(&g->lock, flags);
	b = g->batch;
	g->batch = NULL;
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
