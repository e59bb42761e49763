// SPDX-License-Identifier: GPL-2.0-only
#include "index.h"
#include "planner.h"

#define FIRST_DEGREE	4
#define SLACK		2	/* blocks that a reader may skip or read again */
#define WHOLE		128	/* blocks that most devices take in one I/O */
#define LATELY		64	/* references */
#define PART_SHIFT	4	/* blocks whose streams have one hash */

void stream_init(struct stream_planner *s)
{
	u32 i;

	memset(s, 0, sizeof(*s));
	memset(s->heads, STREAM_NONE, sizeof(s->heads));
	for (i = 0; i < STREAMS; i++) {
		s->streams[i].newer = (u8)(i + 1);
		s->streams[i].older = (u8)(i - 1);
	}
	s->newest = STREAMS - 1;
	s->oldest = 0;
	s->streams[s->newest].newer = STREAM_NONE;
	s->streams[s->oldest].older = STREAM_NONE;
}

/* --- by use --- */

static void make_newest(struct stream_planner *s, u8 which)
{
	struct stream *x = &s->streams[which];

	if (which == s->newest)
		return;
	s->streams[x->newer].older = x->older;
	if (which == s->oldest)
		s->oldest = x->newer;
	else
		s->streams[x->older].newer = x->newer;
	x->newer = STREAM_NONE;
	x->older = s->newest;
	s->streams[s->newest].newer = which;
	s->newest = which;
}

static u8 newer_of(const struct stream_planner *s, u8 a, u8 b)
{
	u8 which = s->newest;

	while (which != a && which != b)
		which = s->streams[which].older;
	return which;
}

/* --- by where they go on --- */

static u8 *head_of(struct stream_planner *s, u64 part)
{
	return &s->heads[index_hash(part, 58)];
}

/* From now on it goes on at @next; 0: nowhere. */
static void go_on_at(struct stream_planner *s, struct stream *x, u64 next)
{
	u8 which = (u8)(x - s->streams), *link;

	if (x->next) {
		link = head_of(s, x->next >> PART_SHIFT);
		while (*link != which)
			link = &s->streams[*link].chain;
		*link = x->chain;
	}
	x->next = next;
	if (next) {
		link = head_of(s, next >> PART_SHIFT);
		x->chain = *link;
		*link = which;
	}
}

static bool carries_on(const struct stream *x, u64 first)
{
	return first - x->next + SLACK <= 2 * SLACK;
}

/*
 * The stream that @first carries on, of several the one used last, or the one
 * unused for longest with its next block 0. It becomes the newest.
 */
static struct stream *find(struct stream_planner *s, u64 first)
{
	u64 part = first > SLACK ? (first - SLACK) >> PART_SHIFT : 0;
	u8 which, found = STREAM_NONE;

	for (; part <= (first + SLACK) >> PART_SHIFT; part++)
		for (which = *head_of(s, part); which != STREAM_NONE;
		     which = s->streams[which].chain) {
			if (!carries_on(&s->streams[which], first))
				continue;
			found = found == STREAM_NONE ? which :
				newer_of(s, found, which);
		}
	if (found == STREAM_NONE) {
		found = s->oldest;
		go_on_at(s, &s->streams[found], 0);
	}
	make_newest(s, found);
	return &s->streams[found];
}

/* Streams that went on lately share the waiting room. */
static u32 share(const struct stream_planner *s, const struct reference *ref)
{
	u32 which, n = 0;

	for (which = s->newest; which != STREAM_NONE;
	     which = s->streams[which].older) {
		if (s->clock - s->streams[which].used > LATELY)
			break;
		n += s->streams[which].degree > 0;
	}
	return pure_max(2 * ref->n, ref->waiting / pure_max(1, n));
}

/*
 * Is there place for an I/O worth while? Else the stream waits for one: what it named
 * in vain it would take for prefetched, and not name again.
 */
static bool has_place(const struct stream *x, const struct reference *ref)
{
	u32 most = pure_min(ref->waiting, ref->lookahead) / 2;
	u32 enough = pure_min(pure_min(x->degree / 2, WHOLE), most);

	return ref->left >= pure_max(1, enough);
}

/* @early: it had been prefetched, and evicted again. */
static void adapt(struct stream_planner *s, struct stream *x,
		  const struct reference *ref, bool early)
{
	if (early)
		x->degree = pure_max(1, x->degree / 2);
	else if (!x->degree)
		x->degree = pure_max(FIRST_DEGREE, ref->n);
	else
		x->degree = pure_min(2 * x->degree, LOOKAHEAD_MAX);
	x->degree = pure_min(x->degree, ref->lookahead);
	x->degree = pure_min(x->degree, share(s, ref));
}

void stream_reference(struct stream_planner *s, const struct reference *ref,
		      struct plan *plan)
{
	struct stream *x = find(s, ref->first);
	u64 end = ref->first + ref->n;
	bool early;
	u32 n;

	x->used = ++s->clock;
	if (!x->next) {
		go_on_at(s, x, end);
		x->ahead = end;
		x->degree = 0;
		return;
	}
	if (end <= x->next)
		return;
	go_on_at(s, x, end);
	early = x->degree && ref->room == ROOM_DISK && ref->first < x->ahead;
	if (x->ahead < end)
		x->ahead = end;
	/* Half of what was prefetched is still to come: later. */
	if (x->degree && 2 * (x->ahead - end) >= x->degree)
		return;
	if (!has_place(x, ref))
		return;
	adapt(s, x, ref, early);
	if (x->ahead >= end + x->degree)
		return;
	n = pure_min((u32)(end + x->degree - x->ahead), ref->left);
	if (n > WHOLE)
		n -= n % WHOLE;
	plan_add(plan, x->ahead, n);
	x->ahead += n;
}
