// SPDX-License-Identifier: GPL-2.0-only
/* The two rooms and each policy against the slow oracle, and against the paper's table. */
#include "rooms_unit.h"
#include "w2r_oracle.h"

#define OPERATIONS 1200000

static enum room reference(struct rooms *r, u64 block)
{
	enum room room = rooms_where(r, block);
	u32 e;

	rooms_tick(r);
	e = rooms_find(r, block);
	CHECK_EQ(e == ENTRY_NONE, room == ROOM_DISK);
	if (e != ENTRY_NONE) {
		rooms_use(r, e);
		return room;
	}
	rooms_fault(r, block, 1);
	fill_good(r, block, ROOM_WEIGHING);
	return room;
}

static void prefetch(struct rooms *r, u64 block)
{
	if (rooms_where(r, block) == ROOM_DISK)
		fill_good(r, block, ROOM_WAITING);
}

/* Sequences, jumps, returns to a few blocks: what programs do. */
static u64 next_block(u64 last, u32 universe)
{
	u32 dice = unit_below(16);

	if (dice < 9)
		return (last + 1) % universe;
	if (dice < 12)
		return unit_below(universe / 8 + 1);
	return unit_below(universe);
}

static void same(const struct rooms *r, const struct oracle *o, u32 universe)
{
	u64 block;

	CHECK_EQ(r->waiting_target, o->target);
	CHECK_EQ(r->held[ROOM_WAITING], oracle_unasked(o));
	CHECK_EQ(r->held[ROOM_WEIGHING], oracle_weighing(o) - o->unasked.n);
	for (block = 0; block < universe; block++)
		CHECK_EQ(rooms_where(r, block), oracle_where(o, block));
}

static void rare_operation(struct rooms *r, struct oracle *o, u32 universe)
{
	u64 block = unit_below(universe);
	u32 limit = ROOMS_ENTRIES_MIN + unit_below(r->arena.nr - ROOMS_ENTRIES_MIN + 1);

	switch (unit_below(8)) {
	case 0:
		rooms_set_limit(r, limit);
		oracle_limit(o, limit);
		return;
	case 1:
		rooms_reclaim(r);
		oracle_reclaim(o);
		return;
	default:
		if (rooms_where(r, block) != ROOM_DISK)
			rooms_drop(r, index_peek(&r->index, block));
		oracle_drop(o, block);
	}
}

static void against_oracle(enum policy_kind policy, bool one_room, u32 operations)
{
	static struct oracle o;
	struct rooms_config c = config(policy, ROOMS_ENTRIES_MIN + unit_below(60), 1 + unit_below(3));
	u32 universe = c.entries + 1 + unit_below(3 * c.entries), i;
	struct rooms_box b;
	u64 block = 0;

	c.one_room = one_room;
	c.bounded = unit_below(2);
	box_make(&b, &c);
	oracle_init(&o, &c);
	CHECK_EQ(b.r.index.move_to_front, c.move_to_front);
	for (i = 0; i < operations; i++) {
		block = next_block(block, universe);
		CHECK_EQ(reference(&b.r, block), oracle_reference(&o, block));
		prefetch(&b.r, block + 1);
		oracle_prefetch(&o, block + 1);
		CHECK_EQ(b.r.waiting_target, o.target);
		if (!unit_below(50))
			rare_operation(&b.r, &o, universe);
		if (!unit_below(200)) {
			same(&b.r, &o, universe + 1);
			must_hold(&b.r);
		}
	}
	CHECK_EQ(b.r.in_use, b.r.held[ROOM_WAITING] + b.r.held[ROOM_WEIGHING]);
	box_free(&b);
}

static void many(enum policy_kind policy, bool one_room)
{
	u32 i;

	for (i = 0; i < 60; i++)
		against_oracle(policy, one_room, OPERATIONS / 60);
}

static void test_lru(void)
{
	many(POLICY_LRU, false);
}

static void test_s3fifo(void)
{
	many(POLICY_S3FIFO, false);
}

static void test_arc(void)
{
	many(POLICY_ARC, false);
}

static void test_one_room(void)
{
	enum policy_kind policy;

	for (policy = 0; policy < POLICY_KINDS; policy++)
		many(policy, true);
}

/* What nobody asked for leaves by its age alone, as what was asked for; the paper's rival, with its loss. */
static void test_one_room_is_swept(void)
{
	struct rooms_config c = config(POLICY_LRU, 8, 1);
	struct rooms_box b;
	u32 i;

	c.one_room = true;
	box_make(&b, &c);
	fill_good(&b.r, 1000, ROOM_WEIGHING);
	fill_good(&b.r, 0, ROOM_WAITING);
	CHECK_EQ(rooms_where(&b.r, 0), ROOM_WAITING);
	rooms_use(&b.r, rooms_find(&b.r, 0));
	CHECK_EQ(rooms_where(&b.r, 0), ROOM_WEIGHING);
	CHECK_EQ(b.r.used, 1);
	for (i = 1; i < 8; i++)
		fill_good(&b.r, i, ROOM_WAITING);
	CHECK_EQ(rooms_where(&b.r, 1000), ROOM_DISK);
	CHECK_EQ(rooms_where(&b.r, 0), ROOM_WEIGHING);
	fill_good(&b.r, 8, ROOM_WAITING);
	fill_good(&b.r, 9, ROOM_WAITING);
	CHECK_EQ(rooms_where(&b.r, 0), ROOM_DISK);
	CHECK_EQ(rooms_where(&b.r, 1), ROOM_DISK);
	CHECK_EQ(b.r.wasted, 1);
	CHECK_EQ(b.r.waiting_target, 2);
	must_hold(&b.r);
	box_free(&b);
}

/* Table 1 of the paper, line by line: places of i-1 and i+1, and what grows. */
static void test_nine_cases(void)
{
	static const struct {
		enum room before, after;
		int move;
	} lines[] = {
		{ ROOM_WEIGHING, ROOM_WEIGHING, 1 },
		{ ROOM_WEIGHING, ROOM_WAITING, -1 },
		{ ROOM_WEIGHING, ROOM_DISK, 1 },
		{ ROOM_WAITING, ROOM_WEIGHING, 0 },
		{ ROOM_WAITING, ROOM_WAITING, -1 },
		{ ROOM_WAITING, ROOM_DISK, 0 },
		{ ROOM_DISK, ROOM_WEIGHING, 0 },
		{ ROOM_DISK, ROOM_WAITING, -1 },
		{ ROOM_DISK, ROOM_DISK, 0 },
	};
	size_t i;

	for (i = 0; i < UNIT_COUNT(lines); i++) {
		struct rooms_config c = config(POLICY_LRU, 32, 1);
		struct rooms_box b;

		box_make(&b, &c);
		if (lines[i].before != ROOM_DISK)
			fill_good(&b.r, 99, lines[i].before);
		if (lines[i].after != ROOM_DISK)
			fill_good(&b.r, 101, lines[i].after);
		rooms_fault(&b.r, 100, 1);
		CHECK_EQ((int)b.r.waiting_target - 8, lines[i].move);
		box_free(&b);
	}
}

/* Three waiting blocks are referenced after so many references each. */
static int moved_by_intervals(u32 a, u32 b, u32 c)
{
	struct rooms_config config_ = config(POLICY_LRU, 32, 1);
	u32 waits[3] = { a, b, c }, i, k;
	struct rooms_box box;
	int moved;

	box_make(&box, &config_);
	for (i = 0; i < 3; i++) {
		fill_good(&box.r, 1000 * i, ROOM_WAITING);
		for (k = 0; k < waits[i]; k++)
			rooms_tick(&box.r);
		rooms_use(&box.r, rooms_find(&box.r, 1000 * i));
	}
	CHECK_EQ(box.r.used, 3);
	moved = (int)box.r.waiting_target - 8;
	box_free(&box);
	return moved;
}

static void test_intervals(void)
{
	CHECK_EQ(moved_by_intervals(1, 2, 3), 1);
	CHECK_EQ(moved_by_intervals(9, 5, 2), -1);
	CHECK_EQ(moved_by_intervals(1, 3, 2), 0);
	CHECK_EQ(moved_by_intervals(3, 1, 2), 0);
	CHECK_EQ(moved_by_intervals(2, 2, 2), 0);
	CHECK_EQ(moved_by_intervals(1, 2, 2), 0);
	CHECK_EQ(moved_by_intervals(2, 2, 1), 0);
}

/* Waiting blocks that one reference asks for are one interval, however long each has waited. */
static void test_interval_of_a_run(void)
{
	struct rooms_config c = config(POLICY_LRU, 32, 1);
	struct rooms_box b;
	u32 i;

	box_make(&b, &c);
	for (i = 0; i < 3; i++) {
		fill_good(&b.r, 1000 * i, ROOM_WAITING);
		rooms_tick(&b.r);
	}
	while (i--)
		rooms_use(&b.r, rooms_find(&b.r, 1000 * i));
	CHECK_EQ(b.r.used, 3);
	CHECK_EQ(b.r.waiting_target, 8);
	box_free(&b);
}

/* The first block has nothing before it; blocks asked for at once are one reference. */
static void test_runs(void)
{
	struct rooms_config c = config(POLICY_LRU, 32, 1);
	struct rooms_box b;

	box_make(&b, &c);
	rooms_fault(&b.r, 0, 1);
	CHECK_EQ(b.r.waiting_target, 8);
	fill_good(&b.r, 9, ROOM_WEIGHING);
	fill_good(&b.r, 14, ROOM_WAITING);
	rooms_fault(&b.r, 10, 4);
	CHECK_EQ(b.r.waiting_target, 7);
	box_free(&b);
}

/* What is pinned or being filled does not leave, whatever the policy. */
static void test_pinned_stay(void)
{
	enum policy_kind policy;
	u32 e[8], i, k;

	for (policy = 0; policy < POLICY_KINDS; policy++) {
		struct rooms_config c = config(policy, 8, 1);
		struct rooms_box b;

		box_make(&b, &c);
		for (i = 0; i < 8; i++) {
			e[i] = rooms_fill(&b.r, i, i & 1 ? ROOM_WAITING : ROOM_WEIGHING);
			CHECK(e[i] != ENTRY_NONE);
		}
		CHECK_EQ(rooms_fill(&b.r, 50, ROOM_WEIGHING), ENTRY_NONE);
		for (i = 0; i < 8; i++) {
			rooms_pin(&b.r, e[i]);
			CHECK(rooms_filled(&b.r, e[i], true));
		}
		for (k = 0; k < 2; k++)
			CHECK_EQ(rooms_fill(&b.r, 50, k ? ROOM_WAITING : ROOM_WEIGHING), ENTRY_NONE);
		CHECK_EQ(rooms_reclaim(&b.r), ENTRY_NONE);
		CHECK(rooms_unpin(&b.r, e[2]));
		fill_good(&b.r, 50, ROOM_WEIGHING);
		CHECK_EQ(rooms_where(&b.r, 2), ROOM_DISK);
		must_hold(&b.r);
		box_free(&b);
	}
}

/* All of the weighing room is on its way: the oldest waiting block gives way to the next, however few wait. */
static void test_waiting_gives_way(void)
{
	struct rooms_config c = config(POLICY_LRU, 8, 1);
	struct rooms_box b;
	u32 i;

	box_make(&b, &c);
	b.r.waiting_target = 7;
	for (i = 0; i < 4; i++) {
		fill_good(&b.r, i, ROOM_WAITING);
		CHECK(rooms_fill(&b.r, 100 + i, ROOM_WEIGHING) != ENTRY_NONE);
	}
	fill_good(&b.r, 50, ROOM_WAITING);
	CHECK_EQ(rooms_where(&b.r, 0), ROOM_DISK);
	CHECK_EQ(rooms_where(&b.r, 50), ROOM_WAITING);
	must_hold(&b.r);
	box_free(&b);
}

/* So it does for a block that is asked for, though the weighing room is over its size. */
static void test_waiting_gives_way_to_weighing(void)
{
	struct rooms_config c = config(POLICY_LRU, 8, 1);
	struct rooms_box b;
	u32 i;

	box_make(&b, &c);
	fill_good(&b.r, 0, ROOM_WAITING);
	for (i = 0; i < 8; i++)
		CHECK(rooms_fill(&b.r, 100 + i, ROOM_WEIGHING) != ENTRY_NONE);
	CHECK_EQ(rooms_where(&b.r, 0), ROOM_DISK);
	must_hold(&b.r);
	box_free(&b);
}

/*
 * What was prefetched in vain leaves when three times as many blocks as there is room for have come, but for a sixteenth
 * of the room: of more than that, the oldest.
 */
static void test_bounded_age(void)
{
	struct rooms_config c = config(POLICY_LRU, 64, 1);
	struct rooms_box b;
	u32 i;

	c.bounded = true;
	box_make(&b, &c);
	for (i = 0; i < 16; i++)
		fill_good(&b.r, i, ROOM_WAITING);
	for (i = 0; i < 3 * 64 - 14; i++)
		fill_good(&b.r, 1000 + i, ROOM_WEIGHING);
	CHECK_EQ(b.r.held[ROOM_WAITING], 16);
	for (i = 0; i < 11; i++)
		fill_good(&b.r, 2000 + i, ROOM_WEIGHING);
	CHECK_EQ(b.r.held[ROOM_WAITING], 5);
	for (i = 0; i < 4 * 64; i++)
		fill_good(&b.r, 3000 + i, ROOM_WEIGHING);
	CHECK_EQ(b.r.held[ROOM_WAITING], 4);
	CHECK_EQ(rooms_where(&b.r, 11), ROOM_DISK);
	CHECK_EQ(rooms_where(&b.r, 12), ROOM_WAITING);
	CHECK_EQ(b.r.wasted, 12);
	fill_good(&b.r, 4000, ROOM_WAITING);
	CHECK_EQ(rooms_where(&b.r, 12), ROOM_WAITING);
	fill_good(&b.r, 4001, ROOM_WAITING);
	CHECK_EQ(rooms_where(&b.r, 12), ROOM_DISK);
	CHECK_EQ(b.r.wasted, 13);
	must_hold(&b.r);
	box_free(&b);
}

/* In a cache so large that 2^32 blocks are fewer than its ages: a waiting block is no older since so many have come. */
static void test_bounded_age_of_many(void)
{
	struct rooms_config c = config(POLICY_LRU, 64, 1);
	struct rooms_box b;
	u32 i;

	c.bounded = true;
	box_make(&b, &c);
	b.r.waits.shift = 17;
	b.r.waits.came = (1ull << 32) - 68;
	for (i = 0; i < 48; i++)
		fill_good(&b.r, i, ROOM_WEIGHING);
	for (i = 0; i < 16; i++)
		fill_good(&b.r, 100 + i, ROOM_WAITING);
	b.r.limit = 1u << 25;
	b.r.in_use = b.r.limit;
	b.r.waiting_target = b.r.limit / 2;
	for (i = 0; i < 8; i++)
		fill_good(&b.r, 200 + i, ROOM_WAITING);
	CHECK_EQ(b.r.held[ROOM_WAITING], 24);
	CHECK_EQ(b.r.wasted, 0);
	box_free(&b);
}

/* What shall stay is among the last to leave; what waits, is on its way or is not there is left alone. */
static void check_keep(enum policy_kind policy)
{
	struct rooms_config c = config(policy, 64, 1);
	struct rooms_box b;
	struct rooms *r = &b.r;
	u64 block;
	u32 e;

	box_make(&b, &c);
	for (block = 0; block < 47; block++)
		reference(r, block);
	for (; block < 63; block++)
		fill_good(r, block, ROOM_WAITING);
	e = rooms_fill(r, block, ROOM_WEIGHING);
	rooms_keep(r, 0, 8);
	rooms_keep(r, 40, 40);
	must_hold(r);
	CHECK_EQ(r->held[ROOM_WAITING], 16);
	CHECK(rooms_filled(r, e, true));
	for (block = 100; block < 120; block++)
		reference(r, block);
	must_hold(r);
	for (block = 0; block < 8; block++)
		CHECK_EQ(rooms_where(r, block), ROOM_WEIGHING);
	for (; block < 16; block++)
		CHECK_EQ(rooms_where(r, block), ROOM_DISK);
	box_free(&b);
}

static void test_keep(void)
{
	check_keep(POLICY_LRU);
	check_keep(POLICY_S3FIFO);
	check_keep(POLICY_ARC);
}

/* Asked for while it is prefetched: in the weighing room at once, in its list once it is there. */
static void test_use_while_filled(void)
{
	u32 policy, one_room;

	for (policy = 0; policy < POLICY_KINDS; policy++)
		for (one_room = 0; one_room < 2; one_room++) {
			struct rooms_config c = config(policy, 8, 1);
			struct rooms_box b;
			u32 e, i;

			c.one_room = one_room;
			box_make(&b, &c);
			e = rooms_fill(&b.r, 7, ROOM_WAITING);
			CHECK(rooms_readable(&b.r, e));
			for (i = 0; i < 2; i++) {
				rooms_tick(&b.r);
				rooms_use(&b.r, e);
				CHECK_EQ(rooms_where(&b.r, 7), ROOM_WEIGHING);
				must_hold(&b.r);
			}
			CHECK_EQ(b.r.used, 1);
			CHECK(rooms_filled(&b.r, e, true));
			must_hold(&b.r);
			box_free(&b);
		}
}

/* A block dropped while it is read or filled is not found again, and its entry comes back. */
static void test_drop_in_use(void)
{
	struct rooms_config c = config(POLICY_ARC, 8, 1);
	struct rooms_box b;
	u32 e;

	box_make(&b, &c);
	e = rooms_fill(&b.r, 7, ROOM_WEIGHING);
	rooms_drop(&b.r, e);
	CHECK_EQ(rooms_where(&b.r, 7), ROOM_DISK);
	CHECK_EQ(b.r.in_use, 1);
	rooms_pin(&b.r, e);
	CHECK(!rooms_filled(&b.r, e, true));
	CHECK_EQ(b.r.in_use, 1);
	CHECK(!rooms_unpin(&b.r, e));
	CHECK_EQ(b.r.in_use, 0);
	e = rooms_fill(&b.r, 7, ROOM_WAITING);
	CHECK(!rooms_filled(&b.r, e, false));
	CHECK_EQ(b.r.in_use, 0);
	CHECK_EQ(b.r.wasted, 1);
	e = rooms_fill(&b.r, 8, ROOM_WEIGHING);
	CHECK(rooms_filled(&b.r, e, true));
	rooms_pin(&b.r, e);
	rooms_pin(&b.r, e);
	rooms_drop(&b.r, e);
	CHECK(!rooms_unpin(&b.r, e));
	CHECK_EQ(b.r.in_use, 1);
	CHECK(!rooms_unpin(&b.r, e));
	CHECK_EQ(b.r.in_use, 0);
	e = rooms_fill(&b.r, 9, ROOM_WEIGHING);
	rooms_pin(&b.r, e);
	rooms_drop(&b.r, e);
	CHECK(!rooms_unpin(&b.r, e));
	CHECK_EQ(b.r.in_use, 1);
	CHECK(!rooms_filled(&b.r, e, true));
	CHECK_EQ(b.r.in_use, 0);
	must_hold(&b.r);
	box_free(&b);
}

/* There was no memory for it: as if it had never been asked for. */
static void test_unfill(void)
{
	u32 policy, room;

	for (policy = 0; policy < POLICY_KINDS; policy++)
		for (room = ROOM_WEIGHING; room <= ROOM_WAITING; room++) {
			struct rooms_config c = config(policy, 8, 1);
			struct rooms_box b;

			box_make(&b, &c);
			fill_good(&b.r, 1, ROOM_WAITING);
			rooms_unfill(&b.r, rooms_fill(&b.r, 7, room));
			CHECK_EQ(rooms_where(&b.r, 7), ROOM_DISK);
			CHECK_EQ(b.r.in_use, 1);
			CHECK_EQ(b.r.wasted, 0);
			CHECK_EQ(b.r.held[room], room == ROOM_WAITING);
			must_hold(&b.r);
			fill_good(&b.r, 7, room);
			box_free(&b);
		}
}

/* A read uses what it finds up to a gap, and asks the origin up to the last gap; a stale block is one. */
static void test_hits_and_gaps(void)
{
	struct rooms_config c = config(POLICY_LRU, 16, 1);
	struct rooms_box b;
	u32 entries[8], e;
	struct hits hits;

	box_make(&b, &c);
	hits = rooms_use_hits(&b.r, 10, 8, false, entries);
	CHECK_EQ(hits.n, 0);
	CHECK_EQ(hits.room, ROOM_DISK);
	CHECK_EQ(rooms_missing(&b.r, 10, 8), 8);
	fill_good(&b.r, 10, ROOM_WEIGHING);
	fill_good(&b.r, 11, ROOM_WAITING);
	fill_good(&b.r, 12, ROOM_WAITING);
	fill_good(&b.r, 14, ROOM_WAITING);
	hits = rooms_use_hits(&b.r, 11, 1, false, entries);
	CHECK_EQ(hits.n, 1);
	CHECK_EQ(hits.waiting, 1);
	CHECK_EQ(hits.room, ROOM_WAITING);
	CHECK_EQ(entries[0], rooms_find(&b.r, 11));
	hits = rooms_use_hits(&b.r, 10, 8, false, entries);
	CHECK_EQ(hits.n, 3);
	CHECK_EQ(hits.waiting, 1);
	CHECK_EQ(hits.room, ROOM_WEIGHING);
	CHECK_EQ(entries[2], rooms_find(&b.r, 12));
	CHECK_EQ(b.r.used, 2);
	CHECK_EQ(b.r.index.found, 6);
	CHECK_EQ(rooms_missing(&b.r, 13, 2), 1);
	e = rooms_find(&b.r, 14);
	b.r.arena.entries[e].flags |= ENTRY_STALE;
	CHECK_EQ(rooms_missing(&b.r, 13, 2), 2);
	hits = rooms_use_hits(&b.r, 14, 1, false, entries);
	CHECK_EQ(hits.n, 0);
	CHECK_EQ(hits.waiting, 0);
	CHECK_EQ(hits.room, ROOM_WAITING);
	box_free(&b);
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_nine_cases),
		UNIT_CASE(test_intervals),
		UNIT_CASE(test_interval_of_a_run),
		UNIT_CASE(test_runs),
		UNIT_CASE(test_lru),
		UNIT_CASE(test_s3fifo),
		UNIT_CASE(test_arc),
		UNIT_CASE(test_one_room),
		UNIT_CASE(test_one_room_is_swept),
		UNIT_CASE(test_bounded_age),
		UNIT_CASE(test_bounded_age_of_many),
		UNIT_CASE(test_pinned_stay),
		UNIT_CASE(test_waiting_gives_way),
		UNIT_CASE(test_waiting_gives_way_to_weighing),
		UNIT_CASE(test_keep),
		UNIT_CASE(test_use_while_filled),
		UNIT_CASE(test_drop_in_use),
		UNIT_CASE(test_unfill),
		UNIT_CASE(test_hits_and_gaps),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
