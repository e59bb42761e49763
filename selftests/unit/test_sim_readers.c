// SPDX-License-Identifier: GPL-2.0-only
/* What auto makes of readers who leave blocks out, read much at a time, or go by turns. */
#include "sim_run.h"

#define FAR	(1u << 20)

static const char own[] = "default,readahead=auto";

static struct replay_counts run_fast(const struct trace *t, const char *name, u32 kib, u32 late)
{
	return run_on(t, name, kib, late, 100000);
}

/* @n blocks, then one left out: if the runs that stream names are as long as that, all the same it is right. */
static void test_one_left_out(void)
{
	u32 n, i;

	for (n = 4; n <= 32; n++) {
		struct replay_counts c;
		struct trace t = { 0 };

		for (i = 0; i < 20000; i++)
			add_read(&t, FAR + (n + 1) * (u64)i, n);
		c = run_fast(&t, own, 8192, 4);
		printf("# all but each %uth block: %llu of %llu missed\n", n + 1, (unsigned long long)c.misses,
		       (unsigned long long)c.read_blocks);
		CHECK(50 * c.misses <= c.read_blocks);
		trace_free(&t);
	}
}

static void add_reader(struct trace *t, u32 n, u32 reads)
{
	u32 i;

	for (i = 0; i < reads; i++)
		add_read(t, FAR + n * (u64)i, n);
}

/* Who waits for what is under way is looked ahead for further, on a fast device, too. */
static void test_waits(void)
{
	struct replay_counts c;
	struct trace t = { 0 };

	add_reader(&t, 32, 8000);
	c = run_fast(&t, own, 32768, 8);
	printf("# a fast reader: %llu of %llu blocks waited for\n", (unsigned long long)c.waited,
	       (unsigned long long)c.read_blocks);
	CHECK(5 * c.waited <= c.read_blocks);
	trace_free(&t);
}

/*
 * Of many readers, some of them in bursts, each is looked ahead for no further than the cache has place for: what is
 * prefetched is there when he comes.
 */
static void test_crowd(void)
{
	u32 at[27] = { 0 }, i, k, who;
	struct replay_counts c;
	struct trace t = { 0 };

	for (i = 0; i < 5000; i++) {
		who = unit_below(21);
		add_read(&t, (who + 1) * (u64)FAR + at[who], 4);
		at[who] += 4;
		if (i % 3)
			continue;
		who = 21 + unit_below(6);
		for (k = 0; k < 32; k++, at[who] += 2)
			add_read(&t, (who + 1) * (u64)FAR + at[who], 2);
	}
	c = run_fast(&t, own, 32768, 4);
	printf("# 27 readers in 32 MiB: %llu of %llu blocks missed\n", (unsigned long long)c.misses,
	       (unsigned long long)c.read_blocks);
	CHECK(300 * c.misses <= c.read_blocks);
	trace_free(&t);
}

/* As much as one I/O reads may be named after it, though none waits. */
static void test_large_reads(void)
{
	struct replay_counts c;
	struct trace t = { 0 };
	u32 mib;

	add_reader(&t, 256, 2000);
	for (mib = 4; mib <= 32; mib *= 2) {
		c = run_fast(&t, own, mib << 10, 0);
		printf("# reads of 1 MiB in %u MiB: %llu of %llu blocks missed\n", mib, (unsigned long long)c.misses,
		       (unsigned long long)c.read_blocks);
		CHECK(100 * c.misses <= c.read_blocks);
	}
	trace_free(&t);
}

/*
 * @readers of 128 KiB at a time in strict turn: that obl is right in the one block it names, of each 32, is no reason
 * to leave it to obl when stream's first predictions have not come true in time.
 */
static void in_turn(u32 readers, u32 mib)
{
	struct replay_counts c;
	struct trace t = { 0 };
	u32 i;

	for (i = 0; i < 16000; i++)
		add_read(&t, FAR + i % readers * 65536 + i / readers * 32, 32);
	c = run_fast(&t, own, mib << 10, 4);
	printf("# %u readers in turn in %u MiB: %llu of %llu blocks missed\n", readers, mib,
	       (unsigned long long)c.misses, (unsigned long long)c.read_blocks);
	CHECK(3 * c.misses <= c.read_blocks);
	trace_free(&t);
}

static void test_in_turn(void)
{
	in_turn(16, 8);
	in_turn(40, 16);
}

static void few_ios(const struct trace *t, const char *what, u32 mib, u32 late, u32 most)
{
	struct replay_counts c = run_fast(t, own, mib << 10, late);

	printf("# %s, %u MiB: %llu I/Os, %llu of %llu blocks missed, %llu waited for\n", what, mib,
	       (unsigned long long)(c.origin_reads + c.origin_prefetches), (unsigned long long)c.misses,
	       (unsigned long long)c.read_blocks, (unsigned long long)c.waited);
	CHECK(c.origin_reads + c.origin_prefetches <= most);
	CHECK(500 * c.misses <= c.read_blocks);
	CHECK(20 * c.waited <= c.read_blocks);
}

/* Nothing of a small cache is used again: few readers of little at a time have place for large I/Os, in turn or not. */
static void test_few_in_small(void)
{
	u32 at[4] = { 0 }, i, who;
	struct trace t = { 0 };

	for (i = 0; i < 20000; i++)
		add_read(&t, FAR + i % 4 * FAR + i / 4 * 4, 4);
	few_ios(&t, "4 readers of 16 KiB in turn", 2, 0, 4000);
	few_ios(&t, "4 readers of 16 KiB in turn", 4, 0, 3000);
	few_ios(&t, "4 readers of 16 KiB in turn", 8, 8, 3000);
	trace_free(&t);
	for (i = 0; i < 5000; i++) {
		who = unit_below(2);
		add_read(&t, (who + 1) * (u64)FAR + at[who], 64);
		at[who] += 64;
	}
	few_ios(&t, "2 readers of 256 KiB", 4, 0, 5100);
	trace_free(&t);
}

static void add_reader_inside(struct trace *t, u32 reads)
{
	struct trace_op op = { .what = TRACE_READ, .sectors = 128 };
	u32 i;

	for (i = 0; i < reads; i++) {
		op.ns = t->ns + 1000000;
		op.sector = 8ull * FAR + 4 + 128ull * i;
		trace_add(t, &op);
	}
}

/* Who begins inside a block, in which he ended the last time, does not use it again. */
static void test_inside(void)
{
	struct trace t = { 0 };

	add_reader_inside(&t, 8000);
	few_ios(&t, "64 KiB from inside blocks", 2, 4, 1500);
	few_ios(&t, "64 KiB from inside blocks", 8, 4, 800);
	trace_free(&t);
}

/* A cache that is not full, or of which nothing is used again, may be full of what near names in vain. */
static void test_every_fourth(void)
{
	struct replay_counts c;
	struct trace t = { 0 };
	u32 i, mib;

	for (i = 0; i < 40000; i++)
		add_read(&t, FAR + 4 * i, 1);
	for (mib = 8; mib <= 256; mib *= 2) {
		c = run(&t, own, mib << 10);
		printf("# each fourth block, %u MiB: %llu of %llu blocks missed\n", mib, (unsigned long long)c.misses,
		       (unsigned long long)c.read_blocks);
		CHECK(7 * c.misses <= c.read_blocks);
	}
	trace_free(&t);
}

static void goes_back(u32 n, u32 latency)
{
	struct replay_counts c;
	struct trace t = { 0 };
	u32 i;

	for (i = 1; i <= 32000 / n; i++)
		add_read(&t, FAR - n * i, n);
	c = run_on(&t, own, 8192, 0, latency);
	printf("# %u blocks at a time, backwards: %llu reads and %llu prefetches\n", n,
	       (unsigned long long)c.origin_reads, (unsigned long long)c.origin_prefetches);
	CHECK(c.origin_reads <= 1020 && c.origin_prefetches <= 1040);
	trace_free(&t);
}

/* What near names is one prefetch for each 32 blocks, also where region names a half of that: one I/O with the miss. */
static void test_backwards(void)
{
	u32 n;

	for (n = 2; n <= 8; n *= 2) {
		goes_back(n, 5000000);
		goes_back(n, 100000);
	}
}

/*
 * Areas of 32 blocks, each read backwards, beside another one's large reads, @large of 16: by what of these it happens
 * to be decided says nothing of the small ones, of which near has one I/O for each area.
 */
static void areas_beside_large(u32 large)
{
	u32 area, i, reads = 0;
	struct replay_counts c;
	struct trace t = { 0 };
	u64 at = 8ull * FAR;

	for (area = 0; area < 500; area++)
		for (i = 1; i <= 32; i++) {
			add_read(&t, FAR + 32 * (area * 77 % 500) - i, 1);
			for (; unit_below(16) < large; at += 64 * (1 + unit_below(50)), reads++)
				add_read(&t, at, 32);
		}
	c = run_fast(&t, own, 8192, 4);
	printf("# 500 areas beside %u large reads: %llu reads\n", reads, (unsigned long long)c.origin_reads);
	CHECK(c.origin_reads <= reads + 600);
	trace_free(&t);
}

static void test_areas_beside_large(void)
{
	u32 large;

	for (large = 0; large <= 12; large += 3)
		areas_beside_large(large);
}

/*
 * Where no I/O is dear near leaves alone what is used: a set of seven eighths of the cache, beside which all blocks of
 * areas of 32 are read, or some of them, in an order of which nobody else makes much.
 */
static void set_beside_areas(u32 of_32)
{
	struct replay_counts c, on;
	struct trace t = { 0 };
	u32 i, area = 0, done = 32;

	for (i = 0; i < 60000; i++) {
		if (i % 4) {
			add_read(&t, 5 * unit_below(1800), 1);
			continue;
		}
		if (done >= of_32) {
			area = FAR + 32 * unit_below(1u << 20);
			done = 0;
		}
		add_read(&t, area + (done++ * 13 + 5) % 32, 1);
	}
	c = run_fast(&t, own, 8192, 0);
	on = run_fast(&t, "default,readahead=on", 8192, 0);
	printf("# a set beside %u of 32 blocks: %llu blocks missed, %llu without near\n", of_32,
	       (unsigned long long)c.misses, (unsigned long long)on.misses);
	CHECK(10 * c.misses <= 11 * on.misses);
	trace_free(&t);
}

static void test_set_beside_areas(void)
{
	set_beside_areas(16);
	set_beside_areas(24);
	set_beside_areas(32);
}

/* @n blocks at a time are read, or, by a chance of @percent, left out. */
static void add_skipper(struct trace *t, u32 n, u32 percent)
{
	u32 i, at = FAR;

	for (i = 0; i < 20000; i++, at += n) {
		while (unit_below(100) < percent)
			at += n;
		add_read(t, at, n);
	}
}

static void skips(u32 percent, u32 latency, u32 one_missed_of, u32 most_ios)
{
	struct replay_counts c;
	struct trace t = { 0 };

	add_skipper(&t, 4, percent);
	c = run_on(&t, own, 32768, 4, latency);
	printf("# %u %% left out: %llu of %llu blocks missed, %llu I/Os\n", percent, (unsigned long long)c.misses,
	       (unsigned long long)c.read_blocks, (unsigned long long)(c.origin_reads + c.origin_prefetches));
	CHECK(one_missed_of * c.misses <= c.read_blocks);
	CHECK(c.origin_reads + c.origin_prefetches <= most_ios);
	trace_free(&t);
}

/* He is no other reader as long as the next block is prefetched. */
static void test_skips(void)
{
	skips(10, 5000000, 500, 1000);
	skips(10, 100000, 500, 1000);
	skips(20, 5000000, 500, 1000);
}

/* Half of what is prefetched for him, or a third, is enough: it takes a tenth of the I/Os. */
static void test_skips_much(void)
{
	skips(50, 5000000, 50, 2000);
	skips(50, 100000, 50, 2000);
	skips(67, 5000000, 50, 2000);
	skips(67, 100000, 50, 2000);
}

/* Not so of who read short files to their ends, beside others: what lies behind is not read, and saves no I/O. */
static void test_short_files(void)
{
	struct replay_counts c, none;
	struct trace t = { 0 };
	u32 at[4] = { 0 }, i, who;

	for (i = 0; i < 60000; i++) {
		who = unit_below(16);
		if (who >= 4) {
			add_read(&t, FAR + (1u << 24) + unit_below(1u << 28), 32);
			continue;
		}
		if (at[who] % 32 == 0)
			at[who] = 32 * unit_below(2000);
		add_read(&t, FAR + at[who], 8);
		at[who] += 8;
	}
	c = run_fast(&t, own, 32768, 4);
	none = run_fast(&t, "none", 32768, 4);
	printf("# short files: %llu I/Os, %llu without looking ahead\n",
	       (unsigned long long)(c.origin_reads + c.origin_prefetches), (unsigned long long)none.origin_reads);
	CHECK(5 * (c.origin_reads + c.origin_prefetches) <= 7 * none.origin_reads);
	trace_free(&t);
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_one_left_out),
		UNIT_CASE(test_waits),
		UNIT_CASE(test_crowd),
		UNIT_CASE(test_large_reads),
		UNIT_CASE(test_in_turn),
		UNIT_CASE(test_few_in_small),
		UNIT_CASE(test_inside),
		UNIT_CASE(test_every_fourth),
		UNIT_CASE(test_backwards),
		UNIT_CASE(test_areas_beside_large),
		UNIT_CASE(test_set_beside_areas),
		UNIT_CASE(test_skips),
		UNIT_CASE(test_skips_much),
		UNIT_CASE(test_short_files),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
