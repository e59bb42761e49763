/* SPDX-License-Identifier: GPL-2.0-only */
/* What unit tests of rooms share. */
#ifndef SELFTESTS_ROOMS_UNIT_H
#define SELFTESTS_ROOMS_UNIT_H

#include "rooms_check.h"
#include "unit.h"

static inline struct rooms_config config(enum policy_kind policy, u32 entries, u32 step)
{
	return (struct rooms_config){
		.entries = entries, .step = step, .policy = policy,
		.move_to_front = unit_below(2),
	};
}

static inline void must_hold(const struct rooms *r)
{
	const char *wrong = rooms_wrong(r);

	if (wrong)
		printf("# %s\n", wrong);
	CHECK(!wrong);
}

static inline void fill_good(struct rooms *r, u64 block, enum room room)
{
	u32 e = rooms_fill(r, block, room);

	if (e != ENTRY_NONE)
		CHECK(rooms_filled(r, e, true));
}

#endif
