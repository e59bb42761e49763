/* SPDX-License-Identifier: GPL-2.0-only */
/* For tests of what dm-w2r does with whole traces: the simulator, and that what it counts adds up. */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "unit.h"
#include "replay.h"

static struct replay replay;

static void check_sums(void)
{
	const struct replay_counts *c = &replay.counts;
	u32 weighing = replay.rooms.held[ROOM_WEIGHING], waiting = replay.rooms.held[ROOM_WAITING];

	CHECK_EQ(c->read_blocks, c->hits_weighing + c->hits_waiting + c->misses + c->bypassed);
	CHECK_EQ(c->prefetched, c->used + c->wasted + waiting);
	CHECK(weighing + waiting <= replay.config.entries);
	CHECK(c->waited <= c->hits_weighing + c->hits_waiting);
}

/* A millisecond later @n blocks of 4 KiB are read, or written or dropped. */
static inline void add_op(struct trace *t, u64 block, u32 n, enum trace_what what)
{
	struct trace_op op = { .ns = t->ns + 1000000, .sector = 8 * block, .sectors = 8 * n, .what = what };

	trace_add(t, &op);
}

static inline void add_read(struct trace *t, u64 block, u32 n)
{
	add_op(t, block, n, TRACE_READ);
}

/* @t through @name, a scheme, in @kib, on an origin of @latency ns; what is prefetched is there after @late references. */
static inline struct replay_counts run_on(const struct trace *t, const char *name, u32 kib, u32 late, u32 latency)
{
	struct replay_config config = {
		.sectors = t->sectors, .delay = late, .latency_ns = latency, .cost_ns = 1000,
	};
	struct replay_counts counts;

	CHECK(!scheme_parse(&config.table, name));
	config.entries = kib / config.table.block_kib;
	replay_init(&replay, &config);
	replay_trace(&replay, t);
	counts = replay.counts;
	check_sums();
	replay_end(&replay);
	return counts;
}

/* The same on one of 5 ms. */
static inline struct replay_counts run_late(const struct trace *t, const char *name, u32 kib, u32 late)
{
	return run_on(t, name, kib, late, 5000000);
}

static inline struct replay_counts run(const struct trace *t, const char *name, u32 kib)
{
	return run_late(t, name, kib, 0);
}

#endif
