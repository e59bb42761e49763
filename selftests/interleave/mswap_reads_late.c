// SPDX-License-Identifier: GPL-2.0-only
/* Who asks for pages that are on their way. */
#include "mswap_reads.h"

/* A granule of a reader between others of his. */
#define AMID	2
/* What is asked for by bios, so much of it at once, and not from where a granule begins. */
#define BIOS_PAGES	(GRANULE_SLOTS * 32)
#define BIOS_BURST	512
#define BIOS_FIRST	20
/* What a bio wants behind a first window is more than twice that. */
#define BEYOND_PAGES	(2 * WINDOW_FIRST_SIZE + 1)
/* What is asked for while its window is read, and copied to who has asked before. */
#define COPIED_PAGES	3
/* Of two programs, whose pages lie apart, though a bio asks for some of either. */
#define PAIR_PAGES	(GRANULE_SLOTS * 16)
#define PAIR_TURN	4

/* A reader's pages on a disk that takes its time. */
static struct readers *start(void)
{
	struct readers *rd = reads_start(1, 8, MSWAP_WAITING_PAGES_DEFAULT);

	rig.engine->knobs.readahead = MSWAP_READAHEAD_ON;
	reads_write(rd);
	rig.disk.bdev.synchronous = false;
	return rd;
}

/* One run, which goes on with what is before it? Batches of several CPUs may have broken it. */
static bool is_whole(u32 g)
{
	return !~rig.engine->map.cont[g];
}

/* Who comes to a window before it is there has the one behind it begun, too. */
void reads_late(void)
{
	struct readers *rd = start();
	const u64 *cont = rig.engine->map.cont;
	struct io_group g;
	u64 before, reads;
	bool late;

	reads_one(rd->virt[0][0]);
	rig.disk.slow = 1u << 20;
	before = reads_now().reads;
	io_group_begin(&g);
	io_read(&g, rd->virt[0][GRANULE_SLOTS / 2], 1, REQ_SYNC);
	io_read(&g, rd->virt[0][GRANULE_SLOTS], 1, REQ_SYNC);
	late = g.under_way;
	reads = reads_now().reads - before;
	io_group_end(&g);
	if (late && cont[0] == ~1ull && is_whole(1) && cont[2] & 1) {
		run_count(EVENT_LATE, 1);
		if (reads != 2)
			sim_fail("%llu reads were under way when a window was late", reads);
	}
	free(rd);
}

/* Reads some pages of a reader; returns how many I/Os that took. */
static u64 read_part(const struct readers *rd, u32 from, u32 to)
{
	u64 reads = 0;

	for (; from < to; from++)
		reads += reads_one(rd->virt[0][from]);
	return reads;
}

/*
 * Who waits for pages, several at once perhaps, has the window begun that comes next, up
 * or down. The pages beside his do not begin it again when it is used up.
 */
void reads_begun(void)
{
	struct readers *rd = start();
	u32 half = GRANULE_SLOTS / 2, first = AMID * GRANULE_SLOTS, at, n, next;
	bool down = sim_once_in(2), whole;
	struct io_group g;
	u64 before, reads;

	whole = is_whole(AMID - 1) && is_whole(AMID) && is_whole(AMID + 1);
	rig.disk.slow = 1u << 20;
	at = 1 + sim_below(half - 1);
	n = half + 1 - at + sim_below(half - 2);
	before = reads_now().reads;
	io_group_begin(&g);
	io_read(&g, rd->virt[0][down ? first + GRANULE_SLOTS - 1 : first], 1, REQ_SYNC);
	if (whole)
		io_read(&g, rd->virt[0][first + at], n, REQ_SYNC);
	reads = reads_now().reads - before;
	io_group_end(&g);
	if (whole) {
		run_count(EVENT_BEGUN, 1);
		if (reads != 2)
			sim_fail("%llu reads were under way when %u pages from %u on were waited for on the way %s",
				 reads, n, at, reads_way(down));
		next = down ? first - GRANULE_SLOTS : first + GRANULE_SLOTS;
		read_part(rd, next, next + GRANULE_SLOTS);
		if (down)
			reads = read_part(rd, first, first + at);
		else
			reads = read_part(rd, first + at + n, first + GRANULE_SLOTS);
		if (reads)
			sim_fail("on the way %s a window was begun again, in %llu reads", reads_way(down), reads);
	}
	free(rd);
}

/* What a bio that begins in a read under way may meet with. */
enum trouble {
	NO_TROUBLE,
	NO_MEMORY,	/* for a bio of its first pages */
	BAD_SLOT,	/* in that read, one of its first pages perhaps */
	NR_TROUBLES,
};

/* For want of memory for a part, for the read, and for what that goes on with; a worker looks once more. */
#define ACROSS_REFUSALS	6

/*
 * The last @k pages of a granule that is being read, if it still is (@late), and the first @m of
 * the next one: returns how many of them come with reads of others.
 */
static u64 read_across(const struct readers *rd, u32 k, u32 m, enum trouble trouble, bool *late)
{
	u64 before = scene_stat(MSWAP_PAGES_IN_WAITING), refusals = sim.refusals;
	u32 first = AMID * GRANULE_SLOTS;
	struct io_group g;

	io_group_begin(&g);
	io_read(&g, rd->virt[0][first], 1, REQ_SYNC);
	sim.refused = trouble == NO_MEMORY ? 1024 : 0;
	io_read(&g, rd->virt[0][first + GRANULE_SLOTS - k], k + m, REQ_SYNC);
	sim.refused = 0;
	refusals = sim.refusals - refusals;
	*late = g.under_way == 2;
	io_group_end(&g);
	/* Each page that is in pieces takes memory of its own. */
	if (refusals > ACROSS_REFUSALS && k + m > PIECES_PAGES_MAX)
		sim_fail("memory for a bio of %u pages was refused %llu times", k + m, refusals);
	return scene_stat(MSWAP_PAGES_IN_WAITING) - before;
}

/*
 * The first pages of such a bio come with the read under way, the others with what begins
 * then, and none is read once more. If it fails they are read alone, and that is told.
 */
void reads_across(void)
{
	enum trouble trouble = sim.seed / READS_ONCE_IN % NR_TROUBLES;
	u32 end = (AMID + 1) * GRANULE_SLOTS, half = GRANULE_SLOTS / 2;
	u32 k = 1 + sim_below(half), m = 1 + sim_below(half);
	u32 bad = end - 1 - sim_below(min(2 * k, GRANULE_SLOTS - 1));
	struct readers *rd = start();
	u64 joined, alone;
	bool late;

	if (is_whole(AMID) && is_whole(AMID + 1) && rd->virt[0][end] == rd->virt[0][end - 1] + 1) {
		rig.disk.slow = 1u << 20;
		if (trouble == BAD_SLOT)
			scene_spoil(bad, DISK_BAD_READ);
		joined = read_across(rd, k, m, trouble, &late);
		alone = rig.disk.counts.failed_alone;
		run_count(EVENT_ACROSS, 1);
		run_count(EVENT_UNSPLIT, trouble == NO_MEMORY && joined < k + m);
		run_count(EVENT_UNJOINED, alone);
		if (trouble == NO_TROUBLE && late && joined != k + m)
			sim_fail("of a bio of %u pages that are being read and %u behind them %llu were read alone",
				 k, m, k + m - joined);
		if (alone != (trouble == BAD_SLOT && bad >= end - k))
			sim_fail("slot %u is bad, and of the %u before %u that a bio wants %llu reads failed",
				 bad, k, end, alone);
	}
	free(rd);
}

static void read_by_bios(u32 first, u32 each)
{
	struct blk_plug plug;
	struct io_group g;
	u32 page;

	io_group_begin(&g);
	blk_start_plug(&plug);
	for (page = first; page < first + BIOS_BURST; page += each)
		io_read(&g, page, each, REQ_SYNC);
	blk_finish_plug(&plug);
	io_group_end(&g);
}

/* BIOS_PAGES in whole granules, whose windows are whole as well, on a disk that takes its time. */
static void lay_granules(void)
{
	rig_start_alone(BIOS_PAGES, MSWAP_WAITING_PAGES_DEFAULT, 2 * BIOS_PAGES);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_ON;
	reads_write_granules(0, BIOS_PAGES);
	check_at_rest();
	rig.disk.bdev.synchronous = false;
}

/* MADV_WILLNEED takes as many reads if it asks by bios of several pages that lie across windows. */
void reads_by_bios(void)
{
	u32 each = ASKED_PAGES << sim_below(3), page, n = 0;
	u64 reads;

	lay_granules();
	rig.disk.slow = 1u << 20;
	reads = reads_now().reads;
	for (page = BIOS_FIRST; page + BIOS_BURST <= BIOS_PAGES; page += BIOS_BURST, n += BIOS_BURST)
		read_by_bios(page, each);
	reads = reads_now().reads - reads;
	run_count(EVENT_BIOS, 1);
	if (reads * GRANULE_SLOTS > n * 3 / 2)
		sim_fail("%u pages, asked for by bios of %u, took %llu reads", n, each, reads);
}

/*
 * A bio that begins in a small window under way and goes on behind it takes one more read,
 * however large the next window would be by itself, and one more is begun for what comes then.
 */
void reads_beyond(void)
{
	u32 n = BEYOND_PAGES + sim_below(GRANULE_SLOTS - WINDOW_FIRST_SIZE - BEYOND_PAGES + 1);
	struct io_group g;
	bool late;
	u64 reads;

	sim.cpus = 1;
	lay_granules();
	rig.engine->knobs.readahead = MSWAP_READAHEAD_AUTO;
	reads_set_windows(WINDOW_FIRST_SIZE, 1);
	rig.disk.slow = 1u << 20;
	reads = reads_now().reads;
	io_group_begin(&g);
	io_read(&g, 0, 1, REQ_SYNC);
	io_read(&g, WINDOW_FIRST_SIZE / 2, WINDOW_FIRST_SIZE / 2 + n, REQ_SYNC);
	late = g.under_way == 2;
	reads = reads_now().reads - reads;
	io_group_end(&g);
	run_count(EVENT_BEYOND, late);
	if (late && reads > 3)
		sim_fail("a bio that wants %u pages behind a window under way had %llu more reads", n,
			 reads - 1);
}

/* Returns once all of the granule is there. */
static void read_by_pieces(u32 first)
{
	struct io_group g;
	u32 at;

	io_group_begin(&g);
	io_read(&g, first, 1, REQ_SYNC);
	for (at = 1; at < GRANULE_SLOTS; at += COPIED_PAGES) {
		sim_sleep((u64)sim.tick * sim_below(1 + rig.disk.slow / 8));
		io_read(&g, first + at, COPIED_PAGES, REQ_SYNC);
	}
	io_group_end(&g);
}

/* Who comes to a window while its pages are copied to others does not read his once more. */
void reads_copied(void)
{
	u64 pages;
	u32 at;

	lay_granules();
	pages = reads_now().pages;
	for (at = 0; at < BIOS_PAGES; at += GRANULE_SLOTS)
		read_by_pieces(at);
	pages = reads_now().pages - pages;
	run_count(EVENT_COPIED, 1);
	if (pages != BIOS_PAGES)
		sim_fail("%u pages, asked for while they were on their way, were read as %llu", BIOS_PAGES, pages);
}

/* The slot of the same one's next page. */
static u32 next_of_pair(u32 virt)
{
	return virt + 1 + ((virt + 1) % PAIR_TURN ? 0 : PAIR_TURN);
}

static u64 page_of_pair(u32 virt)
{
	return virt / (2 * PAIR_TURN) * PAIR_TURN + virt % PAIR_TURN;
}

/* Both, one after the other; returns in how many runs they lie. */
static u32 evict_pair(void)
{
	u32 side, runs = 0;

	for (side = 0; side < 2; side++) {
		const struct eviction e = {
			.owner = 1 + side,
			.batch = GRANULE_SLOTS,
			.next = next_of_pair,
			.page_of = page_of_pair,
		};

		reads_evict(side * PAIR_TURN, PAIR_PAGES, &e);
		check_at_rest();
		runs += reads_breaks(side * PAIR_TURN, PAIR_PAGES, &e);
	}
	return runs;
}

/* A bio that comes past the middle of a window of each of two runs has both of them go on. */
void reads_in_pairs(void)
{
	struct io_group g;
	u32 runs, at;
	u64 missed;

	rig_start_alone(PAIR_PAGES, MSWAP_WAITING_PAGES_DEFAULT, 2 * PAIR_PAGES);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_ON;
	rig.engine->knobs.cluster_pages = GRANULE_SLOTS;
	runs = evict_pair();
	missed = PAIR_PAGES + scene_stat(MSWAP_PAGES_IN_WAITING);
	for (at = 0; at < PAIR_PAGES; at += 2 * PAIR_TURN) {
		io_group_begin(&g);
		io_read(&g, at, 2 * PAIR_TURN, REQ_SYNC);
		io_group_end(&g);
	}
	missed -= scene_stat(MSWAP_PAGES_IN_WAITING);
	run_count(EVENT_PAIRS, 1);
	if (missed > runs * PAIR_TURN)
		sim_fail("pages of two programs, asked for together, lie in %u runs, and %llu were missed", runs, missed);
}
