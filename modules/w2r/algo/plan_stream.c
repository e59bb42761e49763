// SPDX-License-Identifier: GPL-2.0-only
#include "planner.h"

#define FIRST_DEGREE	4
#define SLACK		2	/* blocks that a reader may skip or read again */

void stream_init(struct stream_planner *s)
{
	u32 i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < STREAMS; i++)
		s->order[i] = (u8)(STREAMS - 1 - i);
}

/*
 * The stream that @first carries on, or the one unused for longest with its
 * next block 0. It becomes the first in order.
 */
static struct stream *find(struct stream_planner *s, u64 first)
{
	struct stream *x;
	u8 which;
	u32 i;

	for (i = 0; i < STREAMS; i++) {
		x = &s->streams[s->order[i]];
		if (first - x->next + SLACK <= 2 * SLACK && x->next)
			break;
	}
	if (i == STREAMS) {
		x->next = 0;
		i--;
	}
	which = s->order[i];
	memmove(s->order + 1, s->order, i);
	s->order[0] = which;
	return x;
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
	struct stream *x = find(s, ref->first);
	u64 end = ref->first + ref->n;

	if (!x->next) {
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
