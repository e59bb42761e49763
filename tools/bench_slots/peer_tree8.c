// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tree of the paper: a byte a node, a bit a slot at the bottom, a bit a full
 * child above; up from the last slot to a node with room, down to a slot, then
 * the full nodes are marked upwards. It knows no runs: n slots are n searches.
 */
#include <stdlib.h>

#include "peers.h"

#define LEVELS_MAX 11

struct tree8 {
	u8 *level[LEVELS_MAX];	/* [0] = root */
	u32 height;
	u32 nr;
	u8 *bytes;
};

static u32 shape(u32 nr, size_t *total)
{
	u32 height = 1;
	u64 nodes = 1;

	*total = 1;
	while (nodes * 8 < nr) {
		nodes *= 8;
		*total += nodes;
		height++;
	}
	return height;
}

static size_t size(u32 nr)
{
	size_t total;

	shape(nr, &total);
	return total;
}

static void mark(struct tree8 *t, u32 slot)
{
	u32 l = t->height;

	while (l--) {
		u8 *node = &t->level[l][slot / 8];

		*node |= 1 << slot % 8;
		if (*node != 0xff)
			break;
		slot /= 8;
	}
}

static void *create(u32 nr)
{
	struct tree8 *t = malloc(sizeof(*t));
	size_t total, at = 0, nodes = 1;
	u64 slot, all = 1;
	u32 l;

	t->height = shape(nr, &total);
	t->nr = nr;
	t->bytes = aligned_alloc(64, (total + 63) & ~(size_t)63);
	memset(t->bytes, 0, total);
	for (l = 0; l < t->height; l++) {
		t->level[l] = t->bytes + at;
		at += nodes;
		nodes *= 8;
		all *= 8;
	}
	/* The slots beyond the end are taken for ever. */
	for (slot = nr; slot < all; slot++)
		mark(t, slot);
	return t;
}

static void destroy(void *p)
{
	struct tree8 *t = p;

	free(t->bytes);
	free(t);
}

static bool find(const struct tree8 *t, u32 last, u32 *slot)
{
	u32 l = t->height, id = last / 8;

	while (t->level[--l][id] == 0xff) {
		if (!l)
			return false;
		id /= 8;
	}
	for (;; l++) {
		id = id * 8 + pure_ctz64((u8)~t->level[l][id]);
		if (l == t->height - 1)
			break;
	}
	*slot = id;
	return true;
}

static void give_back(void *p, u32 n, const u32 *slots)
{
	struct tree8 *t = p;

	while (n--) {
		u32 slot = slots[n], l = t->height;

		while (l--) {
			u8 *node = &t->level[l][slot / 8];
			u8 was = *node;

			*node &= ~(1 << slot % 8);
			if (was != 0xff)
				break;
			slot /= 8;
		}
	}
}

static bool alloc(void *p, u32 n, u32 hint, u32 *slots)
{
	u32 i;

	for (i = 0; i < n; i++) {
		if (!find(p, hint, &slots[i])) {
			give_back(p, i, slots);
			return false;
		}
		hint = slots[i];
		mark(p, hint);
	}
	return true;
}

const struct peer peer_tree8 = {
	.name = "tree8",
	.create = create,
	.destroy = destroy,
	.bytes = size,
	.alloc = alloc,
	.free = give_back,
};
