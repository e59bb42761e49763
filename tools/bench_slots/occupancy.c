// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>

#include "occupancy.h"

#define SEED 88172645463325252ull

/* Churn ends when the number of free runs changes less than this between laps. */
#define STATIONARY 0.01
#define LAPS_MAX 12

const char *const pattern_names[PATTERNS] = { "random", "aged", "jump", "far" };

u32 area_random(struct area *a, u32 n)
{
	a->random ^= a->random << 13;
	a->random ^= a->random >> 7;
	a->random ^= a->random << 17;
	return ((a->random >> 32) * n) >> 32;
}

/* Takes one slot at @hint or after; every peer has room when this is called. */
static u32 take_one(struct area *a, u32 hint)
{
	u32 slot;

	if (!a->peer->alloc(a->p, 1, hint, &slot) || slot >= a->nr || a->used[slot]) {
		fprintf(stderr, "%s: wrong answer while filling\n", a->peer->name);
		exit(2);
	}
	a->used[slot] = 1;
	return slot;
}

static void free_one(struct area *a, u32 slot)
{
	a->peer->free(a->p, 1, &slot);
	a->used[slot] = 0;
}

/* Each slot is free with the same chance, and exactly @free_slots are. */
static void fill_random(struct area *a, u32 free_slots)
{
	u32 slot;

	for (slot = 0; slot < a->nr; slot++) {
		if (area_random(a, a->nr - slot) < free_slots)
			free_slots--;
		else
			take_one(a, slot);
	}
}

static void fill_in_order(struct area *a, u32 from, u32 to)
{
	u32 slot;

	for (slot = from; slot < to; slot++)
		take_one(a, slot);
}

static u32 free_runs(const struct area *a)
{
	u32 slot, runs = 0;
	bool before = true;

	for (slot = 0; slot < a->nr; slot++) {
		runs += before && !a->used[slot];
		before = a->used[slot];
	}
	return runs;
}

/* One lap: the moving hint has gone once round the area. */
static void churn_lap(struct area *a)
{
	u64 gone = 0;

	while (gone < a->nr) {
		u32 slot;

		do {
			slot = area_random(a, a->nr);
		} while (!a->used[slot]);
		free_one(a, slot);
		slot = take_one(a, a->cursor);
		gone += (slot + a->nr - a->cursor) % a->nr + 1;
		a->cursor = (slot + 1) % a->nr;
	}
}

static void age(struct area *a, u32 free_slots)
{
	u32 lap, before, now = 1;

	fill_in_order(a, 0, a->nr - free_slots);
	a->cursor = a->nr - free_slots;
	if (!a->cursor)
		return;
	for (lap = 0; lap < LAPS_MAX; lap++) {
		churn_lap(a);
		before = now;
		now = free_runs(a);
		if (abs((int)(now - before)) < STATIONARY * before)
			return;
	}
	fprintf(stderr, "%s: not stationary after %d laps: %u, %u free runs\n",
		a->peer->name, LAPS_MAX, before, now);
}

void area_make(struct area *a, const struct peer *peer, enum pattern pattern, u32 nr,
	       u32 free_slots)
{
	a->peer = peer;
	a->nr = nr;
	a->p = peer->create(nr);
	a->used = calloc(nr, 1);
	a->random = SEED;
	a->cursor = 0;
	if (pattern == PATTERN_AGED)
		age(a, free_slots);
	else if (pattern == PATTERN_FAR)
		/* Slot 0 stays free, lest remembering the lowest free slot makes this easy. */
		fill_in_order(a, 1, nr - free_slots + 1);
	else
		fill_random(a, free_slots);
}

void area_drop(struct area *a)
{
	a->peer->destroy(a->p);
	free(a->used);
}
