// SPDX-License-Identifier: GPL-2.0-only
#include "granule.h"
#include "steady.h"
#include "window.h"

static struct steady_place *places_of(struct steady *s, u32 slot)
{
	return s->places[slot / WINDOW_MAX / GRANULE_SHARDS % STEADY_SETS];
}

void steady_init(struct steady *s)
{
	u32 i;

	memset(s, 0, sizeof(*s));
	for (i = STEADY_NONE + 1; i < STEADY_ACCOUNTS; i++)
		s->credit[i] = STEADY_CREDIT_FIRST * STEADY_TRIES;
}

/* Those before the one at @i make room for @p at the front. */
static void put_first(struct steady_place *places, u32 i, struct steady_place p)
{
	for (; i; i--)
		places[i] = places[i - 1];
	places[0] = p;
}

static void place_join(struct steady_place *p, u32 slot, u32 n)
{
	p->first = pure_min(p->first, slot);
	p->behind = pure_max(p->behind, slot + n);
}

/* Does the reader of @p come down to @slot? */
static bool comes_down(struct steady_place p, u32 slot, u32 want)
{
	u32 most = p.behind - p.first < STEADY_BLOCK ? STEADY_GAP : STEADY_BLOCK - 1;

	return p.first - (slot + want) <= most;
}

static u32 between(struct steady_place p, u32 behind)
{
	return pure_min(p.first - behind, (0 - behind) % WINDOW_MAX);
}

struct steady_step steady_miss(struct steady *s, u32 slot, u32 want)
{
	struct steady_place *places = places_of(s, slot), p;
	struct steady_step step = { .length = 0 };
	u32 i;

	for (i = 0; i < STEADY_WAYS; i++) {
		p = places[i];
		step.down = comes_down(p, slot, want);
		if (!step.down && slot - p.behind > STEADY_GAP)
			continue;
		step.length = p.behind - p.first;
		if (step.down)
			step.between = between(p, slot + want);
		place_join(&p, slot, want);
		put_first(places, i, p);
		return step;
	}
	p.first = slot;
	p.behind = slot + want;
	put_first(places, STEADY_WAYS - 1, p);
	return step;
}

void steady_read(struct steady *s, u32 slot, u32 n)
{
	place_join(places_of(s, slot), slot, n);
}

void steady_read_on(struct steady *s, u32 slot, u32 n, u32 length)
{
	struct steady_place *places = places_of(s, slot), p;
	u32 i;

	for (i = 0; i < STEADY_WAYS - 1; i++)
		if (places[i].behind == slot)
			break;
	p = places[i];
	if (p.behind != slot)
		p.first = slot - pure_min(slot, length);
	p.behind = slot + n;
	put_first(places, i, p);
}

u32 steady_ahead(struct steady *s, u32 account)
{
	u32 n = s->credit[account] / STEADY_TRIES / 2;

	if (n >= STEADY_AHEAD_MIN)
		return n;
	s->credit[account]++;
	return 0;
}
