/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long a device takes for an I/O and for each further slot in it, learnt from
 * its reads; hence, how many slots a read may pass over to save another read.
 *
 * Any context; a pace is protected by its owner's lock.
 */
#ifndef MSWAP_ALGO_PACE_H
#define MSWAP_ALGO_PACE_H

#include "pure.h"

/* Reads of up to so many slots tell what an I/O takes, ... */
#define PACE_SHORT 2
/* ... and those of so many and more what a slot takes. */
#define PACE_LONG 8
/* Now and then the answer is "as many as you like", to see what that takes. */
#define PACE_PROBE_EVERY 256

struct pace {
	u32 io_ns;	/* of a short read; 0: not known yet */
	u32 slot_ns;	/* each slot more; 0: not known yet */
	u32 asked;
};

void pace_init(struct pace *p);
/*
 * A read of @n slots took @ns. Follows what is faster by half of the difference,
 * what is slower by a sixteenth: a read that waited behind others says little of
 * itself.
 */
void pace_learn(struct pace *p, u32 n, u64 ns);
/* The most slots that take no longer than an I/O, up to @most; @most when not known. */
u32 pace_pays(const struct pace *p, u32 most);
/* So many may lie between two wanted ones in a read: the same, but now and then @most. */
u32 pace_gap(struct pace *p, u32 most);

#endif
