// SPDX-License-Identifier: GPL-2.0-only
#include "planner.h"

#define BITS		(1u << REGION_SHIFT)
#define ENOUGH		3	/* blocks asked for that make a region wanted */

void region_init(struct region_planner *r)
{
	memset(r, 0, sizeof(*r));
}

static struct region *region_of(struct region_planner *r, u64 number)
{
	struct region *x = &r->regions[(number * 0x9e3779b97f4a7c15ull) >> 54];

	if (x->number != number || !x->asked) {
		x->number = number;
		x->asked = 0;
		x->planned = false;
	}
	return x;
}

static u64 bits_of(u32 from, u32 n)
{
	return (n < 64 ? ((u64)1 << n) - 1 : ~0ull) << from;
}

/* What nobody has asked for yet of a region, as runs. */
static u32 plan_rest(const struct region *x, u32 most, struct plan *plan)
{
	u64 left = ~x->asked & bits_of(0, BITS), first = x->number << REGION_SHIFT;
	u32 at, n, sum = 0;

	while (left && sum < most && plan->n < PLAN_RUNS) {
		at = pure_ctz64(left);
		n = ~(left >> at) ? pure_ctz64(~(left >> at)) : 64;
		plan_add(plan, first + at, pure_min(n, most - sum));
		sum += pure_min(n, most - sum);
		left &= ~bits_of(at, n);
	}
	return sum;
}

void region_reference(struct region_planner *r, const struct reference *ref,
		      struct plan *plan)
{
	u64 block = ref->first, end = ref->first + ref->n;
	u32 left = ref->lookahead, from, n;
	struct region *x;

	while (block < end) {
		from = block & (BITS - 1);
		n = pure_min(BITS - from, (u32)(end - block));
		x = region_of(r, block >> REGION_SHIFT);
		x->asked |= bits_of(from, n);
		block += n;
		if (x->planned || pure_popcount64(x->asked) < ENOUGH)
			continue;
		x->planned = true;
		left -= plan_rest(x, left, plan);
	}
}
