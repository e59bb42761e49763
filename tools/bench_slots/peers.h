/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the benchmark compares: allocators of slots behind one table of functions.
 * All of them are single-threaded and without locks or atomic operations, as the
 * lock is not what is measured. The peers are built like kernel code: -O2 and no
 * vector registers.
 */
#ifndef BENCH_SLOTS_PEERS_H
#define BENCH_SLOTS_PEERS_H

#include "slot_tree.h"

/* Longest request, in slots, that a peer must serve. */
#define PEER_RUN_MAX 32

struct peer {
	const char *name;
	bool adjacent;		/* n slots come as one run; else n single ones */
	/* All @nr slots free; memory is zeroed or set here, not touched later for the first time. */
	void *(*create)(u32 nr);
	void (*destroy)(void *p);
	size_t (*bytes)(u32 nr);
	/*
	 * Takes @n (1 to PEER_RUN_MAX) slots, preferably at @hint (in range) or after;
	 * false if it finds none. An adjacent peer sets slots[0], others all n.
	 */
	bool (*alloc)(void *p, u32 n, u32 hint, u32 *slots);
	void (*free)(void *p, u32 n, const u32 *slots);
};

extern const struct peer peer_slot_tree;	/* this project's */
extern const struct peer peer_tree8;		/* paper 003: bytes, degree 8 */
extern const struct peer peer_bytemap;		/* linear scan of a byte map */
extern const struct peer peer_bitmap;		/* next zero bit from a hint */
extern const struct peer peer_sharded;		/* one word a cache line */

#endif
