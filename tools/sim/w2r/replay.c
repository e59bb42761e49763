// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>

#include "replay.h"

/* As in cache.h and fetch.c of the module. */
#define SERVE_MAX	64
#define IO_SECTORS	2048
#define TICK_NS		1000000000ull
#define TICKS_MOST	256	/* of a pause; then the toggle has said all it has to say */

static void *checked(void *mem)
{
	if (!mem) {
		fprintf(stderr, "no memory for the cache\n");
		exit(2);
	}
	return mem;
}

void replay_init(struct replay *r, const struct replay_config *c)
{
	const struct table *t = &c->table;
	struct rooms_config config = {
		.entries = c->entries,
		.step = table_split_step(t, c->entries),
		.policy = t->policy,
		.move_to_front = t->move_to_front,
		.one_room = t->one_room,
		.bounded = table_bounded(t),
	};

	memset(r, 0, sizeof(*r));
	r->config = *c;
	r->block_shift = pure_fls64(2ull * t->block_kib);
	r->nr_blocks = c->sectors >> r->block_shift;
	r->mem = checked(malloc(rooms_size(&config)));
	rooms_init(&r->rooms, r->mem, &config);
	r->filling = checked(malloc(c->entries * sizeof(*r->filling)));
	r->flights = checked(malloc(c->entries * sizeof(*r->flights)));
	planner_init(&r->planner, t->planner);
	toggle_init(&r->toggle);
	toggle_latency(&r->toggle, c->latency_ns);
	toggle_cost(&r->toggle, c->cost_ns);
	r->lookahead_on = t->readahead != READAHEAD_OFF;
	r->next_tick = TICK_NS;
}

void replay_end(struct replay *r)
{
	free(r->mem);
	free(r->filling);
	free(r->flights);
}

/* --- blocks come --- */

static void take_for_read(struct replay *r, u64 block)
{
	u32 e = rooms_fill(&r->rooms, block, ROOM_WEIGHING);

	if (e != ENTRY_NONE)
		r->filling[r->nr_filling++] = e;
}

static bool take_ahead(struct replay *r, u64 block)
{
	u32 e = rooms_fill(&r->rooms, block, ROOM_WAITING), at;

	if (e == ENTRY_NONE)
		return false;
	at = (r->first_flight + r->prefetching++) % r->config.entries;
	r->flights[at] = (struct flight){ r->clock + r->config.delay, e };
	return true;
}

/* The operation is over: what it read is there, and what was prefetched long enough ago. */
static void arrive(struct replay *r)
{
	const struct flight *f;
	u32 i;

	for (i = 0; i < r->nr_filling; i++)
		rooms_filled(&r->rooms, r->filling[i], true);
	r->nr_filling = 0;
	while (r->prefetching) {
		f = &r->flights[r->first_flight];
		if (f->due > r->clock)
			break;
		rooms_filled(&r->rooms, f->e, true);
		r->first_flight = (r->first_flight + 1) % r->config.entries;
		r->prefetching--;
	}
}

static u32 take_run(struct replay *r, u64 first, u32 n)
{
	u32 got;

	for (got = 0; got < n; got++)
		if (!take_ahead(r, first + got))
			break;
	r->counts.prefetched += got;
	return got;
}

/* The I/Os that carry out a plan: what the last one holds, and the block after it; and what all have taken. */
struct ahead {
	u32 blocks;
	u32 most;
	u32 taken;
	u64 end;
};

/* Adds blocks to the last I/O, past a small hole perhaps. */
static u32 go_on(struct replay *r, struct ahead *a, u64 first, u32 n)
{
	u32 hole, got;

	if (!a->blocks || first - a->end > plan_hole(r->block_shift))
		return 0;
	hole = (u32)(first - a->end);
	if (a->most - a->blocks <= hole)
		return 0;
	a->taken += hole;
	got = take_run(r, first, pure_min(n, a->most - a->blocks - hole));
	a->blocks += hole + got;
	return got;
}

static u32 fetch(struct replay *r, struct ahead *a, u64 first, u32 n)
{
	u32 got = go_on(r, a, first, n);

	if (!got) {
		got = take_run(r, first, pure_min(n, a->most));
		a->blocks = got;
		r->counts.origin_prefetches += got > 0;
	}
	a->end = first + got;
	a->taken += got;
	return got;
}

static bool wanted(const void *ctx, u64 block)
{
	const struct replay *r = ctx;

	return block < r->nr_blocks && rooms_where(&r->rooms, block) == ROOM_DISK;
}

static void fetch_run(struct replay *r, struct ahead *a, struct run rest, u32 most)
{
	u32 n, got, left;
	u64 first;

	while ((left = plan_left(most, r->prefetching, plan_most(r->block_shift), a->taken))) {
		n = plan_cut(&rest, left, wanted, r, &first);
		got = n ? fetch(r, a, first, n) : 0;
		if (!got)
			break;
		rest.first -= n - got;
		rest.n += n - got;
	}
}

static enum room where(const void *ctx, u64 block)
{
	return rooms_where(ctx, block);
}

static void look_ahead(struct replay *r, const struct reference *ref)
{
	struct plan plan = { .n = 0 };
	struct ahead a = { 0 };
	u32 most, i;

	if (!r->lookahead_on)
		return;
	planner_reference(&r->planner, ref, where, &r->rooms, &plan);
	if (plan.waiting)
		rooms_grow_waiting(&r->rooms, plan.waiting);
	for (i = 0; i < plan.n; i++)
		if (plan.keep[i])
			rooms_keep(&r->rooms, plan.runs[i].first, plan.runs[i].n);
	a.most = pure_min(IO_SECTORS >> r->block_shift, plan_blocks(&plan));
	most = plan_limit(r->rooms.waiting_target, r->block_shift);
	for (i = 0; i < plan.n; i++) {
		fetch_run(r, &a, plan.runs[i], most);
		if (plan.keep[i])
			rooms_expect(&r->rooms, plan.runs[i].first, plan.runs[i].n);
	}
}

/* --- reads --- */

/* A piece of an operation that lies in blocks @first on, @n of them. */
struct piece {
	u64 sector;
	u64 first;
	u32 n;
};

/* @inside: the first block is entered behind its begin. */
static struct hits use_hits(struct replay *r, u64 first, u32 n, bool inside)
{
	u32 entries[SERVE_MAX], i;
	struct hits hits;

	hits = rooms_use_hits(&r->rooms, first, n, inside, entries);
	r->counts.hits_waiting += hits.waiting;
	r->counts.hits_weighing += hits.n - hits.waiting;
	for (i = 0; i < hits.n; i++)
		r->counts.waited += r->rooms.arena.entries[entries[i]].flags & ENTRY_FILLING;
	return hits;
}

/* Blocks are fetched as a whole; the device's end, which is none, is read by itself. */
static void fill_missing(struct replay *r, struct piece *p)
{
	u64 block;
	u32 i;

	if (!planner_goes_on(&r->planner, p->first))
		rooms_fault(&r->rooms, p->first, p->n);
	for (i = 0; i < p->n; i++) {
		block = p->first + i;
		if (i && block >= r->nr_blocks)
			break;
		if (use_hits(r, block, 1, false).n)
			continue;
		if (block >= r->nr_blocks) {
			r->counts.bypassed++;
		} else {
			r->counts.misses++;
			take_for_read(r, block);
		}
	}
	p->n = i;
	r->counts.origin_reads++;
}

/* Reads the blocks from the start of @p on that one bio gets; returns their number. */
static u32 read_some(struct replay *r, struct piece *p)
{
	struct reference ref = { .first = p->first };
	u64 waited = r->counts.waited;
	bool inside = p->sector > p->first << r->block_shift;
	u32 asked = p->n;
	struct hits hits;

	plan_bounds(&ref, r->config.table.lookahead, r->rooms.limit, r->rooms.waiting_target, r->prefetching,
		    r->block_shift);
	ref.full = rooms_full(&r->rooms);
	if (!planner_goes_on(&r->planner, p->first))
		rooms_tick(&r->rooms);
	hits = use_hits(r, p->first, pure_min(p->n, SERVE_MAX), inside);
	ref.room = hits.room;
	ref.goes_on = hits.goes_on;
	if (r->config.table.readahead == READAHEAD_AUTO) {
		ref.slow = planner_is_slow(r->toggle.latency);
		ref.around = planner_around(r->toggle.latency, r->block_shift);
		ref.late = r->counts.waited != waited;
	}
	ref.has_room = planner_has_room(r->rooms.held[ROOM_WAITING], r->rooms.limit, ref.slow);
	p->n = hits.n ? hits.n : rooms_missing(&r->rooms, p->first, p->n);
	if (!hits.n)
		fill_missing(r, p);
	r->counts.read_blocks += p->n;
	ref.n = p->n;
	if (planner_gather(&r->planner, &ref, p->n < asked))
		look_ahead(r, &ref);
	arrive(r);
	r->clock++;
	return p->n;
}

/* --- writes --- */

static void drop(struct replay *r, u64 block)
{
	u32 e = index_peek(&r->rooms.index, block);

	if (e != ENTRY_NONE)
		rooms_drop(&r->rooms, e);
}

static bool on_its_way(const struct replay *r, u64 block)
{
	u32 e = index_peek(&r->rooms.index, block);

	return e != ENTRY_NONE && r->rooms.arena.entries[e].flags & ENTRY_FILLING;
}

/* Blocks that are just being read are dropped; the others get the new content. */
static void write_piece(struct replay *r, const struct piece *p)
{
	u64 block;

	r->counts.written_blocks += p->n;
	for (block = p->first; block < p->first + p->n; block++)
		if (on_its_way(r, block))
			drop(r, block);
}

static void discard(struct replay *r, u64 first, u64 n)
{
	const struct entry *entries = r->rooms.arena.entries;
	u64 block;
	u32 e;

	r->counts.written_blocks += n;
	if (n <= r->config.entries) {
		for (block = first; block < first + n; block++)
			drop(r, block);
		return;
	}
	for (e = 0; e < r->config.entries; e++)
		if (entries[e].room != ROOM_DISK && entries[e].block - first < n)
			rooms_drop(&r->rooms, e);
}

/* --- operations --- */

static void tick(struct replay *r)
{
	u32 used = (u32)r->counts.used, wasted = (u32)r->counts.wasted;

	toggle_fates(&r->toggle, used - r->toggle_used, wasted - r->toggle_wasted);
	r->toggle_used = used;
	r->toggle_wasted = wasted;
	r->lookahead_on = toggle_decide(&r->toggle);
}

static void ticks(struct replay *r, u64 now)
{
	u32 n = 0;

	if (r->config.table.readahead != READAHEAD_AUTO)
		return;
	for (; r->next_tick <= now && n < TICKS_MOST; n++) {
		tick(r);
		r->next_tick += TICK_NS;
	}
	if (r->next_tick <= now)
		r->next_tick = now + TICK_NS;
}

static void sync_counts(struct replay *r)
{
	r->counts.used = r->rooms.used;
	r->counts.wasted = r->rooms.wasted;
}

/* The device-mapper cuts reads and writes where a multiple of IO_SECTORS begins. */
static void pieces(struct replay *r, const struct trace_op *op)
{
	u64 at = op->sector, end = op->sector + op->sectors, io = IO_SECTORS;
	struct piece p;
	u64 last;

	while (at < end) {
		last = (at / io + 1) * io < end ? (at / io + 1) * io : end;
		p.sector = at;
		p.first = at >> r->block_shift;
		p.n = (u32)(((last - 1) >> r->block_shift) - p.first + 1);
		if (op->what == TRACE_READ) {
			at = (p.first + read_some(r, &p)) << r->block_shift;
			if (at > last)
				at = last;
		} else {
			write_piece(r, &p);
			at = last;
		}
	}
}

void replay_op(struct replay *r, const struct trace_op *op)
{
	u64 first = op->sector >> r->block_shift;
	u64 last = (op->sector + op->sectors - 1) >> r->block_shift;

	ticks(r, op->ns);
	if (op->what == TRACE_DISCARD)
		discard(r, first, last - first + 1);
	else
		pieces(r, op);
	sync_counts(r);
}

void replay_trace(struct replay *r, const struct trace *t)
{
	size_t i;

	for (i = 0; i < t->nr; i++)
		replay_op(r, &t->ops[i]);
}
