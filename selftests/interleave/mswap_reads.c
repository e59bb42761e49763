// SPDX-License-Identifier: GPL-2.0-only
/* Steady readers: how much they have read for what they get. */
#include "mswap_reads.h"

/* What is looked at in one go. */
#define ROOM_MAX	64

/* Of a program that goes through its pages again and again one in so many is written anew. */
#define REWRITES_ONE_IN	10
#define REWRITES_PASSES	8
#define REWRITES_PAGES	(GRANULE_SLOTS * 48)
/* In so many after the first one most holes are of one slot. */
#define HOLED_PASSES	2
/* What is asked for at once. */
#define BURST_PAGES	512
#define HOLE_PAGES	(GRANULE_SLOTS * 4)

/* Who leaves out most pages, of runs of a granule each, in so many passes. */
#define FEW_ONE_IN	3
#define FEW_PASSES	6
#define FEW_PAGES	(GRANULE_SLOTS * 96)

struct readers *reads_start(u32 n, u32 apart, u32 waiting_pages)
{
	struct readers *rd = calloc(1, sizeof(*rd));

	SIM_CHECK(rd);
	rd->n = n;
	rd->apart = apart;
	rig_start_alone(n * READER_PAGES, waiting_pages,
			n * apart * GRANULE_SLOTS + 2 * ENGINE_RESERVE_MIN);
	return rd;
}

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

void reads_write_granules(u32 from, u32 to)
{
	for (; from < to; from += GRANULE_SLOTS)
		scene_write(from, GRANULE_SLOTS);
}

void reads_write(struct readers *rd)
{
	u32 virt, phys;

	take_other_slots(rd);
	reads_write_granules(0, rig.slots);
	for (virt = 0; virt < rig.slots; virt++) {
		phys = slot_map_get(&rig.engine->map, virt);
		rd->virt[phys / (rd->apart * GRANULE_SLOTS)]
			[phys % (rd->apart * GRANULE_SLOTS)] = virt;
	}
}

static u32 evicted_after(u32 virt, const struct eviction *e)
{
	return e->next ? e->next(virt) : virt + 1;
}

void reads_evict(u32 virt, u32 to, const struct eviction *e)
{
	struct blk_plug plug;
	struct io_group g;
	u32 n;

	while (virt < to) {
		io_group_begin(&g);
		blk_start_plug(&plug);
		for (n = 0; n < e->batch && virt < to; n++, virt = evicted_after(virt, e))
			io_swap_out_of(&g, virt, e->owner, e->page_of(virt));
		blk_finish_plug(&plug);
		io_group_end(&g);
	}
}

u32 reads_breaks(u32 virt, u32 to, const struct eviction *e)
{
	struct slot_map *map = &rig.engine->map;
	u32 breaks = 0, before = SLOT_NONE, slot;

	for (; virt < to; virt = evicted_after(virt, e)) {
		slot = slot_map_get(map, virt);
		if (slot != before + 1 ||
		    !(map->cont[granule_of(slot)] & granule_bit(slot)))
			breaks++;
		before = slot;
	}
	return breaks;
}

struct reads_counts reads_now(void)
{
	struct mswap_stats *stats = rig.engine->stats;

	return (struct reads_counts) {
		.reads = mswap_stat_sum(stats, MSWAP_DEV_READS),
		.pages = mswap_stat_sum(stats, MSWAP_DEV_PAGES_READ),
		.wasted = mswap_stat_sum(stats, MSWAP_PREFETCH_WASTED),
	};
}

u64 reads_one(u32 virt)
{
	u64 before = reads_now().reads;
	struct io_group g;

	io_group_begin(&g);
	io_read(&g, virt, 1, REQ_SYNC);
	io_group_end(&g);
	return reads_now().reads - before;
}

const char *reads_way(bool down)
{
	return down ? "down" : "up";
}

/* In step: each reads a page, and then each the next one, from the first or the last on. */
static struct reads_counts read_all(const struct readers *rd, bool down)
{
	struct reads_counts before = reads_now(), now;
	u32 page, i;

	for (page = 0; page < READER_PAGES; page++)
		for (i = 0; i < rd->n; i++)
			reads_one(rd->virt[i][down ? READER_PAGES - 1 - page : page]);
	now = reads_now();
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
	u32 pages = n * READER_PAGES;
	bool down = sim_once_in(2);
	struct reads_counts c;
	struct readers *rd;

	rd = reads_start(n, apart, waiting_pages);
	if (sim_once_in(2))
		rig.engine->knobs.readahead = MSWAP_READAHEAD_ON;
	reads_write(rd);
	/* How large a first window is to be is learnt. */
	read_all(rd, down);
	c = read_all(rd, down);
	free(rd);
	run_count(EVENT_READERS, n);
	if (c.pages != pages || c.wasted)
		sim_fail("%u readers %u granules apart going %s had %llu pages read for %u, and %llu of them given up again",
			 n, apart, reads_way(down), c.pages, pages, c.wasted);
	if (rig.engine->knobs.readahead == MSWAP_READAHEAD_ON && c.reads * room > 2 * pages)
		sim_fail("%u readers %u granules apart going %s had %llu reads for %u pages, with room for %u each",
			 n, apart, reads_way(down), c.reads, pages, room);
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

struct pass_counts {
	u64 reads;
	u64 misses;	/* pages that were not there, nor on their way */
};

static struct pass_counts read_pass(u32 pages, bool down)
{
	u64 waiting = scene_stat(MSWAP_PAGES_IN_WAITING);
	struct pass_counts c = { 0 };
	u32 page;

	for (page = 0; page < pages; page++)
		c.reads += reads_one(down ? pages - 1 - page : page);
	c.misses = pages - (scene_stat(MSWAP_PAGES_IN_WAITING) - waiting);
	return c;
}

/* One page in @one_in, by chance, in order; returns how many. */
static u32 read_some(u32 pages, u32 one_in, bool down)
{
	u32 page, n = 0;

	for (page = 0; page < pages; page++)
		if (sim_once_in(one_in)) {
			reads_one(down ? pages - 1 - page : page);
			n++;
		}
	return n;
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
	bool down = sim_once_in(2), whole = false;
	u64 misses = 0;

	rig_start_alone(slots, MSWAP_WAITING_PAGES_DEFAULT, slots + 2 * ENGINE_RESERVE_MIN);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_AUTO;
	reads_write_granules(0, REWRITES_PAGES);
	for (pass = 0; pass < REWRITES_PASSES; pass++) {
		c = read_pass(REWRITES_PAGES, down);
		/* Batches of several CPUs may have broken runs from the start. */
		if (pass == 0)
			whole = c.reads < granules + granules / 4;
		else if (pass <= HOLED_PASSES)
			misses += c.misses;
		for (page = 0; page < REWRITES_PAGES; page++)
			if (sim_once_in(REWRITES_ONE_IN))
				scene_write(page, 1);
	}
	run_count(EVENT_REWRITES, 1);
	if (whole && misses > HOLED_PASSES * granules)
		sim_fail("who went %s %u times through %u granules with holes had to wait %llu times",
			 reads_way(down), HOLED_PASSES, granules, misses);
	if (c.reads > REWRITES_PAGES / (down ? 3 : 4))
		sim_fail("a program of %u pages that goes %s, one in %u of them written anew each time, had %llu reads",
			 REWRITES_PAGES, reads_way(down), REWRITES_ONE_IN, c.reads);
}

void reads_burst(u32 first, u32 n)
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
	reads_write_granules(0, REWRITES_PAGES);
	before = reads_now().pages;
	for (page = 0; page < REWRITES_PAGES; page += n)
		reads_burst(down ? REWRITES_PAGES - n - page : page, n);
	return reads_now().pages - before;
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
	u32 slots = REWRITES_PAGES + 2 * ENGINE_RESERVE_MIN, n;
	u32 granules = REWRITES_PAGES / GRANULE_SLOTS;
	bool down = sim_once_in(2);
	u64 waiting, misses;

	rig_start_alone(REWRITES_PAGES, MSWAP_WAITING_PAGES_DEFAULT, slots);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_AUTO;
	reads_write_granules(0, REWRITES_PAGES);
	read_pass(REWRITES_PAGES, false);
	waiting = scene_stat(MSWAP_PAGES_IN_WAITING);
	n = read_some(REWRITES_PAGES, 2, down);
	misses = n - (scene_stat(MSWAP_PAGES_IN_WAITING) - waiting);
	run_count(EVENT_SKIPPING, 1);
	if (misses > granules / 4)
		sim_fail("who reads %u pages of %u granules on his way %s had to wait %llu times",
			 n, granules, reads_way(down), misses);
}

/*
 * Small windows do not always start each other for who leaves out pages here and there, up
 * or down. He has pages read once all the same, and whole windows, where there is little room.
 */
static void check_small(void)
{
	u32 slots = REWRITES_PAGES + 2 * ENGINE_RESERVE_MIN;
	u32 window = 4, room = window << (1 + sim_below(3));
	bool down = sim_once_in(2);
	struct reads_counts c;

	rig_start_alone(REWRITES_PAGES, PAGEIN_SHARDS * room, slots);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_ON;
	rig.engine->knobs.readahead_pages = window;
	reads_write_granules(0, REWRITES_PAGES);
	c = reads_now();
	read_some(REWRITES_PAGES, 2, down);
	c.pages = reads_now().pages - c.pages;
	c.reads = reads_now().reads - c.reads;
	run_count(EVENT_SMALL, 1);
	if (c.pages > REWRITES_PAGES * 33 / 32 || c.reads * window > REWRITES_PAGES * 25 / 24)
		sim_fail("on the way %s through %u pages, with windows of %u and room for %u, %llu reads of %llu were made",
			 reads_way(down), REWRITES_PAGES, window, room, c.reads, c.pages);
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
	u32 slots = FEW_PAGES + 2 * ENGINE_RESERVE_MIN, pass, n = 0;
	bool down = sim_once_in(2);
	u64 before, reads;

	rig_start_alone(FEW_PAGES, MSWAP_WAITING_PAGES_DEFAULT, slots);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_AUTO;
	write_apart(FEW_PAGES);
	before = reads_now().reads;
	for (pass = 0; pass < FEW_PASSES; pass++)
		n += read_some(FEW_PAGES, FEW_ONE_IN, down);
	reads = reads_now().reads - before;
	run_count(EVENT_FEW, 1);
	if (reads > n / 4)
		sim_fail("who reads one page in %u on his way %s had %llu reads for %u",
			 FEW_ONE_IN, reads_way(down), reads, n);
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
	reads_one(virt - 1);
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
	reads_write_granules(0, 2 * HOLE_PAGES);
	rig.engine->pagein.whole_left = 1;
	if (passed_beside_hole(0))
		sim_fail("a window goes on behind a hole while windows are whole");
	if (passed_beside_hole(HOLE_PAGES) != 1)
		sim_fail("a window ends at a hole with two fifths of the slots in use");
	reads_write_granules(2 * HOLE_PAGES, slots);
	if (passed_beside_hole(2 * HOLE_PAGES) != 1)
		sim_fail("a window ends at a hole with all slots in use");
	run_count(EVENT_HOLES, 1);
}

/* The rest of the run goes on behind a hole, but not with what is written into it later. */
static void check_filled_hole(void)
{
	u32 virt = 1 + sim_below(READER_PAGES - 2);
	struct readers *rd;
	u64 pages;

	rd = reads_start(1, 8, MSWAP_WAITING_PAGES_DEFAULT);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_ON;
	reads_write(rd);
	free(rd);
	io_free_slot(virt);
	scene_write(virt, 1);
	pages = reads_now().pages;
	reads_one(virt);
	pages = reads_now().pages - pages;
	run_count(EVENT_FILLED, 1);
	if (pages != 1)
		sim_fail("a page in a hole of another run was read with %llu of that", pages - 1);
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
		check_alone, check_alone, check_alone, check_alone, check_alone, check_small, check_small,
		check_skipping, check_skipping, check_few, check_few, check_rewrites, check_hole,
		check_filled_hole, check_burst, check_down, reads_beside_random, reads_beside_random,
		reads_after_random, reads_parted, reads_held, reads_held, reads_scattered, reads_turned,
		reads_blocks, reads_blocks, reads_eights, reads_eights,
		/* One of each kind. */
		reads_mirrored, reads_mirrored, reads_mirrored,
		/* These look at something only where what they need to has come about by chance. */
		reads_late, reads_late, reads_late, reads_late, reads_late, reads_late, reads_late, reads_late,
		reads_begun, reads_begun, reads_begun, reads_begun, reads_begun, reads_begun, reads_begun,
		reads_begun,
		reads_across, reads_across, reads_across, reads_across, reads_across, reads_across,
		reads_across, reads_across, reads_across, reads_across, reads_across, reads_across,
		reads_by_bios, reads_by_bios, reads_beyond, reads_beyond, reads_copied, reads_copied,
		reads_in_pairs, reads_on_credit, reads_on_credit, reads_unpaid, reads_cut_by_granules,
		reads_cut_by_granules, reads_cut_by_runs, reads_cut_by_runs, reads_over_borders,
		reads_over_borders,
	};

	check_smaller_room();
	checks[sim.seed / READS_ONCE_IN % ARRAY_SIZE(checks)]();
	check_at_rest();
}
