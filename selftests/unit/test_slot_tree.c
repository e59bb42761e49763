// SPDX-License-Identifier: GPL-2.0-only
/* The slot tree against a byte map: contents, first fit, and exact bounds. */
#include "slot_oracle.h"
#include "unit.h"

#define SEEDS 20
#define NODE 4096u		/* slots under one word of level 1 */
#define Mi (1u << 20)

static struct slot_tree tree;
static struct slot_oracle oracle;
static u64 operations;
static u32 cursor;		/* where the last alloc ended */

static void setup(u32 nr)
{
	/* Exactly so many bytes: the address sanitizer guards the ends. */
	slot_tree_init(&tree, malloc(slot_tree_bytes(nr)), nr);
	oracle.used = calloc(nr, 1);
	oracle.nr = nr;
	oracle.nr_free = nr;
	oracle.scraps = SLOT_NONE;
	oracle.worn = 0;
}

static void teardown(void)
{
	free(tree.bits[0]);
	free(oracle.used);
}

/* The bits of word @w, which has @n, and what its free slots add to *@run, which begins behind it, and *@longest. */
static u32 compare_word(u32 w, u32 n, u32 *run, u32 *longest)
{
	const u8 *used = oracle.used + 64 * w;
	u32 nr_free = 0, i;

	/* Most are of one kind. */
	if (n == 64 && !memcmp(used, used + 1, 63)) {
		CHECK_EQ(tree.bits[0][w], used[0] ? 0 : ~0ull);
		*run = used[0] ? 0 : pure_min(*run + 64, SLOT_RUN_MAX);
		*longest = pure_max(*longest, *run);
		return used[0] ? 0 : 64;
	}
	for (i = n; i--;) {
		CHECK_EQ(tree.bits[0][w] >> i & 1, !used[i]);
		*run = used[i] ? 0 : pure_min(*run + 1, SLOT_RUN_MAX);
		*longest = pure_max(*longest, *run);
		nr_free += !used[i];
	}
	return nr_free;
}

/* Every bit, every summary bit and every bound. */
static void compare_all(void)
{
	u32 w = tree.words[0], run = 0, longest = 0, nr_free = 0, l, i, c;

	CHECK_EQ(slot_tree_nr_free(&tree), oracle.nr_free);
	/* Also makes every other bound exact. */
	CHECK_EQ(slot_tree_longest(&tree), oracle_longest(&oracle));
	while (w--) {
		nr_free += compare_word(w, pure_min(64, oracle.nr - w * 64), &run, &longest);
		if (w % (NODE / 64) == 0) {
			CHECK_EQ(tree.longest[1][w * 64 / NODE], longest);
			longest = 0;
		}
	}
	CHECK_EQ(nr_free, oracle.nr_free);
	CHECK_EQ(tree.words[tree.top], 1);
	for (i = 0; i < tree.words[0]; i++)
		CHECK_EQ(tree.whole[i / 64] >> i % 64 & 1, tree.bits[0][i] == ~0ull);
	for (l = 1; l <= tree.top; l++) {
		for (i = 0; i < tree.words[l]; i++) {
			u64 summary = 0;

			longest = 0;
			for (c = i * 64; c < tree.words[l - 1] && c / 64 == i; c++) {
				summary |= (u64)!!tree.bits[l - 1][c] << c % 64;
				if (l > 1)
					longest = pure_max(longest, tree.longest[l - 1][c]);
			}
			CHECK_EQ(tree.bits[l][i], summary);
			if (l > 1)
				CHECK_EQ(tree.longest[l][i], longest);
		}
	}
}

/* How far the oracle looks, in slots, when it looks after every operation. */
static u32 oracle_effort(void)
{
	return oracle.nr <= 4 * NODE || unit_below(4096) == 0 ? oracle.nr : 2 * NODE;
}

/* @start is what an alloc of @want from @hint gave: the first fit, or rightly none. */
static void check_fit(u32 start, u32 want, u32 hint)
{
	u32 from = hint < oracle.nr ? hint : 0, effort = oracle_effort();
	u32 to = effort < oracle.nr - from ? from + effort : oracle.nr;
	u32 first = oracle_find(&oracle, from, to, want);

	if (start != SLOT_NONE)
		CHECK_EQ(oracle_run(&oracle, start, want), want);
	if (first == SLOT_NONE && to == oracle.nr)
		first = oracle_find(&oracle, 0, pure_min(from, effort), want);
	if (first != SLOT_NONE)
		CHECK_EQ(start, first);
	else if (effort == oracle.nr)
		CHECK_EQ(start, SLOT_NONE);
}

static u32 do_alloc(u32 want, u32 hint)
{
	u32 start = slot_tree_alloc(&tree, want, hint);

	operations++;
	if (!want || want > SLOT_RUN_MAX) {
		CHECK_EQ(start, SLOT_NONE);
		return start;
	}
	check_fit(start, want, hint);
	if (start != SLOT_NONE) {
		oracle_set(&oracle, start, want, 1);
		cursor = start + want;
	}
	CHECK_EQ(slot_tree_nr_free(&tree), oracle.nr_free);
	return start;
}

static void check_shred(u32 start, u32 got, u32 want, u32 hint, bool apart)
{
	CHECK_EQ(start, oracle_shred(&oracle, hint, apart));
	CHECK_EQ(got, pure_min(want, oracle_run(&oracle, start, 64 - start % 64)));
	CHECK_EQ(tree.scraps, oracle.scraps);
	CHECK_EQ(tree.worn, oracle.worn);
}

static void do_alloc_upto(u32 want, u32 hint, bool apart)
{
	u32 got = ~0u, start = slot_tree_alloc_upto(&tree, want, hint, apart, &got);
	u32 longest = oracle_effort() == oracle.nr ? oracle_longest(&oracle) : 0;

	operations++;
	if (!want || want > SLOT_RUN_MAX || !oracle.nr_free) {
		CHECK_EQ(start, SLOT_NONE);
		CHECK_EQ(got, 0);
		return;
	}
	CHECK(got >= 1 && got <= want);
	CHECK_EQ(oracle_run(&oracle, start, got), got);
	if (longest >= SLOT_RUN_LONG) {
		CHECK_EQ(got, pure_min(want, longest));
		check_fit(start, got, hint);
	} else if (longest) {
		check_shred(start, got, want, hint, apart);
	} else {
		oracle.scraps = tree.scraps;
		oracle.worn = tree.worn;
	}
	oracle_set(&oracle, start, got, 1);
	cursor = start + got;
	CHECK_EQ(slot_tree_nr_free(&tree), oracle.nr_free);
}

static void do_free(u32 start, u32 n)
{
	bool good = oracle_all_used(&oracle, start, n);

	operations++;
	CHECK_EQ(slot_tree_free(&tree, start, n), good);
	if (good)
		oracle_set(&oracle, start, n, 0);
	CHECK_EQ(slot_tree_nr_free(&tree), oracle.nr_free);
}

/*
 * A slot anywhere, close to the last alloc, or close to where words, nodes or
 * subtrees meet; now and then out of range.
 */
static u32 random_slot(void)
{
	static const u32 units[] = { 64, NODE, 64 * NODE };
	u32 slot = unit_below(oracle.nr), unit = units[unit_below(UNIT_COUNT(units))];

	switch (unit_below(16)) {
	case 0:
		return oracle.nr + unit_below(3);
	case 1 ... 4:
		return slot;
	case 5 ... 9:
		slot = cursor + unit_below(1600) - 1300;
		break;
	default:
		slot = slot / unit * unit + unit_below(24) - 12;
	}
	return slot < oracle.nr ? slot : oracle.nr - 1;
}

static u32 random_want(void)
{
	switch (unit_below(16)) {
	case 0 ... 5:
		return 1;
	case 6 ... 9:
		return 1 + unit_below(8);
	case 10 ... 12:
		return 1 + unit_below(64);
	case 13:
		return 60 + unit_below(10);
	case 14:
		return unit_below(SLOT_RUN_MAX + 2);
	default:
		return 500 + unit_below(14);
	}
}

/* Mostly a good free: of the used slots at a random place. */
static void random_free(u32 most)
{
	u32 start = random_slot(), n = 0, looked = 0;

	most = 1 + unit_below(most);
	if (unit_below(8)) {
		while (looked++ < 64 && start < oracle.nr && !oracle.used[start])
			start++;
		while (n < most && start + n < oracle.nr && oracle.used[start + n])
			n++;
	}
	do_free(start, n ? n : most);
}

/* @ops operations that lead from much to little free space and back. */
static void churn(u32 ops)
{
	u32 i;

	cursor = 0;
	for (i = 0; i < ops; i++) {
		bool filling = (i / 500) & 1;
		u32 slot = random_slot();

		CHECK_EQ(slot_tree_is_used(&tree, slot),
			 slot >= oracle.nr || oracle.used[slot]);
		if (unit_below(8) < (filling ? 2 : 6))
			random_free(filling ? 8 : 64 << unit_below(5));
		else if (unit_below(4))
			do_alloc(random_want(), unit_below(2) ? cursor : slot);
		else
			do_alloc_upto(random_want(), slot, unit_below(2));
	}
}

/* Takes all slots, in runs as long as possible. */
static void fill(void)
{
	u32 got, start, hint = 0;

	while ((start = slot_tree_alloc_upto(&tree, SLOT_RUN_MAX, hint, false, &got)) != SLOT_NONE) {
		CHECK_EQ(start, hint);
		hint += got;
		operations++;
	}
	CHECK_EQ(hint, oracle.nr);
	oracle_set(&oracle, 0, oracle.nr, 1);
	oracle.scraps = tree.scraps;
	oracle.worn = tree.worn;
	CHECK_EQ(slot_tree_nr_free(&tree), 0);
	CHECK_EQ(slot_tree_longest(&tree), 0);
}

static void churn_sizes(const u32 *sizes, size_t count, u32 ops)
{
	u64 first = unit_seed, seed;
	size_t i;

	for (seed = first; seed < first + SEEDS; seed++) {
		unit_reseed(seed);
		for (i = 0; i < count; i++) {
			setup(sizes[i]);
			if (seed & 1)
				fill();
			churn(ops / 2);
			compare_all();
			churn(ops - ops / 2);
			compare_all();
			teardown();
		}
	}
}

static void test_small_areas(void)
{
	static const u32 sizes[] = {
		1, 2, 3, 63, 64, 65, 127, 128, 129, 511, 512, 513, 1000
	};

	churn_sizes(sizes, UNIT_COUNT(sizes), 16000);
}

static void test_one_to_three_nodes(void)
{
	static const u32 sizes[] = {
		NODE - 1, NODE, NODE + 1, NODE + 64, 2 * NODE - 1, 2 * NODE, 2 * NODE + 1, 10000
	};

	churn_sizes(sizes, UNIT_COUNT(sizes), 12000);
}

static void test_three_levels(void)
{
	static const u32 sizes[] = {
		64 * NODE - 1, 64 * NODE, 64 * NODE + 1, 65 * NODE + 1, 1000000
	};

	churn_sizes(sizes, UNIT_COUNT(sizes), 40000);
}

static void test_four_levels_and_more(void)
{
	static const u32 sizes[] = { 16 * Mi - 1, 16 * Mi, 16 * Mi + 1 };

	churn_sizes(sizes, UNIT_COUNT(sizes), 50000);
}

/* A run across a boundary of every level, in an area that is otherwise full. */
static void test_runs_across_boundaries(void)
{
	static const u32 at[] = { 64, 128, NODE, 2 * NODE, 64 * NODE, 16 * Mi };
	static const u32 parts[] = { 1, 2, 31, 63, 64, 65, 200, 256 };
	size_t i, before, after;

	setup(16 * Mi + NODE);
	fill();
	for (i = 0; i < UNIT_COUNT(at); i++) {
		for (before = 0; before < UNIT_COUNT(parts); before++) {
			for (after = 0; after < UNIT_COUNT(parts); after++) {
				u32 start = at[i] - pure_min(parts[before], at[i]);
				u32 n = at[i] + parts[after] - start;

				do_free(start, n);
				CHECK_EQ(slot_tree_longest(&tree), n);
				CHECK_EQ(slot_tree_alloc(&tree, n + 1, 0), SLOT_NONE);
				CHECK_EQ(do_alloc(n, unit_below(oracle.nr)), start);
				CHECK_EQ(slot_tree_longest(&tree), 0);
			}
		}
	}
	compare_all();
	teardown();
}

/* Allocs with a hint that moves on lie side by side, without a gap. */
static void test_moving_hint_is_adjacent(void)
{
	static const u32 sizes[] = { 600, NODE, 3 * NODE + 5, 64 * NODE + 700 };
	size_t i;

	for (i = 0; i < UNIT_COUNT(sizes); i++) {
		u32 hint = 0, want = 32;

		setup(sizes[i]);
		while (want <= oracle.nr - hint) {
			CHECK_EQ(do_alloc(want, hint), hint);
			hint += want;
			want = 1 + unit_below(SLOT_RUN_MAX);
		}
		compare_all();
		teardown();
	}
}

/*
 * An area of which @percent are in use at random is filled by batches of 128:
 * returns slots for each run and, in *@near, for each word gone to.
 */
static double shred(u32 percent, double *near)
{
	u32 nr = 128 * NODE, runs = 0, words = 0, hint = 0, word = SLOT_NONE, i, got, start, left;

	setup(nr);
	fill();
	for (i = 0; i < nr; i++)
		if (unit_below(100) >= percent)
			do_free(i, 1);
	for (i = 0; i < 128; i++) {
		for (left = 128; left; left -= got) {
			start = slot_tree_alloc_upto(&tree, left, hint, false, &got);
			CHECK(start != SLOT_NONE);
			oracle_set(&oracle, start, got, 1);
			hint = start + got;
			runs++;
			words += start / 64 != word;
			word = start / 64;
		}
	}
	compare_all();
	teardown();
	*near = 128 * 128.0 / words;
	return 128 * 128.0 / runs;
}

/* Slots given one after the other lie together, as far as there are any. */
static void test_shreds_lie_together(void)
{
	double near;

	CHECK(shred(50, &near) >= 3);
	CHECK(near >= 25);
	CHECK(shred(80, &near) >= 2.1);
	CHECK(near >= 7);
	CHECK(shred(95, &near) >= 1.05);
	CHECK(near >= 4);
}

/* What was freed is found again from any hint, and nothing else is. */
static void test_last_free_slots_are_found(void)
{
	u32 round;

	setup(64 * NODE + 100);
	fill();
	for (round = 0; round < 2000; round++) {
		u32 n = 1 + unit_below(SLOT_RUN_MAX);
		u32 start = unit_below(oracle.nr - n + 1);

		do_free(start, n);
		CHECK_EQ(slot_tree_alloc(&tree, n + 1, random_slot()), SLOT_NONE);
		if (round & 1) {
			CHECK_EQ(do_alloc(n, random_slot()), start);
		} else {
			while (oracle.nr_free)
				do_alloc_upto(1 + unit_below(SLOT_RUN_MAX), random_slot(), false);
		}
	}
	compare_all();
	teardown();
}

/* Allocs that begin before slots found free earlier, and end among them. */
static void test_alloc_into_free_stretch(void)
{
	setup(1900);
	CHECK_EQ(do_alloc(1, 1800), 1800);
	CHECK_EQ(do_alloc(1, 1000), 1000);
	do_free(1000, 1);
	CHECK_EQ(do_alloc(SLOT_RUN_MAX, 1000), 1000);
	CHECK_EQ(do_alloc(SLOT_RUN_MAX, 0), 0);
	do_free(1001, 510);
	CHECK_EQ(do_alloc(1, 1001), 1001);
	compare_all();
	teardown();
}

static void take_all(u32 from, u32 to)
{
	u32 n;

	for (; from < to; from += n) {
		n = pure_min(SLOT_RUN_MAX, to - from);
		CHECK_EQ(do_alloc(n, from), from);
	}
}

/* A run that goes on in the next node is cut there and grows again, though that has longer ones. */
static void test_runs_into_next_node(void)
{
	u32 at, i;

	for (at = NODE; at < 3 * NODE; at += NODE) {
		setup(4 * NODE);
		take_all(at - NODE, at - 100);
		for (i = 0; i <= 10; i += 10) {
			CHECK_EQ(do_alloc(1, at + i), at + i);
			compare_all();
			do_free(at + i, 1);
			compare_all();
		}
		teardown();
	}
}

/* What is free behind a node is not of a run that ends before it. */
static void test_run_at_end_of_node(void)
{
	setup(4 * NODE);
	take_all(0, NODE);
	do_free(NODE - 64, 9);
	CHECK_EQ(do_alloc(1, 3 * NODE), 3 * NODE);
	CHECK_EQ(do_alloc(1, NODE - 60), NODE - 60);
	compare_all();
	teardown();
}

/* An area in shreds passes over a node that was filled slot by slot. */
static void test_shreds_pass_a_full_node(void)
{
	u32 i;

	setup(3 * NODE);
	fill();
	for (i = 1000; i <= 1300; i += 100)
		do_free(NODE + i, 1);
	do_free(2 * NODE + 7, 1);
	for (i = 1000; i <= 1300; i += 100)
		CHECK_EQ(do_alloc(1, NODE + i), NODE + i);
	do_alloc_upto(4, 0, false);
	CHECK_EQ(cursor, 2 * NODE + 8);
	compare_all();
	teardown();
}

static void test_bad_frees_change_nothing(void)
{
	static const u32 bad[][2] = {
		{ 0, 0 }, { 4, 1 }, { 4, 2 }, { 3, 2 }, { 0, 200 }, { 130, 1 },
		{ 130, 0 }, { 129, 2 }, { 129, UINT32_MAX }, { 1, UINT32_MAX },
		{ UINT32_MAX, 1 }, { UINT32_MAX, UINT32_MAX }, { 0, 131 }
	};
	size_t i;

	setup(130);
	fill();
	do_free(4, 1);
	for (i = 0; i < UNIT_COUNT(bad); i++) {
		CHECK_EQ(slot_tree_free(&tree, bad[i][0], bad[i][1]), false);
		compare_all();
	}
	do_free(0, 4);
	do_free(5, 125);
	compare_all();
	teardown();
}

static void test_largest_area(void)
{
	const u32 nr = UINT32_MAX - 1;
	void *arena = malloc(slot_tree_bytes(nr));
	u32 got;

	slot_tree_init(&tree, arena, nr);
	CHECK_EQ(slot_tree_nr_free(&tree), nr);
	CHECK_EQ(slot_tree_alloc(&tree, SLOT_RUN_MAX, nr - SLOT_RUN_MAX), nr - SLOT_RUN_MAX);
	CHECK_EQ(slot_tree_alloc(&tree, SLOT_RUN_MAX, nr - 1), 0);
	CHECK_EQ(slot_tree_alloc(&tree, 1, nr), SLOT_RUN_MAX);
	CHECK(slot_tree_free(&tree, nr - 4, 4));
	CHECK(!slot_tree_free(&tree, nr - 4, 4));
	CHECK(!slot_tree_free(&tree, nr - 5, 6));
	CHECK(!slot_tree_is_used(&tree, nr - 1));
	CHECK(slot_tree_is_used(&tree, nr));
	CHECK_EQ(slot_tree_alloc_upto(&tree, 4, nr - 9, false, &got), nr - 4);
	CHECK_EQ(got, 4);
	CHECK_EQ(slot_tree_nr_free(&tree), nr - 2 * SLOT_RUN_MAX - 1);
	free(arena);
}

static void test_memory(void)
{
	u32 nr;

	CHECK(slot_tree_bytes(16 * Mi) * 8 <= 16 * Mi * 14ull / 10);
	for (nr = 1; nr <= 5 * NODE; nr++)
		CHECK_EQ(slot_tree_bytes(nr) % 8, 0);
}

/* Runs last: the cases before it have counted. */
static void test_enough_operations(void)
{
	printf("# %" PRIu64 " operations\n", operations);
	CHECK(operations >= 10000000);
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_memory),
		UNIT_CASE(test_bad_frees_change_nothing),
		UNIT_CASE(test_moving_hint_is_adjacent),
		UNIT_CASE(test_alloc_into_free_stretch),
		UNIT_CASE(test_runs_into_next_node),
		UNIT_CASE(test_run_at_end_of_node),
		UNIT_CASE(test_shreds_pass_a_full_node),
		UNIT_CASE(test_runs_across_boundaries),
		UNIT_CASE(test_last_free_slots_are_found),
		UNIT_CASE(test_shreds_lie_together),
		UNIT_CASE(test_largest_area),
		UNIT_CASE(test_small_areas),
		UNIT_CASE(test_one_to_three_nodes),
		UNIT_CASE(test_three_levels),
		UNIT_CASE(test_four_levels_and_more),
		UNIT_CASE(test_enough_operations),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
