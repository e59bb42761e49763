// SPDX-License-Identifier: GPL-2.0-only
#include "policy.h"

enum { RECENT, FREQUENT };
enum { MARK_NEW, MARK_WAS_RECENT, MARK_WAS_FREQUENT };

static size_t arc_size(u32 capacity)
{
	return 2 * ghost_size(capacity);
}

static void arc_init(struct weighing *w, void *mem, u32 capacity)
{
	char *second = (char *)mem + ghost_size(capacity);
	int i;

	w->target_of = w->limit;
	for (i = 0; i < 2; i++)
		elist_init(&w->lists[i]);
	ghost_init(&w->ghosts[RECENT], mem, capacity);
	ghost_init(&w->ghosts[FREQUENT], second, capacity);
}

static u32 ghosts_of(const struct weighing *w, int list)
{
	return w->ghosts[list].fifo.count;
}

/* Where memory was lost or came back since the target moved: the same share. */
static u32 target_now(const struct weighing *w)
{
	u64 share = (u64)w->target * w->limit;

	if (w->limit == w->target_of)
		return w->target;
	return (u32)pure_div64(share, w->target_of);
}

static void set_target(struct weighing *w, u32 target)
{
	w->target = pure_min(w->capacity, target);
	w->target_of = w->limit;
}

/* A block that was evicted too early moves the target its list's way. */
static u8 arc_admit(struct weighing *w, u64 block)
{
	u32 recent = ghosts_of(w, RECENT), frequent = ghosts_of(w, FREQUENT);
	u32 target = target_now(w), step;

	if (ghost_take(&w->ghosts[RECENT], block)) {
		step = pure_max(1, frequent / recent);
		set_target(w, target + step);
		return MARK_WAS_RECENT;
	}
	if (ghost_take(&w->ghosts[FREQUENT], block)) {
		step = pure_max(1, recent / frequent);
		set_target(w, target - pure_min(target, step));
		return MARK_WAS_FREQUENT;
	}
	return MARK_NEW;
}

static void put(struct weighing *w, u8 queue, u32 e)
{
	w->arena->entries[e].queue = queue;
	elist_add_head(w->arena, &w->lists[queue], e);
}

static void arc_insert(struct weighing *w, u32 e)
{
	put(w, w->arena->entries[e].mark == MARK_NEW ? RECENT : FREQUENT, e);
}

static void arc_remove(struct weighing *w, u32 e)
{
	elist_del(w->arena, &w->lists[w->arena->entries[e].queue], e);
}

static void arc_hit(struct weighing *w, u32 e)
{
	arc_remove(w, e);
	put(w, FREQUENT, e);
}

/* Recent blocks with their ghosts: one capacity; all together: two. */
static void trim(struct weighing *w)
{
	u32 recent = w->lists[RECENT].count, frequent = w->lists[FREQUENT].count;
	u32 c = w->capacity;

	ghost_trim(&w->ghosts[RECENT], c - pure_min(c, recent));
	recent += frequent + ghosts_of(w, RECENT);
	ghost_trim(&w->ghosts[FREQUENT], 2 * c - pure_min(2 * c, recent));
}

static u32 arc_victim(struct weighing *w, u8 mark)
{
	u32 recent = w->lists[RECENT].count, target = target_now(w);
	int list = FREQUENT;
	u32 e;

	if (recent > target ||
	    (mark == MARK_WAS_FREQUENT && recent == target))
		list = RECENT;
	e = elist_last_unpinned(w->arena, &w->lists[list]);
	if (e == ENTRY_NONE) {
		list = !list;
		e = elist_last_unpinned(w->arena, &w->lists[list]);
	}
	if (e == ENTRY_NONE)
		return e;
	arc_remove(w, e);
	ghost_add(&w->ghosts[list], w->arena->entries[e].block);
	trim(w);
	return e;
}

const struct policy policy_arc = {
	.name = "arc",
	.size = arc_size,
	.init = arc_init,
	.admit = arc_admit,
	.insert = arc_insert,
	.hit = arc_hit,
	.victim = arc_victim,
	.remove = arc_remove,
};
