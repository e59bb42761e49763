// SPDX-License-Identifier: GPL-2.0-only
/* The hash index against chains kept as plain arrays: order, and every search counted. */
#include <stdlib.h>

#include "unit.h"
#include "ghost.h"

#define ENTRIES		64
#define OPERATIONS	1000000

struct model {
	u64 chain[ENTRIES][ENTRIES];
	u32 length[ENTRIES];
	u64 lookups, searches, found;
	bool move_to_front;
};

static struct entry entries[ENTRIES];
static u32 heads[ENTRIES];

static int model_at(const struct model *m, u32 chain, u64 block)
{
	u32 i;

	for (i = 0; i < m->length[chain]; i++)
		if (m->chain[chain][i] == block)
			return (int)i;
	return -1;
}

static void model_remove(struct model *m, u32 chain, u32 at)
{
	m->length[chain]--;
	memmove(&m->chain[chain][at], &m->chain[chain][at + 1],
		(m->length[chain] - at) * sizeof(u64));
}

static void model_insert(struct model *m, u32 chain, u64 block, bool front)
{
	u32 at = front ? 0 : m->length[chain];

	memmove(&m->chain[chain][at + 1], &m->chain[chain][at],
		(m->length[chain] - at) * sizeof(u64));
	m->chain[chain][at] = block;
	m->length[chain]++;
}

static bool model_find(struct model *m, u32 chain, u64 block)
{
	int at = model_at(m, chain, block);

	m->lookups++;
	if (at < 0)
		return false;
	m->found++;
	m->searches += (u32)at + 1;
	if (m->move_to_front) {
		model_remove(m, chain, (u32)at);
		model_insert(m, chain, block, true);
	}
	return true;
}

static void one_operation(struct index *x, struct model *m)
{
	u64 block = unit_below(2 * ENTRIES);
	u32 chain = index_hash(block, x->shift);
	int at = model_at(m, chain, block);
	u32 e = index_peek(x, block);

	CHECK_EQ(e != ENTRY_NONE, at >= 0);
	if (unit_below(4)) {
		e = index_find(x, block);
		CHECK_EQ(e != ENTRY_NONE, model_find(m, chain, block));
		if (e != ENTRY_NONE)
			CHECK_EQ(entries[e].block, block);
	} else if (at >= 0) {
		index_del(x, e);
		entries[e].room = 0;
		model_remove(m, chain, (u32)at);
	} else {
		for (e = 0; e < ENTRIES && entries[e].room; e++)
			;
		if (e == ENTRIES)
			return;
		entries[e].block = block;
		entries[e].room = 1;
		index_add(x, e);
		model_insert(m, chain, block, m->move_to_front);
	}
	CHECK_EQ(x->lookups, m->lookups);
	CHECK_EQ(x->searches, m->searches);
	CHECK_EQ(x->found, m->found);
}

static void against_model(bool move_to_front, u32 nr_heads)
{
	struct arena arena = { entries, ENTRIES };
	static struct model m;
	struct index x;
	u32 i;

	memset(&m, 0, sizeof(m));
	memset(entries, 0, sizeof(entries));
	memset(&x, 0x55, sizeof(x));
	m.move_to_front = move_to_front;
	index_init(&x, &arena, heads, nr_heads, move_to_front);
	for (i = 0; i < OPERATIONS; i++)
		one_operation(&x, &m);
}

static void test_plain(void)
{
	against_model(false, 2);
	against_model(false, 16);
}

static void test_move_to_front(void)
{
	against_model(true, 2);
	against_model(true, 16);
}

/* What the move is for: the same block again costs one search, on the longest chain. */
static void test_again_costs_one(void)
{
	struct arena arena = { entries, ENTRIES };
	struct index x;
	u64 before;
	u32 e;

	memset(entries, 0, sizeof(entries));
	index_init(&x, &arena, heads, 2, true);
	for (e = 0; e < ENTRIES; e++) {
		entries[e].block = e;
		index_add(&x, e);
	}
	for (e = 0; e < ENTRIES; e++) {
		CHECK_EQ(index_find(&x, e), e);
		before = x.searches;
		CHECK_EQ(index_find(&x, e), e);
		CHECK_EQ(x.searches - before, 1);
	}
}

static void test_heads(void)
{
	CHECK_EQ(index_heads(1), 2);
	CHECK_EQ(index_heads(4), 4);
	CHECK_EQ(index_heads(7), 4);
	CHECK_EQ(index_heads(8), 8);
	CHECK_EQ(index_heads(1u << 28), 1u << 28);
}

/* A ghost forgets the oldest, GHOST_TRIM_MOST at once. */
static void test_ghost_trim(void)
{
	void *mem = malloc(ghost_size(200));
	struct ghost g;
	u32 i;

	ghost_init(&g, mem, 200);
	for (i = 0; i < 201; i++)
		ghost_add(&g, i);
	CHECK_EQ(g.fifo.count, 200);
	ghost_trim(&g, 0);
	CHECK_EQ(g.fifo.count, 200 - GHOST_TRIM_MOST);
	ghost_trim(&g, 200 - GHOST_TRIM_MOST);
	CHECK(!ghost_take(&g, GHOST_TRIM_MOST));
	CHECK(ghost_take(&g, GHOST_TRIM_MOST + 1));
	free(mem);
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_plain),
		UNIT_CASE(test_move_to_front),
		UNIT_CASE(test_again_costs_one),
		UNIT_CASE(test_heads),
		UNIT_CASE(test_ghost_trim),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
