// SPDX-License-Identifier: GPL-2.0-only
/* What dm-w2r does with mixes that no recorded program is: many readers, scans beside random reads, a tree read again. */
#include "sim_run.h"

/* @readers at once, in any order, each of a file of its own, forwards or back from its end, @n blocks each time. */
static void add_readers(struct trace *t, u32 readers, u32 n, u32 reads, bool back)
{
	u32 at[STREAMS] = { 0 }, who;

	while (reads--) {
		who = unit_below(readers);
		at[who] += n;
		add_read(t, (u64)(who + 1) * 400000 + (back ? 390000 - at[who] : at[who]), n);
	}
}

/* Each second read goes through a file once, the others are of @blocks blocks far apart. */
static void add_beside_a_scan(struct trace *t, u32 blocks, u32 reads)
{
	u32 i;

	for (i = 0; i < reads; i++)
		add_read(t, i & 1 ? 1000000 + 37 * (u64)unit_below(blocks) : i / 2, 1);
}

static u64 ios(const struct replay_counts *c)
{
	return c->origin_reads + c->origin_prefetches;
}

/* However many files are read at once, most is there when it is wanted, and comes in fewer I/Os. */
static void readers_at_once(u32 readers, u32 n, u32 late, u32 mib)
{
	struct replay_counts lru, own;
	struct trace t = { 0 };

	add_readers(&t, readers, n, 200000 / n, false);
	lru = run_late(&t, "lru", mib << 10, late);
	own = run_late(&t, "default,readahead=auto", mib << 10, late);
	CHECK(10 * own.misses <= lru.misses);
	CHECK(5 * ios(&own) <= 4 * ios(&lru));
	trace_free(&t);
}

static void test_readers_at_once(void)
{
	u32 mib;

	for (mib = 16; mib <= 256; mib *= 4) {
		readers_at_once(8, 32, 4, mib);
		readers_at_once(16, 32, 4, mib);
		readers_at_once(24, 32, 4, mib);
		readers_at_once(8, 8, 16, mib);
		readers_at_once(8, 1, 0, mib);
		readers_at_once(24, 1, 0, mib);
	}
}

/* Block by block they take long to read what is named: until then it is remembered, whatever is named meanwhile. */
static void test_readers_by_blocks(void)
{
	static const char *const names[] = { "default", "default,readahead=auto" };
	struct replay_counts own;
	struct trace t = { 0 };
	size_t i;

	add_readers(&t, 24, 1, 60000, false);
	for (i = 0; i < UNIT_COUNT(names); i++) {
		own = run(&t, names[i], 65536);
		printf("# 24 readers, block by block, %s: %llu missed\n", names[i], (unsigned long long)own.misses);
		CHECK(500 * own.misses <= own.read_blocks);
	}
	trace_free(&t);
}

/* What several have under way is more than each of them may name, and not in vain. */
static void test_readers_in_little(void)
{
	u32 i;

	for (i = 0; i < 4; i++) {
		readers_at_once(8, 16, 4, 2);
		readers_at_once(8, 8, 0, 1);
	}
}

/* With a delay of @late all but a fiftieth of @t is there when it is wanted, with each of the @nr schemes. */
static void hardly_misses(const struct trace *t, const char *const *names, size_t nr, u32 late)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		struct replay_counts c = run_late(t, names[i], 262144, late);

		CHECK(50 * c.misses <= c.read_blocks);
	}
}

/* As much is under way as there may be: what has no place then is not passed over. */
static void test_readers_under_way(void)
{
	static const char *const names[] = {
		"default,readahead=auto", "default,planner=stream", "default,block_kib=64,planner=stream",
	};
	struct trace t = { 0 };

	add_readers(&t, 16, 32, 15000, false);
	hardly_misses(&t, names, UNIT_COUNT(names), 16);
	trace_free(&t);
}

/*
 * @readers in any order, two pages at a time, and as many single reads anywhere as @beside says between two of
 * theirs: of what the readers want an eighth is missed at most.
 */
static void slow_readers(u32 readers, u32 beside, u32 reads, u32 mib)
{
	static u32 at[STREAMS];
	struct replay_counts none, own;
	struct trace t = { 0 };
	u32 i, k, who;

	memset(at, 0, sizeof(at));
	for (i = 0; i < reads; i++) {
		who = unit_below(readers);
		add_read(&t, (u64)(who + 1) * 400000 + 7919 * who + at[who], 8);
		at[who] += 8;
		for (k = 0; k < beside; k++)
			add_read(&t, 100000000 + 13 * (u64)unit_below(50000000), 1);
	}
	none = run(&t, "none", mib << 10);
	own = run(&t, "default,readahead=auto", mib << 10);
	printf("# %u readers beside %u single reads: %llu blocks missed, %llu without looking ahead\n", readers, beside,
	       (unsigned long long)own.misses, (unsigned long long)none.misses);
	CHECK(own.misses <= (u64)beside * reads + 8 * reads / 8);
	CHECK(20 * own.wasted <= own.read_blocks);
	trace_free(&t);
}

static void test_slow_readers(void)
{
	slow_readers(1, 40, 5000, 32);
	slow_readers(8, 10, 8000, 32);
	slow_readers(100, 0, 50000, 32);
	slow_readers(100, 0, 50000, 256);
}

/* Who reads fast is not held back by others who read on now and then: most is there when he comes. */
static void test_fast_reader(void)
{
	struct replay_counts own;
	struct trace t = { 0 };
	u32 i;

	for (i = 0; i < 2000; i++) {
		add_read(&t, 32 * i, 32);
		if (i % 64 < 8)
			add_read(&t, 100000 * (i % 64 / 2 + 1) + 500 * (i / 64) + i % 2, 1);
	}
	own = run_late(&t, "default,readahead=auto", 8192, 4);
	printf("# a fast reader beside slow ones: %llu of %llu blocks waited for, %llu missed\n",
	       (unsigned long long)own.waited, (unsigned long long)own.read_blocks, (unsigned long long)own.misses);
	CHECK(4 * own.waited <= own.read_blocks);
	trace_free(&t);
}

/*
 * Between two reads of two pages @fast others of @n blocks go through a file: all but @percent are there when they are
 * wanted.
 */
static void beside_a_fast_one(u32 fast, u32 n, u32 late, u32 mib, u32 percent)
{
	struct replay_counts own;
	struct trace t = { 0 };
	u64 at = 0;
	u32 i, k;

	for (i = 0; i < 3000; i++) {
		add_read(&t, 100000000 + 8 * i, 8);
		for (k = 0; k < fast; k++, at += n)
			add_read(&t, at, n);
	}
	own = run_late(&t, "default", mib << 10, late);
	printf("# one beside a reader who is %u times as fast, %u MiB: %llu of %u blocks missed\n", fast * n / 8, mib,
	       (unsigned long long)own.misses, 8 * i);
	CHECK(100 * own.misses <= (u64)percent * 8 * i);
	trace_free(&t);
}

static void test_beside_a_fast_one(void)
{
	beside_a_fast_one(10, 32, 4, 4, 2);
	beside_a_fast_one(30, 32, 4, 16, 2);
	beside_a_fast_one(100, 8, 4, 4, 65);
	beside_a_fast_one(100, 32, 4, 64, 2);
	beside_a_fast_one(300, 8, 16, 16, 2);
}

/*
 * Eight readers in bursts of 64 reads of two pages, with 40 single reads between two bursts, and one after every eighth
 * read if it is @broken: as before the pause, most is there when it is wanted.
 */
static void read_in_bursts(bool broken)
{
	struct replay_counts own;
	struct trace t = { 0 };
	u32 at[8] = { 0 }, who, i, k, single = 0;

	for (i = 0; i < 400; i++) {
		who = unit_below(8);
		for (k = 0; k < 64; k++, at[who] += 8) {
			add_read(&t, (u64)(who + 1) * 4000000 + at[who], 8);
			if (broken && k % 8 == 0)
				add_read(&t, 100000000 + 1000 * single++, 1);
		}
		for (k = 0; k < 40; k++)
			add_read(&t, 100000000 + 1000 * single++, 1);
	}
	own = run_late(&t, "default,readahead=auto", 65536, 16);
	printf("# bursts beside %u single reads: %llu of %llu blocks waited for, %llu missed\n", single,
	       (unsigned long long)own.waited, (unsigned long long)own.read_blocks, (unsigned long long)own.misses);
	CHECK(8 * own.waited <= own.read_blocks);
	CHECK(own.misses <= single + own.read_blocks / 50);
	trace_free(&t);
}

static void test_bursts(void)
{
	read_in_bursts(false);
	read_in_bursts(true);
}

/*
 * With nothing beside them @readers wait for hardly any of what they read on a slow device, and @per blocks come with
 * an I/O.
 */
static void readers_only(u32 readers, u32 late, u32 mib, u32 per)
{
	struct replay_counts own;
	struct trace t = { 0 };

	add_readers(&t, readers, 8, 50000, false);
	own = run_late(&t, "default,readahead=auto", mib << 10, late);
	printf("# %u readers in %u MiB, a delay of %u: %llu of %llu blocks waited for, %llu missed, %llu I/Os\n", readers, mib,
	       late, (unsigned long long)own.waited, (unsigned long long)own.read_blocks,
	       (unsigned long long)own.misses, (unsigned long long)ios(&own));
	CHECK(10 * (own.waited + own.misses) <= own.read_blocks);
	CHECK(per * ios(&own) <= own.read_blocks);
	trace_free(&t);
}

static void test_readers_alone(void)
{
	u32 late;

	for (late = 4; late <= 16; late *= 2) {
		readers_only(1, late, 1, 32);
		readers_only(1, late, 2, 32);
		readers_only(1, late, 4, 32);
		readers_only(2, late, 4, 32);
	}
	readers_only(2, 4, 1, 32);
	readers_only(2, 8, 2, 32);
}

/* What many have under way is more than the room for it holds at first: it grows. */
static void test_many_readers(void)
{
	readers_only(12, 16, 4, 20);
	readers_only(16, 16, 4, 20);
	readers_only(25, 16, 4, 12);
	readers_only(30, 4, 8, 12);
	readers_only(40, 16, 8, 12);
	readers_only(60, 16, 16, 12);
}

/* Who reads a quarter of a small cache at a time has all of the next read there, not half of it. */
static void test_large_reads(void)
{
	static const char *const names[] = { "default", "default,readahead=auto" };
	struct trace t = { 0 };
	size_t i;
	u32 k;

	for (k = 0; k < 1000; k++)
		add_read(&t, 64 * k, 64);
	for (i = 0; i < UNIT_COUNT(names); i++) {
		struct replay_counts own = run(&t, names[i], 1024);

		CHECK(20 * own.misses <= own.read_blocks);
	}
	trace_free(&t);
}

static void test_readers_backwards(void)
{
	struct replay_counts lru, own;
	struct trace t = { 0 };

	add_readers(&t, 8, 8, 25000, true);
	lru = run(&t, "lru", 16384);
	own = run(&t, "default,readahead=auto", 16384);
	CHECK(3 * own.misses <= lru.misses);
	trace_free(&t);
}

/* What is read again and again stays beside a scan, whose blocks come in few I/Os and are not fetched in vain. */
static void test_beside_a_scan(void)
{
	struct replay_counts lru, obl, own;
	struct trace t = { 0 };

	add_beside_a_scan(&t, 3000, 100000);
	lru = run(&t, "lru", 16384);
	obl = run(&t, "lru-obl", 16384);
	own = run(&t, "default", 16384);
	CHECK(own.misses <= obl.misses && 2 * own.misses <= lru.misses);
	CHECK(10 * own.wasted <= own.prefetched);
	trace_free(&t);
	add_beside_a_scan(&t, 1000000, 100000);
	own = run(&t, "default", 16384);
	CHECK(own.wasted <= own.read_blocks / 10);
	trace_free(&t);
}

/* --- a tree of small files that is read again: as cp does, by inode, then as tar and grep do, by a hash of the name --- */

#define TREES		8u
#define PASSES		3u
#define FILES		3600u
#define INODES		16u		/* in a block; their table is at block 0, */
#define DATA		4096u		/* and the files are from here on */

struct tree {
	u32 at[FILES + 1];		/* blocks; the end is the next one's begin */
	u32 order[FILES];
	bool inodes[FILES / INODES];	/* read in this pass */
};

static void make_tree(struct tree *x)
{
	u32 i;

	x->at[0] = DATA;
	for (i = 0; i < FILES; i++) {
		x->at[i + 1] = x->at[i] + 1 + unit_below(unit_below(10) ? 3 : 20);
		x->order[i] = i;
	}
}

static void read_tree(struct trace *t, struct tree *x)
{
	u32 i, file;

	memset(x->inodes, 0, sizeof(x->inodes));
	for (i = 0; i < FILES; i++) {
		file = x->order[i];
		if (!x->inodes[file / INODES])
			add_read(t, file / INODES, 1);
		x->inodes[file / INODES] = true;
		add_read(t, x->at[file], x->at[file + 1] - x->at[file]);
	}
}

/* The next @n of the second pass are files of one directory, @first and so on. */
static u32 *add_directory(u32 *order, u32 first, u32 n)
{
	u32 i, k;

	for (i = 0; i < n; i++) {
		k = unit_below(i + 1);
		order[i] = order[k];
		order[k] = first + i;
	}
	return order + n;
}

/* Adds to @sum the I/Os of each pass in caches that hold from 60 to 95 % of the tree. */
static void read_again(u32 *caches, u64 sum[PASSES])
{
	static struct tree x;
	struct trace t = { 0 };
	u32 percent, kib, *order, pass;
	size_t ends[PASSES];

	make_tree(&x);
	read_tree(&t, &x);
	ends[0] = t.nr;
	/* What is still there first; then all in between comes anew, and pushes the rest out. */
	order = add_directory(x.order, 2600, FILES - 2600);
	order = add_directory(order, 0, 400);
	add_directory(order, 400, 2200);
	for (pass = 1; pass < PASSES; pass++) {
		read_tree(&t, &x);
		ends[pass] = t.nr;
	}
	for (percent = 60; percent <= 95; percent += 5) {
		u64 before = 0;

		kib = (x.at[FILES] - DATA + FILES / INODES) * percent / 100 * 4;
		for (pass = 0; pass < PASSES; pass++) {
			struct replay_counts c;

			t.nr = ends[pass];
			c = run(&t, "default,readahead=auto", kib);
			sum[pass] += ios(&c) - before;
			before = ios(&c);
		}
		++*caches;
	}
	trace_free(&t);
}

/*
 * What is left of a tree that does just not fit does not make the rest come in small pieces, nor does what is known of
 * the order.
 */
static void test_tree_again(void)
{
	u64 sum[PASSES] = { 0 };
	u32 i, caches = 0;

	for (i = 0; i < TREES; i++)
		read_again(&caches, sum);
	printf("# a tree read again: %llu and %llu I/Os for %u files\n", (unsigned long long)(sum[1] / caches),
	       (unsigned long long)(sum[2] / caches), FILES);
	CHECK(8 * sum[1] <= (u64)FILES * caches);
	CHECK(8 * sum[2] <= (u64)FILES * caches);
}

/* A set that is read at random is half of a cache of @blocks; four blocks of a scan between four such reads. */
static void small_cache(u32 blocks, u32 late)
{
	struct replay_counts none, own;
	struct trace t = { 0 };
	u32 i;

	for (i = 0; i < 200000; i++) {
		add_read(&t, 7 * (u64)unit_below(blocks / 2), 1);
		if (i % 4 == 0)
			add_read(&t, 1000000 + i, 4);
	}
	none = run_late(&t, "none", 4 * blocks, late);
	own = run_late(&t, "default,readahead=auto", 4 * blocks, late);
	printf("# beside a scan in %u blocks: %llu missed, %llu without looking ahead; %llu and %llu I/Os\n", blocks,
	       (unsigned long long)own.misses, (unsigned long long)none.misses, (unsigned long long)ios(&own),
	       (unsigned long long)ios(&none));
	CHECK(20 * own.misses <= none.misses);
	CHECK(ios(&own) <= ios(&none));
	trace_free(&t);
}

static void test_small_cache(void)
{
	u32 blocks;

	for (blocks = 256; blocks <= 2048; blocks *= 2) {
		small_cache(blocks, 4);
		small_cache(blocks, 16);
	}
}

/* What was prefetched in vain does not keep out what is wanted later, with nothing prefetched any more. */
static void test_scan_and_then_none(void)
{
	struct replay_config config = { .latency_ns = 5000000, .cost_ns = 1000, .entries = 16384 };
	struct trace t = { 0 };
	size_t i, before;

	add_beside_a_scan(&t, 1000000, 150000);
	before = t.nr;
	for (i = 0; i < 200000; i++)
		add_read(&t, 50000000 + 37 * (u64)unit_below(13000), 1);
	CHECK(!scheme_parse(&config.table, "default"));
	config.sectors = t.sectors;
	replay_init(&replay, &config);
	for (i = 0; i < t.nr; i++) {
		if (i == before) {
			replay.lookahead_on = false;
			replay.config.table.readahead = READAHEAD_OFF;
			replay.counts.misses = 0;
		}
		replay_op(&replay, &t.ops[i]);
	}
	CHECK(replay.counts.misses <= 2 * 13000);
	replay_end(&replay);
	trace_free(&t);
}

/* Of large blocks few are as much as a plan may take; none is passed over since it was planned and not fetched. */
static void test_large_blocks(void)
{
	static const char *const names[] = {
		"default,block_kib=16,planner=stream", "default,block_kib=32,planner=stream",
		"default,block_kib=64,planner=stream", "default,block_kib=64,readahead=auto",
	};
	struct trace t = { 0 };
	u32 i;

	for (i = 0; i < 5000; i++)
		add_read(&t, 32 * i, 32);
	hardly_misses(&t, names, UNIT_COUNT(names), 2);
	trace_free(&t);
}

/* Of 16 blocks three are asked for, once: nothing comes true, and a set that is read again and again has its room. */
static void test_hardly_true(void)
{
	struct replay_counts none, own;
	struct trace t = { 0 };
	u32 i, k, group;

	for (i = 0; i < 20000; i++) {
		group = unit_below(60000);
		for (k = 0; k < 3; k++)
			add_read(&t, 16 * (u64)group + unit_below(16), 1);
		add_read(&t, 2000000 + 64 * (u64)unit_below(1 + unit_below(400)), 1);
	}
	none = run_late(&t, "none", 1024, 4);
	own = run_late(&t, "default,readahead=auto", 1024, 4);
	CHECK(100 * own.misses <= 102 * none.misses);
	CHECK(20 * own.prefetched <= own.read_blocks);
	trace_free(&t);
}

/* A write of a block whose prefetch is under way drops it, as its old content may come yet. */
static void test_write_meanwhile(void)
{
	struct replay_counts c;
	struct trace t = { 0 };
	u32 i;

	for (i = 0; i < 3; i++)
		add_read(&t, i, 1);
	add_op(&t, 4, 1, TRACE_WRITE);
	add_read(&t, 4, 1);
	c = run_late(&t, "default", 1024, 100);
	CHECK_EQ(c.misses, 2);
	trace_free(&t);
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_readers_at_once),
		UNIT_CASE(test_readers_by_blocks),
		UNIT_CASE(test_readers_in_little),
		UNIT_CASE(test_readers_under_way),
		UNIT_CASE(test_slow_readers),
		UNIT_CASE(test_fast_reader),
		UNIT_CASE(test_beside_a_fast_one),
		UNIT_CASE(test_bursts),
		UNIT_CASE(test_readers_alone),
		UNIT_CASE(test_many_readers),
		UNIT_CASE(test_large_reads),
		UNIT_CASE(test_readers_backwards),
		UNIT_CASE(test_beside_a_scan),
		UNIT_CASE(test_small_cache),
		UNIT_CASE(test_scan_and_then_none),
		UNIT_CASE(test_large_blocks),
		UNIT_CASE(test_hardly_true),
		UNIT_CASE(test_write_meanwhile),
		UNIT_CASE(test_tree_again),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
