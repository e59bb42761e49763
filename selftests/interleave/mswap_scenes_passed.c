// SPDX-License-Identifier: GPL-2.0-only
/* What is written to a slot while a read passes over it. */
#include "mswap_scenes.h"
#include "read_op.h"

#define TRIES		16
/* In the midst of a run. */
#define LOST		(GRANULE_SLOTS / 2)
#define FIRST		(4 * GRANULE_SLOTS)
#define ELSEWHERE	(8 * GRANULE_SLOTS)

/* A granule, and one slot more, are all that there is. */
static void leave_slots(void)
{
	struct space *s = &rig.engine->space;
	u32 got;

	while (space_alloc(s, SLOT_RUN_MAX, SPACE_APART, SLOT_NONE, &got) != SLOT_NONE)
		;
	space_free(s, FIRST, GRANULE_SLOTS);
	space_free(s, ELSEWHERE, 1);
	rig.taken = s->nr_slots - GRANULE_SLOTS - 1;
	atomic_set(&s->retired, rig.taken);
}

/* A run that has lost one. */
static void lay_run(void)
{
	struct io_group g;

	io_group_begin(&g);
	io_clear(&g, 0, GRANULE_SLOTS, REQ_OP_DISCARD);
	io_group_end(&g);
	scene_write(0, GRANULE_SLOTS);
	scene_write(LOST, 1);
	SIM_CHECK(scene_phys(0) == FIRST && scene_phys(LOST) == ELSEWHERE);
}

/*
 * The page is written anew to the slot that its run has lost, which a read under way passes
 * over, and has read perhaps: who asks for it then, with the one before, is not to get that.
 */
static bool write_as_it_is_passed(void)
{
	struct io_group g;
	bool passed;

	lay_run();
	/* Else it is learnt that to pass over a slot takes longer than a read. */
	pace_init(&pagein_shard(&rig.engine->pagein, FIRST)->pace);
	io_group_begin(&g);
	rig.disk.slow = 1u << 20;
	io_read(&g, 0, 1, REQ_SYNC);
	sim_sleep((u64)sim.tick * sim_size(rig.disk.slow));
	rig.disk.slow = 1;
	scene_write(LOST, 1);
	SIM_CHECK(scene_phys(LOST) == FIRST + LOST);
	passed = g.under_way;
	io_read(&g, LOST - 1, 2, REQ_SYNC);
	io_group_end(&g);
	return passed;
}

void passed_slot_is_not_joined(void)
{
	u32 i, passed = 0;

	rig.engine->knobs.readahead = MSWAP_READAHEAD_ON;
	rig.disk.bdev.synchronous = false;
	rig.disk.depth = 4;
	leave_slots();
	for (i = 0; i < TRIES; i++)
		passed += write_as_it_is_passed();
	SIM_CHECK(passed && scene_stat(MSWAP_DEV_PAGES_PASSED) >= TRIES);
}
