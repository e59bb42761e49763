// SPDX-License-Identifier: GPL-2.0-only
/* The streams of the planner against a list that is searched from its begin, and a reader who skips. */
#include "unit.h"
#include "planner.h"

#define OPERATIONS	1000000
#define BLOCKS		65536
#define MANY_BLOCKS	(1u << 24)

/* The streams as a list, those used last first, searched from its begin. */
struct plain_stream {
	u64 next, ahead;
	u32 degree, used, used_then, pause;
	u8 skips;
	bool goes_on;
};

static struct plain_stream plain[STREAMS];
static u32 plain_begun;

static u32 plain_count(bool goes_on)
{
	u32 i, n = 0;

	for (i = 0; i < STREAMS; i++)
		n += plain[i].goes_on == goes_on;
	return n;
}

/* The one unused for longest of those that have gone on, or of those seen once; STREAMS: there are none. */
static u32 plain_oldest(bool goes_on)
{
	u32 i = STREAMS;

	while (i)
		if (plain[--i].goes_on == goes_on)
			return i;
	return STREAMS;
}

/* Of too many that have gone on one of these. */
static u32 plain_first_out(void)
{
	return plain_oldest(plain_count(true) > STREAMS / 2);
}

/* The nearest one of those that have gone on which looks 16 blocks ahead, and past @first, or STREAMS. */
static u32 plain_skipped(u64 first)
{
	u32 i, found = STREAMS;

	for (i = 0; i < STREAMS; i++) {
		if (!plain[i].goes_on || plain[i].degree < 16 || plain[i].next > first || plain[i].ahead + 2 < first)
			continue;
		if (found == STREAMS || plain[i].next > plain[found].next)
			found = i;
	}
	return found;
}

static struct plain_stream *plain_find(u64 first)
{
	struct plain_stream found;
	u32 i;

	for (i = 0; i < STREAMS; i++)
		if (plain[i].next && plain[i].next + 2 >= first && plain[i].next <= first + 2)
			break;
	if (i == STREAMS)
		i = plain_skipped(first);
	if (i < STREAMS) {
		found = plain[i];
	} else {
		i = plain_first_out();
		found = (struct plain_stream){ 0 };
	}
	memmove(plain + 1, plain, i * sizeof(*plain));
	plain[0] = found;
	return plain;
}

/*
 * Of @ref->waiting blocks, for each of those that went on in the last 256 references, and a quarter as many. The first
 * one, if it waits or has more, may have all but four times what the others look ahead.
 */
static u32 plain_share(const struct reference *ref, u32 clock, u32 *parts)
{
	u32 i, n = 0, others = 0, each, rest;

	for (i = 0; i < STREAMS; i++) {
		if (!plain[i].goes_on || clock - plain[i].used > 256)
			continue;
		n++;
		others += i ? 4 * plain[i].degree : 0;
	}
	*parts = n + n / 4;
	each = ref->waiting / *parts;
	rest = n * each < others ? 0 : n * each - others;
	return (ref->late || plain[0].degree > each) && rest > each ? rest : each;
}

static u32 plain_readers(u32 lately, u32 most, u32 clock)
{
	u32 i, n = 0;

	for (i = 0; i < STREAMS; i++)
		n += plain[i].goes_on && clock - plain[i].used <= pure_min(lately, 256);
	return pure_min(most, pure_max(1, n));
}

/* @waiting: for how many blocks the waiting room should be meant, for 128 of each or what is read, and of one more. */
static struct run plain_reference(const struct reference *ref, u32 clock, u32 *waiting)
{
	struct plain_stream *x = plain_find(ref->first);
	u64 end = ref->first + ref->n, from;
	u32 enough, most, n, parts, pause = plain_begun - x->used_then;
	bool early, late;

	*waiting = 0;
	plain_begun += !x->next;
	x->used = clock;
	x->used_then = plain_begun;
	if (!x->next) {
		*x = (struct plain_stream){ .next = end, .ahead = end, .used = clock, .used_then = plain_begun };
		return (struct run){ 0, 0 };
	}
	if (end <= x->next)
		return (struct run){ 0, 0 };
	x->skips = (u8)(x->skips << 1 | (ref->first > x->next));
	x->next = end;
	x->goes_on = true;
	late = pause > 32 && pause > 2 * x->pause;
	x->pause = pure_max(pause, x->pause - pure_min(x->pause / 8, 4 * pause));
	early = x->degree && ref->room == ROOM_DISK && ref->first < x->ahead;
	x->ahead = x->ahead < end ? end : x->ahead;
	if (late) {
		x->degree = 0;
		return (struct run){ 0, 0 };
	}
	if (x->degree && 2 * (x->ahead - end) >= x->degree)
		return (struct run){ 0, 0 };
	enough = pure_min(pure_min(x->degree, 256), pure_min(ref->waiting, ref->lookahead)) / 2;
	if (ref->left < pure_max(1, enough))
		return (struct run){ 0, 0 };
	most = pure_min(ref->lookahead, pure_max(2 * ref->n, plain_share(ref, clock, &parts)));
	if (early)
		x->degree = pure_max(1, x->degree / 2);
	else
		x->degree = x->degree ? pure_min(2 * x->degree, LOOKAHEAD_MAX) : pure_max(4, ref->n);
	*waiting = (parts + 1) * pure_min(pure_min(x->degree, ref->lookahead), 128);
	x->degree = pure_min(x->degree, most);
	from = x->ahead;
	if (from >= end + x->degree)
		return (struct run){ 0, 0 };
	n = pure_min((u32)(end + x->degree - from), ref->left);
	if (n > 128)
		n -= n % 128;
	x->ahead = from + n;
	return (struct run){ from, n };
}

/* Each list has as many as there are, and the same is first out of it. */
static void check_lists(const struct stream_planner *s)
{
	u32 goes_on, oldest;

	for (goes_on = 0; goes_on < 2; goes_on++) {
		oldest = plain_oldest(goes_on);
		CHECK_EQ(s->lists[goes_on].count, plain_count(goes_on));
		if (oldest == STREAMS) {
			CHECK_EQ(s->lists[goes_on].oldest, STREAM_NONE);
			continue;
		}
		CHECK(s->lists[goes_on].oldest < STREAMS);
		CHECK_EQ(s->streams[s->lists[goes_on].oldest].next, plain[oldest].next);
	}
}

/* In each area those are counted that look 16 blocks ahead from there. */
static void check_far(const struct stream_planner *s)
{
	u32 i, counted = 0, far = 0;

	for (i = 0; i < STREAM_AREAS; i++)
		counted += s->far[i];
	for (i = 0; i < STREAMS; i++)
		far += s->streams[i].degree >= 16;
	CHECK_EQ(counted, far);
}

static void test_stream_plain(void)
{
	static u64 readers[STREAMS + 8];
	struct stream_planner s;
	struct reference ref = { .n = 1 };
	struct plan plan;
	struct run want;
	u32 i, who, lately, waiting, named = 0;

	memset(plain, 0, sizeof(plain));
	plain_begun = 0;
	memset(readers, 0, sizeof(readers));
	stream_init(&s);
	for (i = 0; i < OPERATIONS; i++) {
		who = unit_below(i >> 14 & 1 ? STREAMS + 8 : STREAMS / 2);
		if (!unit_below(50))
			readers[who] = unit_below(8) ? unit_below(i & 1 ? BLOCKS : MANY_BLOCKS) : unit_below(64);
		ref.first = readers[who] + unit_below(8) / 7 * unit_below(4);
		ref.first -= unit_below(8) || !ref.first ? 0 : 1;
		ref.n = 1 + unit_below(8);
		ref.room = unit_below(3);
		ref.lookahead = 1 + unit_below(512);
		ref.late = unit_below(2);
		ref.left = unit_below(2) ? 1024 : unit_below(300);
		ref.waiting = unit_below(2) ? unit_below(512) : unit_below(8192);
		readers[who] = ref.first + ref.n;
		plan.n = 0;
		plan.waiting = 0;
		stream_reference(&s, &ref, &plan);
		want = plain_reference(&ref, i + 1, &waiting);
		CHECK_EQ(plan.n, want.n > 0);
		CHECK_EQ(plan.waiting, waiting);
		if (want.n) {
			CHECK_EQ(plan.runs[0].first, want.first);
			CHECK_EQ(plan.runs[0].n, want.n);
			named++;
		}
		CHECK_EQ(s.streams[s.lists[plain[0].goes_on].newest].next, plain[0].next);
		if (plain[0].goes_on)
			CHECK_EQ(stream_skips(&s), plain[0].skips > 0);
		check_lists(&s);
		if (!(i & 63))
			check_far(&s);
		lately = unit_below(300);
		CHECK_EQ(stream_readers(&s, lately, 4), plain_readers(lately, 4, i + 1));
	}
	CHECK(named > OPERATIONS / 20);
}

/* A reader of every second block misses what nobody has fetched yet: no reason to fetch less. */
static void test_stream_skips(void)
{
	struct reference ref = { 0, 1, ROOM_DISK, 1024, 4096, false, false, LOOKAHEAD_MAX, BLOCKS, false, true, 0, false };
	struct stream_planner s;
	struct stream *x;
	struct plan plan;

	stream_init(&s);
	x = &s.streams[s.lists[false].oldest];
	for (ref.first = 100; ref.first < 120; ref.first += 2) {
		plan.n = 0;
		x->degree = pure_min(x->degree, 1);
		stream_reference(&s, &ref, &plan);
	}
	for (; ref.first < 300; ref.first += 2) {
		plan.n = 0;
		stream_reference(&s, &ref, &plan);
		ref.room = x->ahead > ref.first + 2 ? ROOM_WAITING : ROOM_DISK;
	}
	CHECK(x->degree >= 64);
}

/* A reader reads @reads times from @at on, @beside others begin after each one: how far he is looked ahead for at the last. */
static u32 read_on(struct stream_planner *s, u64 *at, u32 reads, u32 beside)
{
	struct reference ref = { 0, 8, ROOM_WAITING, 1024, 4096, false, false, LOOKAHEAD_MAX, BLOCKS, false, true, 0, false };
	struct plan plan;
	u32 i, degree = 0;

	while (reads--) {
		plan.n = 0;
		ref.first = *at;
		stream_reference(s, &ref, &plan);
		if (s->lists[true].count)
			degree = s->streams[s->lists[true].newest].degree;
		*at += ref.n;
		for (i = 0; i < beside; i++) {
			ref.first = 1000000 + 1000 * (u64)s->begun;
			stream_reference(s, &ref, &plan);
		}
	}
	return degree;
}

/* Who comes in bursts is another one at the first pause, but not at the next that are as long. */
static void check_bursts(u32 reads, u32 beside)
{
	struct stream_planner s;
	u32 round, degree;
	u64 at = 100;

	stream_init(&s);
	for (round = 0; round < 5; round++) {
		degree = read_on(&s, &at, 1, 0);
		CHECK((degree > 0) == (round > 1));
		CHECK(read_on(&s, &at, reads, beside) > 0);
		read_on(&s, &at, 1, 100);
	}
}

/* However many others begin beside him, of those few within a burst. */
static void test_stream_bursts(void)
{
	check_bursts(64, 0);
	check_bursts(1000, 0);
	check_bursts(8, 1);
}

/* One long pause is not remembered for ever by who reads on now and then. */
static void test_stream_forgets(void)
{
	struct stream_planner s;
	u64 at = 100;

	stream_init(&s);
	read_on(&s, &at, 8, 1);
	read_on(&s, &at, 1, 1000);
	CHECK_EQ(read_on(&s, &at, 1, 30), 0);
	CHECK(read_on(&s, &at, 30, 30) > 0);
	read_on(&s, &at, 1, 200);
	CHECK_EQ(read_on(&s, &at, 1, 0), 0);
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_stream_plain),
		UNIT_CASE(test_stream_skips),
		UNIT_CASE(test_stream_bursts),
		UNIT_CASE(test_stream_forgets),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
