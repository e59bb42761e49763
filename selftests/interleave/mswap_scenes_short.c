// SPDX-License-Identifier: GPL-2.0-only
/* What runs short: memory, copies, slots. */
#include "mswap_scenes.h"

/* --- memory --- */

void room_stays_as_it_was(void)
{
	u32 had = pagein_waiting_frames(&rig.engine->pagein), now, i;
	int err = 0;

	sim.refused_waiting = 4;
	for (i = 0; i < 20 && !err; i++) {
		engine_set_waiting_pages(rig.engine, had);
		err = engine_set_waiting_pages(rig.engine, 2 * had);
	}
	sim.refused_waiting = 0;
	now = pagein_waiting_frames(&rig.engine->pagein);
	if (now != (err ? had : 2 * had))
		sim_fail("with error %d the room has %u frames and had %u", err, now, had);
}

/* What is in pieces is copied for its write, and there are copies for few. */
void writes_need_no_memory(void)
{
	const u32 each = 16, n = 20;
	struct blk_plug plug;
	struct io_group g;
	u32 i;

	sim.refused = 1024;
	io_group_begin(&g);
	blk_start_plug(&plug);
	for (i = 0; i < n; i++)
		io_write(&g, i * each, each, 0);
	blk_finish_plug(&plug);
	io_group_end(&g);
	sim.refused = 0;
	read_slots(0, n * each);
}

/*
 * A worker holds a batch that has all pages there are to copy to, and no room for a larger bio,
 * which wants such pages as well.
 */
void large_bio_needs_no_memory(void)
{
	const u32 small = 16, large = PIECES_PAGES_MAX, n = 12;
	struct io_group g;
	u32 i, turn;

	rig.engine->knobs.cluster_pages = small + large - 1;
	rig.disk.bdev.synchronous = false;
	rig.disk.slow = 1u << 12;
	for (turn = 0; turn < 64; turn++) {
		sim.refused = 1024;
		io_group_begin(&g);
		for (i = 0; i < n; i++)
			io_write(&g, i * large, i & 1 ? large : small, 0);
		io_group_end(&g);
		sim.refused = 0;
	}
	read_slots(0, n * large);
}

/* --- copies --- */

#define TAKERS		3
#define TAKES_MAX	3

static void take_and_give(void *arg)
{
	struct store *st = &rig.engine->store;
	struct stored_page *s[TAKES_MAX];
	u32 *left = arg, i, n;

	for (i = 0; i < 400; i++) {
		for (n = 0; n <= i % TAKES_MAX; n++) {
			s[n] = store_get(st);
			SIM_CHECK(s[n] && !s[n]->failed);
			/* Whose it is. */
			s[n]->failed = true;
			sim_switch();
		}
		while (n--) {
			s[n]->failed = false;
			store_put(st, s[n]);
		}
	}
	--*left;
	wake_up(&rig.gate);
}

/* Several take copies and give them back at the same time: none is two's. */
void copies_have_one_taker(void)
{
	u32 left = TAKERS, i;

	for (i = 0; i < TAKERS; i++)
		sim_spawn("a taker", take_and_give, &left);
	wait_event(rig.gate, !left);
}

/* --- slots --- */

void scene_take_all(struct space *s)
{
	u32 got;

	while (space_alloc(s, SLOT_RUN_MAX, SPACE_APART, SLOT_NONE, &got) != SLOT_NONE)
		;
}

void scene_leave_slots(u32 first, u32 n)
{
	struct space *s = &rig.engine->space;

	scene_take_all(s);
	space_free(s, first, n);
	rig.taken = s->nr_slots - n;
	atomic_set(&s->retired, rig.taken);
}

/* Frontswap's stores leave the last slots for retries, beside those that the held copies will go to. */
void stores_leave_a_reserve(void)
{
	const u32 taken = 5, refused = 3;
	u32 i;

	rig.engine->knobs.batch_usecs = MSWAP_BATCH_USECS_MAX;
	scene_leave_slots(0, ENGINE_RESERVE_MIN - 1 + taken);
	for (i = 0; i < taken + refused; i++)
		lent_store(i);
	check_at_rest();
	SIM_CHECK(scene_stat(MSWAP_STORES_REFUSED) == refused);
	SIM_CHECK(space_nr_free(&rig.engine->space) == ENGINE_RESERVE_MIN - 1);
}
