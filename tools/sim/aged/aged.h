/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A shard of the slot tree that has been in use for a while, and what writes and reads take then.
 *
 * It is filled to 97 %, slots are given back at random until a tenth less than so many percent is in use, and that
 * tenth is taken again, in batches; so several times. Then as much as 3/64 of it is written, and read back in its
 * order: a read takes what a run has in a granule.
 */
#ifndef AGED_H
#define AGED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "slot_tree.h"

#define AGED_SLOTS	(1024u << 8)	/* of most of what is measured */
#define AGED_BATCH	128
#define AGED_GRANULE	64
#define AGED_FILLED	97	/* percent */
#define AGED_SHARE	10
#define AGED_WRITERS	2

struct aged_shard {
	struct slot_tree tree;
	void *arena;
	u32 *slots;	/* in use, in any order */
	u32 nr;
	u32 used;
	u32 hint;
	uint64_t random;
};

/* One of several that write at once, each where he was. */
struct aged_writer {
	u32 hint;
	u32 left;	/* of the batch */
	u32 done;
	u32 *slots;	/* as many as it is to write */
	u32 nr;
};

struct aged_found {
	double write;	/* slots in one */
	double read;
};

static inline uint64_t aged_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static inline bool aged_init(struct aged_shard *s, u32 nr)
{
	s->arena = malloc(slot_tree_bytes(nr));
	s->slots = malloc(nr * sizeof(*s->slots));
	s->nr = nr;
	s->used = 0;
	s->hint = 0;
	s->random = 88172645463325252ull;
	if (!s->arena || !s->slots)
		return false;
	slot_tree_init(&s->tree, s->arena, nr);
	return true;
}

static inline void aged_exit(struct aged_shard *s)
{
	free(s->arena);
	free(s->slots);
}

/* The first piece of a batch, or the next one; its first slot. */
static inline u32 aged_piece(struct aged_shard *s, u32 want, u32 hint, bool first, bool apart, u32 *got)
{
	u32 slot = first ? slot_tree_alloc(&s->tree, want, s->hint) : SLOT_NONE;

	*got = want;
	if (slot == SLOT_NONE)
		slot = slot_tree_alloc_upto(&s->tree, want, hint, first && apart, got);
	if (slot == SLOT_NONE)
		abort();
	s->hint = slot + *got < s->nr ? slot + *got : 0;
	return slot;
}

/* Takes @n slots in batches, which do not go on with each other's runs where @apart; returns in how many pieces. */
static inline u32 aged_take(struct aged_shard *s, u32 n, bool apart)
{
	u32 left = 0, pieces = 0, got, slot;
	bool first;

	for (; n; n -= got, left -= got, pieces++) {
		first = !left;
		if (first)
			left = n < AGED_BATCH ? n : AGED_BATCH;
		slot = aged_piece(s, left, s->hint, first, apart, &got);
		for (u32 i = 0; i < got; i++)
			s->slots[s->used++] = slot + i;
	}
	return pieces;
}

static inline void aged_free_to(struct aged_shard *s, u32 used)
{
	while (s->used > used) {
		u32 i = aged_random(&s->random) % s->used;

		if (!slot_tree_free(&s->tree, s->slots[i], 1))
			abort();
		s->slots[i] = s->slots[--s->used];
	}
}

/* How many reads bring @n slots in their order. */
static inline u32 aged_reads(const u32 *slots, u32 n)
{
	u32 reads = 1;

	for (u32 i = 1; i < n; i++)
		reads += slots[i] / AGED_GRANULE != slots[i - 1] / AGED_GRANULE || slots[i] < slots[i - 1];
	return reads;
}

static inline void aged_write(struct aged_shard *s, struct aged_writer *w)
{
	u32 pages = w->nr - w->done, got, slot;
	bool first = !w->left;

	if (first)
		w->left = pages < AGED_BATCH ? pages : AGED_BATCH;
	slot = aged_piece(s, w->left, w->hint, first, !w->done, &got);
	w->hint = s->hint;
	w->left -= got;
	for (u32 i = 0; i < got; i++)
		w->slots[w->done++] = slot + i;
}

/* Two writers at once, whose pieces come in any order, each with half of @pages. False: no memory. */
static inline bool aged_write_both(struct aged_shard *s, struct aged_found *found, u32 pages)
{
	u32 *slots = malloc(pages * sizeof(*slots)), half = pages / AGED_WRITERS, writes = 0;
	struct aged_writer w[AGED_WRITERS] = { { .slots = slots, .nr = half },
					       { .slots = slots + half, .nr = half } };

	if (!slots)
		return false;
	while (w[0].done < half || w[1].done < half) {
		u32 i = aged_random(&s->random) % AGED_WRITERS;

		if (w[i].done == half)
			continue;
		aged_write(s, &w[i]);
		writes++;
	}
	found->write = (double)pages / writes;
	found->read = (double)pages / (aged_reads(slots, half) + aged_reads(slots + half, half));
	free(slots);
	return true;
}

/* A shard of @nr slots after @times, with @full percent in use; by two writers if @both. False: no memory. */
static inline bool aged_run(struct aged_found *found, u32 nr, u32 full, u32 times, bool both)
{
	u32 pages = nr / 64 * 3, before;
	struct aged_shard s;
	bool ok = aged_init(&s, nr);

	if (ok) {
		aged_take(&s, nr / 100 * AGED_FILLED, false);
		while (times--) {
			aged_free_to(&s, nr / 100 * (full - AGED_SHARE));
			aged_take(&s, nr / 100 * AGED_SHARE, true);
		}
	}
	if (ok && both) {
		ok = aged_write_both(&s, found, pages);
	} else if (ok) {
		before = s.used;
		found->write = (double)pages / aged_take(&s, pages, false);
		found->read = (double)pages / aged_reads(s.slots + before, pages);
	}
	aged_exit(&s);
	return ok;
}

#endif
