// SPDX-License-Identifier: GPL-2.0-only
/* What is used often stays while much is used once, in whatever steps it is read. */
#include "rooms_unit.h"

#define ENTRIES	1024
#define HOT	400
#define ROUNDS	100000

/* Reads from @block on, from its begin or from inside it; was it there? */
static bool read_one(struct rooms *r, u64 block, bool inside)
{
	u32 entries[1];

	rooms_tick(r);
	if (rooms_use_hits(r, block, 1, inside, entries).n)
		return true;
	rooms_fault(r, block, 1);
	fill_good(r, block, ROOM_WEIGHING);
	return false;
}

/*
 * Of hot blocks, one in four reads, how many percent are found beside a scan that reads each block in @steps; from
 * inside them (@inside) or from their begin on.
 */
static u32 hot_percent(enum policy_kind policy, u32 steps, bool inside)
{
	struct rooms_config c = config(policy, ENTRIES, 1);
	u32 found = 0, looked = 0, i, step;
	u64 scanned = 1000000;
	struct rooms_box b;

	box_make(&b, &c);
	for (i = 0; i < ROUNDS; i++) {
		if (unit_below(4)) {
			for (step = 0; step < steps; step++)
				read_one(&b.r, scanned, step);
			scanned++;
		} else if (i < ROUNDS / 4) {
			read_one(&b.r, unit_below(HOT), inside);
		} else {
			looked++;
			found += read_one(&b.r, unit_below(HOT), inside);
		}
	}
	must_hold(&b.r);
	box_free(&b);
	return found * 100 / looked;
}

static void test_scan_in_small_steps(void)
{
	u32 policy, steps;

	for (steps = 1; steps <= 16; steps *= 4)
		for (policy = 0; policy < POLICY_KINDS; policy++) {
			u32 percent = hot_percent(policy, steps, false);

			if (policy != POLICY_LRU)
				CHECK(percent >= 99);
			else
				CHECK(percent < 60);
		}
}

/* Who only ever reads the middle of a block uses it all the same. */
static void test_hot_from_inside(void)
{
	CHECK(hot_percent(POLICY_S3FIFO, 1, true) >= 99);
	CHECK(hot_percent(POLICY_ARC, 1, true) >= 99);
}

/* Is a block read from inside it a use of its own so many references after the last? */
static bool is_used_again(u32 entries, u32 references)
{
	struct rooms_config c = config(POLICY_LRU, entries, 1);
	struct rooms_box b;
	bool again;
	u32 e;

	box_make(&b, &c);
	fill_good(&b.r, 0, ROOM_WEIGHING);
	fill_good(&b.r, 1, ROOM_WEIGHING);
	while (references--)
		rooms_tick(&b.r);
	CHECK_EQ(rooms_use_hits(&b.r, 0, 1, true, &e).n, 1);
	again = b.r.weighing.lists[0].head == e;
	box_free(&b);
	return again;
}

/* After as many as a 16th of the cache has blocks, or 256. */
static void test_same_use(void)
{
	CHECK(!is_used_again(64, 3));
	CHECK(is_used_again(64, 4));
	CHECK(!is_used_again(8192, 255));
	CHECK(is_used_again(8192, 256));
}

/* Blocks that are pinned at the end of a queue are not gone past once more for each that leaves. */
static void test_pinned_at_the_end(void)
{
	struct rooms_config c = config(POLICY_S3FIFO, 64, 1);
	struct rooms_box b;
	u32 i, e, tail;

	box_make(&b, &c);
	for (i = 0; i < 64; i++)
		fill_good(&b.r, i, ROOM_WEIGHING);
	for (i = 0; i < 64; i++)
		rooms_use(&b.r, rooms_find(&b.r, i));
	fill_good(&b.r, 100, ROOM_WEIGHING);
	for (i = 0, e = b.r.weighing.lists[1].tail; i < 8; i++, e = b.r.arena.entries[e].prev)
		rooms_pin(&b.r, e);
	tail = e;
	for (i = 0; i < 200; i++)
		fill_good(&b.r, 200 + i, ROOM_WEIGHING);
	CHECK(!b.r.arena.entries[b.r.weighing.lists[1].tail].pins);
	CHECK(!b.r.arena.entries[tail].pins);
	for (i = 0; i < 64; i++)
		if (b.r.arena.entries[i].pins)
			rooms_unpin(&b.r, i);
	must_hold(&b.r);
	box_free(&b);
}

/* @block comes, and is what somebody is expected to ask for if @expected; returns its entry. */
static u32 fill(struct rooms *r, u64 block, enum room room, bool expected)
{
	u32 e = rooms_fill(r, block, room);

	if (expected)
		rooms_expect(r, block, 1);
	CHECK(rooms_filled(r, e, true));
	return e;
}

/* An eighth of the entries are prefetched in vain, and half as many as there are come: @wanted of them, or one more, wait. */
static void check_waits(enum policy_kind policy, bool learnt, bool expected, u32 wanted)
{
	struct rooms_config c = config(policy, ENTRIES, 1);
	struct rooms_box b;
	u64 block = 0;
	u32 i;

	c.bounded = true;
	box_make(&b, &c);
	/* What is asked for waits for one block only. */
	for (; learnt && block < 8 * ENTRIES; block++) {
		rooms_tick(&b.r);
		if (block)
			rooms_use(&b.r, rooms_find(&b.r, block - 1));
		fill_good(&b.r, block, ROOM_WAITING);
	}
	for (i = 0; i < ENTRIES / 8; i++) {
		rooms_tick(&b.r);
		fill(&b.r, 1000000 + i, ROOM_WAITING, expected);
	}
	for (i = 0; i < ENTRIES / 2; i++)
		read_one(&b.r, 2000000 + i, false);
	must_hold(&b.r);
	CHECK(rooms_where(&b.r, 1000000) == (wanted == ENTRIES / 8 ? ROOM_WAITING : ROOM_DISK));
	CHECK(b.r.held[ROOM_WAITING] >= wanted && b.r.held[ROOM_WAITING] <= wanted + 1);
	box_free(&b);
}

/* Of what was prefetched in vain a sixteenth of the room stays where others are used soon, but all that is expected. */
static void test_waits(void)
{
	u32 policy;

	for (policy = 0; policy < POLICY_KINDS; policy++) {
		check_waits(policy, true, false, ENTRIES / 16);
		check_waits(policy, true, true, ENTRIES / 8);
		check_waits(policy, false, false, ENTRIES / 8);
	}
}

/* Blocks that wait and are asked for tell how long they may: where the room is bounded, and not those that are expected. */
static void check_tell(bool bounded, bool expected)
{
	struct rooms_config c = config(POLICY_LRU, 64, 1);
	struct rooms_box b;
	u32 i, e;

	c.bounded = bounded;
	box_make(&b, &c);
	for (i = 0; i < 32; i++) {
		e = fill(&b.r, i, ROOM_WAITING, expected);
		rooms_tick(&b.r);
		rooms_use(&b.r, e);
	}
	CHECK_EQ(b.r.waits.samples > 0, bounded && !expected);
	must_hold(&b.r);
	box_free(&b);
}

static void test_which_tell(void)
{
	u32 kind;

	for (kind = 0; kind < 4; kind++)
		check_tell(kind & 1, kind & 2);
}

/* Those are expected that are named, and no other. */
static void test_expect(void)
{
	struct rooms_config c = config(POLICY_LRU, 64, 1);
	u32 entries[4], i;
	struct rooms_box b;

	box_make(&b, &c);
	for (i = 0; i < 4; i++)
		entries[i] = rooms_fill(&b.r, 10 + i, ROOM_WAITING);
	rooms_expect(&b.r, 11, 2);
	for (i = 0; i < 4; i++)
		CHECK(rooms_filled(&b.r, entries[i], true));
	CHECK_EQ(b.r.waiting.head, entries[3]);
	CHECK_EQ(b.r.waiting.tail, entries[0]);
	CHECK_EQ(b.r.expected.head, entries[2]);
	CHECK_EQ(b.r.expected.tail, entries[1]);
	must_hold(&b.r);
	box_free(&b);
}

/* Expected or not, the older one leaves first while neither has waited in vain. */
static void test_older_first(void)
{
	struct rooms_config c = config(POLICY_LRU, 64, 1);
	struct rooms_box b;
	u32 i;

	c.bounded = true;
	box_make(&b, &c);
	for (i = 0; i < 64; i++) {
		rooms_tick(&b.r);
		fill(&b.r, i, i < 48 ? ROOM_WEIGHING : ROOM_WAITING, i & 1);
	}
	for (i = 48; i < 64; i++) {
		CHECK_EQ(rooms_where(&b.r, i), ROOM_WAITING);
		rooms_tick(&b.r);
		fill_good(&b.r, 100 + i, ROOM_WAITING);
		CHECK_EQ(rooms_where(&b.r, i), ROOM_DISK);
	}
	must_hold(&b.r);
	box_free(&b);
}

/* When memory is short what has waited in vain goes before what is in use, while it is more than a sixteenth. */
static void test_reclaims_in_vain(void)
{
	struct rooms_config c = config(POLICY_LRU, 64, 1);
	struct rooms_box b;
	u32 i;

	c.bounded = true;
	box_make(&b, &c);
	for (i = 0; i < 8; i++)
		fill_good(&b.r, i, ROOM_WAITING);
	for (i = 0; i < 56; i++)
		fill_good(&b.r, 100 + i, ROOM_WEIGHING);
	b.r.waits.came += 3 * 64;
	for (i = 0; i < 4; i++)
		CHECK(rooms_reclaim(&b.r) != ENTRY_NONE);
	CHECK_EQ(b.r.held[ROOM_WAITING], 4);
	CHECK_EQ(b.r.held[ROOM_WEIGHING], 56);
	CHECK(rooms_reclaim(&b.r) != ENTRY_NONE);
	CHECK_EQ(b.r.held[ROOM_WAITING], 4);
	CHECK_EQ(b.r.held[ROOM_WEIGHING], 55);
	must_hold(&b.r);
	box_free(&b);
}

/* All that wait leave unasked for, and half of them are missed later: do these tell how long they should have stayed? */
static void check_missed(bool bounded, bool expected)
{
	struct rooms_config c = config(POLICY_LRU, 64, 1);
	u32 i, wanted = 0, most = 0;
	struct rooms_box b;

	c.bounded = bounded;
	box_make(&b, &c);
	for (i = 0; i < 64; i++)
		fill(&b.r, i, ROOM_WAITING, expected);
	for (i = 0; i < 256; i++)
		fill_good(&b.r, 100 + i, ROOM_WEIGHING);
	CHECK(b.r.wasted >= 32);
	for (i = 0; i < 32; i++)
		fill_good(&b.r, i, ROOM_WEIGHING);
	for (i = 0; i < WAITS_CLASSES; i++) {
		wanted += b.r.waits.wanted[i];
		most = b.r.waits.wanted[i] ? i : most;
	}
	CHECK_EQ(wanted > 0, bounded && !expected);
	CHECK_EQ(b.r.waits.vain > 0, bounded && !expected);
	CHECK(!wanted || 1u << most > 64);
	must_hold(&b.r);
	box_free(&b);
}

/* Who misses what had come for him, and left, tells so: where the room is bounded, and not of what is expected. */
static void test_missed(void)
{
	u32 kind;

	for (kind = 0; kind < 4; kind++)
		check_missed(kind & 1, kind & 2);
}

/* What a waiting room of @entries is meant to hold when many blocks were asked for on their way, two at a time. */
static u32 target_when_late(u32 entries, bool bounded)
{
	struct rooms_config c = config(POLICY_ARC, entries, entries / 8);
	struct rooms_box b;
	u32 e[2], i, target;

	c.bounded = bounded;
	box_make(&b, &c);
	target = b.r.waiting_target;
	for (i = 0; i < 10; i++) {
		e[0] = rooms_fill(&b.r, 10 * i, ROOM_WAITING);
		e[1] = rooms_fill(&b.r, 10 * i + 1, ROOM_WAITING);
		rooms_tick(&b.r);
		rooms_use(&b.r, e[0]);
		rooms_use(&b.r, e[1]);
		CHECK(b.r.waiting_target <= target + entries / 8);
		target = b.r.waiting_target;
		rooms_filled(&b.r, e[0], true);
		rooms_filled(&b.r, e[1], true);
	}
	must_hold(&b.r);
	box_free(&b);
	return target;
}

/* The waiting room grows for them, but where it is not bounded: to a half, or to 1,024. */
static void test_late(void)
{
	CHECK_EQ(target_when_late(8192, false), 2048);
	CHECK_EQ(target_when_late(8192, true), 4096);
	CHECK_EQ(target_when_late(1536, true), 1152);
	CHECK_EQ(target_when_late(64, true), 63);
}

/* By how much does the waiting room shrink for what left the weighing room @ago blocks ago, and is prefetched and used? */
static u32 shrinks_for_lost(u32 ago, bool bounded, bool expected)
{
	struct rooms_config c = config(POLICY_LRU, 64, 1);
	struct rooms_box b;
	u32 i, target;

	c.bounded = bounded;
	box_make(&b, &c);
	for (i = 0; i < 65; i++)
		fill_good(&b.r, i, ROOM_WEIGHING);
	CHECK_EQ(rooms_where(&b.r, 0), ROOM_DISK);
	for (; i < 64 + ago; i++)
		fill_good(&b.r, i, ROOM_WEIGHING);
	target = b.r.waiting_target;
	CHECK_EQ(target, 16);
	fill(&b.r, 0, ROOM_WAITING, expected);
	rooms_tick(&b.r);
	rooms_use(&b.r, index_peek(&b.r.index, 0));
	target -= b.r.waiting_target;
	must_hold(&b.r);
	box_free(&b);
	return target;
}

/*
 * It had not been lost, had the weighing room had half of the other's place: one of four tells it, for all. Not what is
 * expected: that may wait for long.
 */
static void test_lost(void)
{
	CHECK_EQ(shrinks_for_lost(2, true, false), 4);
	CHECK_EQ(shrinks_for_lost(2, true, true), 0);
	CHECK_EQ(shrinks_for_lost(7, true, false), 4);
	CHECK_EQ(shrinks_for_lost(12, true, false), 0);
	CHECK_EQ(shrinks_for_lost(2, false, false), 0);
}

/* Half of the room is the most that the weighing room gives, if it has no use for it; a smaller one is kept. */
static void test_grow_waiting(void)
{
	struct rooms_config c = config(POLICY_ARC, 1024, 1);
	struct rooms_box b;

	c.bounded = true;
	box_make(&b, &c);
	CHECK_EQ(b.r.waiting_target, 256);
	rooms_grow_waiting(&b.r, 100);
	CHECK_EQ(b.r.waiting_target, 256);
	rooms_grow_waiting(&b.r, 300);
	CHECK_EQ(b.r.waiting_target, 300);
	rooms_grow_waiting(&b.r, 1000);
	CHECK_EQ(b.r.waiting_target, 512);
	rooms_set_limit(&b.r, 512);
	CHECK_EQ(b.r.waiting_target, 256);
	box_free(&b);
	c.bounded = false;
	box_make(&b, &c);
	rooms_grow_waiting(&b.r, 300);
	CHECK_EQ(b.r.waiting_target, 256);
	box_free(&b);
}

/* What a read of @n blocks from @first on says of the weighing room, @inside the first one or not. */
static bool goes_on(struct rooms *r, u64 first, u32 n, bool inside)
{
	u32 entries[8];

	rooms_tick(r);
	return rooms_use_hits(r, first, n, inside, entries).goes_on;
}

/*
 * A read that goes on in the block where the last one ended, and beyond, finds nothing that is used again, unless the
 * next block is.
 */
static void test_goes_on(void)
{
	struct rooms_config c = config(POLICY_ARC, 64, 1);
	struct rooms_box b;
	u32 i;

	box_make(&b, &c);
	fill_good(&b.r, 0, ROOM_WEIGHING);
	fill_good(&b.r, 1, ROOM_WAITING);
	fill_good(&b.r, 2, ROOM_WAITING);
	CHECK(!goes_on(&b.r, 0, 1, true));
	CHECK(goes_on(&b.r, 0, 2, true));
	CHECK(!goes_on(&b.r, 0, 2, true));
	CHECK(!goes_on(&b.r, 2, 1, true));
	CHECK(!goes_on(&b.r, 2, 1, false));
	CHECK(goes_on(&b.r, 2, 2, true));
	for (i = 0; i < 4; i++)
		rooms_tick(&b.r);
	CHECK(!goes_on(&b.r, 2, 2, true));
	CHECK(!goes_on(&b.r, 3, 2, true));
	box_free(&b);
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_scan_in_small_steps),
		UNIT_CASE(test_hot_from_inside),
		UNIT_CASE(test_same_use),
		UNIT_CASE(test_pinned_at_the_end),
		UNIT_CASE(test_waits),
		UNIT_CASE(test_which_tell),
		UNIT_CASE(test_expect),
		UNIT_CASE(test_older_first),
		UNIT_CASE(test_reclaims_in_vain),
		UNIT_CASE(test_missed),
		UNIT_CASE(test_late),
		UNIT_CASE(test_lost),
		UNIT_CASE(test_grow_waiting),
		UNIT_CASE(test_goes_on),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
