// SPDX-License-Identifier: GPL-2.0-only
/* Fuzz target: whatever is filled, used, pinned and dropped in whatever order, the rooms stay whole. */
#include "rooms_check.h"

#define ENTRIES_MOST	24
#define PINS_MOST	8

struct state {
	struct rooms_box box;
	u32 filling[ENTRIES_MOST], pinned[PINS_MOST];
	u32 nr_filling, nr_pinned;
};

static void expect(bool ok)
{
	if (!ok)
		__builtin_trap();
}

static void fill(struct state *s, u64 block, enum room room)
{
	u32 e;

	if (rooms_where(&s->box.r, block) != ROOM_DISK)
		return;
	e = rooms_fill(&s->box.r, block, room);
	if (e != ENTRY_NONE)
		s->filling[s->nr_filling++] = e;
}

static void unfill(struct state *s, u64 block)
{
	u32 before = s->nr_filling;

	fill(s, block, block & 1 ? ROOM_WAITING : ROOM_WEIGHING);
	if (s->nr_filling > before)
		rooms_unfill(&s->box.r, s->filling[--s->nr_filling]);
}

static void filled(struct state *s, u32 which, bool good)
{
	if (!s->nr_filling)
		return;
	which %= s->nr_filling;
	rooms_filled(&s->box.r, s->filling[which], good);
	s->filling[which] = s->filling[--s->nr_filling];
}

static void pin(struct state *s, u64 block)
{
	u32 e = rooms_find(&s->box.r, block);

	if (e == ENTRY_NONE || s->nr_pinned == PINS_MOST ||
	    s->box.r.arena.entries[e].flags & ENTRY_FILLING)
		return;
	rooms_pin(&s->box.r, e);
	s->pinned[s->nr_pinned++] = e;
}

static void unpin(struct state *s, u32 which)
{
	if (!s->nr_pinned)
		return;
	which %= s->nr_pinned;
	rooms_unpin(&s->box.r, s->pinned[which]);
	s->pinned[which] = s->pinned[--s->nr_pinned];
}

static void operate(struct state *s, u8 what, u8 block)
{
	struct rooms *r = &s->box.r;
	u32 e = rooms_find(r, block);

	rooms_tick(r);
	switch (what & 15) {
	case 0: case 1: case 2:
		rooms_fault(r, block, 1 + (what >> 4));
		fill(s, block, ROOM_WEIGHING);
		break;
	case 3: case 4:
		fill(s, block, ROOM_WAITING);
		if (what >> 7)
			rooms_expect(r, block, 2);
		break;
	case 5: case 6: case 7: case 8:
		filled(s, block, what >> 4);
		break;
	case 9:
		pin(s, block);
		break;
	case 10:
		unpin(s, block);
		break;
	case 11:
		if (e != ENTRY_NONE)
			rooms_drop(r, e);
		break;
	case 12:
		rooms_reclaim(r);
		break;
	case 13:
		rooms_set_limit(r, ROOMS_ENTRIES_MIN + block % (r->arena.nr - ROOMS_ENTRIES_MIN + 1));
		break;
	case 14:
		unfill(s, block);
		break;
	default:
		if (e != ENTRY_NONE)
			rooms_use(r, e);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct rooms_config c = { 0 };
	struct state s = { 0 };
	size_t i;

	if (size < 3)
		return 0;
	c.entries = ROOMS_ENTRIES_MIN + data[0] % (ENTRIES_MOST - ROOMS_ENTRIES_MIN + 1);
	c.step = 1 + data[1] % 4;
	c.policy = (data[1] >> 4) % POLICY_KINDS;
	c.move_to_front = data[2] & 1;
	c.one_room = data[2] & 2;
	c.bounded = data[2] & 4;
	box_make(&s.box, &c);
	for (i = 3; i + 1 < size; i += 2) {
		operate(&s, data[i], data[i + 1] & 63);
		expect(!rooms_wrong(&s.box.r));
	}
	while (s.nr_filling)
		filled(&s, 0, true);
	while (s.nr_pinned)
		unpin(&s, 0);
	while (rooms_reclaim(&s.box.r) != ENTRY_NONE)
		;
	expect(!rooms_wrong(&s.box.r) && !s.box.r.in_use);
	box_free(&s.box);
	return 0;
}
