// SPDX-License-Identifier: GPL-2.0-only
/* Rooms whose memory is taken away and given back, and their split: who leaves, and what is left to each room. */
#include "rooms_unit.h"

/* As docs/w2r.md says: 36 bytes for a block, and for a ghost. */
static void test_memory(void)
{
	static const u32 ghosts[POLICY_KINDS] = { [POLICY_S3FIFO] = 1, [POLICY_ARC] = 2 };
	enum policy_kind policy;

	for (policy = 0; policy < POLICY_KINDS; policy++) {
		struct rooms_config c = config(policy, 65536, 1);

		CHECK(rooms_size(&c) <= 65536 * 36 * (1 + ghosts[policy]) + waits_size(65536));
		CHECK(waits_size(65536) <= 2 * 36 * WAITS_LEFT);
	}
}

/* An entry whose memory goes is used again last; the waiting room gives one where no other can. */
static void test_last_to_be_used(void)
{
	struct rooms_config c = config(POLICY_LRU, 8, 1);
	struct rooms_box b;
	u32 e;

	box_make(&b, &c);
	fill_good(&b.r, 7, ROOM_WAITING);
	e = rooms_reclaim(&b.r);
	CHECK(e != ENTRY_NONE);
	CHECK_EQ(b.r.spare.tail, e);
	CHECK_EQ(b.r.in_use, 0);
	e = b.r.spare.head;
	rooms_retire_spare(&b.r, e);
	CHECK_EQ(b.r.spare.tail, e);
	must_hold(&b.r);
	box_free(&b);
}

/* As soon as what comes has to push something out, also when there may be less. */
static void test_full(void)
{
	struct rooms_config c = config(POLICY_LRU, 8, 1);
	struct rooms_box b;
	u32 i;

	box_make(&b, &c);
	for (i = 0; i < 8; i++) {
		CHECK(!rooms_full(&b.r));
		fill_good(&b.r, 10 * i, i % 2 ? ROOM_WEIGHING : ROOM_WAITING);
	}
	CHECK(rooms_full(&b.r));
	rooms_drop(&b.r, rooms_find(&b.r, 10));
	CHECK(!rooms_full(&b.r));
	rooms_set_limit(&b.r, 6);
	CHECK(rooms_full(&b.r));
	box_free(&b);
}

/* Whatever is used can be reclaimed all the same. */
static void test_reclaim_used(void)
{
	enum policy_kind policy;

	for (policy = 0; policy < POLICY_KINDS; policy++) {
		struct rooms_config c = config(policy, 40, 1);
		struct rooms_box b;

		box_make(&b, &c);
		fill_good(&b.r, 7, ROOM_WEIGHING);
		rooms_use(&b.r, rooms_find(&b.r, 7));
		CHECK(rooms_reclaim(&b.r) != ENTRY_NONE);
		CHECK_EQ(rooms_reclaim(&b.r), ENTRY_NONE);
		must_hold(&b.r);
		box_free(&b);
	}
}

/* Where all are used 32 are spared; the next leaves, and comes back among the used ones. */
static void test_s3fifo_spares_some(void)
{
	struct rooms_config c = config(POLICY_S3FIFO, 40, 1);
	struct rooms_box b;
	u32 i;

	box_make(&b, &c);
	for (i = 0; i < 40; i++) {
		fill_good(&b.r, i, ROOM_WEIGHING);
		rooms_use(&b.r, rooms_find(&b.r, i));
	}
	fill_good(&b.r, 100, ROOM_WEIGHING);
	CHECK_EQ(rooms_where(&b.r, 32), ROOM_DISK);
	fill_good(&b.r, 32, ROOM_WEIGHING);
	i = rooms_find(&b.r, 32);
	CHECK_EQ(b.r.weighing.lists[1].head, i);
	must_hold(&b.r);
	box_free(&b);
}

/* Memory is given back and taken again block by block, with but for one fault that moves the split. */
static void test_limit_keeps_proportion(void)
{
	struct rooms_config c = config(POLICY_LRU, 1024, 1);
	struct rooms_box b;
	u32 limit;

	box_make(&b, &c);
	CHECK_EQ(b.r.waiting_target, 256);
	for (limit = 1023; limit >= 512; limit--) {
		rooms_set_limit(&b.r, limit);
		CHECK_EQ(b.r.waiting_target, limit / 4);
	}
	fill_good(&b.r, 6, ROOM_WEIGHING);
	rooms_fault(&b.r, 7, 1);
	CHECK_EQ(b.r.waiting_target, 129);
	for (limit = 513; limit <= 1024; limit++)
		rooms_set_limit(&b.r, limit);
	CHECK_EQ(b.r.waiting_target, 258);
	rooms_set_limit(&b.r, ROOMS_ENTRIES_MIN);
	CHECK_EQ(b.r.waiting_target, 1);
	rooms_set_limit(&b.r, 1024);
	CHECK_EQ(b.r.waiting_target, 258);
	box_free(&b);
	c.entries = 1u << 18;
	box_make(&b, &c);
	rooms_set_limit(&b.r, 1u << 17);
	CHECK_EQ(b.r.waiting_target, 1u << 15);
	box_free(&b);
}

/* What happens to move the split while hardly any memory is left counts little once it is back. */
static void test_moves_of_few(void)
{
	struct rooms_config c = config(POLICY_LRU, 1u << 18, 256);
	struct rooms_box b;
	u32 i;

	box_make(&b, &c);
	rooms_set_limit(&b.r, 1000);
	CHECK_EQ(b.r.waiting_target, 250);
	fill_good(&b.r, 6, ROOM_WEIGHING);
	for (i = 0; i < 3; i++)
		rooms_fault(&b.r, 7, 1);
	CHECK_EQ(b.r.waiting_target, 253);
	rooms_set_limit(&b.r, 1u << 18);
	CHECK_EQ(b.r.waiting_target, (u32)((1ull << 18) * 253 / 1000));
	box_free(&b);
	c.step = 1 << 17;
	box_make(&b, &c);
	rooms_set_limit(&b.r, 1000);
	fill_good(&b.r, 6, ROOM_WEIGHING);
	rooms_fault(&b.r, 7, 1);
	CHECK_EQ(b.r.waiting_target, 750);
	box_free(&b);
}

/*
 * ARC that has learnt to keep recent blocks keeps as large a share of them in a quarter of the memory: the frequent ones
 * are not all given up, and one that is used again is not the next to go.
 */
static void test_arc_keeps_share(void)
{
	struct rooms_config c = config(POLICY_ARC, 1024, 1);
	struct elist *frequent;
	struct rooms_box b;
	u32 i, limit;

	box_make(&b, &c);
	frequent = &b.r.weighing.lists[1];
	for (i = 0; i < 1024; i++) {
		fill_good(&b.r, i, ROOM_WEIGHING);
		if (i % 2)
			rooms_use(&b.r, rooms_find(&b.r, i));
	}
	b.r.weighing.target = 512;
	for (limit = 1023; limit >= 256; limit--) {
		rooms_set_limit(&b.r, limit);
		CHECK(rooms_reclaim(&b.r) != ENTRY_NONE);
	}
	CHECK_EQ(frequent->count, 128);
	for (i = 1000; rooms_where(&b.r, i) == ROOM_DISK; i += 2)
		CHECK(i < 1024);
	rooms_use(&b.r, rooms_find(&b.r, i));
	for (limit = 0; limit < 100; limit++)
		fill_good(&b.r, 5000 + limit, ROOM_WEIGHING);
	CHECK_EQ(rooms_where(&b.r, i), ROOM_WEIGHING);
	must_hold(&b.r);
	box_free(&b);
}

/* The first block from @block on that counts for its sample. */
static u64 in_sample(const struct rooms *r, u64 block)
{
	while (index_hash(block, 32) & r->waits.others)
		block++;
	return block;
}

/*
 * Misses before prefetched blocks shrink the waiting room, to a 16th of the limit where it is bounded; there only
 * those of blocks that the weighing room had, each for all that are not in the sample.
 */
static void test_bounded_target(void)
{
	struct rooms_config c = config(POLICY_LRU, 64, 1);
	struct rooms_box b;
	u32 bounded, i;
	u64 lost;

	for (bounded = 0; bounded < 2; bounded++) {
		c.bounded = bounded;
		box_make(&b, &c);
		lost = in_sample(&b.r, 7);
		fill_good(&b.r, lost + 1, ROOM_WAITING);
		if (bounded) {
			rooms_fault(&b.r, lost, 1);
			CHECK_EQ(b.r.waiting_target, 16);
			waits_left(&b.r.waits, lost);
			rooms_fault(&b.r, lost, 1);
			CHECK_EQ(b.r.waiting_target, 16 - (b.r.waits.others + 1));
		}
		for (i = 0; i < 64; i++)
			rooms_fault(&b.r, lost, 1);
		CHECK_EQ(b.r.waiting_target, bounded ? 4 : 1);
		rooms_set_moves(&b.r, 1, true);
		CHECK_EQ(b.r.waiting_target, 4);
		rooms_set_moves(&b.r, 1, bounded);
		rooms_set_limit(&b.r, 32);
		CHECK_EQ(b.r.waiting_target, bounded ? 2 : 1);
		box_free(&b);
	}
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_memory),
		UNIT_CASE(test_last_to_be_used),
		UNIT_CASE(test_full),
		UNIT_CASE(test_reclaim_used),
		UNIT_CASE(test_s3fifo_spares_some),
		UNIT_CASE(test_limit_keeps_proportion),
		UNIT_CASE(test_moves_of_few),
		UNIT_CASE(test_arc_keeps_share),
		UNIT_CASE(test_bounded_target),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
