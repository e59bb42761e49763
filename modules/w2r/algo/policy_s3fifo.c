// SPDX-License-Identifier: GPL-2.0-only
#include "policy.h"

/*
 * In a cache below the page cache, one more use is as much as most blocks see,
 * so one is enough to be kept (the paper asks for two).
 */
#define PROMOTE_USES	1
#define MOST_USES	3
#define SMALL_SHARE	10	/* the small queue has a tenth */
/*
 * Entries that one eviction spares. Where all have been used, as when the cache
 * fills up for the first time, it would go through all of them otherwise.
 */
#define MOST_SPARED	32

enum { SMALL, MAIN };

static size_t s3_size(u32 capacity)
{
	return ghost_size(capacity);
}

static void s3_init(struct weighing *w, void *mem, u32 capacity)
{
	elist_init(&w->lists[SMALL]);
	elist_init(&w->lists[MAIN]);
	ghost_init(&w->ghosts[0], mem, capacity);
}

static u8 s3_admit(struct weighing *w, u64 block)
{
	return ghost_take(&w->ghosts[0], block);
}

static void put(struct weighing *w, u8 queue, u32 e)
{
	w->arena->entries[e].queue = queue;
	elist_add_head(w->arena, &w->lists[queue], e);
}

static void s3_insert(struct weighing *w, u32 e)
{
	u8 queue = w->arena->entries[e].mark ? MAIN : SMALL;

	w->arena->entries[e].mark = 0;
	put(w, queue, e);
}

static void s3_hit(struct weighing *w, u32 e)
{
	if (w->arena->entries[e].mark < MOST_USES)
		w->arena->entries[e].mark++;
}

static void s3_remove(struct weighing *w, u32 e)
{
	elist_del(w->arena, &w->lists[w->arena->entries[e].queue], e);
}

/*
 * The oldest that is not pinned. Hits move nothing here, so those that are pinned
 * may all be at the end: they begin anew, or each look would go past them.
 */
static u32 oldest(struct weighing *w, u8 queue)
{
	struct elist *l = &w->lists[queue];
	u32 left, e;

	for (left = l->count; left; left--) {
		e = l->tail;
		if (!w->arena->entries[e].pins)
			return e;
		s3_remove(w, e);
		put(w, queue, e);
	}
	return ENTRY_NONE;
}

static u32 evict_small(struct weighing *w)
{
	u32 e = oldest(w, SMALL);
	u32 spared = 0;

	while (e != ENTRY_NONE) {
		s3_remove(w, e);
		if (w->arena->entries[e].mark < PROMOTE_USES ||
		    spared++ == MOST_SPARED) {
			ghost_add(&w->ghosts[0], w->arena->entries[e].block);
			return e;
		}
		w->arena->entries[e].mark = 0;
		put(w, MAIN, e);
		if (w->lists[SMALL].count * SMALL_SHARE <= w->capacity)
			return ENTRY_NONE;
		e = oldest(w, SMALL);
	}
	return ENTRY_NONE;
}

static u32 evict_main(struct weighing *w)
{
	u32 e = oldest(w, MAIN);
	u32 spared = 0;

	while (e != ENTRY_NONE) {
		s3_remove(w, e);
		if (!w->arena->entries[e].mark || spared++ == MOST_SPARED)
			return e;
		w->arena->entries[e].mark--;
		put(w, MAIN, e);
		e = oldest(w, MAIN);
	}
	return ENTRY_NONE;
}

static u32 s3_victim(struct weighing *w, u8 mark)
{
	u32 e = ENTRY_NONE;

	(void)mark;
	if (w->lists[SMALL].count * SMALL_SHARE > w->capacity)
		e = evict_small(w);
	if (e == ENTRY_NONE)
		e = evict_main(w);
	if (e == ENTRY_NONE)
		e = evict_small(w);
	/* All that was in the small queue may have moved to the main one. */
	return e == ENTRY_NONE ? evict_main(w) : e;
}

const struct policy policy_s3fifo = {
	.name = "s3fifo",
	.size = s3_size,
	.init = s3_init,
	.admit = s3_admit,
	.insert = s3_insert,
	.hit = s3_hit,
	.victim = s3_victim,
	.remove = s3_remove,
};
