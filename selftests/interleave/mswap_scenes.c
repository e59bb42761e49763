// SPDX-License-Identifier: GPL-2.0-only
/* A few steps of one who has the device for himself, and what each must bring about. */
#include "mswap_scenes.h"
#include "read_op.h"

/* A granule, and the one behind it. */
#define BOTH		(2 * GRANULE_SLOTS)

static void start(void)
{
	rig_start_alone(SCENE_SLOTS, MSWAP_WAITING_PAGES_DEFAULT, SCENE_PHYS);
	rig.disk.bdev.queue.max_sectors = 2560;
	rig.disk.bdev.queue.max_segments = 256;
}

u64 scene_stat(enum mswap_stat what)
{
	return mswap_stat_sum(rig.engine->stats, what);
}

u32 scene_phys(u32 slot)
{
	return slot_map_get(&rig.engine->map, slot);
}

void scene_write(u32 slot, u32 n)
{
	struct io_group g;

	io_group_begin(&g);
	io_write(&g, slot, n, REQ_SYNC);
	io_group_end(&g);
}

void scene_read(u32 slot)
{
	read_slots(slot, slot + 1);
}

static void evict(u32 slot, u32 n, blk_opf_t opf, u16 ioprio)
{
	struct blk_plug plug;
	struct io_group g;
	u32 i;

	io_group_begin(&g);
	g.ioprio = ioprio;
	blk_start_plug(&plug);
	for (i = slot; i < slot + n; i++)
		io_swap_out(&g, i, 1, opf);
	blk_finish_plug(&plug);
	io_group_end(&g);
}

void scene_swap_out(u32 slot, u32 n)
{
	evict(slot, n, 0, 0);
}

void scene_spoil(u32 phys, u8 flag)
{
	rig.disk.bad[(u64)(phys + BACKING_FIRST_EDGE) * PAGE_SECTORS] = flag;
}

/* --- company --- */

static void plugs_share_a_write(void)
{
	rig.engine->knobs.batch_usecs = MSWAP_BATCH_USECS_MAX;
	scene_swap_out(0, 8);
	scene_swap_out(8, 8);
	check_at_rest();
	if (scene_stat(MSWAP_BATCHES) != 1)
		sim_fail("two plugs' pages went in %llu batches", scene_stat(MSWAP_BATCHES));
}

#define WAIT_NS		(MSWAP_BATCH_USECS_MAX * 1000ull)

/* As if a read were under way. */
static void copies_wait_for_a_busy_device(void)
{
	struct flight *flight = rig.engine->batching.flight;
	u32 i;

	rig.engine->knobs.batch_usecs = MSWAP_BATCH_USECS_MAX;
	flight_begin(flight);
	scene_swap_out(0, 8);
	sim_sleep(3 * WAIT_NS);
	scene_swap_out(8, 8);
	flight_end(flight);
	check_at_rest();
	if (scene_stat(MSWAP_BATCHES) != 1)
		sim_fail("copies did not wait for a device that was busy");
	flight_begin(flight);
	scene_swap_out(16, 8);
	for (i = 0; i < 100 && scene_stat(MSWAP_BATCHES) == 1; i++)
		sim_sleep(WAIT_NS);
	flight_end(flight);
	if (i == 100)
		sim_fail("copies wait for ever for a device that is busy");
}

/* Each plug comes within the time that began with the one before, and the device is idle. */
static void slow_plugs_share_a_write(void)
{
	u32 i;

	rig.engine->knobs.batch_usecs = MSWAP_BATCH_USECS_MAX;
	for (i = 0; i < 4; i++) {
		scene_swap_out(i * 4, 4);
		sim_sleep(WAIT_NS * 3 / 4);
	}
	if (scene_stat(MSWAP_BATCHES))
		sim_fail("copies went while others came");
	check_at_rest();
	if (scene_stat(MSWAP_BATCHES) != 1)
		sim_fail("four slow plugs went in %llu batches", scene_stat(MSWAP_BATCHES));
}

struct evictor {
	u32 slot;
	blk_opf_t opf;
	u16 ioprio;
	u64 took;	/* ns, 0 while it is about it */
};

static void run_evictor(void *arg)
{
	struct evictor *e = arg;
	u64 begun = sim_now();

	evict(e->slot, 8, e->opf, e->ioprio);
	e->took = sim_now() - begun;
	wake_up(&rig.gate);
}

/* At the same time. */
static void run_evictors(struct evictor *a, struct evictor *b)
{
	a->took = 0;
	b->took = 0;
	sim_spawn("an evictor", run_evictor, a);
	sim_spawn("an evictor", run_evictor, b);
	wait_event(rig.gate, a->took && b->took);
}

static void take_all_copies(struct store_chain *taken)
{
	struct stored_page *s;

	while ((s = store_get(&rig.engine->store)))
		store_chain_add(taken, s);
}

/* Without a copy left bios wait for others, for less time, and take along what waits as copies. */
static void bios_share_a_write(void)
{
	struct evictor a = { .slot = 8 }, b = { .slot = 16 };
	struct evictor sync = { .slot = 24, .opf = REQ_SYNC };
	struct store_chain taken = { NULL };
	u64 batches;

	rig.engine->knobs.batch_usecs = MSWAP_BATCH_USECS_MAX;
	rig.disk.slow = 1;
	scene_swap_out(0, 8);
	take_all_copies(&taken);
	run_evictors(&a, &b);
	batches = scene_stat(MSWAP_BATCHES);
	take_all_copies(&taken);
	run_evictor(&sync);
	store_put_chain(&rig.engine->store, &taken);
	if (batches != 1)
		sim_fail("two plugs' bios went in %llu batches", batches);
	if (max(a.took, b.took) > WAIT_NS / 4)
		sim_fail("bios waited %llu and %llu ns", a.took, b.took);
	if (sync.took > WAIT_NS / 16)
		sim_fail("who waits for his bios waited %llu ns", sync.took);
}

static void run_writer_without_plug(void *arg)
{
	struct evictor *e = arg;
	u64 begun = sim_now();
	struct io_group g;
	u32 i;

	io_group_begin(&g);
	for (i = e->slot; i < e->slot + 8; i++)
		io_swap_out(&g, i, 1, 0);
	io_group_end(&g);
	e->took = sim_now() - begun;
	wake_up(&rig.gate);
}

/* Who writes without a plug waits for a copy, so that his pages go together; not for ever. */
static void writers_wait_for_copies(void)
{
	struct evictor a = { .slot = 0 }, b = { .slot = 8 };
	struct store_chain taken = { NULL };
	u64 pages, batches;

	rig.engine->knobs.batch_usecs = MSWAP_BATCH_USECS_MAX;
	take_all_copies(&taken);
	sim_spawn("a writer", run_writer_without_plug, &a);
	sim_sleep(WAIT_NS);
	pages = scene_stat(MSWAP_DEV_PAGES_WRITTEN);
	store_put_chain(&rig.engine->store, &taken);
	wait_event(rig.gate, a.took);
	check_at_rest();
	batches = scene_stat(MSWAP_BATCHES);
	taken = (struct store_chain) { NULL };
	take_all_copies(&taken);
	run_writer_without_plug(&b);
	store_put_chain(&rig.engine->store, &taken);
	if (pages || batches != 1)
		sim_fail("of a writer without a plug %llu pages went without a copy, and all in %llu batches",
			 pages, batches);
	if (a.took > A_SECOND / 2)
		sim_fail("a writer without a plug waited %llu ns for copies that came", a.took);
	if (b.took < A_SECOND / 2 || b.took > 2 * A_SECOND)
		sim_fail("a writer without a plug waited %llu ns for copies that did not come", b.took);
}

/* Nor is who is in it beside one of the idle class to wait as long as he. */
static void bios_have_their_priority(void)
{
	u16 idle = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0), ioprio[2];
	struct evictor a = { .slot = 0, .ioprio = idle };
	struct evictor b = { .slot = 8, .ioprio = idle };
	struct store_chain taken = { NULL };
	u32 i;

	rig.engine->knobs.batch_usecs = MSWAP_BATCH_USECS_MAX;
	rig.front.knows_cgroup = true;
	rig.disk.bdev.knows_cgroup = true;
	take_all_copies(&taken);
	for (i = 0; i < 2; i++) {
		run_evictors(&a, &b);
		ioprio[i] = rig.disk.ioprio;
		b.ioprio = 0;
	}
	store_put_chain(&rig.engine->store, &taken);
	SIM_CHECK(ioprio[0] == idle && !ioprio[1]);
}

static void full_plug_goes(void)
{
	u32 i, pages, least = rig.engine->knobs.cluster_pages;
	struct blk_plug plug;

	blk_start_plug(&plug);
	for (i = 0; i < 3 * least; i++)
		lent_store(i);
	pages = scene_stat(MSWAP_DEV_PAGES_WRITTEN);
	blk_finish_plug(&plug);
	if (pages < 2 * least)
		sim_fail("of %u pages in a plug only %u have gone", i, pages);
}

struct other_plug {
	struct blk_plug_cb cb;
	bool *was_first;
};

static void unplug_other(struct blk_plug_cb *cb, bool from_schedule)
{
	struct other_plug *plug = container_of(cb, struct other_plug, cb);

	*plug->was_first = !scene_stat(MSWAP_DEV_PAGES_WRITTEN);
	kfree(plug);
}

/* What is sent at the end of a plug may wait for what others have there. */
static void others_are_unplugged_first(void)
{
	bool was_first = false;
	struct blk_plug_cb *cb;
	struct blk_plug plug;
	struct io_group g;

	io_group_begin(&g);
	blk_start_plug(&plug);
	cb = blk_check_plugged(unplug_other, &g, sizeof(struct other_plug));
	SIM_CHECK(cb);
	container_of(cb, struct other_plug, cb)->was_first = &was_first;
	io_write(&g, 0, 8, REQ_SYNC);
	blk_finish_plug(&plug);
	io_group_end(&g);
	SIM_CHECK(was_first);
}

/* --- as nothing is left --- */

static void give_all_up(u32 n)
{
	struct io_group g;

	io_group_begin(&g);
	io_clear(&g, 0, n, REQ_OP_DISCARD);
	io_group_end(&g);
	if (engine_resize(rig.engine, SCENE_SLOTS / 2))
		sim_fail("what was freed while it was under way is in the way of another size");
	rig.slots = SCENE_SLOTS / 2;
}

static void freed_as_it_is_written(void)
{
	u32 i;

	rig.disk.slow = 1u << 30;
	scene_swap_out(0, 8);
	for (i = 0; i < 100 && !rig.disk.under_way; i++)
		sim_sleep(A_SECOND / 10000);
	give_all_up(8);
}

/* The second one begins to be read ahead. */
static void freed_as_it_is_read(void)
{
	rig.engine->knobs.readahead = MSWAP_READAHEAD_ON;
	scene_write(0, GRANULE_SLOTS);
	scene_write(GRANULE_SLOTS, GRANULE_SLOTS);
	rig.disk.slow = 1u << 30;
	scene_read(0);
	scene_read(GRANULE_SLOTS / 2);
	give_all_up(BOTH);
}

/* --- where --- */

#define SHARDS		4
#define SHARD_SLOTS	16384

/* Frees @n slots in shard @shard, no two side by side, but for one run of @run. */
static void scatter(struct space *s, u32 shard, u32 n, u32 run)
{
	u32 i, base = shard * SHARD_SLOTS;

	for (i = 0; i < n; i++)
		space_free(s, base + 2 * i, 1);
	if (run)
		space_free(s, base + 4 * GRANULE_SLOTS, run);
}

static u32 shard_of(struct space *s, u32 want, enum space_place place, u32 behind)
{
	u32 got, slot = space_alloc(s, want, place, behind, &got);

	SIM_CHECK(slot != SLOT_NONE);
	space_free(s, slot, got);
	return slot / SHARD_SLOTS;
}

static void pieces_are_of_the_roomiest(void)
{
	struct space s;
	u32 i;

	SIM_CHECK(!space_init(&s, SHARDS * SHARD_SLOTS, false) && s.nr_shards == SHARDS);
	scene_take_all(&s);
	scatter(&s, 0, 100, 0);
	scatter(&s, 1, 90, 0);
	scatter(&s, 2, 110, 0);
	SIM_CHECK(shard_of(&s, 4, SPACE_PIECE, 10) == 0);
	scatter(&s, 3, 120, 0);
	SIM_CHECK(shard_of(&s, 4, SPACE_PIECE, 10) == 3);
	space_free(&s, 2 * SHARD_SLOTS + 4 * GRANULE_SLOTS, 20);
	SIM_CHECK(shard_of(&s, 4, SPACE_PIECE, 10) == 2);
	SIM_CHECK(shard_of(&s, 4, SPACE_BEHIND, 10) == 2);
	space_free(&s, SHARD_SLOTS + 4 * GRANULE_SLOTS, 20 + 1);
	SIM_CHECK(shard_of(&s, 21, SPACE_APART, SLOT_NONE) == 1);
	/* No long run where most are free. */
	for (i = 0; i < 100; i++)
		space_free(&s, 3 * SHARD_SLOTS + 8 * GRANULE_SLOTS + 2 * i, 1);
	SIM_CHECK(shard_of(&s, 8, SPACE_PIECE, 10) == 3);
	SIM_CHECK(shard_of(&s, 40, SPACE_APART, SLOT_NONE) != 3);
	space_exit(&s);
}

/* Of a space that is no whole number of granules for each shard, the last one has the rest, too. */
static void last_slots_have_a_shard(void)
{
	const u32 rest = SHARDS * GRANULE_SLOTS - 1, nr = SHARDS * SHARD_SLOTS + rest;
	struct space s;
	u32 i;

	SIM_CHECK(!space_init(&s, nr, false) && s.nr_shards == SHARDS);
	scene_take_all(&s);
	SIM_CHECK(!space_nr_free(&s));
	for (i = 1; i <= rest; i++)
		space_free(&s, nr - i, 1);
	SIM_CHECK(space_nr_free(&s) == rest);
	space_exit(&s);
}

static void last_granule_has_nothing_behind(void)
{
	u32 i;

	rig.engine->knobs.readahead = MSWAP_READAHEAD_ON;
	scene_leave_slots(SCENE_PHYS - GRANULE_SLOTS, GRANULE_SLOTS);
	scene_write(0, GRANULE_SLOTS);
	for (i = 0; i < GRANULE_SLOTS; i++)
		scene_read(i);
}

/* --- shreds --- */

#define PIECES		16
#define PIECES_APART	4

/* Only single slots of two granules are free, and @slot and those behind it go to one of them. */
static void write_pieces(u32 slot)
{
	u32 i;

	scene_write(slot, PIECES);
	for (i = 1; i < PIECES; i++)
		SIM_CHECK(granule_of(scene_phys(slot + i)) == granule_of(scene_phys(slot)));
}

/* Reads all, and tells by how many reads. */
static u32 read_pieces(u32 slot)
{
	u64 before = rig.disk.counts.reads;
	u32 i;

	for (i = 0; i < PIECES; i++)
		scene_read(slot + i);
	return rig.disk.counts.reads - before;
}

static void pieces_are_read_at_once(void)
{
	struct space *s = &rig.engine->space;
	u32 i, left = 2 * PIECES;

	rig.engine->knobs.readahead = MSWAP_READAHEAD_ON;
	scene_take_all(s);
	for (i = 0; i < left; i++)
		space_free(s, 4 * GRANULE_SLOTS + i * PIECES_APART, 1);
	rig.taken = s->nr_slots - left;
	atomic_set(&s->retired, rig.taken);
	write_pieces(0);
	write_pieces(PIECES);
	SIM_CHECK(read_pieces(0) == 1 && scene_stat(MSWAP_DEV_PAGES_PASSED));

	/* What nobody wants cannot be read. */
	scene_spoil(scene_phys(PIECES) + 1, DISK_BAD_READ);
	scene_read(PIECES);
	SIM_CHECK(rig.engine->pagein.whole_left == PAGEIN_WHOLE_READS);
	SIM_CHECK(read_pieces(0) == PIECES);
	SIM_CHECK(rig.engine->pagein.whole_left == PAGEIN_WHOLE_READS - PIECES);
	rig.engine->pagein.whole_left = 0;
	SIM_CHECK(read_pieces(0) == 1);
}

/* --- runs and strangers --- */

#define RUN_OF_WRITES	(8u * GRANULE_SLOTS)

/* None waits for the one before, and they end in any order. */
static void writes_continue_runs(void)
{
	u32 i, piece = 20 + sim_below(20);
	struct io_group g;

	rig.disk.slow = 3000;
	rig.disk.depth = RUN_OF_WRITES;
	io_group_begin(&g);
	for (i = 0; i < RUN_OF_WRITES; i += piece)
		io_write(&g, i, min(piece, RUN_OF_WRITES - i), REQ_SYNC);
	io_group_end(&g);
	for (i = 1; i < RUN_OF_WRITES; i++) {
		SIM_CHECK(scene_phys(i) == scene_phys(i - 1) + 1);
		if (!(rig.engine->map.cont[granule_of(scene_phys(i))] & granule_bit(scene_phys(i))))
			sim_fail("slot %u does not continue the run, which is written by %u",
				 i, piece);
	}
}

#define STRANGERS	512
/* In virtual memory; more than CLUSTER_GAP_MAX. */
#define APART		(SCENE_SLOTS / GRANULE_SLOTS)

static u32 stranger(u32 i)
{
	return i % GRANULE_SLOTS * APART + i / GRANULE_SLOTS;
}

static u32 read_strangers(void)
{
	u64 before = rig.disk.counts.reads;
	u32 i;

	for (i = 0; i < STRANGERS; i++)
		scene_read(stranger(i));
	return rig.disk.counts.reads - before;
}

static void strangers_come_along(void)
{
	u32 i, reads;

	for (i = 0; i < STRANGERS; i++)
		scene_write(stranger(i), 1);
	for (i = 0; i < 3; i++)
		reads = read_strangers();
	if (reads > STRANGERS / 8)
		sim_fail("%u neighbours that are no run took %u reads", STRANGERS, reads);
}

/* What a reader who goes on is read leaves a window that is shut its next try. */
static void going_on_is_no_try(void)
{
	struct pagein_shard *sh;

	scene_write(0, 16);
	sh = pagein_shard(&rig.engine->pagein, scene_phys(0));
	sh->run_tuner.size = 1;
	sh->strangers_tuner.size = 1;
	scene_read(0);
	SIM_CHECK(sh->run_tuner.misses == 1);
	scene_read(1);
	SIM_CHECK(rig.disk.counts.reads == 2 && sh->run_tuner.misses == 1);
}

static void wishes_reach_the_disk(void)
{
	const blk_opf_t wishes = REQ_SYNC | REQ_META | REQ_PRIO;
	struct io_group g;

	io_group_begin(&g);
	io_write(&g, 0, 1, wishes);
	io_group_end(&g);
	SIM_CHECK((rig.disk.opf & wishes) == wishes);
	io_group_begin(&g);
	io_read(&g, 0, 1, wishes);
	io_group_end(&g);
	SIM_CHECK((rig.disk.opf & wishes) == wishes);
}

static void (*const scenes[])(void) = {
	plugs_share_a_write, folios_share_a_write, small_wait_beside_large, plugs_fill_a_write,
	copies_wait_for_a_busy_device, slow_plugs_share_a_write, bios_share_a_write,
	bios_wait_for_less, copies_go_when_no_more_come, copies_go_in_the_end,
	writers_wait_for_copies, bios_without_plug_go, who_waits_is_not_copied,
	bios_have_their_priority, full_plug_goes, others_are_unplugged_first, writes_continue_runs,
	strangers_come_along, going_on_is_no_try, wishes_reach_the_disk, who_leads_is_waited_for,
	copies_are_left_of_a_plug, freed_as_it_is_written, freed_as_it_is_read,
	room_stays_as_it_was, writes_need_no_memory, large_bio_needs_no_memory,
	stores_leave_a_reserve, copies_have_one_taker, pieces_are_of_the_roomiest,
	last_slots_have_a_shard, last_granule_has_nothing_behind, pieces_are_read_at_once,
	passed_slot_is_not_joined, retried_read_is_of_all_that_is_wanted,
	frames_run_out_as_a_room_shrinks, joins_are_bounded, copied_page_is_not_joined,
	frames_are_shared, sectors_of_large_devices,
};

void scenes_run(void)
{
	u32 n = sim.seed / SCENES_ONCE_IN % (ARRAY_SIZE(scenes) + nr_scenes_failed);
	void (*run)(void) = n < ARRAY_SIZE(scenes) ? scenes[n] :
			    scenes_failed[n - ARRAY_SIZE(scenes)];

	/* Which run goes on with which each CPU knows for itself. */
	sim.cpus = run == pieces_are_of_the_roomiest || run == last_slots_have_a_shard ? SHARDS : 1;
	/* Nobody is too late for what others do within some ms. */
	sim.stall = 0;
	sim.tick = 1;
	start();
	run();
	check_at_rest();
	run_count(EVENT_SCENES, 1);
}
