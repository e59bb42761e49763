/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The entries of a cache and lists of them. Entries are named by their index
 * and linked by indexes, so one block of memory holds everything and nothing is
 * allocated while the cache runs. The caller's lock protects all of it.
 */
#ifndef W2R_ALGO_ARENA_H
#define W2R_ALGO_ARENA_H

#include "pure.h"

#define ENTRY_NONE ((u32)-1)

enum room {
	ROOM_DISK,		/* in neither room */
	ROOM_WEIGHING,		/* referenced blocks */
	ROOM_WAITING,		/* prefetched blocks nobody has asked for */
};

/* Flags of an entry. */
#define ENTRY_FILLING	1u	/* its content is on the way; in no list */
#define ENTRY_DEAD	2u	/* dropped, but still pinned or being filled */
#define ENTRY_STALE	4u	/* being written: content counts after that only */
#define ENTRY_EXPECTED	8u	/* prefetched with all that it was asked for with before */

struct entry {
	u64 block;
	u32 chain;		/* next in the hash chain */
	u32 prev;
	u32 next;
	u32 stamp;		/* clock of references when it came or was last used */
	u16 pins;		/* users of the content just now, up to PINS_MAX: not a victim */
	u8 room;		/* enum room */
	u8 flags;
	u8 queue;		/* the policy's: which of its lists */
	u8 mark;		/* the policy's: what admit() said, later use counts */
	u16 came;		/* when, by blocks that have come (rooms.c) */
};

#define PINS_MAX	((u16)-1)
/* Entries between two steps of what goes over all of them. */
#define ARENA_STEP	4096

struct arena {
	struct entry *entries;
	u32 nr;
};

struct elist {
	u32 head;
	u32 tail;
	u32 count;
};

static inline void elist_init(struct elist *l)
{
	l->head = ENTRY_NONE;
	l->tail = ENTRY_NONE;
	l->count = 0;
}

static inline void elist_add_head(struct arena *a, struct elist *l, u32 e)
{
	a->entries[e].prev = ENTRY_NONE;
	a->entries[e].next = l->head;
	if (l->head != ENTRY_NONE)
		a->entries[l->head].prev = e;
	else
		l->tail = e;
	l->head = e;
	l->count++;
}

/* Empties all entries and puts them in @l, the first one first. May sleep. */
static inline void elist_add_all(struct arena *a, struct elist *l)
{
	u32 e;

	for (e = a->nr; e-- > 0;) {
		memset(&a->entries[e], 0, sizeof(*a->entries));
		elist_add_head(a, l, e);
		if (e % ARENA_STEP == 0)
			pure_relax();
	}
}

static inline void elist_add_tail(struct arena *a, struct elist *l, u32 e)
{
	a->entries[e].next = ENTRY_NONE;
	a->entries[e].prev = l->tail;
	if (l->tail != ENTRY_NONE)
		a->entries[l->tail].next = e;
	else
		l->head = e;
	l->tail = e;
	l->count++;
}

static inline void elist_del(struct arena *a, struct elist *l, u32 e)
{
	const struct entry *x = &a->entries[e];

	if (x->prev != ENTRY_NONE)
		a->entries[x->prev].next = x->next;
	else
		l->head = x->next;
	if (x->next != ENTRY_NONE)
		a->entries[x->next].prev = x->prev;
	else
		l->tail = x->prev;
	l->count--;
}

/* The last entry that is not pinned, or ENTRY_NONE. */
static inline u32 elist_last_unpinned(const struct arena *a,
				      const struct elist *l)
{
	u32 e = l->tail;

	while (e != ENTRY_NONE && a->entries[e].pins)
		e = a->entries[e].prev;
	return e;
}

#endif
