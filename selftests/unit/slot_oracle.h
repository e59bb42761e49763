/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A byte map that says what the slot tree must say, found by looking at every
 * slot. `used` has one byte a slot, 0 or 1, and belongs to the caller.
 */
#ifndef SELFTESTS_SLOT_ORACLE_H
#define SELFTESTS_SLOT_ORACLE_H

#include "slot_tree.h"

struct slot_oracle {
	u8 *used;
	u32 nr;
	u32 nr_free;
};

/* Free slots from @slot on, counted up to @most. */
static inline u32 oracle_run(const struct slot_oracle *o, u32 slot, u32 most)
{
	u32 n = 0;

	while (n < most && slot + n < o->nr && !o->used[slot + n])
		n++;
	return n;
}

/* First run of @want free slots that starts in [@from, @to); or SLOT_NONE. */
static inline u32 oracle_find(const struct slot_oracle *o, u32 from, u32 to, u32 want)
{
	u32 slot = from;

	while (slot < to) {
		u32 n = oracle_run(o, slot, want);

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
}

#endif
