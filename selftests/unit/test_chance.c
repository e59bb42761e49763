// SPDX-License-Identifier: GPL-2.0-only
/* Of what is predicted much comes true by chance, where a region hardly larger than the cache is read in any order. */
#include "sim_run.h"

#define READS	20000u

static struct auto_planner chooser;

/* Half of what stream predicted came true in the mean time; of @drawn blocks by chance @lucky did. Does it act? */
static bool goes_on(bool acts, bool full, u32 lucky, u32 drawn)
{
	struct reference ref = { .n = 1, .room = ROOM_WEIGHING, .lookahead = 1, .waiting = 64, .entries = 256, .full = full };

	chooser_init(&chooser);
	chooser.acting = (u32)acts << PLANNER_STREAM;
	chooser.scores[PLANNER_STREAM] = (struct score){
		.all = { .made = 1000, .used = 1000 }, .quick = 500, .lucky = lucky, .drawn = drawn,
	};
	for (; ref.first < 8; ref.first++)
		chooser_reference(&chooser, &ref);
	return chooser.acting & 1u << PLANNER_STREAM;
}

/* Two fifths as many may be, to begin, and four, to go on, where what is used is pushed out; of few it is not known. */
static void test_shares(void)
{
	CHECK(goes_on(false, true, 20, 100));
	CHECK(!goes_on(false, true, 21, 100));
	CHECK(goes_on(true, true, 40, 100));
	CHECK(!goes_on(true, true, 41, 100));
	CHECK(goes_on(true, false, 100, 100));
	CHECK(goes_on(true, true, 7, 7));
	CHECK(!goes_on(true, true, 8, 8));
}

/*
 * obl predicts what comes @after references, and all blocks come again after @again: how many of 100 controls come as
 * soon as what is predicted?
 */
static u32 lucky_of_100(u32 after, u32 again)
{
	struct reference ref = { .n = 1, .room = ROOM_DISK, .lookahead = 1, .waiting = 1u << 20, .entries = again };
	const struct score *s = &chooser.scores[PLANNER_OBL];
	u32 i;

	chooser_init(&chooser);
	for (i = 0; i < 20 * again; i++) {
		ref.first = i % again;
		chooser_reference(&chooser, &ref);
		chooser_predict(&chooser, PLANNER_OBL, &ref, (i + after) % again, 1, true);
	}
	CHECK(s->drawn > 100);
	return s->lucky * 100 / s->drawn;
}

/* A reader's next blocks come before others do, in whatever he goes round. */
static void test_controls(void)
{
	CHECK(lucky_of_100(2, 1000) <= 5);
	CHECK(lucky_of_100(100, 1000) <= 20);
	CHECK(lucky_of_100(500, 1000) >= 30);
	CHECK(lucky_of_100(500, 1000) <= 70);
}

/* obl predicts what comes @soon references later, and every other time what comes @later. */
static const struct score *predict_by_turns(u32 soon, u32 later)
{
	struct reference ref = { .n = 1, .room = ROOM_DISK, .lookahead = 1, .waiting = 1u << 20, .entries = 64 };
	u32 i;

	chooser_init(&chooser);
	for (i = 0; i < 200; i++) {
		ref.first = i;
		chooser_reference(&chooser, &ref);
		chooser_predict(&chooser, PLANNER_OBL, &ref, i + (i % 2 ? soon : later), 1, true);
	}
	return &chooser.scores[PLANNER_OBL];
}

/* What comes true as soon as it does in the mean, or sooner, from the first time on. */
static void test_quick(void)
{
	const struct score *s = predict_by_turns(3, 3);

	CHECK(s->all.used > 150 && s->quick == s->all.used);
	s = predict_by_turns(4, 40);
	CHECK(s->all.used > 150 && s->quick > s->all.used * 2 / 5 && s->quick < s->all.used * 3 / 5);
}

/* I/Os of @n blocks at a time of a region of @area in @mib MiB, in any order or one by one. */
static u64 ios(const char *name, u32 mib, u32 area, u32 n, bool in_order, u32 latency)
{
	struct replay_counts c;
	struct trace t = { 0 };
	u32 i, of = area / n;

	unit_reseed(1);
	for (i = 0; i < READS; i++)
		add_read(&t, n * (in_order ? i % of : unit_below(of)), n);
	c = run_on(&t, name, 1024 * mib, 0, latency);
	trace_free(&t);
	return c.origin_reads + c.origin_prefetches;
}

/* Looking ahead costs hardly more I/Os than none. */
static void region(u32 mib, u32 area, u32 n, u32 latency)
{
	u64 none = ios("none", mib, area, n, false, latency);
	u64 own = ios("default,readahead=auto", mib, area, n, false, latency);

	printf("# %u MiB, %u blocks, %u at a time: %llu I/Os, %llu without looking ahead\n", mib, area, n,
	       (unsigned long long)own, (unsigned long long)none);
	CHECK(4 * own <= 5 * none);
}

static void test_region(void)
{
	region(2, 563, 1, 100000);
	region(2, 666, 16, 100000);
	region(2, 666, 4, 5000000);
	region(8, 2252, 1, 100000);
	region(8, 2252, 16, 100000);
	region(8, 2662, 4, 100000);
	region(8, 4000, 1, 100000);
	region(8, 4000, 4, 100000);
	region(8, 4000, 4, 5000000);
	region(8, 6000, 4, 5000000);
}

/* It still saves most of them for who reads it in order. */
static void test_in_order(void)
{
	static const u32 areas[] = { 2662, 4000, 6000 };
	u32 i, n;

	for (i = 0; i < 3; i++)
		for (n = 1; n <= 4; n += 3) {
			CHECK(8 * ios("default,readahead=auto", 8, areas[i], n, true, 100000) <= READS);
			CHECK(8 * ios("default,readahead=auto", 8, areas[i], n, true, 5000000) <= READS);
		}
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_shares),
		UNIT_CASE(test_controls),
		UNIT_CASE(test_quick),
		UNIT_CASE(test_region),
		UNIT_CASE(test_in_order),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
