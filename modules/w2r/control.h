/* SPDX-License-Identifier: GPL-2.0-only */
/* What dmsetup shows and sends. */
#ifndef W2R_CONTROL_H
#define W2R_CONTROL_H

#include "cache.h"

/*
 * A consistent copy of the counters. used and wasted: fates of prefetched
 * blocks. Process context.
 */
struct w2r_snapshot {
	u64 stats[W2R_NR_STATS];
	u64 used;
	u64 wasted;
	u64 lookups;
	u64 found;
	u64 searches;
	u32 weighing;		/* blocks */
	u32 waiting;
	u32 waiting_target;
	u32 limit;
	u32 resident;
	u32 latency;		/* ns */
	u32 cost;		/* ns */
	u32 acting;		/* planners, a bit each */
	bool lookahead_on;
};

void w2r_snapshot(struct w2r *c, struct w2r_snapshot *s);
void w2r_clear_stats(struct w2r *c);
/* The planner that ->table has now begins, as if it had been there at the start. Under ->lock. */
void w2r_plan_anew(struct w2r *c);

void w2r_status(struct dm_target *ti, status_type_t type,
		unsigned int flags, char *result, unsigned int maxlen);
int w2r_message(struct dm_target *ti, unsigned int argc, char **argv,
		char *result, unsigned int maxlen);

#endif
