// SPDX-License-Identifier: GPL-2.0-only
#include "rooms.h"

#define LEAST_SHARE	16	/* of the limit, for a waiting room that is bounded; */
#define LATE_SHARE	2	/* to this one it grows for blocks asked for on their way, */
#define LATE_LEAST	1024	/* or to so many entries */

static struct entry *entry(struct rooms *r, u32 e)
{
	return &r->arena.entries[e];
}

/* --- the split --- */

int rooms_fault_move(enum room before, enum room after)
{
	static const signed char move[3][3] = {
		/* [before][after]: the paper's nine cases */
		[ROOM_WEIGHING][ROOM_WEIGHING] = 1,
		[ROOM_WEIGHING][ROOM_WAITING] = -1,
		[ROOM_WEIGHING][ROOM_DISK] = 1,
		[ROOM_WAITING][ROOM_WEIGHING] = 0,
		[ROOM_WAITING][ROOM_WAITING] = -1,
		[ROOM_WAITING][ROOM_DISK] = 0,
		[ROOM_DISK][ROOM_WEIGHING] = 0,
		[ROOM_DISK][ROOM_WAITING] = -1,
		[ROOM_DISK][ROOM_DISK] = 0,
	};

	return move[before][after];
}

static u32 least_waiting(const struct rooms *r)
{
	return r->limit / LEAST_SHARE;
}

/* Neither room is ever meant to hold less than one entry. */
static u32 fit_target(const struct rooms *r, u32 target)
{
	if (r->bounded)
		target = pure_max(target, least_waiting(r));
	return pure_max(1, pure_min(target, r->limit - 1));
}

/* It would have been asked for by now. */
static bool in_vain(const struct rooms *r, u32 e)
{
	const struct entry *x = &r->arena.entries[e];

	return waits_in_vain(&r->waits, x->came, x->flags & ENTRY_EXPECTED, r->limit);
}

/* The one to leave the waiting room next. */
static u32 first_out(const struct rooms *r)
{
	u32 e = elist_last_unpinned(&r->arena, &r->waiting);
	u32 x = elist_last_unpinned(&r->arena, &r->expected);
	const struct entry *entries = r->arena.entries;

	if (e == ENTRY_NONE || x == ENTRY_NONE)
		return e == ENTRY_NONE ? x : e;
	if (in_vain(r, e) ||
	    r->clock - entries[e].stamp >= r->clock - entries[x].stamp)
		return e;
	return x;
}

/*
 * Has one waited in vain? As many as the room always has place for stay: a slow reader's
 * may be among them.
 */
static bool is_stale(const struct rooms *r)
{
	u32 e;

	if (!r->bounded || r->held[ROOM_WAITING] <= least_waiting(r))
		return false;
	e = first_out(r);
	return e != ENTRY_NONE && in_vain(r, e);
}

static void set_target(struct rooms *r, u32 target)
{
	r->waiting_target = fit_target(r, target);
	r->split_target = r->waiting_target;
	r->split_limit = r->limit;
}

/* The weighing room's, which also has what the waiting room does not use. */
static u32 capacity(const struct rooms *r)
{
	if (r->one_room)
		return r->limit;
	return pure_max(r->limit - r->waiting_target, r->held[ROOM_WEIGHING]);
}

/* Of fewer entries a smaller one: some moves while memory is short must not turn the split over. */
static u32 split_step(const struct rooms *r)
{
	u64 step = (u64)r->step * r->limit;

	return pure_max(1, (u32)pure_div64(step, r->arena.nr));
}

static void move_split(struct rooms *r, int steps)
{
	u32 target = r->waiting_target, step = split_step(r);

	if (r->one_room)
		return;
	if (steps > 0)
		set_target(r, target + (u32)steps * step);
	else if (steps < 0)
		set_target(r, target - pure_min(target, (u32)-steps * step));
}

void rooms_grow_waiting(struct rooms *r, u32 wanted)
{
	wanted = pure_min(wanted, r->limit / LATE_SHARE);
	if (r->bounded && !r->one_room && wanted > r->waiting_target)
		set_target(r, wanted);
}

/*
 * Of a run the first ones leave the waiting room first: one that is missed while the next
 * one waits may have waited there, too. So it shrinks for what the weighing room has lost.
 */
void rooms_fault(struct rooms *r, u64 first, u32 n)
{
	enum room before = first ? rooms_where(r, first - 1) : ROOM_DISK;
	int steps = rooms_fault_move(before, rooms_where(r, first + n));

	if (r->bounded && steps < 0)
		steps *= (int)waits_lost(&r->waits, first);
	move_split(r, steps);
}

/* +1: each of the kept intervals is longer than the one before; -1: shorter. */
static int trend(const u32 *intervals)
{
	bool up = true, down = true;
	int i;

	for (i = 1; i < ROOMS_INTERVALS; i++) {
		up &= intervals[i] > intervals[i - 1];
		down &= intervals[i] < intervals[i - 1];
	}
	return up - down;
}

/*
 * Where each of several readers has a share of two reads, all blocks wait alike and their
 * intervals tell nothing; but they come late.
 */
static bool grows_for_late(const struct rooms *r)
{
	return r->bounded && r->waiting_target < pure_max(r->limit / LATE_SHARE, LATE_LEAST);
}

/*
 * Blocks of one reference that came together waited alike: one interval. @late: the
 * block is on its way yet.
 */
static void take_interval(struct rooms *r, u32 interval, bool late)
{
	int i;

	if (r->nr_intervals && r->interval_clock == r->clock)
		return;
	r->interval_clock = r->clock;
	for (i = 1; i < ROOMS_INTERVALS; i++)
		r->intervals[i - 1] = r->intervals[i];
	r->intervals[ROOMS_INTERVALS - 1] = interval;
	if (r->nr_intervals < ROOMS_INTERVALS)
		r->nr_intervals++;
	if (late && grows_for_late(r))
		move_split(r, 1);
	else if (r->nr_intervals == ROOMS_INTERVALS)
		move_split(r, trend(r->intervals));
}

/* --- start --- */

size_t rooms_size(const struct rooms_config *c)
{
	return c->entries * sizeof(struct entry) + index_bytes(c->entries) +
	       waits_size(c->entries) + policy_of(c->policy)->size(c->entries);
}

void rooms_init(struct rooms *r, void *mem, const struct rooms_config *c)
{
	char *at = mem;

	memset(r, 0, sizeof(*r));
	r->arena.entries = mem;
	r->arena.nr = c->entries;
	at += c->entries * sizeof(struct entry);
	index_init(&r->index, &r->arena, (u32 *)(void *)at,
		   index_heads(c->entries), c->move_to_front);
	at += index_bytes(c->entries);
	waits_init(&r->waits, at, c->entries);
	at += waits_size(c->entries);
	r->weighing.policy = policy_of(c->policy);
	r->weighing.arena = &r->arena;
	r->weighing.limit = c->entries;
	r->weighing.policy->init(&r->weighing, at, c->entries);
	elist_init(&r->waiting);
	elist_init(&r->expected);
	elist_init(&r->spare);
	elist_add_all(&r->arena, &r->spare);
	r->step = c->step;
	r->one_room = c->one_room;
	r->bounded = c->bounded;
	r->limit = c->entries;
	set_target(r, c->entries / 4);
}

void rooms_set_moves(struct rooms *r, u32 step, bool bounded)
{
	r->step = step;
	r->bounded = bounded;
	r->waiting_target = fit_target(r, r->waiting_target);
}

/* --- entries come and go --- */

enum room rooms_where(const struct rooms *r, u64 block)
{
	u32 e = index_peek(&r->index, block);

	return e == ENTRY_NONE ? ROOM_DISK : r->arena.entries[e].room;
}

/* @e is in no list any more; nobody finds it from now on. */
static void leave(struct rooms *r, u32 e)
{
	struct entry *x = entry(r, e);

	index_del(&r->index, e);
	r->held[x->room]--;
	x->room = ROOM_DISK;
}

static void forget(struct rooms *r, u32 e)
{
	if (entry(r, e)->room == ROOM_WAITING)
		r->wasted++;
	leave(r, e);
}

static bool waits(const struct rooms *r, u32 e)
{
	return r->arena.entries[e].room == ROOM_WAITING && !r->one_room;
}

static struct elist *list_of(struct rooms *r, u32 e)
{
	return entry(r, e)->flags & ENTRY_EXPECTED ? &r->expected : &r->waiting;
}

static void unlist(struct rooms *r, u32 e)
{
	if (entry(r, e)->flags & ENTRY_FILLING)
		return;
	if (waits(r, e))
		elist_del(&r->arena, list_of(r, e), e);
	else
		r->weighing.policy->remove(&r->weighing, e);
}

static void enlist(struct rooms *r, u32 e)
{
	if (waits(r, e))
		elist_add_head(&r->arena, list_of(r, e), e);
	else
		r->weighing.policy->insert(&r->weighing, e);
}

static void make_spare(struct rooms *r, u32 e)
{
	r->in_use--;
	elist_add_head(&r->arena, &r->spare, e);
}

/* What is known of @block, which comes to the weighing room. */
static u8 admit(struct rooms *r, u64 block)
{
	r->weighing.capacity = capacity(r);
	return r->weighing.policy->admit(&r->weighing, block);
}

static u32 evict_waiting(struct rooms *r)
{
	u32 e = first_out(r);
	const struct entry *x;

	if (e == ENTRY_NONE)
		return e;
	x = entry(r, e);
	elist_del(&r->arena, list_of(r, e), e);
	if (r->bounded && !(x->flags & ENTRY_EXPECTED))
		waits_unasked(&r->waits, x->block, x->came);
	forget(r, e);
	return e;
}

static u32 evict_weighing(struct rooms *r, u8 mark)
{
	u32 e;

	r->weighing.capacity = capacity(r);
	e = r->weighing.policy->victim(&r->weighing, mark);
	if (e == ENTRY_NONE)
		return e;
	if (r->bounded)
		waits_left(&r->waits, entry(r, e)->block);
	forget(r, e);
	return e;
}

/* Who gives way to a block that goes @to a room, when all entries are in use. */
static u32 make_place(struct rooms *r, enum room to, u8 mark)
{
	u32 e;

	if (r->one_room)
		return evict_weighing(r, mark);
	if (is_stale(r))
		return evict_waiting(r);
	if (to == ROOM_WAITING) {
		if (r->held[ROOM_WAITING] >= r->waiting_target)
			return evict_waiting(r);
		e = evict_weighing(r, 0);
		return e == ENTRY_NONE ? evict_waiting(r) : e;
	}
	if (r->held[ROOM_WEIGHING] >= r->limit - r->waiting_target) {
		e = evict_weighing(r, mark);
		return e == ENTRY_NONE ? evict_waiting(r) : e;
	}
	e = evict_waiting(r);
	return e == ENTRY_NONE ? evict_weighing(r, mark) : e;
}

u32 rooms_fill(struct rooms *r, u64 block, enum room room)
{
	struct entry *x;
	u8 mark = 0;
	u32 e;

	if (room == ROOM_WEIGHING || r->one_room)
		mark = admit(r, block);
	if (!rooms_full(r)) {
		e = r->spare.head;
		elist_del(&r->arena, &r->spare, e);
		r->in_use++;
	} else {
		e = make_place(r, room, mark);
		if (e == ENTRY_NONE)
			return e;
	}
	if (r->bounded && room == ROOM_WEIGHING)
		waits_missed(&r->waits, block, r->limit);
	x = entry(r, e);
	x->block = block;
	x->room = room;
	x->flags = ENTRY_FILLING;
	x->mark = mark;
	x->stamp = r->clock;
	r->waits.came++;
	x->came = waits_now(&r->waits);
	r->held[room]++;
	index_add(&r->index, e);
	return e;
}

bool rooms_filled(struct rooms *r, u32 e, bool good)
{
	struct entry *x = entry(r, e);

	x->flags &= ~ENTRY_FILLING;
	if (x->flags & ENTRY_DEAD) {
		if (!x->pins)
			make_spare(r, e);
		return false;
	}
	enlist(r, e);
	if (!good)
		rooms_drop(r, e);
	return good;
}

void rooms_unfill(struct rooms *r, u32 e)
{
	entry(r, e)->flags &= ~ENTRY_FILLING;
	leave(r, e);
	make_spare(r, e);
}

void rooms_drop(struct rooms *r, u32 e)
{
	struct entry *x = entry(r, e);

	unlist(r, e);
	forget(r, e);
	if (x->pins || x->flags & ENTRY_FILLING)
		x->flags |= ENTRY_DEAD;
	else
		make_spare(r, e);
}

bool rooms_unpin(struct rooms *r, u32 e)
{
	struct entry *x = entry(r, e);

	x->pins--;
	if (!(x->flags & ENTRY_DEAD))
		return true;
	if (!x->pins && !(x->flags & ENTRY_FILLING))
		make_spare(r, e);
	return false;
}

/*
 * How soon is soon: some readers side by side, each in the middle of a block, must
 * fit in, and a block that is used so often must not grow old.
 */
#define SAME_USE_SHARE	16
#define SAME_USE_MOST	256

static bool same_use(const struct rooms *r, const struct entry *x, bool inside)
{
	u32 soon = pure_min(r->limit / SAME_USE_SHARE, SAME_USE_MOST);

	return inside && r->clock - x->stamp < soon;
}

static void asked_for(struct rooms *r, u32 e)
{
	entry(r, e)->room = ROOM_WEIGHING;
	entry(r, e)->flags &= ~ENTRY_EXPECTED;
	r->held[ROOM_WAITING]--;
	r->held[ROOM_WEIGHING]++;
	r->used++;
}

/*
 * Of what comes back by prefetches no miss tells that it was lost. It would still be here, had
 * the weighing room had half of the place that the waiting room is meant to have.
 */
static void note_loss(struct rooms *r, u64 block)
{
	u32 lost = waits_lost_lately(&r->waits, block, r->waiting_target / 2);

	move_split(r, -(int)lost);
}

/* From the waiting room to the weighing room. */
static void move_over(struct rooms *r, u32 e)
{
	struct entry *x = entry(r, e);

	unlist(r, e);
	x->mark = admit(r, x->block);
	if (r->bounded && !(x->flags & ENTRY_EXPECTED)) {
		note_loss(r, x->block);
		waits_used(&r->waits, x->block, x->came, r->limit);
	}
	asked_for(r, e);
	take_interval(r, r->clock - x->stamp, x->flags & ENTRY_FILLING);
	x->stamp = r->clock;
	if (!(x->flags & ENTRY_FILLING))
		enlist(r, e);
}

static void use(struct rooms *r, u32 e, bool inside)
{
	struct entry *x = entry(r, e);

	if (waits(r, e)) {
		move_over(r, e);
		return;
	}
	if (x->room == ROOM_WAITING)
		asked_for(r, e);
	if (x->flags & ENTRY_FILLING || same_use(r, x, inside))
		return;
	r->weighing.policy->hit(&r->weighing, e);
	x->stamp = r->clock;
}

void rooms_use(struct rooms *r, u32 e)
{
	use(r, e, false);
}

/* Is @e (ENTRY_NONE: no) of @room, and being filled, or not, as @filling says? */
static bool is_in(struct rooms *r, u32 e, enum room room, bool filling)
{
	return e != ENTRY_NONE && entry(r, e)->room == room &&
	       !(entry(r, e)->flags & ENTRY_FILLING) == !filling;
}

void rooms_keep(struct rooms *r, u64 first, u32 n)
{
	u32 i, e;

	for (i = 0; i < n; i++) {
		e = index_peek(&r->index, first + i);
		if (is_in(r, e, ROOM_WEIGHING, false))
			r->weighing.policy->hit(&r->weighing, e);
	}
}

void rooms_expect(struct rooms *r, u64 first, u32 n)
{
	u32 i, e;

	for (i = 0; i < n; i++) {
		e = index_peek(&r->index, first + i);
		if (is_in(r, e, ROOM_WAITING, true))
			entry(r, e)->flags |= ENTRY_EXPECTED;
	}
}

struct hits rooms_use_hits(struct rooms *r, u64 first, u32 n, bool inside,
			   u32 *entries)
{
	struct hits hits = { .room = ROOM_DISK };
	enum room room;
	u32 e;

	for (; hits.n < n; hits.n++) {
		e = rooms_find(r, first + hits.n);
		if (!hits.n && e != ENTRY_NONE)
			hits.room = entry(r, e)->room;
		if (!rooms_readable(r, e))
			break;
		room = entry(r, e)->room;
		hits.waiting += room == ROOM_WAITING;
		if (!hits.n)
			hits.goes_on = n > 1 && room == ROOM_WEIGHING &&
				       same_use(r, entry(r, e), inside);
		else if (hits.n == 1)
			hits.goes_on &= room == ROOM_WAITING;
		use(r, e, inside && !hits.n);
		entries[hits.n] = e;
	}
	return hits;
}

u32 rooms_missing(const struct rooms *r, u64 first, u32 n)
{
	while (n > 1 && rooms_readable(r, index_peek(&r->index, first + n - 1)))
		n--;
	return n;
}

u32 rooms_reclaim(struct rooms *r)
{
	u32 e = ENTRY_NONE;

	if (r->held[ROOM_WAITING] > r->waiting_target || is_stale(r))
		e = evict_waiting(r);
	if (e == ENTRY_NONE)
		e = evict_weighing(r, 0);
	if (e == ENTRY_NONE)
		e = evict_waiting(r);
	if (e == ENTRY_NONE)
		return e;
	r->in_use--;
	elist_add_tail(&r->arena, &r->spare, e);
	return e;
}

void rooms_retire_spare(struct rooms *r, u32 e)
{
	elist_del(&r->arena, &r->spare, e);
	elist_add_tail(&r->arena, &r->spare, e);
}

void rooms_set_limit(struct rooms *r, u32 limit)
{
	u64 share = (u64)r->split_target * limit;

	/* Of what it was a share of first: a limit that goes by ones would round it away. */
	r->limit = limit;
	r->weighing.limit = limit;
	share = pure_div64(share, r->split_limit);
	r->waiting_target = fit_target(r, (u32)share);
}
