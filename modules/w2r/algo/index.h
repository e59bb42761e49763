/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Block number -> entry, by hash chains. With move-to-front a found entry
 * becomes the first of its chain, so that blocks in demand are found at the
 * first search (Lee and others, "An Efficient Management Scheme for Page Cache
 * in Linux"). The caller's lock protects it; a lookup changes the chain.
 */
#ifndef W2R_ALGO_INDEX_H
#define W2R_ALGO_INDEX_H

#include "arena.h"

struct index {
	struct arena *arena;
	u32 *heads;
	u32 shift;		/* of the 64-bit hash */
	bool move_to_front;
	u64 lookups;
	u64 found;
	u64 searches;		/* entries looked at by those that found one */
};

/* Chain heads for @entries entries: a power of two, half to one an entry. */
u32 index_heads(u32 entries);
/* Bytes of memory for them; a multiple of 8. */
size_t index_bytes(u32 entries);
/* @heads has @nr (a power of two, at least 2) elements. May sleep. */
void index_init(struct index *x, struct arena *a, u32 *heads, u32 nr,
		bool move_to_front);
/* The entry of @block or ENTRY_NONE. Counted. */
u32 index_find(struct index *x, u64 block);
/* The same, leaving counters and order alone. */
u32 index_peek(const struct index *x, u64 block);
/* New entries go to the end of their chain (plain) or to its front. */
void index_add(struct index *x, u32 e);
void index_del(struct index *x, u32 e);

/* Spreads neighbours over chains, of which there are 1 << (64 - @shift). */
static inline u32 index_hash(u64 block, u32 shift)
{
	return (u32)((block * 0x9e3779b97f4a7c15ull) >> shift);
}

#endif
