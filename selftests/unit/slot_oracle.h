/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A byte map that says what the slot tree must say, found by looking at every
 * slot. `used` has one byte a slot, 0 or 1, and belongs to the caller.
 */
#ifndef SELFTESTS_SLOT_ORACLE_H
#define SELFTESTS_SLOT_ORACLE_H

#include <string.h>

#include "slot_tree.h"

struct slot_oracle {
	u8 *used;
	u32 nr;
	u32 nr_free;
	u32 scraps;	/* the word of which single slots are taken too, or SLOT_NONE */
	u32 worn;	/* as the tree's */
};

#define ORACLE_NODE 4096u	/* slots among whose words the densest is looked for */

/* Free slots from @slot on, counted up to @most. */
static inline u32 oracle_run(const struct slot_oracle *o, u32 slot, u32 most)
{
	const u8 *used;

	if (slot >= o->nr || o->used[slot])
		return 0;
	most = pure_min(most, o->nr - slot);
	used = memchr(o->used + slot, 1, most);
	return used ? used - (o->used + slot) : most;
}

/* First run of @want free slots that starts in [@from, @to); or SLOT_NONE. */
static inline u32 oracle_find(const struct slot_oracle *o, u32 from, u32 to, u32 want)
{
	u32 slot = from;

	while (slot < to) {
		const u8 *unused = memchr(o->used + slot, 0, to - slot);
		u32 n;

		if (!unused)
			break;
		slot = unused - o->used;
		n = oracle_run(o, slot, want);
		if (n == want)
			return slot;
		slot += n + 1;
	}
	return SLOT_NONE;
}

/* Length of the longest free run, counted up to SLOT_RUN_MAX. */
static inline u32 oracle_longest(const struct slot_oracle *o)
{
	u32 run = 0, longest = 0, slot;

	for (slot = 0; slot < o->nr && longest < SLOT_RUN_MAX; slot++) {
		run = o->used[slot] ? 0 : run + 1;
		longest = pure_max(longest, run);
	}
	return longest;
}

/* Length of the run that begins with @slot, of those from @from on, in its word. */
static inline u32 oracle_run_in_word(const struct slot_oracle *o, u32 slot, u32 from)
{
	if (slot > from && slot % 64 && !o->used[slot - 1])
		return 0;
	return oracle_run(o, slot, 64 - slot % 64);
}

/* Free slots of word @w in runs of @least or more. */
static inline u32 oracle_free_in_runs(const struct slot_oracle *o, u32 w, u32 least)
{
	u32 sum = 0, slot, n;

	for (slot = w * 64; slot < o->nr && slot / 64 == w; slot++) {
		n = oracle_run_in_word(o, slot, w * 64);
		sum += n >= least ? n : 0;
	}
	return sum;
}

/* The first word of node @k with most slots in runs of @least or more, which are *@most. */
static inline u32 oracle_best_word(const struct slot_oracle *o, u32 k, u32 least, u32 *most)
{
	u32 best = k * 64, w;

	*most = 0;
	for (w = k * 64; w * 64 < o->nr && w / 64 == k; w++) {
		u32 n = oracle_free_in_runs(o, w, least);

		if (n > *most) {
			*most = n;
			best = w;
		}
	}
	return best;
}

/* The first run of @least slots in the word of @from, at @from or behind; or SLOT_NONE. */
static inline u32 oracle_first_run(const struct slot_oracle *o, u32 from, u32 least)
{
	u32 slot;

	for (slot = from; slot < o->nr && slot / 64 == from / 64; slot++)
		if (oracle_run_in_word(o, slot, from) >= least)
			return slot;
	return SLOT_NONE;
}

static inline bool oracle_worn(const struct slot_oracle *o)
{
	u32 nodes = (o->nr + ORACLE_NODE - 1) / ORACLE_NODE;

	return o->worn >= pure_min(nodes * SLOT_WORN_NODE, SLOT_WORN);
}

/* Where an area in shreds, with a slot free, gives the next run after @hint, or in another word. */
static inline u32 oracle_shred(struct slot_oracle *o, u32 hint, bool apart)
{
	u32 nodes = (o->nr + ORACLE_NODE - 1) / ORACLE_NODE, start, w, k, most;
	bool singles;

	hint = hint < o->nr ? hint : 0;
	singles = hint / 64 == o->scraps || oracle_worn(o);
	if (!singles)
		o->scraps = SLOT_NONE;
	start = apart ? SLOT_NONE : oracle_first_run(o, hint, singles ? 1 : 2);
	if (start != SLOT_NONE)
		return start;
	o->scraps = SLOT_NONE;
	k = hint / ORACLE_NODE;
	do {
		k = (k + 1) % nodes;
		w = oracle_best_word(o, k, 1, &most);
	} while (!most);
	if (o->nr_free > o->nr / 8 * 3)
		o->worn = 0;
	start = oracle_best_word(o, k, 2, &most);
	if (oracle_worn(o)) {
		o->scraps = w;
	} else if (most < SLOT_WORD_DENSE) {
		o->worn += SLOT_WORN_STEP;
		o->scraps = w;
	} else {
		o->worn -= o->worn > 0;
		w = start;
	}
	return oracle_first_run(o, w * 64, o->scraps == SLOT_NONE ? 2 : 1);
}

/* Whether all of [@start, @start + @n) is in range and used, and n is not 0. */
static inline bool oracle_all_used(const struct slot_oracle *o, u32 start, u32 n)
{
	u32 i;

	if (!n || start >= o->nr || n > o->nr - start)
		return false;
	for (i = 0; i < n; i++) {
		if (!o->used[start + i])
			return false;
	}
	return true;
}

static inline void oracle_set(struct slot_oracle *o, u32 start, u32 n, u8 used)
{
	memset(o->used + start, used, n);
	o->nr_free += used ? -n : n;
	if (!used && o->nr_free > o->nr / 8 * 3)
		o->worn = 0;
}

#endif
