// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "peers.h"
/* One call deep like the peers, so that no one pays for a second call. */
#include "slot_tree.c"

static void *create(u32 nr)
{
	struct slot_tree *t = malloc(sizeof(*t));
	void *arena = aligned_alloc(64, (slot_tree_bytes(nr) + 63) & ~(size_t)63);

	slot_tree_init(t, arena, nr);
	return t;
}

static void destroy(void *p)
{
	struct slot_tree *t = p;

	free(t->bits[0]);
	free(t);
}

static bool alloc(void *p, u32 n, u32 hint, u32 *slots)
{
	slots[0] = slot_tree_alloc(p, n, hint);
	return slots[0] != SLOT_NONE;
}

static void give_back(void *p, u32 n, const u32 *slots)
{
	slot_tree_free(p, slots[0], n);
}

const struct peer peer_slot_tree = {
	.name = "slot_tree",
	.adjacent = true,
	.create = create,
	.destroy = destroy,
	.bytes = slot_tree_bytes,
	.alloc = alloc,
	.free = give_back,
};
