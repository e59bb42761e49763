// SPDX-License-Identifier: GPL-2.0-only
/* What planners promise: their bounds on any input, and what each is for. */
#include "unit.h"
#include "planner.h"

#define OPERATIONS	1000000
#define BLOCKS		65536
#define MANY		((u32)-1)	/* blocks of a cache that bounds nothing */

static struct planner planner;
static bool prefetched[BLOCKS];
static u32 nr_prefetched, nr_used, nr_missed, waiting_room;
static bool near_pays, late;

static void start(enum planner_kind kind)
{
	planner_init(&planner, kind);
	memset(prefetched, 0, sizeof(prefetched));
	nr_prefetched = 0;
	nr_used = 0;
	nr_missed = 0;
	waiting_room = 4096;
	near_pays = false;
	late = false;
}

static enum room where(const void *ctx, u64 block)
{
	const bool *waiting = ctx;

	return block < BLOCKS && waiting[block] ? ROOM_WAITING : ROOM_DISK;
}

/* A reference by somebody whose waiting room never overflows and who keeps nothing else. */
static void reference(u64 first, u32 n, u32 lookahead)
{
	struct reference ref = { first, n, ROOM_DISK, lookahead, waiting_room, near_pays, late, LOOKAHEAD_MAX, MANY, false, true,
				 near_pays ? NEAR_BLOCKS : 0, false };
	struct plan plan;
	u32 i, k, sum = 0;

	if (prefetched[first])
		ref.room = ROOM_WAITING;
	planner_reference(&planner, &ref, where, prefetched, &plan);
	for (i = 0; i < n; i++) {
		nr_used += prefetched[first + i];
		nr_missed += !prefetched[first + i];
		prefetched[first + i] = false;
	}
	CHECK(plan.n <= PLAN_RUNS);
	for (i = 0; i < plan.n; i++) {
		CHECK(plan.runs[i].n);
		sum += plan.runs[i].n;
		for (k = 0; k < plan.runs[i].n; k++) {
			u64 block = plan.runs[i].first + k;

			if (block >= BLOCKS || prefetched[block])
				continue;
			prefetched[block] = true;
			nr_prefetched++;
		}
	}
	CHECK(sum <= lookahead);
}

static void test_bounds(void)
{
	u32 kind, i, n;
	u64 block = 0;

	for (kind = 0; kind < PLANNER_KINDS; kind++) {
		start(kind);
		for (i = 0; i < OPERATIONS; i++) {
			n = unit_below(8) ? 1 : 1 + unit_below(64);
			block = unit_below(3) ? block + n : unit_below(BLOCKS);
			block %= BLOCKS - 64;
			reference(block, n, 1 + unit_below(unit_below(2) ? 8 : LOOKAHEAD_MAX));
		}
	}
}

static void test_obl(void)
{
	struct reference ref = { 41, 3, ROOM_DISK, 1, 64, false, false, LOOKAHEAD_MAX, MANY, false, true, 0, false };
	struct plan plan = { .n = 0 };

	obl_reference(&ref, &plan);
	CHECK_EQ(plan.n, 1);
	CHECK_EQ(plan.runs[0].first, 44);
	CHECK_EQ(plan.runs[0].n, 1);
}

/* Many readers at once, each block by block: nearly all is there when it is wanted. */
static void test_stream_many(void)
{
	u32 i, k;

	start(PLANNER_STREAM);
	for (i = 0; i < 1000; i++)
		for (k = 0; k < STREAMS / 2; k++)
			reference(k * (BLOCKS / (STREAMS / 2)) + i, 1, 64);
	CHECK(nr_used >= 99 * 10 * STREAMS / 2);
	CHECK(nr_missed <= 3 * STREAMS / 2);
	CHECK(nr_prefetched - nr_used <= STREAMS / 2 * 128);
}

/* All that they have under way fits in the waiting room, or is twice what each asks for. */
static void test_stream_shares(void)
{
	u32 i, k;

	start(PLANNER_STREAM);
	waiting_room = 512;
	for (i = 0; i < 1000; i++)
		for (k = 0; k < 16; k++)
			reference(k * (BLOCKS / 16) + i, 1, 512);
	CHECK(nr_used >= 99 * 160);
	CHECK(nr_prefetched - nr_used <= 512);
	start(PLANNER_STREAM);
	waiting_room = 16;
	for (i = 0; i < 100; i++)
		for (k = 0; k < 16; k++)
			reference(k * (BLOCKS / 16) + 8 * i, 8, 512);
	CHECK(nr_missed <= 16 * 3 * 8);
	CHECK(nr_prefetched - nr_used <= 16 * 2 * 8);
}

static void test_stream_random(void)
{
	u32 i;

	start(PLANNER_STREAM);
	for (i = 0; i < 20000; i++)
		reference(unit_below(BLOCKS), 1, 64);
	CHECK(nr_prefetched < 20000 / 10);
}

/* Gone before it was wanted: less at a time. */
static void test_stream_backs_off(void)
{
	struct stream_planner s;
	struct reference ref = { 0, 1, ROOM_WAITING, 1024, 4096, false, false, LOOKAHEAD_MAX, MANY, false, true, 0, false };
	struct plan plan;
	u32 grown;

	stream_init(&s);
	for (ref.first = 100; ref.first < 400; ref.first++) {
		plan.n = 0;
		stream_reference(&s, &ref, &plan);
	}
	grown = s.streams[0].degree;
	CHECK(grown >= 64);
	ref.room = ROOM_DISK;
	for (; ref.first < 4000; ref.first++) {
		plan.n = 0;
		stream_reference(&s, &ref, &plan);
	}
	CHECK_EQ(s.streams[0].degree, 1);
}

/* A random order that comes again and again: from the second time on it is known. */
static void wander(u32 rounds, u32 jumps)
{
	static u64 path[512];
	u32 i, k;

	for (i = 0; i < jumps; i++)
		path[i] = unit_below(BLOCKS / 4) * 4;
	for (k = 0; k < rounds; k++)
		for (i = 0; i < jumps; i++)
			reference(path[i], 1 + (u32)(path[i] / 4 % 3), 64);
}

static void test_pattern_repeats(void)
{
	start(PLANNER_PATTERN);
	wander(10, 400);
	CHECK(nr_used >= (nr_used + nr_missed) * 8 / 10);
	CHECK(nr_prefetched - nr_used < nr_prefetched / 10);
}

static void test_pattern_random(void)
{
	u32 i;

	start(PLANNER_PATTERN);
	for (i = 0; i < 50000; i++)
		reference(unit_below(BLOCKS), 1, 64);
	CHECK(nr_prefetched < 50000 / 50);
}

static void test_auto_chooses(void)
{
	u32 i;

	start(PLANNER_AUTO);
	CHECK_EQ(planner_acting(&planner), 1u << PLANNER_OBL | 1u << PLANNER_STREAM);
	for (i = 0; i < 8; i++)
		reference(unit_below(BLOCKS), 1, 64);
	CHECK_EQ(planner_acting(&planner), 0);
	for (i = 0; i < 4000; i++)
		reference(i, 1, 64);
	CHECK(planner_acting(&planner) & 1u << PLANNER_STREAM);
	CHECK(nr_missed < 100);
	wander(60, 400);
	CHECK(planner_acting(&planner) & 1u << PLANNER_PATTERN);
	nr_prefetched = 0;
	for (i = 0; i < 100000; i++)
		reference(unit_below(BLOCKS), 1, 64);
	CHECK_EQ(planner_acting(&planner), 0);
	CHECK(nr_prefetched < 100000 / 50);
}

/* Every block's successor comes 500 references later: worth it only where it can wait so long. */
static void successors(u32 room)
{
	u32 i, k;

	start(PLANNER_AUTO);
	waiting_room = room;
	for (i = 0; i < 8; i++)
		for (k = 0; k < 500; k++)
			reference((k * 379 % 500) * 100 + i, 1, 64);
}

static void test_auto_late(void)
{
	successors(2000);
	CHECK(planner_acting(&planner) & 1u << PLANNER_OBL);
	successors(100);
	CHECK_EQ(planner_acting(&planner), 0);
}

/* The blocks that auto has under way ahead of a reader of everything, at most. */
static u32 under_way(u32 room, u32 lookahead, u32 late_for)
{
	u32 i, most = 0;

	start(PLANNER_AUTO);
	waiting_room = room;
	for (i = 0; i < 4096; i++) {
		late = i >= 1024 && i < 1024 + late_for;
		reference(i, 1, lookahead);
		most = pure_max(most, nr_prefetched - nr_used);
	}
	return most;
}

/* Prefetches that come too late make the next ones longer, for good; never longer than is allowed. */
static void test_auto_far(void)
{
	CHECK(planner_is_slow(SLOW_LATENCY));
	CHECK(!planner_is_slow(SLOW_LATENCY - 1));
	/* Runs of more than 128 blocks are whole I/Os, which comes to one block less. */
	CHECK_EQ(under_way(4096, 1024, 100), 511);
	CHECK_EQ(under_way(4096, 1024, 1), 255);
	CHECK_EQ(under_way(4096, 1024, 0), 128);
	CHECK_EQ(under_way(4096, 200, 100), 200);
	CHECK_EQ(under_way(4096, 100, 0), 100);
	CHECK_EQ(under_way(1600, 1024, 0), 100);
	CHECK_EQ(under_way(128, 1024, 0), 64);
}

/* Eight blocks of each area of 32, wherever they are: how many of 3200 are missed? */
static u32 scattered(bool pays)
{
	u32 area, i, at;

	start(PLANNER_AUTO);
	near_pays = pays;
	for (area = 0; area < 400; area++) {
		at = unit_below(32);
		for (i = 0; i < 8; i++, at = (at + 13) % 32)
			reference(area * 64 + at, 1, 64);
	}
	CHECK_EQ(!!(planner_acting(&planner) & 1u << PLANNER_NEAR), pays);
	return nr_missed;
}

/* A quarter of what is near is enough where an I/O is dear; random blocks have less. */
static void test_auto_near(void)
{
	u32 i;

	CHECK(scattered(false) > 400 * 6);
	CHECK(scattered(true) < 400 * 3 / 2);
	start(PLANNER_AUTO);
	near_pays = true;
	for (i = 0; i < 20000; i++)
		reference(unit_below(BLOCKS), 1, 64);
	CHECK_EQ(planner_acting(&planner), 0);
	CHECK(nr_prefetched < 20000 / 50);
}

/* Blocks of a small area in random order: most need not be missed. */
static void test_region(void)
{
	u32 order[64], i, k, other, area;

	start(PLANNER_REGION);
	for (area = 0; area < 100; area++) {
		for (i = 0; i < 64; i++)
			order[i] = i;
		for (i = 63; i; i--) {
			k = unit_below(i + 1);
			other = order[i];
			order[i] = order[k];
			order[k] = other;
		}
		for (i = 0; i < 64; i++)
			reference(area * 512 + order[i], 1, 64);
	}
	CHECK_EQ(nr_missed, 100 * 64 / 16 * 3);
	CHECK_EQ(nr_prefetched, nr_used);
}

static void test_region_random(void)
{
	u32 i;

	start(PLANNER_REGION);
	for (i = 0; i < 20000; i++)
		reference(unit_below(BLOCKS), 1, 64);
	CHECK(nr_prefetched < 20000 * 2);
}

/* What a reference spans is asked for; the lookahead bounds what is planned; once is enough. */
static void test_region_runs(void)
{
	struct reference ref = { 14, 6, ROOM_DISK, 5, 64, false, false, LOOKAHEAD_MAX, MANY, false, true, 0, false };
	struct region_planner r;
	struct plan plan = { .n = 0 };

	region_init(&r);
	region_reference(&r, &ref, &plan);
	CHECK_EQ(plan.n, 1);
	CHECK_EQ(plan.runs[0].first, 20);
	CHECK_EQ(plan.runs[0].n, 5);
	/* A third of its group; and what the lookahead cut off before is of another. */
	ref = (struct reference){ 4, 1, ROOM_DISK, 64, 64, false, false, LOOKAHEAD_MAX, MANY, false, true, 0, false };
	plan.n = 0;
	region_reference(&r, &ref, &plan);
	CHECK_EQ(plan.n, 2);
	CHECK_EQ(plan.runs[0].first, 0);
	CHECK_EQ(plan.runs[0].n, 4);
	CHECK_EQ(plan.runs[1].first, 5);
	CHECK_EQ(plan.runs[1].n, 9);
	ref.room = ROOM_WEIGHING;
	plan.n = 0;
	region_reference(&r, &ref, &plan);
	CHECK_EQ(plan.n, 0);
	ref.first = 18;
	region_reference(&r, &ref, &plan);
	CHECK_EQ(plan.n, 1);
	CHECK_EQ(plan.runs[0].first, 25);
	CHECK_EQ(plan.runs[0].n, 7);
}

/* A region that has left the cache comes back as it was asked for, however few blocks of it were. */
static void test_region_remembers(void)
{
	static const u32 blocks[] = { 70, 100, 127 };
	struct reference ref = { 0, 1, ROOM_DISK, 64, 64, false, false, LOOKAHEAD_MAX, MANY, false, true, 0, false };
	struct region_planner r;
	struct plan plan = { .n = 0 };
	u32 turn, i;

	region_init(&r);
	for (turn = 0; turn < 3; turn++)
		for (i = 0; i < 3; i++) {
			ref.first = blocks[i];
			ref.room = turn && i ? ROOM_WAITING : ROOM_DISK;
			plan.n = 0;
			region_reference(&r, &ref, &plan);
			CHECK_EQ(plan.n, turn && !i ? 2 : 0);
			if (!plan.n)
				continue;
			CHECK_EQ(plan.runs[0].first, 100);
			CHECK_EQ(plan.runs[0].n, 1);
			CHECK_EQ(plan.runs[1].first, 127);
			CHECK_EQ(plan.runs[1].n, 1);
		}
	/* Where it is hit in the weighing room it never left. */
	ref.room = ROOM_WEIGHING;
	region_reference(&r, &ref, &plan);
	CHECK_EQ(plan.n, 0);
}

/* Other blocks than the last time: the time after that begins without expectations. */
static void test_region_changes(void)
{
	static const u32 turns[][3] = { { 1, 20, 40 }, { 5, 25, 45 }, { 5, 25, 45 }, { 5, 25, 45 } };
	static const u32 named[] = { 0, 3, 0, 2 };
	struct reference ref = { 0, 1, ROOM_DISK, 64, 64, false, false, LOOKAHEAD_MAX, MANY, false, true, 0, false };
	struct region_planner r;
	struct plan plan;
	u32 turn, i, sum;

	region_init(&r);
	for (turn = 0; turn < 4; turn++) {
		r.clock += 10000;
		for (i = 0, sum = 0; i < 3; i++) {
			plan.n = 0;
			ref.first = 64 + turns[turn][i];
			region_reference(&r, &ref, &plan);
			sum += plan.n;
		}
		CHECK_EQ(sum, named[turn]);
	}
}

/* A read in parts is told once, as a whole, also with another one's parts between; what is not its rest, by itself. */
static void test_gather(void)
{
	struct reference ref = { 10, 2, ROOM_WAITING, 1, 64, false, false, LOOKAHEAD_MAX, MANY, false, true, 0, false };
	u32 i;

	start(PLANNER_OBL);
	CHECK(!planner_goes_on(&planner, 12));
	CHECK(!planner_gather(&planner, &ref, true));
	CHECK(planner_goes_on(&planner, 12));
	CHECK(!planner_goes_on(&planner, 10));
	ref = (struct reference){ 12, 3, ROOM_DISK, 1, 64, false, false, LOOKAHEAD_MAX, MANY, false, true, 0, false };
	CHECK(!planner_gather(&planner, &ref, true));
	ref = (struct reference){ 15, 1, ROOM_DISK, 1, 64, false, false, LOOKAHEAD_MAX, MANY, false, true, 0, false };
	CHECK(planner_gather(&planner, &ref, false));
	CHECK_EQ(ref.first, 10);
	CHECK_EQ(ref.n, 6);
	CHECK_EQ(ref.room, ROOM_WAITING);
	CHECK(!planner_goes_on(&planner, 16));
	ref = (struct reference){ 20, 1, ROOM_DISK, 1, 64, false, false, LOOKAHEAD_MAX, MANY, false, true, 0, false };
	CHECK(!planner_gather(&planner, &ref, true));
	ref = (struct reference){ 30, 1, ROOM_DISK, 1, 64, false, false, LOOKAHEAD_MAX, MANY, false, true, 0, false };
	CHECK(planner_gather(&planner, &ref, false));
	CHECK_EQ(ref.first, 30);
	CHECK_EQ(ref.n, 1);
	for (i = 0; i < 2 * PARTS - 2; i++) {
		ref.first = 100 * (1 + i % (PARTS - 1)) + i / (PARTS - 1);
		ref.n = 1;
		CHECK(!planner_gather(&planner, &ref, true));
	}
	for (i = 1; i < PARTS; i++) {
		ref.first = 100 * i + 2;
		ref.n = 1;
		CHECK(planner_gather(&planner, &ref, false));
		CHECK_EQ(ref.first, 100 * i);
		CHECK_EQ(ref.n, 3);
	}
	CHECK(planner_goes_on(&planner, 21));
	/* The last ones are kept. */
	for (i = 0; i < 3 * PARTS; i++) {
		ref.first = 10000 + 10 * i;
		ref.n = 1;
		CHECK(!planner_gather(&planner, &ref, true));
	}
	CHECK(!planner_goes_on(&planner, 21));
	for (i = 0; i < 3 * PARTS; i++)
		CHECK_EQ(planner_goes_on(&planner, 10001 + 10 * i), i >= 2 * PARTS);
}

/* Does region act that is wrong in what it alone names, so many references after one in the weighing room? */
static bool region_acts(bool full, u32 references)
{
	struct reference ref = { .n = 1, .room = ROOM_WEIGHING, .lookahead = 1, .waiting = 64, .entries = MANY, .full = full };
	struct score *s = &planner.chooser.scores[PLANNER_REGION];
	struct plan plan;

	start(PLANNER_AUTO);
	s->all = (struct tally){ .made = 1000, .used = 900 };
	s->alone = (struct tally){ .made = 100, .used = 10 };
	planner_reference(&planner, &ref, where, prefetched, &plan);
	for (ref.room = ROOM_DISK; references; references--) {
		ref.first += 1000;
		planner_reference(&planner, &ref, where, prefetched, &plan);
	}
	return planner_acting(&planner) & 1u << PLANNER_REGION;
}

/* Only where something is used lately that it would push out it does not. */
static void test_auto_full(void)
{
	CHECK(!region_acts(true, 7));
	CHECK(!region_acts(true, 31));
	CHECK(region_acts(true, 39));
	CHECK(region_acts(false, 7));
}

static bool odd_tens(const void *ctx, u64 block)
{
	(void)ctx;
	return block / 10 & 1;
}

static void test_cut(void)
{
	struct run run = { 5, 31 };	/* wanted: 10 to 19, 30 to 35 */
	u64 first;

	CHECK_EQ(plan_cut(&run, 0, odd_tens, NULL, &first), 0);
	CHECK_EQ(plan_cut(&run, 4, odd_tens, NULL, &first), 4);
	CHECK_EQ(first, 10);
	CHECK_EQ(plan_cut(&run, 100, odd_tens, NULL, &first), 6);
	CHECK_EQ(first, 14);
	CHECK_EQ(plan_cut(&run, 100, odd_tens, NULL, &first), 6);
	CHECK_EQ(first, 30);
	CHECK_EQ(plan_cut(&run, 100, odd_tens, NULL, &first), 0);
	CHECK_EQ(run.n, 0);
}

/* How many @payers get that each take what they may, at once or one by one, when none comes back. */
static u32 greedy(u32 limit, u32 payers, bool at_once)
{
	u32 own[PLAN_PAYERS] = { 0 }, all = 0, before, i, left;

	do {
		before = all;
		for (i = 0; i < payers; i++) {
			left = limit - plan_under_way(limit, all, own[i]);
			left = at_once ? left : pure_min(left, 1);
			own[i] += left;
			all += left;
		}
	} while (all > before);
	return all;
}

/* Who gets nothing back leaves a share for the next one, and all of them no more than there is. */
static void test_payers(void)
{
	bool taken[PLAN_PAYERS] = { false };
	u32 limit, got, i;

	CHECK_EQ(pure_one_of(0, PLAN_OTHERS), 0);
	for (i = 1000; i < 1000 + PLAN_OTHERS; i++) {
		got = pure_one_of(i, PLAN_OTHERS);
		CHECK(got && got < PLAN_PAYERS && !taken[got]);
		taken[got] = true;
	}
	for (limit = 1; limit <= 1024; limit++) {
		got = greedy(limit, 1, true);
		CHECK(got && got <= limit);
		CHECK(got * (1 + PLAN_SHARE) < PLAN_SHARE * limit + 1 + PLAN_SHARE);
		CHECK_EQ(greedy(limit, 1, false), got);
		CHECK(greedy(limit, PLAN_OTHERS, true) <= limit);
		if (limit > PLAN_SHARE)
			CHECK(plan_under_way(limit, got, 0) < limit);
	}
	/* An eighth is left for others, of which the next one leaves an eighth. */
	CHECK_EQ(plan_under_way(1024, 0, 0), 128);
	CHECK_EQ(plan_under_way(1024, 896, 896), 1024);
	CHECK_EQ(plan_under_way(1024, 896, 0), 912);
	CHECK_EQ(plan_under_way(1024, 2000, 0), 1024);
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_bounds),
		UNIT_CASE(test_obl),
		UNIT_CASE(test_cut),
		UNIT_CASE(test_gather),
		UNIT_CASE(test_stream_many),
		UNIT_CASE(test_stream_shares),
		UNIT_CASE(test_stream_random),
		UNIT_CASE(test_stream_backs_off),
		UNIT_CASE(test_pattern_repeats),
		UNIT_CASE(test_pattern_random),
		UNIT_CASE(test_region),
		UNIT_CASE(test_region_random),
		UNIT_CASE(test_region_runs),
		UNIT_CASE(test_region_remembers),
		UNIT_CASE(test_region_changes),
		UNIT_CASE(test_auto_chooses),
		UNIT_CASE(test_auto_late),
		UNIT_CASE(test_auto_far),
		UNIT_CASE(test_auto_near),
		UNIT_CASE(test_auto_full),
		UNIT_CASE(test_payers),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
