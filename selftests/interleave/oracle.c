// SPDX-License-Identifier: GPL-2.0-only
#include "oracle.h"

#define NEVER		U64_MAX
/* Of a place; more are looked through for those that cannot matter any more. */
#define WRITES_MANY	12
#define UNDER_WAY_MAX	8192
#define VALUES_MORE	4096

/*
 * A write and the reads that gave its value. All of them lie between the moment when
 * the first of them had ended, and that when the last began.
 */
struct write {
	u64 value;
	u64 begin;
	u64 end;		/* NEVER: not yet */
	u64 first_end;
	u64 last_begin;
	bool certain;		/* acknowledged, or read */
	bool loose;		/* while it is under way anything may be read */
};

struct place {
	struct write *writes;
	u32 nr;
	u32 room;
};

static struct place *places;
static u32 nr_places;
static u64 now, values;
static u32 *place_of;		/* each value */
static u64 under_way[UNDER_WAY_MAX];
static u32 nr_under_way;

void oracle_begin(u32 nr)
{
	u32 i;

	places = calloc(nr, sizeof(*places));
	SIM_CHECK(places);
	nr_places = nr;
	nr_under_way = 0;
	now = 1;
	values = 0;
	for (i = 0; i < nr; i++)
		oracle_set(i, 0);
}

void oracle_end(void)
{
	u32 i;

	SIM_CHECK(!nr_under_way);
	for (i = 0; i < nr_places; i++)
		free(places[i].writes);
	free(places);
	free(place_of);
	place_of = NULL;
}

u64 oracle_now(void)
{
	return ++now;
}

u64 oracle_value(u32 place)
{
	u64 value = ++values;

	if (value % VALUES_MORE == 1) {
		place_of = realloc(place_of, (value + VALUES_MORE) * sizeof(*place_of));
		SIM_CHECK(place_of);
	}
	place_of[value] = place;
	return value;
}

void oracle_under_way(u64 begin)
{
	SIM_CHECK(nr_under_way < UNDER_WAY_MAX);
	under_way[nr_under_way++] = begin;
}

void oracle_over(u64 begin)
{
	u32 i;

	for (i = 0; under_way[i] != begin; i++)
		SIM_CHECK(i < nr_under_way);
	under_way[i] = under_way[--nr_under_way];
}

/* --- the writes of a place --- */

static void show(const struct place *p)
{
	const struct write *w;

	printf("# place %ld:\n", (long)(p - places));
	for (w = p->writes; w < p->writes + p->nr; w++)
		printf("#   value %llu written %llu-%lld, first end %lld, last begin %llu%s\n",
		       w->value, w->begin, (s64)w->end, (s64)w->first_end, w->last_begin,
		       w->certain ? "" : ", not certain");
}

static struct write *find(struct place *p, u64 value, u64 begin)
{
	struct write *w;

	for (w = p->writes; w < p->writes + p->nr; w++)
		if (w->value == value && (!begin || w->begin == begin))
			return w;
	return NULL;
}

static void drop(struct place *p, struct write *w)
{
	*w = p->writes[--p->nr];
}

/* Was @w written over before anything began that may still read it? */
static bool is_past(const struct place *p, const struct write *w, u64 oldest)
{
	u64 last = max(max(w->last_begin, w->end), w->first_end);
	const struct write *x;

	for (x = p->writes; x < p->writes + p->nr; x++)
		if (x->certain && x->begin > last && x->first_end < oldest)
			return true;
	return false;
}

static void forget_past(struct place *p)
{
	u64 oldest = NEVER;
	u32 i;

	for (i = 0; i < nr_under_way; i++)
		oldest = min(oldest, under_way[i]);
	for (i = p->nr; i-- > 0;)
		if (is_past(p, &p->writes[i], oldest))
			drop(p, &p->writes[i]);
}

static struct write *add(struct place *p)
{
	if (p->nr >= WRITES_MANY)
		forget_past(p);
	if (p->nr == p->room) {
		p->room = 2 * p->room + 4;
		p->writes = realloc(p->writes, p->room * sizeof(*p->writes));
		SIM_CHECK(p->writes);
	}
	return &p->writes[p->nr++];
}

void oracle_set(u32 place, u64 value)
{
	struct place *p = &places[place];

	p->nr = 0;
	*add(p) = (struct write) {
		.value = value, .begin = now, .end = now, .first_end = now, .last_begin = now,
		.certain = true,
	};
}

void oracle_write(u32 place, u64 value, u64 begin, bool loose)
{
	*add(&places[place]) = (struct write) {
		.value = value, .begin = begin, .end = NEVER, .first_end = NEVER, .last_begin = begin,
		.loose = loose,
	};
}

void oracle_written(u32 place, u64 value, u64 begin, u64 end, enum oracle_outcome outcome)
{
	struct place *p = &places[place];
	struct write *w = find(p, value, begin);

	SIM_CHECK(w && w->end == NEVER);
	if (outcome == ORACLE_NOT_DONE) {
		if (w->certain) {
			show(p);
			sim_fail("value %llu was read, and its write failed", value);
		}
		drop(p, w);
		return;
	}
	w->end = end;
	w->first_end = min(w->first_end, end);
	if (outcome == ORACLE_DONE)
		w->certain = true;
}

/* --- reads --- */

/*
 * One must come before the other as a whole: there is no such order if each has ended
 * something before the other begins its last.
 */
static bool conflict(const struct write *a, const struct write *b)
{
	if (a == b || !b->certain || (!a->value && !b->value))
		return false;
	return a->first_end < b->last_begin && b->first_end < a->last_begin;
}

static bool fits(const struct place *p, const struct write *w, u64 begin, u64 end)
{
	struct write with = *w;
	const struct write *x;

	if (w->begin > end)
		return false;
	with.first_end = min(with.first_end, end);
	with.last_begin = max(with.last_begin, begin);
	for (x = p->writes; x < p->writes + p->nr; x++)
		if (x != w && conflict(&with, x))
			return false;
	return true;
}

/* Which of the writes of nothing it was nobody can tell; there must be one. */
static bool fits_nothing(const struct place *p, u64 begin, u64 end)
{
	const struct write *w;

	for (w = p->writes; w < p->writes + p->nr; w++)
		if (!w->value && fits(p, w, begin, end))
			return true;
	return false;
}

/* Did the place ever hold it, and is a loose write under way? */
static bool may_be_anything(const struct place *p, u64 value, u64 begin, u64 end)
{
	const struct write *w;

	if (!value || value > values || place_of[value] != p - places)
		return false;
	for (w = p->writes; w < p->writes + p->nr; w++)
		if (w->loose && w->begin < end && w->end > begin)
			return true;
	return false;
}

void oracle_read(u32 place, u64 value, u64 begin, u64 end)
{
	struct place *p = &places[place];
	struct write *w = find(p, value, 0);

	if (!value && fits_nothing(p, begin, end))
		return;
	if (may_be_anything(p, value, begin, end))
		return;
	if (!value || !w || !fits(p, w, begin, end)) {
		show(p);
		sim_fail("place %u gave value %llu (of %llu) to a read from %llu to %llu",
			 place, value, values, begin, end);
	}
	w->certain = true;
	w->first_end = min(w->first_end, end);
	w->last_begin = max(w->last_begin, begin);
}
