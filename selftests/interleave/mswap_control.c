// SPDX-License-Identifier: GPL-2.0-only
/* What happens to an engine in use: knobs, resets, other sizes; and to its disk. */
#include "mswap.h"

/* --- weather --- */

/*
 * All there is must go on by what was kept for it: a shortage ends when enough has, and
 * not by itself.
 */
static void change_memory(void)
{
	if (rig.ended < rig.storm_until)
		return;
	sim.refused = sim_of_1024();
	if (sim.refused == 1024)
		rig.storm_until = rig.ended + sim_size(100);
}

/* Of those that are used, in half of the cases: they are few on a large disk. */
static u32 any_slot(void)
{
	u32 used = slot_map_get(&rig.engine->map, sim_below(rig.slots));

	return used == SLOT_UNMAPPED || sim_once_in(2) ?
	       sim_below(rig.engine->space.nr_slots) : used;
}

static void spoil_sectors(void)
{
	u32 n = sim_size(sim_once_in(4) ? rig.engine->space.nr_slots : 16);
	u64 sector;

	while (n--) {
		sector = (BACKING_FIRST_EDGE + any_slot()) * PAGE_SECTORS +
			 sim_below(PAGE_SECTORS);
		rig.disk.bad[sector] |= sim_once_in(3) ? DISK_BAD_READ : DISK_BAD_WRITE;
	}
}

static void change_weather(void)
{
	struct sim_disk *disk = &rig.disk;

	disk->slow = sim_size(3000);
	if (rig.faults & FAULT_MEMORY)
		change_memory();
	if (rig.faults & FAULT_READS)
		disk->fails_reads = sim_of_1024();
	if (rig.faults & FAULT_WRITES) {
		disk->fails_writes = sim_of_1024();
		disk->fails_flushes = sim_of_1024();
	}
	if (rig.faults & FAULT_SLOTS && sim_once_in(4))
		spoil_sectors();
	if (rig.faults & FAULT_GONE)
		disk->gone = sim_once_in(3);
}

/* One that goes well tells that others may that did not: those that have failed by then. */
void control_heal(void)
{
	struct io_group g;
	u32 waits = 0;

	sim.refused = 0;
	sim.refused_waiting = 0;
	disk_heal(&rig.disk);
	do {
		if (waits++ == 60)
			sim_fail("%u copies are not written, though the disk takes writes",
				 store_nr_held(&rig.engine->store));
		io_group_begin(&g);
		io_write(&g, 0, 1, REQ_SYNC);
		io_group_end(&g);
		sim_sleep(2000000000);
	} while (store_nr_held(&rig.engine->store) && !rig_is_worn());
}

/* --- start and stop --- */

/*
 * Takes all slots but as many as are wanted, which are left in pieces all over the disk:
 * a large disk, with all its shards, is as full then as a small one.
 */
static void take_slots(void)
{
	struct space *s = &rig.engine->space;
	u32 left = rig.slots_max + rig.spare, longest = sim_size(64);
	u32 at = sim_below(s->nr_slots - left + 1) / 4, apart, got, n;

	rig.taken = s->nr_slots - left;
	while (space_alloc(s, SLOT_RUN_MAX, SPACE_APART, SLOT_NONE, &got) != SLOT_NONE)
		;
	for (; left; left -= n) {
		apart = (s->nr_slots - at) / left;
		n = min3(sim_size(longest), left, GRANULE_SLOTS - at % GRANULE_SLOTS);
		space_free(s, at, n);
		at += n + n * sim_below(apart);
	}
	atomic_set(&s->retired, rig.taken);
}

/* With few copies they are soon all in use. */
static void take_copies(void)
{
	struct store *st = &rig.engine->store;

	u32 i;

	rig.copies = (struct store_chain) { NULL };
	rig.nr_copies = sim_once_in(3) ? st->nr_pages - sim_size(40) : 0;
	for (i = 0; i < rig.nr_copies; i++)
		store_chain_add(&rig.copies, store_get(st));
}

static u32 random_waiting_pages(void)
{
	return PAGEIN_SHARDS * sim_size(sim_once_in(2) ? 8 : 200);
}

static void start(void)
{
	u32 i;

	rig.slots = rig.slots_max - sim_below(rig.slots_max / 4);
	rig.engine->knobs.waiting_pages = random_waiting_pages();
	while (engine_start(rig.engine, RIG_DISK_PATH, rig.slots))
		sim.refused_waiting /= 2;
	take_slots();
	take_copies();
	if (rig.faults & FAULT_SLOTS && sim_once_in(2))
		spoil_sectors();
	for (i = 0; i < rig.slots_max; i++)
		oracle_set(i, 0);
	rig.front.nr_sectors = (u64)rig.slots * PAGE_SECTORS;
	rig.pages_out = 0;
	rig.pages_in = 0;
	rig.before = rig.disk.counts;
	rig.trimmed = false;
}

static void submit(struct block_device *front, struct bio *bio)
{
	rig.submitters++;
	engine_submit(rig.engine, bio);
	rig.submitters--;
	sim_wake_all(&rig.gate);
}

void control_stop(void)
{
	engine_shut(rig.engine);
	wait_event(rig.gate, !rig.submitters);
	run_count(EVENT_RETIRED, rig.engine->space.retired.value - rig.taken);
	run_count(EVENT_HELD, store_nr_held(&rig.engine->store));
	engine_stop(rig.engine);
	count_events();
}

void control_start(void)
{
	u32 phys = max(rig.slots_max + ENGINE_RESERVE_MIN + sim_size(200), (u32)BACKING_SLOTS_MIN);

	/* With few of them what was given up is used again at once. */
	rig.spare = sim_size(ENGINE_RESERVE_MIN);

	if (sim_once_in(3))
		phys = 16384 * (1 + sim_below(3)) + sim_below(1000);
	disk_make(&rig.disk, 0, (phys + BACKING_FIRST_EDGE + BACKING_LAST_EDGE) * PAGE_SECTORS +
			     sim_below(PAGE_SECTORS));
	sim_name_device(RIG_DISK_PATH, &rig.disk.bdev);
	rig.front.submit = submit;
	start();
}

/* Who is too late for a device that is reset gets an error, but for a flush. */
static void use_stopped(void)
{
	struct bio bio;
	int err;

	bio_init(&bio, &rig.front, NULL, 0, REQ_OP_WRITE | REQ_PREFLUSH);
	err = submit_bio_wait(&bio);
	SIM_CHECK(!err);
	bio_reset(&bio, &rig.front, REQ_OP_DISCARD);
	bio.bi_iter.bi_size = PAGE_SIZE;
	err = submit_bio_wait(&bio);
	SIM_CHECK(err == -EIO);
	bio_uninit(&bio);
}

static void reset(void)
{
	control_stop();
	run_count(EVENT_RESETS, 1);
	use_stopped();
	if (sim_once_in(2)) {
		rig_drop_engine();
		rig_make_engine();
	}
	memset(rig.disk.bad, 0, rig.disk.bdev.nr_sectors);
	start();
}

/* Refused while something is stored, and else all that was there is still nothing. */
static void resize(void)
{
	u32 fit = rig_fit(), slots = rig.slots_max - sim_below(rig.slots_max / 4), fit_now;
	int err;

	if (fit && !sim_once_in(4))
		slots = fit - sim_below(min(fit, rig.slots_max / 4));
	err = engine_resize(rig.engine, slots);
	/* Slots may be retired meanwhile, or take writes again. */
	fit_now = rig_fit();
	if (err ? err != -EBUSY && err != -ENOMEM && (err != -ENOSPC || slots <= min(fit, fit_now)) :
		  slots > max(fit, fit_now))
		sim_fail("another size, of %u slots where %u fit, gave error %d", slots, fit, err);
	if (err)
		return;
	run_count(EVENT_RESIZES, 1);
	rig.slots = slots;
	rig.front.nr_sectors = (u64)slots * PAGE_SECTORS;
	read_slots(slots - 1 - sim_below(slots), slots);
}

/* --- knobs --- */

/* Memory is found by writing pages out, to this very device. */
static void reclaim(void)
{
	struct io_group g;

	sim_reclaim = NULL;
	io_group_begin(&g);
	io_swap_out(&g, sim_below(rig.slots), 1, 0);
	io_group_end(&g);
	sim_reclaim = reclaim;
}

static void change_waiting_pages(void)
{
	u32 pages = random_waiting_pages();
	int err;

	rig.trimmed |= pages < rig.engine->knobs.waiting_pages;
	sim_reclaim = rig.lent ? NULL : reclaim;
	err = engine_set_waiting_pages(rig.engine, pages);
	sim_reclaim = NULL;
	rig.trimmed |= err != 0;
	SIM_CHECK(!err || err == -ENOMEM);
}

static void change_knob(void)
{
	struct mswap_knobs *k = &rig.engine->knobs;

	switch (sim_below(6)) {
	case 0:
		WRITE_ONCE(k->policy, sim_once_in(2) ? CLUSTER_MOC : sim_below(3));
		break;
	case 1:
		WRITE_ONCE(k->cluster_pages, sim_size(CLUSTER_PAGES_MAX));
		break;
	case 2:
		WRITE_ONCE(k->batch_usecs, sim_once_in(4) ? 0 : sim_size(MSWAP_BATCH_USECS_MAX));
		break;
	case 3:
		WRITE_ONCE(k->readahead, sim_below(3));
		break;
	case 4:
		WRITE_ONCE(k->readahead_pages, sim_size(MSWAP_READAHEAD_PAGES_MAX));
		break;
	default:
		change_waiting_pages();
	}
}

/* What sysfs reads at any time. */
static void look_on(void)
{
	struct engine *e = rig.engine;
	u32 stat;

	for (stat = 0; stat < MSWAP_NR_STATS; stat++)
		mswap_stat_sum(e->stats, stat);
	SIM_CHECK(pagein_window(&e->pagein) <= WINDOW_MAX);
	SIM_CHECK(space_nr_used(&e->space) <= e->space.nr_slots);
	SIM_CHECK(store_nr_held(&e->store) <= e->store.nr_pages);
	SIM_CHECK(engine_footprint(e));
	pagein_waiting_frames(&e->pagein);
}

static void alone(void)
{
	gate_shut();
	if (sim_once_in(2))
		check_at_rest();
	if (sim_once_in(2))
		reset();
	/* Behind a reset nothing is stored, as hardly ever else. */
	if (sim_once_in(2))
		resize();
	gate_open();
}

void control_work(void *unused)
{
	while (rig.tasks) {
		sim_sleep((u64)sim.tick * sim_size(rig.restless ? 2000 : 20000));
		switch (sim_below(rig.restless ? 16 : 8)) {
		case 0: case 1: case 2:
			change_weather();
			break;
		case 3: case 4: case 5:
			change_knob();
			break;
		case 6:
			look_on();
			break;
		default:
			alone();
		}
	}
	rig.controlled = false;
	wake_up(&rig.gate);
}
