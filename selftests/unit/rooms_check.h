/* SPDX-License-Identifier: GPL-2.0-only */
/* What must hold of rooms at any time, and rooms on memory of their own. */
#ifndef SELFTESTS_ROOMS_CHECK_H
#define SELFTESTS_ROOMS_CHECK_H

#include <stdlib.h>

#include "rooms.h"

struct rooms_box {
	struct rooms r;
	void *mem;
};

static inline void box_make(struct rooms_box *b, const struct rooms_config *c)
{
	b->mem = malloc(rooms_size(c));
	rooms_init(&b->r, b->mem, c);
}

static inline void box_free(struct rooms_box *b)
{
	free(b->mem);
}

/* Entries in list @l, whose links agree both ways; -1 if they do not. */
static inline long list_length(const struct arena *a, const struct elist *l)
{
	u32 e, before = ENTRY_NONE;
	long n = 0;

	for (e = l->head; e != ENTRY_NONE; e = a->entries[e].next) {
		if (e >= a->nr || a->entries[e].prev != before || n++ > a->nr)
			return -1;
		before = e;
	}
	return before == l->tail && n == l->count ? n : -1;
}

/* NULL, or what does not hold. */
static inline const char *rooms_wrong(const struct rooms *r)
{
	long waiting = list_length(&r->arena, &r->waiting), expected = list_length(&r->arena, &r->expected);
	long spare = list_length(&r->arena, &r->spare);
	u32 held[3] = { 0 }, away = 0, filling[3] = { 0 }, e;
	long weighing = 0;
	int lists = r->weighing.policy == &policy_lru ? 1 : 2;

	while (lists--)
		weighing += list_length(&r->arena, &r->weighing.lists[lists]);
	for (e = 0; e < r->arena.nr; e++) {
		const struct entry *x = &r->arena.entries[e];

		held[x->room]++;
		if (x->flags & ENTRY_FILLING)
			filling[x->room]++;
		away += x->flags & ENTRY_DEAD && (x->pins || x->flags & ENTRY_FILLING);
		if (x->room == ROOM_WEIGHING && x->flags & ENTRY_EXPECTED)
			return "a block that is expected and there";
		if (x->room != ROOM_DISK && index_peek(&r->index, x->block) != e)
			return "an entry that is not found";
	}
	if (spare < 0 || waiting < 0 || expected < 0 || weighing < 0)
		return "a broken list";
	waiting += expected;
	if (held[ROOM_WAITING] != r->held[ROOM_WAITING] ||
	    held[ROOM_WEIGHING] != r->held[ROOM_WEIGHING])
		return "a wrong count of a room";
	if (r->one_room) {
		weighing -= held[ROOM_WAITING] - filling[ROOM_WAITING];
		waiting += held[ROOM_WAITING] - filling[ROOM_WAITING];
	}
	if ((u32)waiting != held[ROOM_WAITING] - filling[ROOM_WAITING] ||
	    (u32)weighing != held[ROOM_WEIGHING] - filling[ROOM_WEIGHING])
		return "a room and its list differ";
	if (r->in_use + spare != r->arena.nr || held[ROOM_DISK] != spare + away)
		return "entries lost";
	if (r->waiting_target < 1 || r->waiting_target >= r->limit)
		return "a room without a place";
	return NULL;
}

#endif
