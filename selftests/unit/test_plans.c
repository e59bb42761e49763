// SPDX-License-Identifier: GPL-2.0-only
/* What planners say step by step: their plans' bounds, and what auto's choice rests on. */
#include "unit.h"
#include "index.h"
#include "planner.h"

#define MANY	((u32)-1)	/* blocks of a cache that bounds nothing */

static struct planner planner;

/* A plan has room for so many runs; one I/O for it reads past holes; of large blocks it takes few. */
static void test_plan(void)
{
	struct plan plan = { .n = 0 };
	struct reference ref;
	u32 i;

	CHECK_EQ(plan_blocks(&plan), 0);
	plan_add(&plan, 7, 1);
	CHECK_EQ(plan_blocks(&plan), 1);
	plan_add(&plan, 8, 0);
	CHECK_EQ(plan.n, 1);
	CHECK(!plan.keep[0]);
	plan_add_kept(&plan, 9, 1, true);
	CHECK(plan.keep[1]);
	CHECK_EQ(plan_blocks(&plan), 2 + 2 * PLAN_HOLE);
	plan_add(&plan, 11, 2);
	CHECK_EQ(plan_blocks(&plan), 4 + 2 * PLAN_HOLE);
	CHECK_EQ(plan_hole(3), PLAN_HOLE);
	CHECK_EQ(plan_hole(5), PLAN_HOLE / 4);
	CHECK_EQ(plan_hole(7), 0);
	CHECK_EQ(plan_left(10, 4, 100, 97), 3);
	CHECK_EQ(plan_left(10, 4, 100, 0), 6);
	CHECK_EQ(plan_left(10, 11, 100, 0), 0);
	CHECK_EQ(plan_left(10, 4, 100, 101), 0);
	CHECK_EQ(plan_most(3), PLAN_SECTORS / 8);
	CHECK_EQ(plan_most(7), PLAN_SECTORS / 128);
	CHECK_EQ(plan_limit(0, 3), 1);
	CHECK_EQ(plan_limit(65, 7), 64);
	CHECK_EQ(plan_limit(65, 6), 65);
	plan_bounds(&ref, 1024, 5000, 300, 50, 7);
	CHECK_EQ(ref.lookahead, 64);
	CHECK_EQ(ref.entries, 5000);
	CHECK_EQ(ref.waiting, 300);
	CHECK_EQ(ref.left, 14);
	for (i = 0; i < PLAN_RUNS; i++)
		plan_add(&plan, 20 + 2 * i, 1);
	CHECK_EQ(plan.n, PLAN_RUNS);
}

/* A late part makes the whole late; a whole has LOOKAHEAD_MAX blocks at most. */
static void test_gather_most(void)
{
	struct reference ref = { 0, 1000, ROOM_DISK, 1, 64, false, true, LOOKAHEAD_MAX, MANY, false, true, 0, false };

	planner_init(&planner, PLANNER_OBL);
	CHECK(!planner_gather(&planner, &ref, true));
	ref = (struct reference){ 1000, 24, ROOM_DISK, 1, 64, false, false, LOOKAHEAD_MAX, MANY, false, true, 0, false };
	CHECK(!planner_gather(&planner, &ref, true));
	CHECK_EQ(ref.n, LOOKAHEAD_MAX);
	CHECK(ref.late);
	ref = (struct reference){ 1024, 1, ROOM_DISK, 1, 64, false, false, LOOKAHEAD_MAX, MANY, false, true, 0, false };
	CHECK(!planner_gather(&planner, &ref, true));
	CHECK_EQ(ref.n, 1);
	CHECK(planner_goes_on(&planner, 1025));
	planner_init(&planner, PLANNER_OBL);
	CHECK(!planner_goes_on(&planner, 1024));
	CHECK(!planner_goes_on(&planner, 1025));
	CHECK_EQ(planner_acting(&planner), 1u << PLANNER_OBL);
}

static bool not_twenties(const void *ctx, u64 block)
{
	(void)ctx;
	return block < 20 || block >= 30;
}

/* Nothing behind the end of a run is looked at. */
static void test_cut_to_the_end(void)
{
	struct run run = { 20, 5 };
	u64 first;

	CHECK_EQ(plan_cut(&run, 100, not_twenties, NULL, &first), 0);
	CHECK_EQ(run.n, 0);
}

/* The blocks @bits of a region are missed; how many are named after the first of them? */
static u32 ask(struct region_planner *r, u64 number, u64 bits, struct plan *plan)
{
	struct reference ref = { 0, 1, ROOM_DISK, 64, 64, false, false, LOOKAHEAD_MAX, MANY, false, true, 0, false };
	u32 named = 0;
	u64 rest;

	for (rest = bits; rest; rest &= rest - 1) {
		ref.first = (number << REGION_SHIFT) + pure_ctz64(rest);
		plan->n = 0;
		region_reference(r, &ref, plan);
		if (rest == bits)
			named = plan->n;
	}
	return named;
}

/* Half the same is the same; a region that takes another's place knows nothing of it. */
static void test_region_same(void)
{
	struct region_planner r;
	struct plan plan;
	u64 other = 2;

	region_init(&r);
	while (index_hash(other, 52) != index_hash(1, 52))
		other++;
	CHECK_EQ(ask(&r, 1, 0x0001000100010001, &plan), 0);
	CHECK_EQ(ask(&r, 1, 0x0010001000010001, &plan), 3);
	CHECK_EQ(ask(&r, 1, 0x0100010001000001, &plan), 3);
	CHECK_EQ(ask(&r, 1, 0x0100010001000001, &plan), 0);
	CHECK_EQ(ask(&r, other, 0x0100010001000001, &plan), 0);
}

/* A whole region at once; and one of more runs than a plan holds, whose rest is named next. */
static void test_region_whole(void)
{
	struct reference ref = { 64, 64, ROOM_DISK, 64, 64, false, false, LOOKAHEAD_MAX, MANY, false, true, 0, false };
	struct region_planner r;
	struct plan plan = { .n = 0 };

	region_init(&r);
	region_reference(&r, &ref, &plan);
	CHECK_EQ(plan.n, 0);
	ref.n = 1;
	region_reference(&r, &ref, &plan);
	CHECK_EQ(plan.n, 1);
	CHECK_EQ(plan.runs[0].first, 65);
	CHECK_EQ(plan.runs[0].n, 63);
	ask(&r, 2, 0x5555555555555555, &plan);
	ref.first = 128;
	plan.n = 0;
	region_reference(&r, &ref, &plan);
	CHECK_EQ(plan.n, PLAN_RUNS);
	ref.first = 130;
	plan.n = 0;
	region_reference(&r, &ref, &plan);
	CHECK_EQ(plan.n, 31 - PLAN_RUNS);
}

/* Where a block waits that was asked for, it was prefetched anew: the region had left. */
static void test_region_waits(void)
{
	struct reference ref = { 64, 1, ROOM_WAITING, 64, 64, false, false, LOOKAHEAD_MAX, MANY, false, true, 0, false };
	struct region_planner r;
	struct plan plan;

	region_init(&r);
	ask(&r, 1, 0x0000010000010001, &plan);
	plan.n = 0;
	region_reference(&r, &ref, &plan);
	CHECK_EQ(plan.n, 2);
}

/* One block is asked for, which was found in @room; how many are named? */
static u32 name_after(struct region_planner *r, u64 block, enum room room, u32 waiting)
{
	struct reference ref = { block, 1, room, 64, waiting, false, false, LOOKAHEAD_MAX, MANY, false, true, 0, false };
	struct plan plan = { .n = 0 };
	u32 i, sum = 0;

	region_reference(r, &ref, &plan);
	for (i = 0; i < plan.n; i++)
		sum += plan.runs[i].n;
	return sum;
}

static void ask_elsewhere(struct region_planner *r, u32 times)
{
	while (times--)
		name_after(r, 6400, ROOM_WEIGHING, 1024);
}

/*
 * A known region is named once; but if a named block is gone a while later, so may be others that were cached then:
 * all that was not asked for is named once more, for a waiting room that holds it until then.
 */
static void test_region_gone(void)
{
	struct reference ref = { 64, 64, ROOM_DISK, 64, 1024, false, false, LOOKAHEAD_MAX, MANY, false, true, 0, false };
	struct region_planner r;
	struct plan plan = { .n = 0 };

	region_init(&r);
	region_reference(&r, &ref, &plan);
	CHECK_EQ(name_after(&r, 64, ROOM_DISK, 1024), 63);
	CHECK_EQ(name_after(&r, 70, ROOM_DISK, 1024), 0);
	ask_elsewhere(&r, 128);
	CHECK_EQ(name_after(&r, 80, ROOM_WAITING, 1024), 0);
	CHECK_EQ(name_after(&r, 81, ROOM_WEIGHING, 1024), 0);
	CHECK_EQ(name_after(&r, 82, ROOM_DISK, 1023), 0);
	CHECK_EQ(name_after(&r, 83, ROOM_DISK, 1024), 64 - 6);
	CHECK_EQ(name_after(&r, 84, ROOM_DISK, 1024), 0);
	ask_elsewhere(&r, 125);
	CHECK_EQ(name_after(&r, 85, ROOM_DISK, 1024), 0);
	CHECK_EQ(name_after(&r, 86, ROOM_DISK, 1024), 64 - 9);
	/* A block that was not named says nothing of those that were. */
	region_init(&r);
	ask(&r, 1, 0x0000010000010001, &plan);
	CHECK_EQ(name_after(&r, 64, ROOM_DISK, 1024), 2);
	ask_elsewhere(&r, 128);
	CHECK_EQ(name_after(&r, 64 + 50, ROOM_DISK, 1024), 0);
	CHECK_EQ(name_after(&r, 64 + 16, ROOM_DISK, 1024), 1);
}

static u32 named_around(struct region_planner *r, u64 block, u32 n, u32 most)
{
	struct run run = { block, n };
	struct plan plan = { .n = 0 };
	u32 i, sum = 0;

	CHECK_EQ(region_around(r, &run, most, &plan), plan.n > 0);
	for (i = 0; i < plan.n; i++)
		sum += plan.runs[i].n;
	return sum;
}

/* A block that is expected brings its region, most of which was asked for long ago; once, until it is long ago again. */
static void test_region_around(void)
{
	struct reference ref = { 64, 40, ROOM_DISK, 64, 1024, false, false, LOOKAHEAD_MAX, MANY, false, true, 0, false };
	struct region_planner r;
	struct plan plan = { .n = 0 };

	region_init(&r);
	CHECK_EQ(named_around(&r, 70, 1, 64), 0);
	region_reference(&r, &ref, &plan);
	ask_elsewhere(&r, 2048);
	CHECK_EQ(named_around(&r, 70, 1, 64), 0);
	ask_elsewhere(&r, 1);
	CHECK_EQ(named_around(&r, 104, 1, 64), 0);
	CHECK_EQ(named_around(&r, 103, 2, 64), 0);
	CHECK_EQ(named_around(&r, 120, 16, 64), 0);
	CHECK_EQ(named_around(&r, 70, 3, 64), 40);
	CHECK_EQ(named_around(&r, 80, 1, 64), 0);
	CHECK_EQ(name_after(&r, 70, ROOM_WAITING, 1024), 0);

	/* In vain: what was known is known still. */
	ask_elsewhere(&r, 2048);
	CHECK_EQ(named_around(&r, 90, 1, 16), 0);
	region_init(&r);
	region_reference(&r, &ref, &plan);
	ask_elsewhere(&r, 2049);
	CHECK_EQ(named_around(&r, 90, 1, 16), 16);
	ask_elsewhere(&r, 2049);
	CHECK_EQ(name_after(&r, 70, ROOM_DISK, 1024), 39);

	/* A run that goes on behind its region brings nothing. */
	region_init(&r);
	ref.n = 64;
	region_reference(&r, &ref, &plan);
	ask_elsewhere(&r, 2049);
	CHECK_EQ(named_around(&r, 120, 9, 64), 0);
	CHECK_EQ(named_around(&r, 120, 8, 64), 64);
}

/* Of a region most of which was asked for the time before, what is here shall stay. */
static void test_region_keep(void)
{
	struct region_planner r;
	struct plan plan;
	u32 wide;

	for (wide = 0; wide < 2; wide++) {
		region_init(&r);
		ask(&r, 1, wide ? 0x00000000ffffffff : 0x000000007fffffff, &plan);
		CHECK_EQ(ask(&r, 1, 1, &plan), 1);
		CHECK_EQ(plan.runs[0].n, 30 + wide);
		CHECK_EQ(plan.keep[0], wide);
	}
}

static struct auto_planner chooser;
static bool slow;
static u32 around;

/* Does @kind act, with such a score, when it @acts so far? */
static bool goes_on(u32 kind, bool acts, u32 made, u32 used, u32 patience)
{
	struct reference ref = { 0, 1, ROOM_DISK, 1, 64, slow, false, LOOKAHEAD_MAX, MANY, false, true, around, false };

	chooser_init(&chooser);
	chooser.acting = (u32)acts << kind;
	chooser.scores[kind] = (struct score){ .all = { .made = made, .used = used }, .patience = patience };
	for (ref.first = 0; ref.first < 8; ref.first++)
		chooser_reference(&chooser, &ref);
	return chooser.acting & 1u << kind;
}

/* The shares that planner.h gives, of all but the last one or as many as came true slowly. */
static void test_auto_shares(void)
{
	around = NEAR_BLOCKS;
	slow = true;
	CHECK(goes_on(PLANNER_OBL, false, 31, 20, 0));
	CHECK(!goes_on(PLANNER_OBL, false, 31, 19, 0));
	CHECK(goes_on(PLANNER_OBL, true, 31, 18, 0));
	CHECK(!goes_on(PLANNER_OBL, true, 31, 17, 0));
	CHECK(goes_on(PLANNER_NEAR, false, 61, 10, 0));
	CHECK(!goes_on(PLANNER_NEAR, false, 61, 9, 0));
	CHECK(goes_on(PLANNER_NEAR, true, 91, 10, 0));
	CHECK(!goes_on(PLANNER_NEAR, true, 91, 9, 0));
	slow = false;
	CHECK(goes_on(PLANNER_NEAR, false, 193, 128, 0));
	CHECK(!goes_on(PLANNER_NEAR, false, 194, 128, 0));
	CHECK(!goes_on(PLANNER_NEAR, false, 128, 127, 0));
	CHECK(goes_on(PLANNER_NEAR, true, 31, 18, 0));
	CHECK(!goes_on(PLANNER_NEAR, true, 31, 17, 0));
	around = 0;
	CHECK(!goes_on(PLANNER_NEAR, true, 91, 91, 0));
	CHECK(!goes_on(PLANNER_OBL, false, 8, 7, 0));
	CHECK(goes_on(PLANNER_OBL, true, 2, 1, 0));
	CHECK(goes_on(PLANNER_REGION, false, 50, 20, 100));
	CHECK(!goes_on(PLANNER_REGION, false, 51, 20, 100));
	CHECK(!goes_on(PLANNER_REGION, false, 41, 20, 10));
}

/*
 * Who predicts now and then is judged too: its past never has more predictions than the lookahead. @right_of 64 in a
 * row come true.
 */
static bool seldom(u32 right_of)
{
	struct reference ref = { .n = 1, .room = ROOM_DISK, .lookahead = 128, .waiting = 4096 };
	u32 i;

	chooser_init(&chooser);
	for (i = 0; i < 20000; i++) {
		ref.first = i;
		chooser_reference(&chooser, &ref);
		if (!(i % 8))
			chooser_predict(&chooser, PLANNER_STREAM, &ref, i / 8 % 64 < right_of ? i + 2 : 1000000 + i, 1,
					false);
	}
	return chooser.acting & 1u << PLANNER_STREAM;
}

static void test_auto_seldom(void)
{
	CHECK(!seldom(8));
	CHECK(seldom(48));
}

/* Nothing is due where the lookahead is long, but half the share of what was predicted before the last @fresh ones. */
static bool does_of_old(u32 made, u32 fresh, u32 references)
{
	struct reference ref = { .n = 1, .room = ROOM_DISK, .lookahead = LOOKAHEAD_MAX, .waiting = 4096 };

	chooser_init(&chooser);
	chooser.scores[PLANNER_STREAM] = (struct score){ .all = { .total = fresh, .made = made, .used = 20 } };
	for (; references; references--, ref.first++)
		chooser_reference(&chooser, &ref);
	return chooser.acting & 1u << PLANNER_STREAM;
}

static void test_auto_old(void)
{
	CHECK(does_of_old(66, 0, 8));
	CHECK(!does_of_old(67, 0, 8));
	CHECK(does_of_old(107, 41, 8));
	CHECK(!does_of_old(107, 40, 8));
	/* They are fresh for so long. */
	CHECK(does_of_old(107, 41, 248));
	CHECK(!does_of_old(107, 41, 264));
}

/* All that @kind predicted came true, but of 100 old ones that it alone named so many: does it act? */
static bool does_alone(u32 kind, bool full, u32 right)
{
	struct reference ref = { .n = 1, .room = ROOM_DISK, .lookahead = 1, .waiting = 4096, .full = full, .slow = true, .has_room = true,
				 .around = NEAR_BLOCKS };

	chooser_init(&chooser);
	chooser.scores[kind].all = (struct tally){ .made = 1000, .used = 1000 };
	chooser.scores[kind].alone = (struct tally){ .made = 100, .used = right };
	for (; ref.first < 8; ref.first++)
		chooser_reference(&chooser, &ref);
	return chooser.acting & 1u << kind;
}

/* Blocks that another one has prefetched come true; those that region alone names do, or not. */
static bool beside_stream(bool full, bool right)
{
	struct reference ref = { .n = 1, .room = ROOM_WAITING, .lookahead = 1, .waiting = 4096, .full = full };

	chooser_init(&chooser);
	for (; ref.first < 4096; ref.first++) {
		chooser_reference(&chooser, &ref);
		chooser_predict(&chooser, PLANNER_REGION, &ref, ref.first + 2, 1, false);
		if (ref.first % 4 == 0)
			chooser_predict(&chooser, PLANNER_REGION, &ref, ref.first + (right ? 3 : 1000000), 1, true);
	}
	return chooser.acting & 1u << PLANNER_REGION;
}

/* In a full cache half of a planner's share must come true of what it alone names. */
static void test_auto_alone(void)
{
	CHECK(does_alone(PLANNER_REGION, true, 30));
	CHECK(!does_alone(PLANNER_REGION, true, 29));
	CHECK(does_alone(PLANNER_REGION, false, 0));
	CHECK(does_alone(PLANNER_NEAR, true, 6));
	CHECK(!does_alone(PLANNER_NEAR, true, 5));
	CHECK(beside_stream(false, false));
	CHECK(!beside_stream(true, false));
	CHECK(beside_stream(true, true));
}

static void predict(u32 n, u64 first, u32 waiting)
{
	struct reference ref = { .n = 1, .lookahead = 1, .waiting = waiting };

	while (n--)
		chooser_predict(&chooser, PLANNER_OBL, &ref, first++, 1, false);
}

/* A prediction counts once, while it would be in a waiting room of four, and anew after that. */
static void test_auto_in_time(void)
{
	struct reference ref = { .first = 97, .n = 4, .lookahead = 1, .waiting = 4 };
	const struct score *s = &chooser.scores[PLANNER_OBL];
	u32 others;

	for (others = 0; others < 8; others++) {
		chooser_init(&chooser);
		predict(1, 100, 4);
		predict(others, 1000, 4);
		chooser_reference(&chooser, &ref);
		chooser_reference(&chooser, &ref);
		CHECK_EQ(s->all.used, others < 4);
		CHECK_EQ(s->patience, others < 4);
		chooser_init(&chooser);
		predict(1, 100, 4);
		predict(others, 1000, 4);
		predict(1, 100, 4);
		CHECK_EQ(s->all.made, others + 1 + (others >= 4));
		chooser.scores[PLANNER_OBL].patience = 100;
		chooser_reference(&chooser, &ref);
		CHECK_EQ(s->all.used, 1);
		CHECK_EQ(s->patience, 100);
	}
}

/* Scores are halved by and by: soon where predictions come true fast, late where slowly. */
static void check_forgets(u32 patience, u32 after)
{
	struct reference ref = { .n = 1, .lookahead = 1, .waiting = 64 };
	struct score *s = &chooser.scores[PLANNER_OBL];

	chooser_init(&chooser);
	*s = (struct score){ .all = { .made = 100, .used = 80 }, .patience = patience };
	for (ref.first = 1; ref.first < after; ref.first++)
		chooser_reference(&chooser, &ref);
	CHECK_EQ(s->all.made, 100);
	chooser_reference(&chooser, &ref);
	CHECK_EQ(s->all.made, 50);
	CHECK_EQ(s->all.used, 40);
	CHECK(s->patience < patience);
}

static void test_auto_forgets(void)
{
	check_forgets(16, 256);
	check_forgets(100, 8192);
}

static enum room all_there(const void *ctx, u64 block)
{
	(void)block;
	return *(const enum room *)ctx;
}

/* How many runs auto plans after a block found in @room, where all others are too. */
static u32 auto_plans(u32 acting, enum room room)
{
	struct reference ref = { 100, 1, room, 64, 4096, false, false, LOOKAHEAD_MAX, MANY, false, true, 0, false };
	struct plan plan;

	planner_init(&planner, PLANNER_AUTO);
	planner.chooser.acting = acting;
	planner_reference(&planner, &ref, all_there, &room, &plan);
	return plan.n;
}

/* obl acts alone, and with a missed block, and is judged by that; what is in the weighing room does not count. */
static void test_auto_obl(void)
{
	u32 obl = 1u << PLANNER_OBL, pattern = 1u << PLANNER_PATTERN;

	CHECK_EQ(auto_plans(obl, ROOM_WEIGHING), 1);
	CHECK_EQ(planner.chooser.scores[PLANNER_OBL].all.made, 0);
	CHECK_EQ(auto_plans(obl, ROOM_WAITING), 1);
	CHECK_EQ(planner.chooser.scores[PLANNER_OBL].all.made, 1);
	CHECK_EQ(auto_plans(obl | pattern, ROOM_WAITING), 0);
	CHECK_EQ(planner.chooser.scores[PLANNER_OBL].all.made, 0);
	CHECK_EQ(auto_plans(obl | pattern, ROOM_DISK), 1);
	CHECK_EQ(planner.chooser.scores[PLANNER_OBL].all.made, 1);
	CHECK_EQ(auto_plans(pattern, ROOM_DISK), 0);
}

/* Where both act, a block that pattern names brings its region, which is judged by that. */
static void test_auto_regions(void)
{
	static const u64 path[] = { 5000, 640, 9000 };
	struct reference ref = { .room = ROOM_DISK, .lookahead = 100, .waiting = 4096, .entries = MANY };
	enum room room = ROOM_DISK;
	struct plan plan = { .n = 0 };
	u32 both, i;

	for (both = 0; both < 2; both++) {
		planner_init(&planner, PLANNER_AUTO);
		planner.chooser.acting = 1u << PLANNER_PATTERN | both << PLANNER_REGION;
		ref.first = 640;
		ref.n = 64;
		region_reference(&planner.region, &ref, &plan);
		ask_elsewhere(&planner.region, 2049);
		ref.n = 1;
		for (i = 0; i < 6; i++) {
			ref.first = path[i % 3];
			pattern_reference(&planner.pattern, &ref, &plan);
		}
		ref.first = path[0];
		planner_reference(&planner, &ref, all_there, &room, &plan);
		CHECK_EQ(plan.n, 2);
		CHECK_EQ(plan.runs[0].first, 640);
		CHECK_EQ(plan.runs[0].n, both ? 64 : 1);
		CHECK_EQ(plan.keep[0], both);
		CHECK_EQ(plan.runs[1].first, 9000);
		CHECK_EQ(planner.chooser.scores[PLANNER_REGION].all.made, both ? 64 : 0);
	}
}

/* The most that auto names after a read of 8 blocks in a cache of 256, where each @spared-th is of what is used again. */
static u32 most_at_once(u32 readers, u32 spared)
{
	struct reference ref = { 0, 8, ROOM_WAITING, 1024, 256, false, true, LOOKAHEAD_MAX, 256, false, true, 0, false };
	enum room room = ROOM_DISK;
	u32 i, k, n, most = 0;
	struct plan plan;

	planner_init(&planner, PLANNER_AUTO);
	for (i = 0; i < 2000; i++) {
		ref.room = i % spared ? ROOM_WAITING : ROOM_WEIGHING;
		ref.first = (u64)(i % readers + 1) * 1000000 + 8 * (i / readers);
		planner_reference(&planner, &ref, all_there, &room, &plan);
		for (n = k = 0; k < plan.n; k++)
			n += plan.runs[k].n;
		most = pure_max(most, n);
	}
	return most;
}

/* Not more than an eighth of a cache in which something is used again; else all of it for one, a half for several. */
static void test_auto_at_once(void)
{
	u32 readers;

	for (readers = 1; readers < 8; readers++)
		CHECK(most_at_once(readers, 256) <= 32);
	CHECK(most_at_once(1, 1000) > 64);
	CHECK(most_at_once(2, 1000) > 32 && most_at_once(2, 1000) <= 64);
	CHECK(most_at_once(3, 1000) <= 256 / 6);
	CHECK(most_at_once(4, 1000) <= 32);
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_plan),
		UNIT_CASE(test_gather_most),
		UNIT_CASE(test_cut_to_the_end),
		UNIT_CASE(test_region_same),
		UNIT_CASE(test_region_whole),
		UNIT_CASE(test_region_waits),
		UNIT_CASE(test_region_gone),
		UNIT_CASE(test_region_keep),
		UNIT_CASE(test_region_around),
		UNIT_CASE(test_auto_shares),
		UNIT_CASE(test_auto_seldom),
		UNIT_CASE(test_auto_old),
		UNIT_CASE(test_auto_in_time),
		UNIT_CASE(test_auto_forgets),
		UNIT_CASE(test_auto_obl),
		UNIT_CASE(test_auto_alone),
		UNIT_CASE(test_auto_regions),
		UNIT_CASE(test_auto_at_once),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
