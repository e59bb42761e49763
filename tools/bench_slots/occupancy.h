/* SPDX-License-Identifier: GPL-2.0-only */
/* Brings a peer to an occupancy in one of several ways. */
#ifndef BENCH_SLOTS_OCCUPANCY_H
#define BENCH_SLOTS_OCCUPANCY_H

#include "peers.h"

/* The hint of a request is where the one before ended, if not said otherwise. */
enum pattern {
	PATTERN_RANDOM,	/* used slots anywhere */
	PATTERN_AGED,	/* filled in order, then churned by the peer itself */
	PATTERN_JUMP,	/* used slots anywhere, and every hint anywhere */
	PATTERN_FAR,	/* the free slots at the end, and slot 0; the hint is slot 1 */
	PATTERNS
};

struct area {
	const struct peer *peer;
	void *p;
	u32 nr;
	u8 *used;	/* a byte a slot, kept by the benchmark */
	u64 random;	/* state of the random numbers */
	u32 cursor;	/* where the last alloc ended: the moving hint */
};

extern const char *const pattern_names[PATTERNS];

/* 0 to @n - 1 */
u32 area_random(struct area *a, u32 n);

/* Makes the peer with @free_slots of @nr slots free; the same for every peer, but for aging. */
void area_make(struct area *a, const struct peer *peer, enum pattern pattern, u32 nr,
	       u32 free_slots);

void area_drop(struct area *a);

#endif
