// SPDX-License-Identifier: GPL-2.0-only
#include "planner.h"

#define FIRST_DEGREE	4
#define SLACK		2	/* blocks that a reader may skip or read again */

void stream_init(struct stream_planner *s)
{
	memset(s, 0, sizeof(*s));
}

/* The stream that @first carries on, or the one unused for longest. */
static struct stream *find(struct stream_planner *s, u64 first, bool *known)
{
	struct stream *oldest = &s->streams[0], *x;
	u32 i;

	for (i = 0; i < STREAMS; i++) {
		x = &s->streams[i];
		if (x->used && first + SLACK >= x->next &&
		    first <= x->next + SLACK) {
			*known = true;
			return x;
		}
		if (s->clock - x->used > s->clock - oldest->used)
			oldest = x;
	}
	*known = false;
	return oldest;
}

static void adapt(struct stream *x, const struct reference *ref)
{
	/* It had been prefetched, and evicted again: too early. */
	if (ref->room == ROOM_DISK && x->degree && ref->first < x->ahead)
		x->degree = pure_max(1, x->degree / 2);
	else if (!x->degree)
		x->degree = pure_max(FIRST_DEGREE, ref->n);
	else
		x->degree = pure_min(2 * x->degree, LOOKAHEAD_MAX);
	x->degree = pure_min(x->degree, ref->lookahead);
}

void stream_reference(struct stream_planner *s, const struct reference *ref,
		      struct plan *plan)
{
	u64 end = ref->first + ref->n;
	struct stream *x;
	bool known;

	/* 0 marks a stream that never was. */
	if (!++s->clock)
		s->clock = 1;
	x = find(s, ref->first, &known);
	x->used = s->clock;
	if (!known) {
		x->next = end;
		x->ahead = end;
		x->degree = 0;
		return;
	}
	if (end <= x->next)
		return;
	x->next = end;
	if (x->ahead < end)
		x->ahead = end;
	/* Half of what was prefetched is still to come: later. */
	if (x->degree && 2 * (x->ahead - end) >= x->degree)
		return;
	adapt(x, ref);
	if (x->ahead >= end + x->degree)
		return;
	plan_add(plan, x->ahead, (u32)(end + x->degree - x->ahead));
	x->ahead = end + x->degree;
}
