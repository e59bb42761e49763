// SPDX-License-Identifier: GPL-2.0-only
#include "ghost.h"

size_t ghost_size(u32 capacity)
{
	return capacity * sizeof(struct entry) + index_bytes(capacity);
}

void ghost_init(struct ghost *g, void *mem, u32 capacity)
{
	g->arena.entries = mem;
	g->arena.nr = capacity;
	index_init(&g->index, &g->arena,
		   (u32 *)(void *)(g->arena.entries + capacity),
		   index_heads(capacity), true);
	elist_init(&g->fifo);
	elist_init(&g->spare);
	elist_add_all(&g->arena, &g->spare);
}

static void forget(struct ghost *g, u32 e)
{
	index_del(&g->index, e);
	elist_del(&g->arena, &g->fifo, e);
	elist_add_head(&g->arena, &g->spare, e);
}

void ghost_add(struct ghost *g, u64 block)
{
	u32 e;

	if (!g->spare.count)
		forget(g, g->fifo.tail);
	e = g->spare.head;
	elist_del(&g->arena, &g->spare, e);
	g->arena.entries[e].block = block;
	index_add(&g->index, e);
	elist_add_head(&g->arena, &g->fifo, e);
}

bool ghost_take(struct ghost *g, u64 block)
{
	u32 e = index_peek(&g->index, block);

	if (e == ENTRY_NONE)
		return false;
	forget(g, e);
	return true;
}

void ghost_trim(struct ghost *g, u32 count)
{
	u32 most;

	for (most = GHOST_TRIM_MOST; most && g->fifo.count > count; most--)
		forget(g, g->fifo.tail);
}
