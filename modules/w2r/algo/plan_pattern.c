// SPDX-License-Identifier: GPL-2.0-only
#include "index.h"
#include "planner.h"

#define MOST_DEPTH	8
#define MASK		(PATTERN_HISTORY - 1)

void pattern_init(struct pattern_planner *p)
{
	memset(p, 0, sizeof(*p));
	memset(p->heads, 0xff, sizeof(p->heads));
	p->old = PATTERN_NONE;
	p->depth = 1;
}

static u32 *head_of(struct pattern_planner *p, u64 block)
{
	return &p->heads[index_hash(block, 51)];
}

/* Is jump number @at still in the history, with the same target @block? */
static bool known(const struct pattern_planner *p, u32 at, u64 block)
{
	return at != PATTERN_NONE && p->now - at - 1 < PATTERN_HISTORY - 1 &&
	       p->history[at & MASK].first == block;
}

static void predict(const struct pattern_planner *p,
		    const struct reference *ref, struct plan *plan)
{
	const struct run *same = &p->history[p->old & MASK];
	u32 left = ref->lookahead, i, n;
	const struct run *next;

	if (same->n > ref->n) {
		n = pure_min(left, same->n - ref->n);
		plan_add(plan, ref->first + ref->n, n);
		left -= n;
	}
	for (i = 1; i <= p->depth && left; i++) {
		if (p->old + i == p->now - 1)
			break;
		next = &p->history[(p->old + i) & MASK];
		n = pure_min(left, next->n);
		plan_add(plan, next->first, n);
		left -= n;
	}
}

void pattern_reference(struct pattern_planner *p, const struct reference *ref,
		       struct plan *plan)
{
	struct run *last = &p->history[(p->now - 1) & MASK];
	u32 *head = head_of(p, ref->first);
	u32 expected = p->old == PATTERN_NONE ? PATTERN_NONE : p->old + 1;
	u32 at;

	if (p->now && ref->first == last->first + last->n &&
	    last->n + ref->n <= LOOKAHEAD_MAX) {
		last->n += ref->n;
		return;
	}
	/* It goes through the same block in small steps. */
	if (p->now && ref->first == last->first && ref->n <= last->n)
		return;
	at = known(p, expected, ref->first) ? expected : *head;
	p->history[p->now & MASK] = (struct run){ ref->first, ref->n };
	if (!known(p, at, ref->first))
		at = PATTERN_NONE;
	/* 2^32 - 1 jumps later the numbers begin again, without a past. */
	*head = p->now++;
	if (p->now == PATTERN_NONE) {
		pattern_init(p);
		return;
	}
	p->old = at;
	if (at == PATTERN_NONE)
		return;
	if (at != expected) {
		p->depth = 1;
		return;
	}
	p->depth = pure_min(2 * p->depth, MOST_DEPTH);
	predict(p, ref, plan);
}
