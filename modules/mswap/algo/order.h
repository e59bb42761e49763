/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Do readers go through their pages in order, though they may leave some out? Who does
 * takes the next page of a granule, and a later one of it again, or an earlier one each
 * time; who reads single pages at random turns back soon.
 *
 * Pure functions, each of a few steps: any context; protected by its owner's lock.
 */
#ifndef MSWAP_ALGO_ORDER_H
#define MSWAP_ALGO_ORDER_H

#include "pure.h"

/* So many steps in one direction, each within a granule, are no chance. */
#define ORDER_STEPS	32

struct order {
	u32 last;	/* slot */
	u32 steps;	/* up to ORDER_STEPS */
	bool down;
};

/* Slots first..first + n - 1; n == 0: none. */
struct order_gap {
	u32 first;
	u32 n;
};

void order_init(struct order *o);
/*
 * Somebody reads @slot. Returns what was left out between it and the last one, if they
 * are of one granule, and readers go in order.
 */
struct order_gap order_next(struct order *o, u32 slot);

#endif
