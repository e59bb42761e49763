// SPDX-License-Identifier: GPL-2.0-only
/* Reads that pass over a slot: what is written there, what if they fail, or frames run out; joins and shares. */
#include "mswap_scenes.h"
#include "read_op.h"

#define TRIES		16
/* The run of a granule has lost this one. */
#define LOST		8u
#define FIRST		(4 * GRANULE_SLOTS)
#define ELSEWHERE	(8 * GRANULE_SLOTS)

/* @n granules from FIRST on, so many slots @apart, and one slot more, are all that there is. */
static void leave_slots(u32 n, u32 apart)
{
	struct space *s = &rig.engine->space;
	u32 i;

	scene_take_all(s);
	for (i = 0; i < n; i++)
		space_free(s, FIRST + i * apart, GRANULE_SLOTS);
	space_free(s, ELSEWHERE, 1);
	rig.taken = s->nr_slots - n * GRANULE_SLOTS - 1;
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
	SIM_CHECK(scene_phys(LOST) == ELSEWHERE);
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
	leave_slots(1, 0);
	for (i = 0; i < TRIES; i++)
		passed += write_as_it_is_passed();
	SIM_CHECK(passed && scene_stat(MSWAP_DEV_PAGES_PASSED) >= TRIES);
}

/* What of it is wanted is read once more by itself: if that is freed, it still is being read. */
void retried_read_is_of_all_that_is_wanted(void)
{
	struct pagein_shard *sh = pagein_shard(&rig.engine->pagein, FIRST);
	const u32 want = LOST + 1, n = 4 * LOST;
	struct io_group g;
	u32 i, read = 0;

	rig.engine->knobs.readahead = MSWAP_READAHEAD_ON;
	leave_slots(1, 0);
	lay_run();
	scene_spoil(FIRST + LOST, DISK_BAD_READ);
	rig.disk.bdev.synchronous = false;
	rig.disk.slow = 1u << 20;
	io_group_begin(&g);
	io_read(&g, want, n, REQ_SYNC);
	while (!scene_stat(MSWAP_READ_ERRORS) || scene_stat(MSWAP_DEV_READS) < 2)
		sim_sleep(1);
	spin_lock_irq(&sh->lock);
	for (i = 0; i < n; i++)
		read += pagein_find_read(sh, FIRST + want + i) != NULL;
	spin_unlock_irq(&sh->lock);
	SIM_CHECK(!g.under_way || read == n);
	io_group_end(&g);
	SIM_CHECK(scene_stat(MSWAP_DEV_PAGES_PASSED) == 1);
}

static u32 same_shard(u32 g)
{
	u32 other = g + 1;

	while (granule_shard(other) != granule_shard(g))
		other++;
	return other;
}

/*
 * A room that gets smaller as its frames are being read into has more of them than it is to
 * have when they wait: to give them up brings fewer than there were.
 */
void frames_run_out_as_a_room_shrinks(void)
{
	u32 g = granule_of(FIRST), apart = (same_shard(g) - g) * GRANULE_SLOTS;
	struct engine *e = rig.engine;
	struct io_group group;

	e->knobs.readahead = MSWAP_READAHEAD_ON;
	leave_slots(2, apart);
	scene_write(GRANULE_SLOTS, GRANULE_SLOTS);
	lay_run();
	SIM_CHECK(!engine_set_waiting_pages(e, PAGEIN_SHARDS * GRANULE_SLOTS));
	rig.disk.bdev.synchronous = false;
	rig.disk.slow = 1u << 20;
	io_group_begin(&group);
	io_read(&group, GRANULE_SLOTS, 1, REQ_SYNC);
	SIM_CHECK(!engine_set_waiting_pages(e, MSWAP_WAITING_PAGES_MIN));
	io_group_end(&group);
	rig.trimmed = true;
	scene_read(0);
}

/* More ask for a page on its way than may join: it is read once more for the others. */
void joins_are_bounded(void)
{
	struct io_group g;
	u32 i;

	rig.engine->knobs.readahead = MSWAP_READAHEAD_ON;
	scene_write(0, GRANULE_SLOTS);
	rig.disk.bdev.synchronous = false;
	rig.disk.slow = 1u << 30;
	io_group_begin(&g);
	io_read(&g, 0, 1, REQ_SYNC);
	for (i = 0; i < 2 * READ_OP_JOINED_MAX; i++)
		io_read(&g, 1, 1, REQ_SYNC);
	io_group_end(&g);
	SIM_CHECK(scene_stat(MSWAP_DEV_PAGES_READ) <= 2 * GRANULE_SLOTS + READ_OP_JOINED_MAX);
}

/* Who asks for two pages, and a newer copy of the second is held, gets that one, not what a read brings. */
void copied_page_is_not_joined(void)
{
	struct engine *e = rig.engine;
	struct io_group g;

	e->knobs.readahead = MSWAP_READAHEAD_ON;
	e->knobs.batch_usecs = MSWAP_BATCH_USECS_MAX;
	scene_write(0, GRANULE_SLOTS);
	rig.disk.bdev.synchronous = false;
	rig.disk.slow = 1u << 20;
	io_group_begin(&g);
	io_read(&g, 0, 1, REQ_SYNC);
	lent_store(LOST);
	SIM_CHECK(g.under_way && store_nr_held(&e->store) == 1);
	io_read(&g, LOST - 1, 2, REQ_SYNC);
	io_group_end(&g);
}

static void no_shard_is_held_whole(void)
{
	const struct pagein_shard *sh = rig.engine->pagein.shards;
	u32 i;

	for (i = 0; i < PAGEIN_SHARDS; i++)
		SIM_CHECK(READ_ONCE(sh[i].held) <= sh[i].room.nr_frames * 2 / 3);
}

/*
 * Who asks for more than there are frames, and has to wait, leaves some to who comes later,
 * wherever he comes to.
 */
void frames_are_shared(void)
{
	const u32 later = SCENE_SLOTS - PAGEIN_SHARDS * GRANULE_SLOTS;
	struct io_group g;
	u64 ahead;
	u32 i, n;

	rig.engine->knobs.readahead = MSWAP_READAHEAD_ON;
	rig.front.knows_cgroup = true;
	for (i = 0; i < SCENE_SLOTS; i += GRANULE_SLOTS)
		scene_write(i, GRANULE_SLOTS);
	rig.disk.bdev.synchronous = false;
	rig.disk.slow = 1u << 30;
	io_group_begin(&g);
	for (i = 0; i < later; i += GRANULE_SLOTS) {
		io_read(&g, i, 1, REQ_SYNC);
		no_shard_is_held_whole();
	}
	ahead = scene_stat(MSWAP_PREFETCHED);
	SIM_CHECK(ahead > MSWAP_WAITING_PAGES_DEFAULT / 2);
	current->blkcg = &sim_blkcg_third;
	for (n = 0; i < SCENE_SLOTS; i += GRANULE_SLOTS, n++) {
		ahead = scene_stat(MSWAP_PREFETCHED);
		io_read(&g, i, 1, REQ_SYNC);
		ahead = scene_stat(MSWAP_PREFETCHED) - ahead;
		/* Two windows he has in any case; then two thirds of the third that is left. */
		if (n < 2)
			SIM_CHECK(ahead == GRANULE_SLOTS - 1);
		else
			SIM_CHECK(ahead > GRANULE_SLOTS * 3 / 4);
	}
	current->blkcg = NULL;
	io_group_end(&g);
}
