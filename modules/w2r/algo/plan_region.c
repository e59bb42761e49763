// SPDX-License-Identifier: GPL-2.0-only
#include "index.h"
#include "planner.h"

#define BLOCKS		(1u << REGION_SHIFT)
#define GROUP		16	/* blocks, aligned */
#define ENOUGH		3	/* of a group asked for that make it wanted */
#define LONG_AGO	2048	/* references */
#define LATELY		128	/* references */
#define MANY		16	/* regions for which a waiting room has space */

void region_init(struct region_planner *r)
{
	memset(r, 0, sizeof(*r));
}

/* Where region @number is remembered, or another one. */
static struct region *place_of(struct region_planner *r, u64 number)
{
	return &r->regions[index_hash(number, 52)];
}

static struct region *region_of(struct region_planner *r, u64 number)
{
	struct region *x = place_of(r, number);

	if (x->number != number) {
		memset(x, 0, sizeof(*x));
		x->number = number;
	}
	return x;
}

static u64 bits_of(u32 from, u32 n)
{
	return (n < 64 ? ((u64)1 << n) - 1 : ~0ull) << from;
}

/* Was most of it asked for, so that all of it will be? */
static bool is_whole(u64 asked)
{
	return 2 * pure_popcount64(asked) >= BLOCKS;
}

/* What of @wanted was neither asked for nor named yet, as runs; how many. */
static u32 name(struct region *x, u64 wanted, u32 most, u32 clock,
		struct plan *plan)
{
	u64 left = wanted & ~x->asked & ~x->named;
	u64 first = x->number << REGION_SHIFT;
	u32 at, n, sum = 0;

	while (left && sum < most && plan->n < PLAN_RUNS) {
		at = pure_ctz64(left);
		n = ~(left >> at) ? pure_ctz64(~(left >> at)) : 64;
		n = pure_min(n, most - sum);
		plan_add_kept(plan, first + at, n, is_whole(x->before));
		sum += n;
		x->named |= bits_of(at, n);
		x->named_at = clock;
		left &= ~bits_of(at, n);
	}
	return sum;
}

/* Those groups among the @n blocks from @from on of which enough were asked for. */
static u64 groups(const struct region *x, u32 from, u32 n)
{
	u64 group, wanted = 0;
	u32 at;

	for (at = from & ~(GROUP - 1); at < from + n; at += GROUP) {
		group = bits_of(at, GROUP);
		if (pure_popcount64(x->asked & group) >= ENOUGH)
			wanted |= group;
	}
	return wanted;
}

/*
 * What comes will be the same as what was, unless that was another thing. 0: not
 * known. If nothing was asked for, it was only expected.
 */
static u64 comes_next(const struct region *x)
{
	u32 same = pure_popcount64(x->asked & x->before);

	if (!x->asked)
		return x->before;
	return 2 * same < pure_popcount64(x->before) ? 0 : x->asked;
}

static void begin_anew(struct region *x)
{
	x->before = comes_next(x);
	x->asked = 0;
	x->named = 0;
}

/* It left the cache and is wanted again, or nobody wanted it for long. */
static bool is_over(const struct region *x, u32 clock, u32 from, enum room room)
{
	if (clock - x->touched > LONG_AGO)
		return true;
	return room != ROOM_WEIGHING && x->asked & bits_of(from, 1);
}

/*
 * A block that was named is not here: it was cached then, and has left since, or
 * nobody fetched it, as the planner did not act. So may be others, which are named
 * once more: the caller leaves out what is here. But a small waiting room loses them
 * again, and what was named lately may still be used.
 */
static bool is_gone(const struct region *x, u32 clock, u32 from,
		    const struct reference *ref)
{
	return ref->room == ROOM_DISK && x->named & bits_of(from, 1) &&
	       clock - x->named_at >= LATELY && ref->waiting >= MANY * BLOCKS;
}

void region_reference(struct region_planner *r, const struct reference *ref,
		      struct plan *plan)
{
	u64 block = ref->first, end = ref->first + ref->n;
	u32 left = ref->lookahead, from, n;
	struct region *x;

	r->clock++;
	while (block < end) {
		from = block & (BLOCKS - 1);
		n = pure_min(BLOCKS - from, (u32)(end - block));
		x = region_of(r, block >> REGION_SHIFT);
		if (is_over(x, r->clock, from, ref->room))
			begin_anew(x);
		else if (is_gone(x, r->clock, from, ref))
			x->named = 0;
		x->touched = r->clock;
		x->asked |= bits_of(from, n);
		left -= name(x, x->before | groups(x, from, n), left, r->clock,
			     plan);
		block += n;
	}
}

bool region_around(struct region_planner *r, const struct run *run, u32 most,
		   struct plan *plan)
{
	u64 number = run->first >> REGION_SHIFT;
	u32 from = run->first & (BLOCKS - 1);
	struct region *x = place_of(r, number);
	u64 next = x->number == number ? comes_next(x) : 0;

	if (r->clock - x->touched <= LONG_AGO || !is_whole(next))
		return false;
	if (run->n > BLOCKS - from || bits_of(from, run->n) & ~next)
		return false;
	begin_anew(x);
	x->touched = r->clock;
	return name(x, next, most, r->clock, plan);
}
