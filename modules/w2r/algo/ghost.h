/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The block numbers evicted last: a FIFO of bounded length that also knows
 * membership. What it remembers has no content any more. The caller's lock
 * protects it.
 */
#ifndef W2R_ALGO_GHOST_H
#define W2R_ALGO_GHOST_H

#include "index.h"

struct ghost {
	struct arena arena;
	struct index index;
	struct elist fifo;	/* newest first */
	struct elist spare;
};

#define GHOST_TRIM_MOST	4

/* Bytes of memory for @capacity blocks; a multiple of 8. */
size_t ghost_size(u32 capacity);
/* @mem has ghost_size(@capacity) bytes, aligned to 8; capacity >= 1. May sleep. */
void ghost_init(struct ghost *g, void *mem, u32 capacity);
/* Remembers @block, which is not there yet; forgets the oldest when full. */
void ghost_add(struct ghost *g, u64 block);
/* Was @block there? It is forgotten. */
bool ghost_take(struct ghost *g, u64 block);
/*
 * Forgets the oldest until at most @count are left, but GHOST_TRIM_MOST at once:
 * when the cache has lost most of its memory they may be millions, and as many blocks
 * as a read takes may be evicted, one after the other, under the caller's lock.
 */
void ghost_trim(struct ghost *g, u32 count);

#endif
