// SPDX-License-Identifier: GPL-2.0-only
#include "index.h"
#include "planner.h"

#define FIRST_DEGREE	4
#define SLACK		2	/* blocks that a reader may skip or read again */
#define SKIPPED		16	/* blocks: whose degree is less loses a reader who skips more */
#define WHOLE		128	/* blocks that most devices take in one I/O */
#define LATELY		256	/* references */
#define GROWTH		4	/* by which others' degrees may grow, soon */
#define SOON		32	/* streams begun */
#define FORGETS		4	/* times as many as have begun, of a pause, at most */
#define CROWD		4	/* share of the cache: if more is ahead of others, none grows */
#define PART_SHIFT	4	/* blocks whose streams have one hash */
#define AREA_SHIFT	11	/* the same, for those that look far ahead; */
#define FURTHEST	(LOOKAHEAD_MAX + SLACK)	/* not further than so many */

/* --- by use --- */

static void unlist(struct stream_planner *s, u8 which)
{
	const struct stream *x = &s->streams[which];
	struct stream_list *l = &s->lists[x->goes_on];

	if (x->newer == STREAM_NONE)
		l->newest = x->older;
	else
		s->streams[x->newer].older = x->older;
	if (x->older == STREAM_NONE)
		l->oldest = x->newer;
	else
		s->streams[x->older].newer = x->newer;
	l->count--;
}

static void enlist(struct stream_planner *s, u8 which)
{
	struct stream *x = &s->streams[which];
	struct stream_list *l = &s->lists[x->goes_on];

	x->newer = STREAM_NONE;
	x->older = l->newest;
	if (l->newest == STREAM_NONE)
		l->oldest = which;
	else
		s->streams[l->newest].newer = which;
	l->newest = which;
	l->count++;
}

static void make_newest(struct stream_planner *s, struct stream *x,
			bool goes_on)
{
	u8 which = (u8)(x - s->streams);

	unlist(s, which);
	x->goes_on = goes_on;
	enlist(s, which);
	x->used = ++s->clock;
	x->used_then = s->begun;
}

void stream_init(struct stream_planner *s)
{
	u8 which;

	memset(s, 0, sizeof(*s));
	memset(s->heads, STREAM_NONE, sizeof(s->heads));
	memset(s->lists, STREAM_NONE, sizeof(s->lists));
	s->lists[false].count = 0;
	s->lists[true].count = 0;
	for (which = 0; which < STREAMS; which++)
		enlist(s, which);
}

/* Half of them are for those that have gone on: single reads push none of these out. */
static u8 first_out(const struct stream_planner *s)
{
	return s->lists[s->lists[true].count > STREAMS / 2].oldest;
}

/* --- by where they go on --- */

static u8 *head_of(struct stream_planner *s, u64 part)
{
	return &s->heads[index_hash(part, 56)];
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

/* The stream that @first carries on, of several the one used last; or NULL. */
static struct stream *find(struct stream_planner *s, u64 first)
{
	u64 part = first > SLACK ? (first - SLACK) >> PART_SHIFT : 0;
	struct stream *x, *found = NULL;
	u8 which;

	for (; part <= (first + SLACK) >> PART_SHIFT; part++)
		for (which = *head_of(s, part); which != STREAM_NONE;
		     which = x->chain) {
			x = &s->streams[which];
			if (!carries_on(x, first))
				continue;
			if (!found || s->clock - x->used < s->clock - found->used)
				found = x;
		}
	return found;
}

static u8 *far_in(struct stream_planner *s, u64 area)
{
	return &s->far[index_hash(area, 54)];
}

/* Does @x look far enough ahead to be found by what was prefetched? */
static bool is_far(const struct stream *x)
{
	return x->degree >= SKIPPED;
}

/* Most references are of no stream, and near none: they need no walk. */
static bool may_be_skipped(struct stream_planner *s, u64 first)
{
	u64 area = first > FURTHEST ? (first - FURTHEST) >> AREA_SHIFT : 0;

	while (area < first >> AREA_SHIFT && !*far_in(s, area))
		area++;
	return *far_in(s, area);
}

/*
 * The nearest stream that has prefetched @first, or up to there, and goes on before it: who
 * leaves out more than SLACK reads what was prefetched for him all the same.
 */
static struct stream *find_skipped(struct stream_planner *s, u64 first)
{
	struct stream *x, *found = NULL;
	u8 which;

	if (!may_be_skipped(s, first))
		return NULL;
	for (which = s->lists[true].newest; which != STREAM_NONE; which = x->older) {
		x = &s->streams[which];
		if (!is_far(x) || first < x->next || first > x->ahead + SLACK)
			continue;
		if (!found || x->next > found->next)
			found = x;
	}
	return found;
}

static void begin(struct stream_planner *s, u64 end)
{
	struct stream *x = &s->streams[first_out(s)];

	if (is_far(x))
		--*far_in(s, x->next >> AREA_SHIFT);
	go_on_at(s, x, end);
	x->ahead = end;
	x->degree = 0;
	x->pause = 0;
	x->skips = 0;
	s->begun++;
	make_newest(s, x, false);
}

/*
 * Who comes much later than before may be another one, who reads what lies behind by
 * chance, as it happens in a tree of small files. If he goes on like that, he is a slow one,
 * or comes in bursts: by reads among which hardly any stream begins little is forgotten.
 */
static bool comes_late(struct stream *x, u32 begun)
{
	u32 pause = begun - x->used_then;
	bool late = pause > SOON && pause > 2 * x->pause;
	u32 forgotten = pure_min(x->pause / 8, FORGETS * pause);

	x->pause = pure_max(pause, x->pause - forgotten);
	return late;
}

/* Stream @which, if it is one, and went on in the last @lately references. */
static const struct stream *went_on(const struct stream_planner *s, u8 which,
				    u32 lately)
{
	if (which == STREAM_NONE || s->clock - s->streams[which].used > lately)
		return NULL;
	return &s->streams[which];
}

/* Of the waiting room, in so many @parts: blocks for one stream. */
struct share {
	u32 parts;
	u32 each;
};

/*
 * Streams that went on lately, of which @x is the newest, share the waiting room; some of
 * it is left, as none is always as fast as the others. Who waits for what is under way
 * needs more, and has what others leave of theirs, even if they grow twice.
 */
static struct share share(const struct stream_planner *s, const struct stream *x,
			  const struct reference *ref)
{
	u32 n = 1, others = 0, parts, each;
	const struct stream *one;

	for (one = went_on(s, x->older, LATELY); one;
	     one = went_on(s, one->older, LATELY)) {
		others += GROWTH * one->degree;
		n++;
	}
	parts = n + n / 4;
	each = ref->waiting / parts;
	if ((ref->late || x->degree > each) && n * each > others)
		each = pure_max(each, n * each - others);
	return (struct share){ parts, each };
}

/* More streams have begun since than ever between two of its times: its reader is done. */
static bool is_over(const struct stream *x, u32 begun)
{
	u32 pause = begun - x->used_then;

	return pause > 1 && pause > 2 * x->pause;
}

/*
 * Of many who are looked ahead for far all would lose what is prefetched before they want it.
 * How far each of the others is tells: those who read short files never get there. A slow one
 * may not have gone on lately, but what waits for him is here.
 */
static bool is_crowded(const struct stream_planner *s, const struct stream *x,
		       const struct reference *ref)
{
	u32 n = 1, ahead = 0, lately = ref->entries / CROWD;
	const struct stream *one;

	for (one = went_on(s, x->older, lately); one;
	     one = went_on(s, one->older, lately)) {
		if (is_over(one, s->begun))
			continue;
		ahead += (u32)(one->ahead - one->next);
		n++;
	}
	return n * ref->lookahead > ref->entries && CROWD * ahead > ref->entries;
}

bool stream_skips(const struct stream_planner *s)
{
	u8 which = s->lists[true].newest;

	return which != STREAM_NONE && s->streams[which].skips;
}

u32 stream_readers(const struct stream_planner *s, u32 lately, u32 most)
{
	const struct stream *x;
	u32 n = 0;

	lately = pure_min(LATELY, lately);
	for (x = went_on(s, s->lists[true].newest, lately); x && n < most;
	     x = went_on(s, x->older, lately))
		n++;
	return pure_max(1, n);
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

/*
 * @early: it had been prefetched, and evicted again. Returns for how many blocks the waiting
 * room would have to be meant for whole I/Os of this stream and of others like it: who does
 * not read in strict turn has more ahead now and then.
 */
static u32 adapt(struct stream_planner *s, struct stream *x,
		 const struct reference *ref, bool early)
{
	struct share mine = share(s, x, ref);
	u32 most = pure_min(ref->lookahead, pure_max(2 * ref->n, mine.each)), wanted;

	if (most > WHOLE && is_crowded(s, x, ref))
		most = pure_max(WHOLE, pure_min(most, ref->n));
	if (early)
		x->degree = pure_max(1, x->degree / 2);
	else if (!x->degree)
		x->degree = pure_max(FIRST_DEGREE, ref->n);
	else
		x->degree = pure_min(2 * x->degree, LOOKAHEAD_MAX);
	wanted = pure_min(pure_min(x->degree, ref->lookahead), pure_max(WHOLE, ref->n));
	x->degree = pure_min(x->degree, most);
	return wanted * (mine.parts + 1);
}

/* @x has gone on to @end. Names what @ref makes it look ahead for. */
static void name_ahead(struct stream_planner *s, struct stream *x,
		       const struct reference *ref, u64 end, bool early,
		       struct plan *plan)
{
	u32 n;

	/* Half of what was prefetched is still to come: later. */
	if (x->degree && 2 * (x->ahead - end) >= x->degree)
		return;
	if (!has_place(x, ref))
		return;
	plan->waiting = adapt(s, x, ref, early);
	if (x->ahead >= end + x->degree)
		return;
	n = pure_min((u32)(end + x->degree - x->ahead), ref->left);
	if (n > WHOLE)
		n -= n % WHOLE;
	plan_add(plan, x->ahead, n);
	x->ahead += n;
}

static void go_on(struct stream_planner *s, struct stream *x,
		  const struct reference *ref, u64 end, struct plan *plan)
{
	bool late = comes_late(x, s->begun), early;

	make_newest(s, x, true);
	x->skips = (u8)(x->skips << 1 | (ref->first > x->next));
	go_on_at(s, x, end);
	early = x->degree && ref->room == ROOM_DISK && ref->first < x->ahead;
	if (x->ahead < end)
		x->ahead = end;
	if (late)
		x->degree = 0;
	else
		name_ahead(s, x, ref, end, early, plan);
}

void stream_reference(struct stream_planner *s, const struct reference *ref,
		      struct plan *plan)
{
	struct stream *x = find(s, ref->first);
	u64 end = ref->first + ref->n;

	if (!x)
		x = find_skipped(s, ref->first);
	if (!x) {
		begin(s, end);
		return;
	}
	if (end <= x->next) {
		make_newest(s, x, x->goes_on);
		return;
	}
	if (is_far(x))
		--*far_in(s, x->next >> AREA_SHIFT);
	go_on(s, x, ref, end, plan);
	if (is_far(x))
		++*far_in(s, end >> AREA_SHIFT);
}
