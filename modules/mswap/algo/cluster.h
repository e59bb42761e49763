/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packing of page-outs: which pages share a write, in which order they lie on
 * the device, and which neighbours on the device are worth reading together.
 *
 * Pure functions over memory of the caller: any context, no locks, no errors.
 */
#ifndef MSWAP_ALGO_CLUSTER_H
#define MSWAP_ALGO_CLUSTER_H

#include "pure.h"

/* Most pages in one buffer. */
#define CLUSTER_PAGES_MAX 256

/* Widest step between indexes of one object that still counts as "near". */
#define CLUSTER_GAP_MAX 32

enum cluster_policy {
	CLUSTER_MOC,	/* many objects in one write */
	CLUSTER_OBJECT,	/* one write for each run of neighbours of one object */
	CLUSTER_PAGE,	/* one write a page */
};

/*
 * A page waiting to be written. @object and @index name it: @object is an
 * opaque key, never followed. Object 0 is the device itself, for pages that
 * belong to nothing else; their @index is their virtual slot. @came is for
 * cluster_lay(). The other members are the caller's: they are moved along and never
 * looked at.
 */
struct cluster_page {
	u64 object;
	u64 index;
	void *owner;
	u32 vslot;
	u16 pos;
	u16 came;
	void *page;
};

/*
 * May a cluster of @add pages join a buffer that holds @held pages and should
 * hold at most @limit? An empty buffer takes a cluster of any size.
 */
static inline bool cluster_fits(u32 limit, u32 held, u32 add)
{
	return !held || (held <= limit && add <= limit - held);
}

/* Words that cluster_sort() takes for @n pages. */
#define CLUSTER_WORK(n) (2 * (n))

/*
 * Orders @n <= CLUSTER_PAGES_MAX pages by object, then index; equals keep their
 * order. Linear when they are in order already, O(n log n) at worst. @work: room for
 * CLUSTER_WORK(@n) words, for a task deep in memory reclaim has no stack to spare.
 */
void cluster_sort(struct cluster_page *pages, u32 n, u64 *work);

/*
 * The same, but for an object whose pages have come from the highest on, by their trend:
 * they are ordered downwards, so that what comes of it next goes on behind them. Equals
 * keep their order all the same, and so do neighbours that came upwards. Sets @came.
 */
void cluster_lay(struct cluster_page *pages, u32 n, u64 *work);

/*
 * How many of the @n sorted @pages, counted from @from, make the next write:
 * at least 1, and 0 only for @from == @n.
 */
u32 cluster_next_write(enum cluster_policy policy,
		       const struct cluster_page *pages, u32 n, u32 from);

/*
 * Should @b, placed on the device in the slot after @a, be read along with @a?
 * True for another page of the same object, at most CLUSTER_GAP_MAX away.
 */
static inline bool cluster_continues(const struct cluster_page *a,
				     const struct cluster_page *b)
{
	u64 up = b->index - a->index, down = a->index - b->index;

	return a->object == b->object &&
	       (up - 1 < CLUSTER_GAP_MAX || down - 1 < CLUSTER_GAP_MAX);
}

#endif
