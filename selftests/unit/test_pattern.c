// SPDX-License-Identifier: GPL-2.0-only
/* What pattern names, jump by jump. */
#include "unit.h"
#include "index.h"
#include "planner.h"

#define BLOCKS	65536		/* of a cache */

/* In a known order the next jumps are named: two, four, then eight; never the one just made. */
static void check_depth(u32 period)
{
	struct reference ref = { 0, 2, ROOM_DISK, 64, 64, false, false, LOOKAHEAD_MAX, BLOCKS, false, true, 0, false };
	struct pattern_planner p;
	struct plan plan;
	u32 i, k, n;

	pattern_init(&p);
	for (i = 0; i < 4 * period; i++) {
		ref.first = 100 * (i % period);
		plan.n = 0;
		pattern_reference(&p, &ref, &plan);
		n = i > period ? pure_min(1u << pure_min(i - period, 3), period - 1) : 0;
		CHECK_EQ(plan.n, n);
		for (k = 0; k < n; k++) {
			CHECK_EQ(plan.runs[k].first, 100 * ((i + 1 + k) % period));
			CHECK_EQ(plan.runs[k].n, 2);
		}
	}
}

static void test_pattern_depth(void)
{
	check_depth(12);
	check_depth(3);
}

/* An order of up to as many jumps as are kept is known, however many there were before; a longer one is not. */
static void check_history(u32 period, u32 named)
{
	struct reference ref = { 0, 1, ROOM_DISK, 64, 64, false, false, LOOKAHEAD_MAX, BLOCKS, false, true, 0, false };
	struct pattern_planner p;
	struct plan plan;
	u32 i, k;

	pattern_init(&p);
	for (i = 0; i < 3 * period; i++) {
		ref.first = 100 * (i % period);
		plan.n = 0;
		pattern_reference(&p, &ref, &plan);
		if (i < 2 * period)
			continue;
		CHECK_EQ(plan.n, named);
		for (k = 0; k < named; k++)
			CHECK_EQ(plan.runs[k].first, 100 * ((i + 1 + k) % period));
	}
}

static void test_pattern_history(void)
{
	check_history(PATTERN_HISTORY - 1, 8);
	check_history(PATTERN_HISTORY, 0);
}

/* Blocks that come twice are told apart by what came before; another order begins anew. */
static void test_pattern_order(void)
{
	static const u64 path[] = { 0, 100, 0, 200, 300, 400 };
	struct reference ref = { 0, 1, ROOM_DISK, 64, 64, false, false, LOOKAHEAD_MAX, BLOCKS, false, true, 0, false };
	struct pattern_planner p;
	struct plan plan;
	u32 i, k;

	pattern_init(&p);
	for (i = 0; i < 4 * 6; i++) {
		ref.first = path[i % 6];
		plan.n = 0;
		pattern_reference(&p, &ref, &plan);
		if (i < 3 * 6)
			continue;
		CHECK_EQ(plan.n, 5);
		for (k = 0; k < 5; k++)
			CHECK_EQ(plan.runs[k].first, path[(i + 1 + k) % 6]);
	}
	for (i = 1; i < 3; i++) {
		ref.first = path[i];
		plan.n = 0;
		pattern_reference(&p, &ref, &plan);
		CHECK_EQ(plan.n, i == 1 ? 0 : 2);
	}
}

/* A block whose place in the index another one has is not that one: what follows both is not an order. */
static void test_pattern_hash(void)
{
	u64 path[] = { 100, 200, 300, 101, 200 };
	struct reference ref = { .n = 1, .room = ROOM_DISK, .lookahead = 64 };
	struct plan plan = { .n = 0 };
	struct pattern_planner p;
	u32 i;

	while (index_hash(path[3], 51) != index_hash(path[0], 51))
		path[3]++;
	pattern_init(&p);
	for (i = 0; i < UNIT_COUNT(path); i++) {
		ref.first = path[i];
		pattern_reference(&p, &ref, &plan);
	}
	CHECK_EQ(plan.n, 0);
}

/* Of a jump that is read in less than the last time, the rest is named first. */
static void test_pattern_rest(void)
{
	static const struct run path[] = { { 0, 8 }, { 100, 1 }, { 0, 8 }, { 100, 1 }, { 0, 3 } };
	struct reference ref = { .room = ROOM_DISK, .lookahead = 64 };
	struct pattern_planner p;
	struct plan plan;
	u32 i;

	pattern_init(&p);
	for (i = 0; i < UNIT_COUNT(path); i++) {
		ref.first = path[i].first;
		ref.n = path[i].n;
		plan.n = 0;
		pattern_reference(&p, &ref, &plan);
	}
	CHECK_EQ(plan.n, 2);
	CHECK_EQ(plan.runs[0].first, 3);
	CHECK_EQ(plan.runs[0].n, 5);
	CHECK_EQ(plan.runs[1].first, 100);
}

/* What goes on where the last one ended is no jump, up to LOOKAHEAD_MAX blocks; nor is the same block once more. */
static void test_pattern_jumps(void)
{
	struct reference ref = { 1000, 1000, ROOM_DISK, 64, 64, false, false, LOOKAHEAD_MAX, BLOCKS, false, true, 0, false };
	struct plan plan = { .n = 0 };
	struct pattern_planner p;

	pattern_init(&p);
	pattern_reference(&p, &ref, &plan);
	ref = (struct reference){ 2000, 24, ROOM_DISK, 64, 64, false, false, LOOKAHEAD_MAX, BLOCKS, false, true, 0, false };
	pattern_reference(&p, &ref, &plan);
	CHECK_EQ(p.now, 1);
	CHECK_EQ(p.history[0].n, LOOKAHEAD_MAX);
	ref = (struct reference){ 2024, 1, ROOM_DISK, 64, 64, false, false, LOOKAHEAD_MAX, BLOCKS, false, true, 0, false };
	pattern_reference(&p, &ref, &plan);
	CHECK_EQ(p.now, 2);
	pattern_reference(&p, &ref, &plan);
	CHECK_EQ(p.now, 2);
	/* Numbers of jumps begin again. */
	p.now = PATTERN_NONE - 1;
	ref.first = 5000;
	pattern_reference(&p, &ref, &plan);
	CHECK_EQ(p.now, 0);
	CHECK_EQ(p.old, PATTERN_NONE);
	CHECK_EQ(plan.n, 0);
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_pattern_depth),
		UNIT_CASE(test_pattern_history),
		UNIT_CASE(test_pattern_order),
		UNIT_CASE(test_pattern_hash),
		UNIT_CASE(test_pattern_rest),
		UNIT_CASE(test_pattern_jumps),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
