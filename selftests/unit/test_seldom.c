// SPDX-License-Identifier: GPL-2.0-only
/* What auto's planners that name blocks after any read cost where nothing of it comes true. */
#include "unit.h"
#include "planner.h"

#define IN_GROUP	31	/* blocks that near names with one */

static struct planner planner;
static bool slow;
static u32 asked;

static enum room nowhere(const void *ctx, u64 block)
{
	(void)ctx;
	(void)block;
	asked++;
	return ROOM_DISK;
}

static void miss(u64 block)
{
	struct reference ref = {
		.first = block, .n = 1, .lookahead = 64, .waiting = 4096, .slow = slow, .left = 1024, .entries = 8192,
		.has_room = true, .around = 32,
	};
	struct plan plan;

	planner_reference(&planner, &ref, nowhere, NULL, &plan);
}

static u64 anywhere(void)
{
	return unit_random() >> 24;
}

static void miss_anywhere(u32 n)
{
	while (n--)
		miss(anywhere());
}

static u32 named_by_near(void)
{
	return planner.chooser.scores[PLANNER_NEAR].all.total;
}

/* Random reads: at first each is looked around, then few are, and what is named is as much as if all were. */
static void test_few_are_tried(void)
{
	u32 named;

	planner_init(&planner, PLANNER_AUTO);
	asked = 0;
	miss_anywhere(128);
	CHECK(asked >= 4 * 128);
	miss_anywhere(8192);
	asked = 0;
	named = named_by_near();
	miss_anywhere(16384);
	named = named_by_near() - named;
	CHECK(asked > 0 && asked < 16384 / 4);
	CHECK(named > 16384 * IN_GROUP * 3 / 4 && named < 16384 * IN_GROUP * 4 / 3);
}

/* Of readers in turn each is tried. */
static void test_each_is_tried(void)
{
	u32 tried[8] = { 0 }, i;

	planner_init(&planner, PLANNER_AUTO);
	miss_anywhere(8192);
	for (i = 0; i < 8192; i++) {
		asked = 0;
		miss(anywhere());
		tried[i % 8] += !!asked;
	}
	for (i = 0; i < 8; i++)
		CHECK(tried[i] >= 8192 / 8 / 64);
}

/* How many groups, read whole and in no order, until near acts? */
static u32 groups_until_near_acts(void)
{
	u32 groups, i;
	u64 first;

	for (groups = 0; groups < 256 && !(planner_acting(&planner) & 1u << PLANNER_NEAR); groups++) {
		first = anywhere() & ~31ull;
		for (i = 0; i < 32; i++)
			miss(first + (i * 13 + groups) % 32);
	}
	return groups;
}

/* Who begins to read what lies near is noticed nearly as soon as if he had come first. */
static void test_change(void)
{
	u32 first, then;

	slow = true;
	planner_init(&planner, PLANNER_AUTO);
	first = groups_until_near_acts();
	CHECK(first < 64);
	planner_init(&planner, PLANNER_AUTO);
	miss_anywhere(20000);
	CHECK(!(planner_acting(&planner) & 1u << PLANNER_NEAR));
	then = groups_until_near_acts();
	printf("# groups until near acts: %u, after random reads %u\n", first, then);
	slow = false;
	CHECK(then < 32);
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_few_are_tried),
		UNIT_CASE(test_each_is_tried),
		UNIT_CASE(test_change),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
