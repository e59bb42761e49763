// SPDX-License-Identifier: GPL-2.0-only
/* What near names, where auto lets it, and how it is scored. */
#include "unit.h"
#include "planner.h"

static struct planner planner;

static void check_near(u64 first, u32 n, u32 lookahead, u32 around, struct run after, struct run before)
{
	struct reference ref = { .first = first, .n = n, .lookahead = lookahead };
	struct plan plan = { .n = 0 };
	u32 i = 0;

	ref.room = ROOM_WAITING;
	near_reference(&ref, around, &plan);
	CHECK_EQ(plan.n, 0);
	ref.room = ROOM_DISK;
	near_reference(&ref, around, &plan);
	CHECK_EQ(plan.n, !!after.n + !!before.n);
	if (after.n) {
		CHECK_EQ(plan.runs[i].first, after.first);
		CHECK_EQ(plan.runs[i++].n, after.n);
	}
	if (before.n) {
		CHECK_EQ(plan.runs[i].first, before.first);
		CHECK_EQ(plan.runs[i].n, before.n);
	}
}

/* Both sides of what was missed, up to the next multiples of 32 and no more than the lookahead; nothing of a hit. */
static void test_near(void)
{
	struct run none = { 0, 0 };

	check_near(40, 2, 64, 32, (struct run){ 42, 22 }, (struct run){ 32, 8 });
	check_near(40, 2, 25, 32, (struct run){ 42, 22 }, (struct run){ 37, 3 });
	check_near(40, 2, 5, 32, (struct run){ 42, 5 }, none);
	check_near(0, 1, 64, 32, (struct run){ 1, 31 }, none);
	check_near(63, 1, 64, 32, none, (struct run){ 32, 31 });
	check_near(32, 32, 64, 32, none, none);
	check_near(30, 4, 64, 32, (struct run){ 34, 30 }, (struct run){ 0, 30 });
	check_near(42, 2, 64, 8, (struct run){ 44, 4 }, (struct run){ 40, 2 });
	check_near(7, 1, 64, 2, none, (struct run){ 6, 1 });
}

static void test_has_room(void)
{
	CHECK(planner_has_room(99, 300, true));
	CHECK(!planner_has_room(100, 300, true));
	CHECK(planner_has_room(99, 800, false));
	CHECK(!planner_has_room(100, 800, false));
}

/* 32 blocks where an I/O is dear, 128 KiB where it is not, none where these take much longer than it does. */
static void test_around(void)
{
	u32 shift;

	for (shift = 3; shift <= 7; shift++) {
		CHECK_EQ(planner_around(SLOW_LATENCY, shift), 32);
		CHECK_EQ(planner_around(SLOW_LATENCY - 1, shift), 256u >> shift);
		CHECK_EQ(planner_around(NEAR_LATENCY, shift), 256u >> shift);
		CHECK_EQ(planner_around(NEAR_LATENCY - 1, shift), 0);
	}
}

/* near may act until a full cache has no room for it, and after a small read, unless an I/O is dear. */
static void test_near_pays(void)
{
	u32 i, n;

	for (i = 0; i < 16; i++)
		for (n = 1; n <= 16; n++) {
			struct reference ref = {
				.n = n, .around = i & 1 ? 32 : 0, .full = i & 2, .has_room = i & 4, .slow = i & 8,
			};
			bool place = i % 8 == 1 || i % 8 == 5 || i % 8 == 7;

			CHECK_EQ(planner_near_pays(&ref), place && (n <= 8 || ref.slow));
		}
}

static enum room nowhere(const void *ctx, u64 block)
{
	(void)ctx;
	(void)block;
	return ROOM_DISK;
}

static void miss(u64 block, u32 around, bool slow)
{
	struct reference ref = {
		.first = block, .n = 1, .lookahead = 64, .waiting = 4096, .slow = slow, .left = 1024, .entries = 8192,
		.has_room = true, .around = around,
	};
	struct plan plan;

	planner_reference(&planner, &ref, nowhere, NULL, &plan);
}

/* Which predictions of near's are there of @n blocks from @first on? */
static u32 predicted(u64 first, u32 n)
{
	const struct auto_planner *a = &planner.chooser;
	u32 i, found = 0;

	for (i = 0; i < PREDICTIONS; i++)
		found += a->predictions[i].stands_for[PLANNER_NEAR] && a->predictions[i].block - first < n;
	return found;
}

/* region names the rest of 16 blocks, of which three are missed: what near is scored by. */
static void score_beside_region(bool slow)
{
	planner_init(&planner, PLANNER_AUTO);
	planner.chooser.acting = 1u << PLANNER_REGION;
	miss(40, 0, slow);
	miss(42, 0, slow);
	miss(44, 32, slow);
}

/* Where no I/O is dear near is scored by what it adds, and by few blocks; else by all that it names. */
static void test_scored(void)
{
	score_beside_region(false);
	CHECK_EQ(predicted(32, 16), 0);
	CHECK(predicted(48, 16) >= 1 && predicted(48, 16) <= 3);
	score_beside_region(true);
	CHECK(predicted(32, 16) > 6);
	CHECK(predicted(48, 16) >= 6);
}

static enum room waiting(const void *ctx, u64 block)
{
	(void)ctx;
	(void)block;
	return ROOM_WAITING;
}

/* How many runs auto plans after @n blocks found in @room, where obl and near act. */
static u32 plans_of_both(enum room room, u32 n)
{
	struct reference ref = {
		.first = 100, .n = n, .room = room, .lookahead = 64, .waiting = 4096, .left = 1024, .entries = 8192,
		.has_room = true, .around = 32,
	};
	struct plan plan;

	planner_init(&planner, PLANNER_AUTO);
	planner.chooser.acting = 1u << PLANNER_OBL | 1u << PLANNER_NEAR;
	planner_reference(&planner, &ref, waiting, NULL, &plan);
	return plan.n;
}

/* After a large read near does not act, and obl is alone: after sixteen blocks it does nothing either. */
static void test_obl_beside_near(void)
{
	CHECK_EQ(plans_of_both(ROOM_DISK, 9), 1);
	CHECK_EQ(plans_of_both(ROOM_DISK, 16), 0);
	CHECK_EQ(planner.chooser.scores[PLANNER_OBL].all.made, 0);
	CHECK_EQ(plans_of_both(ROOM_WAITING, 9), 1);
	CHECK_EQ(plans_of_both(ROOM_WAITING, 8), 0);
}

/* A large read that happens to be the one at which it is decided says nothing of those to come. */
static void test_decided_by_large(void)
{
	struct reference ref = {
		.n = 32, .lookahead = 64, .waiting = 4096, .entries = 8192, .has_room = true, .around = 32,
	};

	planner_init(&planner, PLANNER_AUTO);
	planner.chooser.scores[PLANNER_NEAR].all = (struct tally){ .made = 1000, .used = 1000 };
	for (; ref.first < 8 * 32; ref.first += 32)
		chooser_reference(&planner.chooser, &ref);
	CHECK_EQ(planner_acting(&planner), 1u << PLANNER_NEAR);
	ref.around = 0;
	for (; ref.first < 16 * 32; ref.first += 32)
		chooser_reference(&planner.chooser, &ref);
	CHECK_EQ(planner_acting(&planner), 0);
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_near),
		UNIT_CASE(test_has_room),
		UNIT_CASE(test_around),
		UNIT_CASE(test_near_pays),
		UNIT_CASE(test_scored),
		UNIT_CASE(test_decided_by_large),
		UNIT_CASE(test_obl_beside_near),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
