// SPDX-License-Identifier: GPL-2.0-only
#include "planner.h"

/* What is new must beat what acts by an eighth and this, or nothing changes. */
#define MARGIN	16
/* A block asked for so many references after its prediction is there by then. */
#define EARLY	8

void chooser_init(struct auto_planner *a)
{
	memset(a, 0, sizeof(*a));
	a->acting = PLANNER_NONE;
}

static struct prediction *slot_of(struct auto_planner *a, u64 block)
{
	return &a->predictions[(block * 0x9e3779b97f4a7c15ull) >> 52];
}

static void settle(struct auto_planner *a, struct prediction *x, bool used)
{
	u32 kind;

	for (kind = 0; kind < SCORES; kind++) {
		if (!(x->planners & (1u << kind)))
			continue;
		if (used) {
			a->scores[kind].used++;
			a->scores[kind].credit +=
				pure_min(a->clock - x->stamps[kind], EARLY);
		} else {
			a->scores[kind].wasted++;
		}
	}
	x->planners = 0;
}

static u32 worth(const struct score *s)
{
	return s->used > 2 * s->wasted ? s->credit : 0;
}

static void decide(struct auto_planner *a)
{
	u32 kind, best = PLANNER_NONE, most = 0, acting;

	for (kind = 0; kind < SCORES; kind++) {
		if (worth(&a->scores[kind]) <= most)
			continue;
		most = worth(&a->scores[kind]);
		best = kind;
	}
	acting = a->acting == PLANNER_NONE ? 0 : worth(&a->scores[a->acting]);
	if (!acting || most > acting + acting / 8 + MARGIN)
		a->acting = most > MARGIN ? best : PLANNER_NONE;
	for (kind = 0; kind < SCORES; kind++) {
		a->scores[kind].used /= 2;
		a->scores[kind].wasted /= 2;
		a->scores[kind].credit /= 2;
	}
}

/* When the last of its planners predicted it. */
static u32 age(const struct auto_planner *a, const struct prediction *x)
{
	u32 least = PREDICTION_AGE + 1, kind;

	for (kind = 0; kind < SCORES; kind++)
		if (x->planners & (1u << kind))
			least = pure_min(least, a->clock - x->stamps[kind]);
	return least;
}

/* One prediction a reference is looked at, so that none stays for ever. */
static void expire(struct auto_planner *a)
{
	struct prediction *x = &a->predictions[a->clock & (PREDICTIONS - 1)];

	if (x->planners && age(a, x) > PREDICTION_AGE)
		settle(a, x, false);
}

void chooser_reference(struct auto_planner *a, const struct reference *ref)
{
	struct prediction *x;
	u32 i;

	a->clock++;
	for (i = 0; i < ref->n; i++) {
		x = slot_of(a, ref->first + i);
		if (x->planners && x->block == ref->first + i)
			settle(a, x, true);
	}
	expire(a);
	if (!(a->clock & (SCORE_PERIOD - 1)))
		decide(a);
}

void chooser_predict(struct auto_planner *a, u32 kind, u64 block)
{
	struct prediction *x = slot_of(a, block);

	if (x->planners && x->block != block)
		settle(a, x, false);
	x->block = block;
	if (x->planners & (1u << kind))
		return;
	x->planners |= 1u << kind;
	x->stamps[kind] = a->clock;
}
