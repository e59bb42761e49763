// SPDX-License-Identifier: GPL-2.0-only
/* Steady readers beside a random one, and after one. */
#include "mswap_reads.h"

/* Of one program so many pages are evicted at a time, and then so many of the other. */
#define TURN_PAGES	32
#define RANDOM_TURN	128
#define TURNS		256
#define STEADY_PAGES	(TURNS * TURN_PAGES)
#define RANDOM_PAGES	(TURNS * RANDOM_TURN)
#define RANDOM_EACH	2
#define FREED_ONE_IN	10
/* Few of the pages that are read at random are there by chance. */
#define BESIDE_WAITING_PAGES	1024

/* Programs side by side, evicted by turns that are shorter than a run worth reading. */
#define SIDES		3
#define SIDE_TURN	3
#define SIDE_PAGES	(SIDE_TURN * 3200)

/* Of two programs that are evicted by turns, a granule each. */
#define HALF_PAGES	(GRANULE_SLOTS * 16)

/* A program that goes through its pages, and one that reads its own at random, evicted by turns. */
static void write_by_turns(void)
{
	u32 turn;

	for (turn = 0; turn < TURNS; turn++) {
		scene_write(turn * TURN_PAGES, TURN_PAGES);
		scene_write(STEADY_PAGES + turn * RANDOM_TURN, RANDOM_TURN);
	}
}

/* Of the pages up to @to one in so many is not there any more. */
static void free_some(u32 to)
{
	u32 page;

	for (page = 0; page < to; page++)
		if (sim_once_in(FREED_ONE_IN))
			io_free_slot(page);
}

static void read_at_random(u32 times)
{
	while (times--)
		reads_one(STEADY_PAGES + sim_below(RANDOM_PAGES));
}

/* The steady one goes on, and after each page of his the other one reads some. */
static u64 read_beside(u32 from, u32 to, bool down)
{
	u64 reads = 0;

	for (; from < to; from++) {
		reads += reads_one(down ? STEADY_PAGES - 1 - from : from);
		read_at_random(RANDOM_EACH);
	}
	return reads;
}

/*
 * What is read ahead of a random reader is wasted, and so windows are shut. Who goes
 * through his memory beside him is still read ahead of, as soon as that is learnt.
 */
void reads_beside_random(void)
{
	u32 half = STEADY_PAGES / 2;
	struct reads_counts before;
	bool down = sim_once_in(2), holed = sim_once_in(2);
	u64 reads, pages;

	rig_start_alone(STEADY_PAGES + RANDOM_PAGES, BESIDE_WAITING_PAGES,
			STEADY_PAGES + RANDOM_PAGES + 2 * ENGINE_RESERVE_MIN);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_AUTO;
	write_by_turns();
	if (holed)
		free_some(STEADY_PAGES);
	read_at_random(RANDOM_PAGES / 2);
	before = reads_now();
	read_beside(0, half, down);
	reads = read_beside(half, STEADY_PAGES, down);
	pages = reads_now().pages - before.pages;
	run_count(EVENT_BESIDE, 1);
	if (reads > half / (holed ? 5 : 4))
		sim_fail("who reads %u pages on his way %s beside a random reader had %llu reads", half,
			 reads_way(down), reads);
	if (pages > STEADY_PAGES * (1 + RANDOM_EACH) * 3 / 2)
		sim_fail("a steady reader of %u pages and a random one of %u had %llu read", STEADY_PAGES,
			 STEADY_PAGES * RANDOM_EACH, pages);
}

static void write_sides(void)
{
	u32 page, i;

	for (page = 0; page < SIDE_PAGES; page += SIDE_TURN)
		for (i = 0; i < SIDES; i++)
			scene_write(i * SIDE_PAGES + page, SIDE_TURN);
}

static u64 read_sides(u32 from, u32 to)
{
	u64 reads = 0;
	u32 i;

	for (; from < to; from++)
		for (i = 0; i < SIDES; i++)
			reads += reads_one(i * SIDE_PAGES + from);
	return reads;
}

/*
 * Neighbours that nobody wants shut the windows over other programs' pages. When they are
 * wanted again, that is learnt, though each program's own run is longer than what is tried.
 */
void reads_after_random(void)
{
	u32 half = SIDE_PAGES / 2, i;
	u64 reads;

	rig_start_alone(SIDES * SIDE_PAGES, BESIDE_WAITING_PAGES,
			SIDES * SIDE_PAGES + 2 * ENGINE_RESERVE_MIN);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_AUTO;
	write_sides();
	for (i = 0; i < SIDE_PAGES / 2; i++)
		reads_one(sim_below(SIDES * SIDE_PAGES));
	read_sides(0, half);
	reads = read_sides(half, SIDE_PAGES);
	run_count(EVENT_SIDES, 1);
	if (reads > SIDES * half / 5)
		sim_fail("%u programs side by side had %llu reads for %u pages", SIDES, reads, SIDES * half);
}

/* Does the run from @virt on fill a granule, with another run's pages in the one below? */
static bool is_above_another(u32 virt)
{
	const struct slot_map *map = &rig.engine->map;
	u32 phys = scene_phys(virt), g = granule_of(phys);

	return phys >= GRANULE_SLOTS && phys % GRANULE_SLOTS == 0 && map->cont[g] == ~1ull &&
	       !~map->live[g - 1];
}

/* Are those of the granule's pages that wait there as strangers? */
static void check_strangers(u32 g)
{
	u32 slot = g * GRANULE_SLOTS, i, waits = 0;
	struct waiting_frame *f;

	for (i = 0; i < GRANULE_SLOTS; i++) {
		f = waiting_find(&rig.engine->pagein.shards[granule_shard(g)].room, slot + i);
		waits += !!f;
		if (f && !f->stranger)
			sim_fail("slot %u was read as one of the run above it", slot + i);
	}
	SIM_CHECK(waits);
}

/* Who goes down to where his run begins is read what lies below, as pages of others. */
void reads_parted(void)
{
	u32 slots = 2 * HALF_PAGES, virt, page;

	rig_start_alone(slots, MSWAP_WAITING_PAGES_DEFAULT, slots + 2 * ENGINE_RESERVE_MIN);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_AUTO;
	for (virt = 0; virt < HALF_PAGES; virt += GRANULE_SLOTS) {
		scene_write(virt, GRANULE_SLOTS);
		scene_write(HALF_PAGES + virt, GRANULE_SLOTS);
	}
	for (virt = GRANULE_SLOTS; virt < HALF_PAGES; virt += GRANULE_SLOTS)
		if (is_above_another(virt))
			break;
	if (virt == HALF_PAGES)
		return;
	rig.disk.bdev.synchronous = true;
	for (page = GRANULE_SLOTS; page; page--)
		reads_one(virt + page - 1);
	run_count(EVENT_PARTED, 1);
	check_strangers(granule_of(scene_phys(virt)) - 1);
}

/* Does the run from @virt on fill the second half of a granule, with others in the first? */
static bool is_second_half(u32 virt)
{
	const struct slot_map *map = &rig.engine->map;
	u32 phys = scene_phys(virt), g = granule_of(phys);

	return phys % GRANULE_SLOTS == TURN_PAGES && !~map->live[g] &&
	       map->cont[g] >> TURN_PAGES >> 1 == U32_MAX >> 1;
}

/*
 * The first page of a run is read with others below it, if what lies behind a hole of the
 * run, and is more, is in memory already.
 */
void reads_held(void)
{
	u32 slots = 2 * HALF_PAGES, virt;
	struct pagein *pi;
	u64 pages;

	rig_start_alone(slots, MSWAP_WAITING_PAGES_DEFAULT, slots + 2 * ENGINE_RESERVE_MIN);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_AUTO;
	rig.disk.bdev.synchronous = true;
	pi = &rig.engine->pagein;
	for (virt = 0; virt < slots; virt += TURN_PAGES)
		scene_write(virt, TURN_PAGES);
	for (virt = 0; virt < slots; virt += TURN_PAGES)
		if (is_second_half(virt))
			break;
	if (virt == slots)
		return;
	pagein_part(pi, scene_phys(virt));
	pi->shards[granule_shard(granule_of(scene_phys(virt)))].run_tuner.size = WINDOW_MAX;
	io_free_slot(virt + 1);
	pi->whole_left = 1;
	reads_one(virt + 2);
	pages = reads_now().pages;
	reads_one(virt);
	pages = reads_now().pages - pages;
	run_count(EVENT_AMONG, 1);
	if (pages < WINDOW_FIRST_SIZE)
		sim_fail("a page was read in %llu, with others below it and the rest of its run in memory", pages);
}
