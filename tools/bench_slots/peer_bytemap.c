// SPDX-License-Identifier: GPL-2.0-only
/*
 * What Linux had when the paper was written: a byte a slot, looked at one after
 * the other from the hint to the highest free slot, then from the lowest one.
 */
#include <stdlib.h>

#include "peers.h"

struct bytemap {
	u8 *map;
	u32 nr;
	u32 nr_free;
	u32 lowest;	/* no free slot below */
	u32 highest;	/* no free slot above */
};

static size_t size(u32 nr)
{
	return nr;
}

static void *create(u32 nr)
{
	struct bytemap *b = malloc(sizeof(*b));

	b->map = aligned_alloc(64, ((size_t)nr + 63) & ~(size_t)63);
	memset(b->map, 0, nr);
	b->nr = nr;
	b->nr_free = nr;
	b->lowest = 0;
	b->highest = nr - 1;
	return b;
}

static void destroy(void *p)
{
	struct bytemap *b = p;

	free(b->map);
	free(b);
}

/* A run of @n that starts in [@from, @to]. */
static bool scan(const struct bytemap *b, u32 from, u32 to, u32 n, u32 *found)
{
	u32 at = from, i;

	for (; at <= to; at++) {
		if (b->map[at])
			continue;
		if (n > b->nr - at)
			return false;
		for (i = 1; i < n && !b->map[at + i]; i++)
			;
		if (i == n) {
			*found = at;
			return true;
		}
		at += i;
	}
	return false;
}

static bool alloc(void *p, u32 n, u32 hint, u32 *slots)
{
	struct bytemap *b = p;
	u32 from = pure_max(hint, b->lowest), start;

	if (b->nr_free < n)
		return false;
	if (!scan(b, from, b->highest, n, &start)) {
		if (!hint || !scan(b, b->lowest, hint - 1, n, &start))
			return false;
	}
	slots[0] = start;
	memset(b->map + start, 1, n);
	b->nr_free -= n;
	if (start == b->lowest)
		b->lowest += n;
	if (start + n - 1 == b->highest)
		b->highest -= n;
	return true;
}

static void give_back(void *p, u32 n, const u32 *slots)
{
	struct bytemap *b = p;

	memset(b->map + slots[0], 0, n);
	b->nr_free += n;
	b->lowest = pure_min(b->lowest, slots[0]);
	b->highest = pure_max(b->highest, slots[0] + n - 1);
}

const struct peer peer_bytemap = {
	.name = "bytemap",
	.adjacent = true,
	.create = create,
	.destroy = destroy,
	.bytes = size,
	.alloc = alloc,
	.free = give_back,
};
