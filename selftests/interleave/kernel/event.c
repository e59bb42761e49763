// SPDX-License-Identifier: GPL-2.0-only
/* What comes at its time: a heap, by time and then by order of coming. */
#include "event.h"

#define EVENTS_MAX	4096

/* queue[0] is not used. */
static struct sim_event *queue[EVENTS_MAX + 1];
static u32 nr;
static u64 orders;

static bool earlier(const struct sim_event *a, const struct sim_event *b)
{
	return a->when != b->when ? a->when < b->when : a->order < b->order;
}

static void put(u32 place, struct sim_event *event)
{
	queue[place] = event;
	event->place = place;
}

static void rise(struct sim_event *event, u32 place)
{
	while (place > 1 && earlier(event, queue[place / 2])) {
		put(place, queue[place / 2]);
		place /= 2;
	}
	put(place, event);
}

static void sink(struct sim_event *event, u32 place)
{
	u32 child;

	while ((child = 2 * place) <= nr) {
		if (child < nr && earlier(queue[child + 1], queue[child]))
			child++;
		if (!earlier(queue[child], event))
			break;
		put(place, queue[child]);
		place = child;
	}
	put(place, event);
}

void sim_event_at(struct sim_event *event, u64 when)
{
	SIM_CHECK(!event->place && nr < EVENTS_MAX);
	event->when = when;
	event->order = orders++;
	rise(event, ++nr);
}

bool sim_event_cancel(struct sim_event *event)
{
	struct sim_event *last = queue[nr];
	u32 place = event->place;

	if (!place)
		return false;
	event->place = 0;
	nr--;
	if (last == event)
		return true;
	if (place > 1 && earlier(last, queue[place / 2]))
		rise(last, place);
	else
		sink(last, place);
	return true;
}

struct sim_event *event_first(void)
{
	return nr ? queue[1] : NULL;
}
