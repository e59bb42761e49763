// SPDX-License-Identifier: GPL-2.0-only
/* How long a prefetched block may wait: what it is learnt from, and what tells nothing. */
#include <stdlib.h>

#include "unit.h"
#include "waits.h"

#define ENTRIES	1024u
#define STEP	4u		/* blocks, of so many entries */

static struct waits w;
static void *mem;

static void make(u32 entries)
{
	mem = malloc(waits_size(entries));
	waits_init(&w, mem, entries);
}

/* Blocks @first and so on are asked for, each after @waited blocks, as many as come meanwhile. */
static void use(u64 first, u32 n, u32 waited)
{
	u64 block;

	for (block = first; block < first + n; block++) {
		w.came++;
		waits_used(&w, block, (u16)((w.came - waited) >> w.shift), ENTRIES);
	}
}

/* Blocks @first and so on leave unasked for, each after @waited blocks; if @missed they are missed when as many more have come. */
static void leave(u64 first, u32 n, u32 waited, bool missed)
{
	u64 block;

	for (block = first; block < first + n; block++) {
		w.came++;
		waits_unasked(&w, block, (u16)((w.came - waited) >> w.shift));
		w.came += waited;
		if (missed)
			waits_missed(&w, block, ENTRIES);
		w.came -= waited;
	}
}

/* After how many blocks one has waited in vain. */
static u32 patience(bool expected)
{
	u16 came = waits_now(&w);
	u64 start = w.came;
	u32 n = 0;

	while (!waits_in_vain(&w, came, expected, ENTRIES)) {
		w.came++;
		n++;
	}
	w.came = start;
	return n;
}

static bool near(u32 blocks, u32 wanted)
{
	return blocks + 2 * STEP >= wanted && blocks <= wanted + 2 * STEP;
}

/* Whoever waited for longer than all that is told apart counts with the longest. */
static void test_longest(void)
{
	u32 i, sum = 0;

	make(ENTRIES);
	w.came = 1 << 20;
	use(0, 8, 200 * ENTRIES);
	for (i = 0; i < WAITS_CLASSES; i++)
		sum += w.used[i];
	CHECK(sum && w.used[WAITS_CLASSES - 1] == sum);
	free(mem);
}

/* At first any time; then four times as long as nearly all do, but not less than a share of the cache. */
static void test_learns(void)
{
	make(ENTRIES);
	w.came = 1 << 20;
	CHECK(near(patience(false), 3 * ENTRIES));
	CHECK(near(patience(true), 3 * ENTRIES));
	use(0, 4 * ENTRIES, 26);
	CHECK(near(patience(false), 4 * 32));
	CHECK(near(patience(true), 2 * ENTRIES));
	leave(100000, 2 * ENTRIES, 1, false);
	use(0, 4 * ENTRIES, 1);
	use(0, 4 * ENTRIES, 1);
	use(0, 4 * ENTRIES, 1);
	CHECK(near(patience(false), ENTRIES / 16));
	use(0, 2 * ENTRIES, 500);
	CHECK(near(patience(false), 4 * 512));
	use(0, 2 * ENTRIES, 1000);
	CHECK(near(patience(false), 3 * ENTRIES));
	CHECK(near(patience(true), 3 * ENTRIES));
	free(mem);
}

/* One in 16 that waits longer is enough, one in 512 is not while more are never asked for. */
static void test_few(void)
{
	u32 often, i;

	for (often = 16; often <= 512; often *= 32) {
		make(ENTRIES);
		w.came = 1 << 20;
		for (i = 0; i < 64 * ENTRIES; i++) {
			use(i, 1, i % often ? 10 : 700);
			if (i % often == 1)
				leave(1000000 + 4ull * i, 4, 10, false);
		}
		CHECK(near(patience(false), often == 16 ? 3 * ENTRIES : ENTRIES / 16));
		free(mem);
	}
}

/* What was asked for before and is back tells nothing, until it is long ago; each time it leaves is one. */
static void test_left(void)
{
	u64 block;

	make(ENTRIES);
	w.came = 1 << 20;
	use(100000, 4 * ENTRIES, 10);
	for (block = 0; block < 4 * ENTRIES; block++)
		waits_left(&w, block);
	use(0, 3 * ENTRIES, 1000);
	CHECK(near(patience(false), ENTRIES / 16));
	use(0, 2 * ENTRIES, 1000);
	CHECK(near(patience(false), 3 * ENTRIES));
	for (block = 0; block < 20 * ENTRIES; block++)
		waits_left(&w, block % 100);
	CHECK(w.left.fifo.count <= WAITS_LEFT);
	free(mem);
}

/* 64 blocks leave, and are missed when @ago blocks have come since. */
static void lose(u32 ago)
{
	u64 block;

	for (block = 0; block < 64; block++)
		waits_left(&w, block);
	w.came += ago;
	for (block = 0; block < 64; block++)
		waits_missed(&w, block, ENTRIES);
}

/*
 * Where nothing is judged any more, and what is asked for again has left, one may wait half as long each time. Not if it
 * would have left anyway; and until something is judged.
 */
static void test_lost(void)
{
	make(ENTRIES);
	w.came = 1 << 20;
	lose(2 * ENTRIES);
	CHECK(near(patience(false), 3 * ENTRIES));
	lose(ENTRIES / 2);
	CHECK(near(patience(false), ENTRIES / 2));
	CHECK(near(patience(true), 2 * ENTRIES));
	lose(ENTRIES / 2);
	CHECK(near(patience(false), ENTRIES / 2));
	w.came += 2 * ENTRIES;
	CHECK(near(patience(false), ENTRIES / 2));
	lose(ENTRIES / 2);
	CHECK(near(patience(false), ENTRIES / 4));
	use(100000, 2 * ENTRIES, 500);
	CHECK(near(patience(false), 4 * 512));
	free(mem);
}

/* Seven blocks are few, and what was judged holds until twice as many have come as there are entries. */
static void test_lost_few(void)
{
	u64 block, blocks = 0;

	make(ENTRIES);
	w.came = 1 << 20;
	use(100000, 2 * ENTRIES, 500);
	w.came = w.judged + 2 * ENTRIES;
	while (w.left.fifo.count < 8)
		waits_left(&w, blocks++);
	for (block = 0; block < blocks; block++)
		waits_missed(&w, block, ENTRIES);
	CHECK_EQ(w.lost, 8);
	CHECK_EQ(w.most, 4 * 512 / STEP);
	w.lost = 0;
	w.came++;
	for (block = 0; block < blocks; block++) {
		CHECK_EQ(w.most, 4 * 512 / STEP);
		waits_missed(&w, block, ENTRIES);
	}
	CHECK_EQ(w.lost, 0);
	CHECK_EQ(w.most, ENTRIES / STEP / 2);
	free(mem);
}

static void test_old(void)
{
	u64 block;

	make(ENTRIES);
	w.came = 1 << 20;
	for (block = 0; block < 40 * ENTRIES; block++)
		waits_left(&w, block);
	CHECK_EQ(w.left.fifo.count, WAITS_LEFT);
	use(0, 4 * ENTRIES, 10);
	CHECK(near(patience(false), ENTRIES / 16));
	free(mem);
}

/*
 * One in 128 is asked for late, or has left by then and is @missed; @others leave and are not wanted, or had been asked
 * for @before: may one wait so long?
 */
static bool check_slow(bool missed, u32 others, bool before)
{
	u32 round, i, wait;
	u64 first;

	make(ENTRIES);
	w.came = 1 << 20;
	for (round = 0; round < 8; round++) {
		first = 100000 + round * ENTRIES;
		if (missed)
			leave(0, 64, 300, true);
		else
			use(0, 64, 600);
		for (i = 0; before && i < others; i++)
			waits_left(&w, first + i);
		leave(first, others, 300, false);
		use(200000, 8 * ENTRIES, 10);
	}
	wait = patience(false);
	CHECK(near(wait, ENTRIES / 16) || wait >= 600);
	free(mem);
	return wait >= 600;
}

/* Late ones are waited for while they are more than those that are never wanted. */
static void test_slow(void)
{
	u32 missed;

	for (missed = 0; missed < 2; missed++) {
		CHECK(check_slow(missed, 0, false));
		CHECK(check_slow(missed, 16, false));
		CHECK(!check_slow(missed, 256, false));
		CHECK(check_slow(missed, 256, true));
	}
}

/*
 * A block that leaves twice, or comes again and is asked for, has not left in vain twice, or at all. Who is missed has
 * waited since he came.
 */
static void test_left_unasked(void)
{
	u32 once, i;

	make(ENTRIES);
	w.came = 1 << 20;
	leave(0, 64, 300, false);
	once = w.vain;
	CHECK(once > 0);
	leave(0, 64, 300, false);
	CHECK_EQ(w.vain, once);
	use(0, 64, 10);
	CHECK_EQ(w.vain, 0);
	for (i = 0; i < WAITS_CLASSES; i++)
		w.wanted[i] = 0;
	leave(0, 64, 300, true);
	for (i = 0; i < WAITS_CLASSES; i++)
		CHECK_EQ(w.wanted[i] > 0, i == 8);
	leave(0, 20 * ENTRIES, 300, false);
	CHECK_EQ(w.unasked.fifo.count, WAITS_LEFT);
	free(mem);
}

/* However many entries there are, some blocks of as many count, and those that left are remembered for a while. */
static void test_sample(void)
{
	u32 entries, counting;
	u64 block;

	for (entries = 4; entries <= 1 << 22; entries *= 4) {
		make(entries);
		counting = 0;
		for (block = 0; block < 4ull * entries; block++) {
			waits_left(&w, 977 * block);
			counting += w.left.fifo.head != ENTRY_NONE &&
				    w.left.arena.entries[w.left.fifo.head].block == 977 * block;
		}
		CHECK(counting <= 2 * WAITS_LEFT);
		CHECK(entries < 256 || counting >= WAITS_LEFT / 4);
		free(mem);
	}
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_longest),
		UNIT_CASE(test_learns),
		UNIT_CASE(test_few),
		UNIT_CASE(test_left),
		UNIT_CASE(test_lost),
		UNIT_CASE(test_lost_few),
		UNIT_CASE(test_old),
		UNIT_CASE(test_slow),
		UNIT_CASE(test_left_unasked),
		UNIT_CASE(test_sample),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
