// SPDX-License-Identifier: GPL-2.0-only
#include "toggle.h"

#define LONGEST	(1u << 30)	/* ns that count of one sample, */
#define OUTLIER	8		/* and how many times the mean */

void toggle_init(struct toggle *t)
{
	memset(t, 0, sizeof(*t));
	t->on = true;
	t->trial_after = TOGGLE_TRIAL_FIRST;
}

static void mean(u32 *mean, u64 ns)
{
	u32 most = *mean ? OUTLIER * pure_min(*mean + 1, LONGEST / OUTLIER) : LONGEST;
	u32 sample = ns > most ? most : (u32)ns;

	if (!*mean)
		*mean = pure_max(1, sample);
	else
		*mean = pure_max(1, *mean - *mean / 16 + sample / 16);
}

void toggle_latency(struct toggle *t, u64 ns)
{
	mean(&t->latency, ns);
}

void toggle_cost(struct toggle *t, u64 ns)
{
	mean(&t->cost, ns);
}

void toggle_fates(struct toggle *t, u32 used, u32 wasted)
{
	t->used += used;
	t->wasted += wasted;
	t->samples += used + wasted;
}

/* Saved by and spent on the prefetches that met their fate, or @times that. */
static bool pays(const struct toggle *t, u32 times)
{
	u64 saved = (u64)t->used * t->latency;
	u64 spent = ((u64)t->used + t->wasted) * t->cost;

	return saved >= times * spent;
}

static bool decide_on(struct toggle *t)
{
	if (t->samples < TOGGLE_SAMPLES || !t->latency)
		return true;
	if (!pays(t, 1)) {
		t->on = false;
		t->periods_off = 0;
		t->trial_after = pure_min(2 * t->trial_after,
					  TOGGLE_TRIAL_MOST);
	} else if (pays(t, 2)) {
		t->trial_after = TOGGLE_TRIAL_FIRST;
	}
	/* What was fetched in vain may leave long after the rest was used. */
	t->used /= 2;
	t->wasted /= 2;
	t->samples = 0;
	return t->on;
}

bool toggle_decide(struct toggle *t)
{
	if (t->on)
		return decide_on(t);
	if (++t->periods_off >= t->trial_after) {
		t->on = true;
		t->used = 0;
		t->wasted = 0;
		t->samples = 0;
	}
	return t->on;
}
