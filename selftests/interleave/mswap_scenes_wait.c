// SPDX-License-Identifier: GPL-2.0-only
/* How long it is that what is evicted waits for company. */
#include "mswap_scenes.h"

#define BIOS		8
#define WAIT_NS		(MSWAP_BATCH_USECS_MAX * 1000ull)

static void take_copies(struct store_chain *taken)
{
	struct stored_page *s;

	while ((s = store_get(&rig.engine->store)))
		store_chain_add(taken, s);
}

/* Returns how long it takes, ns. @sleeps: in the plug, which the scheduler ends then. */
static u64 evict(u32 slot, bool sleeps)
{
	u64 begun = sim_now(), took;
	struct blk_plug plug;
	struct io_group g;
	u32 i;

	io_group_begin(&g);
	blk_start_plug(&plug);
	for (i = 0; i < BIOS; i++)
		io_swap_out(&g, slot + i, 1, 0);
	if (!sleeps)
		blk_finish_plug(&plug);
	io_group_end(&g);
	took = sim_now() - begun;
	if (sleeps)
		blk_finish_plug(&plug);
	return took;
}

/* On a device that is busy, and, if @behind, when copies have come before, which wait on for it. */
static void evict_without_copies(bool behind, bool sleeps)
{
	struct flight *flight = rig.engine->batching.flight;
	struct store_chain taken = { NULL };
	u64 took;

	flight_begin(flight);
	if (behind)
		scene_swap_out(BIOS, BIOS);
	take_copies(&taken);
	took = evict(0, sleeps);
	flight_end(flight);
	store_put_chain(&rig.engine->store, &taken);
	if (took > WAIT_NS / 4)
		sim_fail("bios waited %llu ns%s%s", took, behind ? " behind copies" : "",
			 sleeps ? ", and their task slept" : "");
	check_at_rest();
}

/* A part of the time: who evicted them sends them or, since he sleeps, a timer has that done. */
void bios_wait_for_less(void)
{
	u32 i;

	rig.engine->knobs.batch_usecs = MSWAP_BATCH_USECS_MAX;
	rig.disk.slow = 1;
	for (i = 0; i < 4; i++)
		evict_without_copies(i & 1, i & 2);
}

static void check_batches(u64 n, const char *when)
{
	if (scene_stat(MSWAP_BATCHES) != n)
		sim_fail("copies have gone in %llu batches %s", scene_stat(MSWAP_BATCHES), when);
}

/* Once the device is idle and a time has passed in which none came. */
void copies_go_when_no_more_come(void)
{
	rig.engine->knobs.batch_usecs = MSWAP_BATCH_USECS_MAX;
	/* Else who evicts may sleep in the midst of his plug, which is two then. */
	rig.front.knows_cgroup = true;
	scene_swap_out(0, 4);
	sim_sleep(WAIT_NS * 3 / 2);
	check_batches(1, "though no others came");
	scene_swap_out(4, 4);
	sim_sleep(WAIT_NS / 2);
	scene_swap_out(8, 4);
	sim_sleep(WAIT_NS);
	check_batches(1, "while others came");
	sim_sleep(WAIT_NS);
	check_batches(2, "though no more came");
}

/* However long the device is busy. */
void copies_go_in_the_end(void)
{
	struct flight *flight = rig.engine->batching.flight;

	rig.engine->knobs.batch_usecs = MSWAP_BATCH_USECS_MAX;
	rig.front.knows_cgroup = true;
	flight_begin(flight);
	scene_swap_out(0, 4);
	sim_sleep(64 * WAIT_NS);
	check_batches(0, "before they had waited for 65 times");
	sim_sleep(2 * WAIT_NS);
	check_batches(1, "after they had waited for 65 times");
	flight_end(flight);
}

/* Who has no plug, and has waited for copies in vain: to wait for company would be to sleep. */
void bios_without_plug_go(void)
{
	struct store_chain taken = { NULL };
	struct io_group g;
	u64 begun, took;
	u32 i;

	rig.engine->knobs.batch_usecs = MSWAP_BATCH_USECS_MAX;
	rig.disk.slow = 1;
	take_copies(&taken);
	rig.engine->store.stuck = true;
	begun = sim_now();
	io_group_begin(&g);
	for (i = 0; i < BIOS; i++)
		io_swap_out(&g, i, 1, 0);
	took = sim_now() - begun;
	io_group_end(&g);
	store_put_chain(&rig.engine->store, &taken);
	if (took > WAIT_NS / 16)
		sim_fail("to send %u bios without a plug took %llu ns", BIOS, took);
}

/* Who waits for his write is told when it is on the device, and what came of it. */
void who_waits_is_not_copied(void)
{
	struct io_group g;

	io_group_begin(&g);
	io_swap_out(&g, 0, 1, REQ_SYNC);
	io_group_end(&g);
	SIM_CHECK(!scene_stat(MSWAP_PAGES_OUT_COPIED) && scene_stat(MSWAP_DEV_PAGES_WRITTEN) == 1);
}

/*
 * Of a plug that does not fit in, what waits takes the first pages, and those of bios are among
 * them: the copies that are left wait as such, and nobody sleeps until they go.
 */
void copies_are_left_of_a_plug(void)
{
	struct store_chain taken = { NULL };
	struct blk_plug plug;
	struct io_group g;
	u64 begun, took;
	u32 i;

	rig.engine->knobs.batch_usecs = MSWAP_BATCH_USECS_MAX;
	rig.engine->knobs.cluster_pages = 2 * BIOS;
	rig.disk.slow = 1;
	rig.front.knows_cgroup = true;
	rig.disk.bdev.knows_cgroup = true;
	scene_swap_out(0, BIOS);
	io_group_begin(&g);
	blk_start_plug(&plug);
	take_copies(&taken);
	for (i = BIOS; i < 3 * BIOS - 1; i++) {
		if (i == 2 * BIOS - 1) {
			store_put_chain(&rig.engine->store, &taken);
			taken = (struct store_chain) { NULL };
		}
		io_swap_out(&g, i, 1, 0);
	}
	take_copies(&taken);
	begun = sim_now();
	blk_finish_plug(&plug);
	took = sim_now() - begun;
	check_batches(1, "as a plug ends");
	store_put_chain(&rig.engine->store, &taken);
	io_group_end(&g);
	if (took > WAIT_NS / 16)
		sim_fail("to end a plug, of which copies are left, took %llu ns", took);
	sim_sleep(2 * WAIT_NS);
	check_batches(2, "though no more came");
}

struct leader {
	struct io_group g;
	bool sent;
};

static void run_leader(void *arg)
{
	struct leader *leader = arg;
	struct blk_plug plug;
	u32 i;

	blk_start_plug(&plug);
	for (i = 0; i < BIOS; i++)
		io_swap_out(&leader->g, i, 1, 0);
	leader->sent = true;
	wake_up(&rig.gate);
	blk_finish_plug(&plug);
}

/* He sleeps for company, others send his bios with theirs, and the device stops before he wakes. */
void who_leads_is_waited_for(void)
{
	const struct gather *gather = &rig.engine->batching.gather;
	struct store_chain taken = { NULL };
	struct leader leader = { .sent = false };

	rig.engine->knobs.batch_usecs = MSWAP_BATCH_USECS_MAX;
	rig.engine->knobs.cluster_pages = 2 * BIOS;
	rig.disk.slow = 1;
	rig.front.knows_cgroup = true;
	rig.disk.bdev.knows_cgroup = true;
	take_copies(&taken);
	io_group_begin(&leader.g);
	sim_spawn("a leader", run_leader, &leader);
	wait_event(rig.gate, leader.sent);
	while (!READ_ONCE(gather->batch))
		sim_sleep(1000);
	evict(BIOS, false);
	io_group_end(&leader.g);
	store_put_chain(&rig.engine->store, &taken);
	SIM_CHECK(scene_stat(MSWAP_DEV_WRITES) == 1);
}
