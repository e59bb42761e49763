// SPDX-License-Identifier: GPL-2.0-only
/* Steady readers, alone and beside a random one: how much they have read for what they get. */
#include "mswap_scenes.h"

#define READERS_MAX	8
/* Each goes through so many granules, one after the other. */
#define GRANULES	5
#define READER_PAGES	(GRANULES * GRANULE_SLOTS)
/* What is looked at in one go. */
#define ROOM_MAX	64

/* Of one program so many pages are evicted at a time, and then so many of the other. */
#define TURN_PAGES	32
#define RANDOM_TURN	128
#define TURNS		128
#define STEADY_PAGES	(TURNS * TURN_PAGES)
#define RANDOM_PAGES	(TURNS * RANDOM_TURN)
#define RANDOM_EACH	2
/* Few of the pages that are read at random are there by chance. */
#define BESIDE_WAITING_PAGES	1024

/* Programs side by side, evicted by turns that are shorter than a run worth reading. */
#define SIDES		3
#define SIDE_TURN	3
#define SIDE_PAGES	(SIDE_TURN * 3200)

/* Of a program that goes through its pages again and again one in so many is written anew. */
#define REWRITES_ONE_IN	10
#define REWRITES_PASSES	8
#define REWRITES_PAGES	(GRANULE_SLOTS * 48)
/* In so many after the first one most holes are of one slot. */
#define HOLED_PASSES	2
/* What is asked for at once. */
#define BURST_PAGES	512
#define ASKED_PAGES	8
#define HOLE_PAGES	(GRANULE_SLOTS * 4)

/* Who leaves out most pages, of runs of a granule each, in so many passes. */
#define FEW_ONE_IN	3
#define FEW_PASSES	6
#define FEW_PAGES	(GRANULE_SLOTS * 96)

struct readers {
	u32 n;
	u32 apart;				/* granules */
	u32 virt[READERS_MAX][READER_PAGES];	/* which virtual slots lie there */
};

struct reads_counts {
	u64 reads;
	u64 pages;
	u64 wasted;
};

/* Only the slots that the readers are to go through are free. */
static void take_other_slots(const struct readers *rd)
{
	struct space *s = &rig.engine->space;
	u32 got, i, g;

	while (space_alloc(s, SLOT_RUN_MAX, SPACE_APART, SLOT_NONE, &got) != SLOT_NONE)
		;
	for (i = 0; i < rd->n; i++)
		for (g = 0; g < GRANULES; g++)
			space_free(s, (i * rd->apart + g) * GRANULE_SLOTS, GRANULE_SLOTS);
	rig.taken = s->nr_slots - rig.slots;
	atomic_set(&s->retired, rig.taken);
}

static void write_granules(u32 from, u32 to)
{
	for (; from < to; from += GRANULE_SLOTS)
		scene_write(from, GRANULE_SLOTS);
}

static void write_all(struct readers *rd)
{
	u32 virt, phys;

	write_granules(0, rig.slots);
	for (virt = 0; virt < rig.slots; virt++) {
		phys = slot_map_get(&rig.engine->map, virt);
		rd->virt[phys / (rd->apart * GRANULE_SLOTS)]
			[phys % (rd->apart * GRANULE_SLOTS)] = virt;
	}
}

static struct reads_counts counts_now(void)
{
	struct mswap_stats *stats = rig.engine->stats;

	return (struct reads_counts) {
		.reads = mswap_stat_sum(stats, MSWAP_DEV_READS),
		.pages = mswap_stat_sum(stats, MSWAP_DEV_PAGES_READ),
		.wasted = mswap_stat_sum(stats, MSWAP_PREFETCH_WASTED),
	};
}

/* Returns how many I/Os it took. */
static u64 read_one(u32 virt)
{
	u64 before = counts_now().reads;
	struct io_group g;

	io_group_begin(&g);
	io_read(&g, virt, 1, REQ_SYNC);
	io_group_end(&g);
	return counts_now().reads - before;
}

/* In step: each reads a page, and then each the next one. */
static struct reads_counts read_all(const struct readers *rd)
{
	struct reads_counts before = counts_now(), now;
	u32 page, i;

	for (page = 0; page < READER_PAGES; page++)
		for (i = 0; i < rd->n; i++)
			read_one(rd->virt[i][page]);
	now = counts_now();
	now.reads -= before.reads;
	now.pages -= before.pages;
	now.wasted -= before.wasted;
	return now;
}

/*
 * Each page is read once, if each reader has room for so many pages. Where windows have
 * their size from the begin, there are few of them, too.
 */
static void check_readers(u32 n, u32 apart, u32 waiting_pages, u32 room)
{
	struct readers *rd = calloc(1, sizeof(*rd));
	u32 pages = n * READER_PAGES;
	struct reads_counts c;

	SIM_CHECK(rd);
	rd->n = n;
	rd->apart = apart;
	rig_start_alone(pages, waiting_pages, n * apart * GRANULE_SLOTS + 2 * ENGINE_RESERVE_MIN);
	if (sim_once_in(2))
		rig.engine->knobs.readahead = MSWAP_READAHEAD_ON;
	take_other_slots(rd);
	write_all(rd);
	/* How large a first window is to be is learnt. */
	read_all(rd);
	c = read_all(rd);
	free(rd);
	run_count(EVENT_READERS, n);
	if (c.pages != pages || c.wasted)
		sim_fail("%u readers %u granules apart had %llu pages read for %u, and %llu of them given up again",
			 n, apart, c.pages, pages, c.wasted);
	if (rig.engine->knobs.readahead == MSWAP_READAHEAD_ON && c.reads * room > 2 * pages)
		sim_fail("%u readers %u granules apart had %llu reads for %u pages, with room for %u each",
			 n, apart, c.reads, pages, room);
}

/*
 * A room gets smaller while all its frames are being read into: when their pages wait,
 * whoever wants a frame still has one.
 */
static void check_smaller_room(void)
{
	struct waiting_room *r = calloc(1, sizeof(*r));
	u32 n = 2 + sim_below(ROOM_MAX - 1), left = 1 + sim_below(n - 1), i;
	struct waiting_frame *frames[ROOM_MAX];
	struct waiting_fate wasted = { 0 };
	spinlock_t lock;

	SIM_CHECK(r);
	spin_lock_init(&lock);
	waiting_init(r);
	SIM_CHECK(!waiting_resize(r, &lock, n));
	for (i = 0; i < n; i++)
		frames[i] = waiting_get(r, &wasted);
	SIM_CHECK(!waiting_resize(r, &lock, left) && r->nr_frames == n);
	for (i = 0; i < n; i++) {
		frames[i]->slot = i;
		waiting_add(r, frames[i]);
	}
	for (i = 0; i < left; i++) {
		frames[i] = waiting_get(r, &wasted);
		if (!frames[i])
			sim_fail("a room of %u frames, %u before, has only %u", left, n, i);
	}
	SIM_CHECK(!waiting_get(r, &wasted) && r->nr_frames == left && wasted.run == n);
	for (i = 0; i < left; i++)
		waiting_put(r, frames[i]);
	waiting_exit(r);
	free(r);
}

/* A program that goes through its pages, and one that reads its own at random, evicted by turns. */
static void write_by_turns(void)
{
	u32 turn;

	for (turn = 0; turn < TURNS; turn++) {
		scene_write(turn * TURN_PAGES, TURN_PAGES);
		scene_write(STEADY_PAGES + turn * RANDOM_TURN, RANDOM_TURN);
	}
}

static void read_at_random(u32 times)
{
	while (times--)
		read_one(STEADY_PAGES + sim_below(RANDOM_PAGES));
}

/* The steady one goes on, and after each page of his the other one reads some. */
static u64 read_beside(u32 from, u32 to)
{
	u64 reads = 0;

	for (; from < to; from++) {
		reads += read_one(from);
		read_at_random(RANDOM_EACH);
	}
	return reads;
}

/*
 * What is read ahead of a random reader is wasted, and so windows are shut. Who goes
 * through his memory beside him is still read ahead of, as soon as that is learnt.
 */
static void check_beside_random(void)
{
	u32 half = STEADY_PAGES / 2;
	struct reads_counts before;
	u64 reads, pages;

	rig_start_alone(STEADY_PAGES + RANDOM_PAGES, BESIDE_WAITING_PAGES,
			STEADY_PAGES + RANDOM_PAGES + 2 * ENGINE_RESERVE_MIN);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_AUTO;
	write_by_turns();
	read_at_random(RANDOM_PAGES / 2);
	before = counts_now();
	read_beside(0, half);
	reads = read_beside(half, STEADY_PAGES);
	pages = counts_now().pages - before.pages;
	run_count(EVENT_BESIDE, 1);
	if (reads > half / 3)
		sim_fail("who reads %u pages beside a random reader had %llu reads", half, reads);
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
			reads += read_one(i * SIDE_PAGES + from);
	return reads;
}

/*
 * Neighbours that nobody wants shut the windows over other programs' pages. When they are
 * wanted again, that is learnt, though each program's own run is longer than what is tried.
 */
static void check_after_random(void)
{
	u32 half = SIDE_PAGES / 2, i;
	u64 reads;

	rig_start_alone(SIDES * SIDE_PAGES, BESIDE_WAITING_PAGES,
			SIDES * SIDE_PAGES + 2 * ENGINE_RESERVE_MIN);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_AUTO;
	write_sides();
	for (i = 0; i < SIDE_PAGES / 2; i++)
		read_one(sim_below(SIDES * SIDE_PAGES));
	read_sides(0, half);
	reads = read_sides(half, SIDE_PAGES);
	run_count(EVENT_SIDES, 1);
	if (reads > SIDES * half / 5)
		sim_fail("%u programs side by side had %llu reads for %u pages", SIDES, reads, SIDES * half);
}

struct pass_counts {
	u64 reads;
	u64 misses;	/* pages that were not there, nor on their way */
};

static struct pass_counts read_pass(u32 pages)
{
	u64 waiting = scene_stat(MSWAP_PAGES_IN_WAITING);
	struct pass_counts c = { 0 };
	u32 page;

	for (page = 0; page < pages; page++)
		c.reads += read_one(page);
	c.misses = pages - (scene_stat(MSWAP_PAGES_IN_WAITING) - waiting);
	return c;
}

/*
 * What is written goes elsewhere, and each page of it leaves a hole in its run. As long as
 * the other pages keep their slots, reads go on behind it, and start each other.
 */
static void check_rewrites(void)
{
	u32 slots = REWRITES_PAGES * 2, pass, page;
	u32 granules = REWRITES_PAGES / GRANULE_SLOTS;
	struct pass_counts c;
	bool whole = false;
	u64 misses = 0;

	rig_start_alone(slots, MSWAP_WAITING_PAGES_DEFAULT, slots + 2 * ENGINE_RESERVE_MIN);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_AUTO;
	write_granules(0, REWRITES_PAGES);
	for (pass = 0; pass < REWRITES_PASSES; pass++) {
		c = read_pass(REWRITES_PAGES);
		/* Batches of several CPUs may have broken runs from the start. */
		if (pass == 0)
			whole = c.reads < 2 * granules;
		else if (pass <= HOLED_PASSES)
			misses += c.misses;
		for (page = 0; page < REWRITES_PAGES; page++)
			if (sim_once_in(REWRITES_ONE_IN))
				scene_write(page, 1);
	}
	run_count(EVENT_REWRITES, 1);
	if (whole && misses > HOLED_PASSES * granules)
		sim_fail("who went %u times through %u granules with holes had to wait %llu times",
			 HOLED_PASSES, granules, misses);
	if (c.reads > REWRITES_PAGES / 4)
		sim_fail("a program of %u pages, one in %u of them written anew each time, had %llu reads",
			 REWRITES_PAGES, REWRITES_ONE_IN, c.reads);
}

/* Reads the pages of a part as fast as they can be asked for: MADV_WILLNEED. */
static void read_burst(u32 first, u32 n)
{
	struct blk_plug plug;
	struct io_group g;
	u32 page;

	io_group_begin(&g);
	blk_start_plug(&plug);
	for (page = first; page < first + n; page++)
		io_read(&g, page, 1, REQ_SYNC);
	blk_finish_plug(&plug);
	io_group_end(&g);
}

/* All pages, @n at a time, from the first or the last on: how many are read for that. */
static u64 read_in_bursts(u32 n, bool down, u32 readahead)
{
	u32 slots = REWRITES_PAGES + 2 * ENGINE_RESERVE_MIN, page;
	u64 before;

	rig_start_alone(REWRITES_PAGES, MSWAP_WAITING_PAGES_DEFAULT, slots);
	rig.engine->knobs.readahead = readahead;
	write_granules(0, REWRITES_PAGES);
	before = counts_now().pages;
	for (page = 0; page < REWRITES_PAGES; page += n)
		read_burst(down ? REWRITES_PAGES - n - page : page, n);
	return counts_now().pages - before;
}

/* Who asks for the pages of a part all at once has each of them read once. */
static void check_burst(void)
{
	u64 pages = read_in_bursts(BURST_PAGES, false, MSWAP_READAHEAD_ON);

	run_count(EVENT_BURST, 1);
	if (pages > REWRITES_PAGES * 5 / 4)
		sim_fail("of %u pages, %u asked for at a time, %llu were read", REWRITES_PAGES,
			 BURST_PAGES, pages);
}

/* Who leaves out pages here and there waits no more often than who takes each of them, up or down. */
static void check_skipping(void)
{
	u32 slots = REWRITES_PAGES + 2 * ENGINE_RESERVE_MIN, page, n = 0;
	u32 granules = REWRITES_PAGES / GRANULE_SLOTS;
	bool down = sim_once_in(2);
	u64 waiting, misses;

	rig_start_alone(REWRITES_PAGES, MSWAP_WAITING_PAGES_DEFAULT, slots);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_AUTO;
	write_granules(0, REWRITES_PAGES);
	read_pass(REWRITES_PAGES);
	waiting = scene_stat(MSWAP_PAGES_IN_WAITING);
	for (page = 0; page < REWRITES_PAGES; page++)
		if (sim_once_in(2)) {
			read_one(down ? REWRITES_PAGES - 1 - page : page);
			n++;
		}
	misses = n - (scene_stat(MSWAP_PAGES_IN_WAITING) - waiting);
	run_count(EVENT_SKIPPING, 1);
	if (misses > granules / 4)
		sim_fail("who reads %u pages of %u granules on his way %s had to wait %llu times",
			 n, granules, down ? "down" : "up", misses);
}

/* Each granule's pages are a run of its own. */
static void write_apart(u32 pages)
{
	u32 from, page;

	for (from = 0; from < 2 * GRANULE_SLOTS; from += GRANULE_SLOTS)
		for (page = from; page < pages; page += 2 * GRANULE_SLOTS)
			scene_write(page, GRANULE_SLOTS);
}

/*
 * Who leaves out two pages of three in his order, up or down, uses little of what is read
 * for him. Windows stay open to him all the same.
 */
static void check_few(void)
{
	u32 slots = FEW_PAGES + 2 * ENGINE_RESERVE_MIN, pass, page, n = 0;
	bool down = sim_once_in(2);
	u64 before, reads;

	rig_start_alone(FEW_PAGES, MSWAP_WAITING_PAGES_DEFAULT, slots);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_AUTO;
	write_apart(FEW_PAGES);
	before = counts_now().reads;
	for (pass = 0; pass < FEW_PASSES; pass++)
		for (page = 0; page < FEW_PAGES; page++)
			if (sim_once_in(FEW_ONE_IN)) {
				read_one(down ? FEW_PAGES - 1 - page : page);
				n++;
			}
	reads = counts_now().reads - before;
	run_count(EVENT_FEW, 1);
	if (reads > n / 4)
		sim_fail("who reads one page in %u on his way %s had %llu reads for %u",
			 FEW_ONE_IN, down ? "down" : "up", reads, n);
}

/*
 * Who goes down with the swap core's read-ahead, which asks for some pages before and at
 * the one that he wants, from the lowest on, has each page read once.
 */
static void check_down(void)
{
	u64 pages = read_in_bursts(ASKED_PAGES, true, MSWAP_READAHEAD_AUTO);

	run_count(EVENT_DOWN, 1);
	if (pages > REWRITES_PAGES * 5 / 4)
		sim_fail("%llu pages were read for one who goes down through %u", pages,
			 REWRITES_PAGES);
}

/* A page from @from on with neighbours on both sides, in its granule. */
static u32 one_amid(u32 from)
{
	u32 virt, at;

	do {
		virt = from + 1 + sim_below(HOLE_PAGES - 2);
		at = scene_phys(virt) % GRANULE_SLOTS;
	} while (at == 0 || at == GRANULE_SLOTS - 1 || scene_phys(virt - 1) != scene_phys(virt) - 1 ||
		 scene_phys(virt + 1) != scene_phys(virt) + 1);
	return virt;
}

/* How many slots does a read beside a hole pass over? */
static u64 passed_beside_hole(u32 from)
{
	u64 before = scene_stat(MSWAP_DEV_PAGES_PASSED);
	u32 virt = one_amid(from);

	io_free_slot(virt);
	read_one(virt - 1);
	return scene_stat(MSWAP_DEV_PAGES_PASSED) - before;
}

/*
 * Who reads beside a hole is read what lies behind it, however many slots are in use,
 * but not while a read that passed over slots has failed lately.
 */
static void check_hole(void)
{
	u32 slots = 5 * HOLE_PAGES;

	rig_start_alone(slots, MSWAP_WAITING_PAGES_DEFAULT, slots + 2 * ENGINE_RESERVE_MIN);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_ON;
	write_granules(0, 2 * HOLE_PAGES);
	rig.engine->pagein.whole_left = 1;
	if (passed_beside_hole(0))
		sim_fail("a window goes on behind a hole while windows are whole");
	if (passed_beside_hole(HOLE_PAGES) != 1)
		sim_fail("a window ends at a hole with two fifths of the slots in use");
	write_granules(2 * HOLE_PAGES, slots);
	if (passed_beside_hole(2 * HOLE_PAGES) != 1)
		sim_fail("a window ends at a hole with all slots in use");
	run_count(EVENT_HOLES, 1);
}

/* The rest of the run goes on behind a hole, but not with what is written into it later. */
static void check_filled_hole(void)
{
	struct readers *rd = calloc(1, sizeof(*rd));
	u32 virt = 1 + sim_below(READER_PAGES - 2);
	u64 pages;

	SIM_CHECK(rd);
	rd->n = 1;
	rd->apart = 8;
	rig_start_alone(READER_PAGES, MSWAP_WAITING_PAGES_DEFAULT,
			rd->apart * GRANULE_SLOTS + 2 * ENGINE_RESERVE_MIN);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_ON;
	take_other_slots(rd);
	write_all(rd);
	free(rd);
	io_free_slot(virt);
	scene_write(virt, 1);
	pages = counts_now().pages;
	read_one(virt);
	pages = counts_now().pages - pages;
	run_count(EVENT_FILLED, 1);
	if (pages != 1)
		sim_fail("a page in a hole of another run was read with %llu of that", pages - 1);
}

/* Who comes to a window before it is there has the one behind it begun, too. */
static void check_late(void)
{
	struct readers *rd = calloc(1, sizeof(*rd));
	const u64 *cont;
	struct io_group g;
	u64 before, reads;

	SIM_CHECK(rd);
	rd->n = 1;
	rd->apart = 8;
	rig_start_alone(READER_PAGES, MSWAP_WAITING_PAGES_DEFAULT,
			rd->apart * GRANULE_SLOTS + 2 * ENGINE_RESERVE_MIN);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_ON;
	take_other_slots(rd);
	write_all(rd);
	rig.disk.bdev.synchronous = false;
	read_one(rd->virt[0][0]);
	rig.disk.slow = 1u << 20;
	before = counts_now().reads;
	io_group_begin(&g);
	io_read(&g, rd->virt[0][GRANULE_SLOTS / 2], 1, REQ_SYNC);
	io_read(&g, rd->virt[0][GRANULE_SLOTS], 1, REQ_SYNC);
	reads = counts_now().reads - before;
	io_group_end(&g);
	cont = rig.engine->map.cont;
	/* Batches of several CPUs may have broken runs. */
	if (cont[0] == ~1ull && cont[1] & cont[2] & 1) {
		run_count(EVENT_LATE, 1);
		if (reads != 2)
			sim_fail("%llu reads were under way when a window was late", reads);
	}
	free(rd);
}

static void check_alone(void)
{
	u32 room = 8 << sim_below(4);

	if (sim_once_in(2))
		check_readers(1, 8, PAGEIN_SHARDS * room, room);
	else
		check_readers(2 + sim_below(READERS_MAX - 1), 8 << sim_below(4),
			      MSWAP_WAITING_PAGES_DEFAULT, GRANULE_SLOTS);
}

void reads_run(void)
{
	static void (*const checks[])(void) = {
		check_beside_random, check_beside_random, check_after_random,
		check_rewrites, check_hole, check_filled_hole, check_burst, check_skipping, check_skipping, check_down,
		check_few, check_few, check_late, check_late,
		check_alone, check_alone, check_alone, check_alone,
	};

	check_smaller_room();
	checks[sim_below(ARRAY_SIZE(checks))]();
}
