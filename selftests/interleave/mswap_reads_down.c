// SPDX-License-Identifier: GPL-2.0-only
/* The same pages from the first to the last, and from the last to the first. */
#include "mswap_reads.h"

#define LAID_PAGES	(GRANULE_SLOTS * 24)
/* Of a program's pages one in so many is written anew, so many times. */
#define HOLES_ONE_IN	50
#define HOLES_PASSES	4
/* Of what fills the device one page in so many is given up. */
#define FILL_PAGES	(LAID_PAGES * 5)
#define FREED_ONE_IN	4
/* The chance of one layout is not what reads tell of. */
#define MIRRORED_LAYOUTS	8
/* Programs that are evicted by turns, of so many pages each. */
#define TURN_PAGES	3
#define TURN_SIDES	3
/* Pages that lie side by side are so far from each other: no runs, and as many places to go on from. */
#define SCATTERED_APART	40
/* Not all of them are to be read at the beginning. */
#define SCATTERED_WINDOW	8
/* Behind so many pages is a hole, and a room that gets smaller has so many frames left. */
#define UNPAID_PAGES	8
#define UNPAID_FRAMES	3
/* What steady readers are read ahead on so much credit is less than a granule. */
#define CREDIT_PAGES	16
/* A run, of whose first granule 8, 16, 32 and 8 pages are read, and then each other one at once. */
#define CUT_PAGES	(GRANULE_SLOTS * 5)
#define CUT_READS	8
/* So many pages may be lost where a granule ends. */
#define LOST_MAX	8
/* Of each of two programs, one of which is evicted from its last page to its first. */
#define EVICTED_PAGES	(GRANULE_SLOTS * 12)
#define EVICTED_BATCH	40
/* A batch goes on where the one before it ended, or, on another CPU, elsewhere; some go in parts. */
#define EVICTED_PIECES	(EVICTED_PAGES / 4)
/* Evicted downwards, and upwards by eights. */
#define EIGHTS_PAGES	(GRANULE_SLOTS * 16)
#define EIGHTS_BATCH	GRANULE_SLOTS
/* Of one who goes down by blocks. */
#define BLOCKS_PAGES	(GRANULE_SLOTS * 16)

static void lay_holes(void)
{
	u32 pass, page;

	rig_start_alone(LAID_PAGES, MSWAP_WAITING_PAGES_DEFAULT, 2 * LAID_PAGES);
	reads_write_granules(0, LAID_PAGES);
	for (pass = 0; pass < HOLES_PASSES; pass++)
		for (page = 0; page < LAID_PAGES; page++)
			if (sim_once_in(HOLES_ONE_IN))
				scene_write(page, 1);
}

static void lay_shreds(void)
{
	u32 slots = LAID_PAGES + FILL_PAGES, page;

	rig_start_alone(slots, MSWAP_WAITING_PAGES_DEFAULT, slots + 2 * ENGINE_RESERVE_MIN);
	reads_write_granules(LAID_PAGES, slots);
	reads_write_granules(0, LAID_PAGES);
	for (page = LAID_PAGES; page < slots; page++)
		if (sim_once_in(FREED_ONE_IN))
			io_free_slot(page);
	reads_write_granules(0, LAID_PAGES);
}

/* The pages of all lie in the order in which who goes through them side by side comes to them. */
static void lay_sides(void)
{
	u32 page;

	rig_start_alone(LAID_PAGES, MSWAP_WAITING_PAGES_DEFAULT, 2 * LAID_PAGES);
	for (page = 0; page < LAID_PAGES; page += TURN_PAGES)
		scene_write(page / TURN_PAGES % TURN_SIDES * (LAID_PAGES / TURN_SIDES) +
			    page / (TURN_PAGES * TURN_SIDES) * TURN_PAGES, TURN_PAGES);
}

static void lay_scattered(void)
{
	u32 from, page;

	rig_start_alone(LAID_PAGES, MSWAP_WAITING_PAGES_DEFAULT, 2 * LAID_PAGES);
	rig.engine->knobs.readahead_pages = SCATTERED_WINDOW;
	for (from = 0; from < SCATTERED_APART; from++)
		for (page = from; page < LAID_PAGES; page += SCATTERED_APART)
			scene_write(page, 1);
}

/* How many reads it took but for the first quarter, where windows are yet to grow. */
static u64 read_laid(u32 sides, bool down)
{
	u32 n = LAID_PAGES / sides, page, i;
	u64 reads = 0, took;

	for (page = 0; page < n; page++)
		for (i = 0; i < sides; i++) {
			took = reads_one(i * n + (down ? n - 1 - page : page));
			if (page >= n / 4)
				reads += took;
		}
	return reads;
}

struct mirrored {
	const char *name;
	void (*lay)(void);
	u32 sides;
	u32 most;	/* reads of both ways, in all */
};

/* Who comes second has windows that the other one made grow. */
static void read_mirrored(const struct mirrored *m, bool down, u64 *reads)
{
	u32 i;

	/* Whose batches part what lies there. */
	sim.cpus = 2;
	m->lay();
	rig.engine->knobs.readahead = MSWAP_READAHEAD_AUTO;
	for (i = 0; i < 2; i++, down = !down) {
		/* How large windows are to be is learnt. */
		read_laid(m->sides, down);
		reads[down] += read_laid(m->sides, down);
	}
}

/*
 * Who goes down has about as many reads as who goes up, where the layouts of one do not
 * matter, nor who comes first.
 */
void reads_mirrored(void)
{
	static const struct mirrored all[] = {
		{ "with holes", lay_holes, 1, 720 },
		{ "in shreds", lay_shreds, 1, 450 },
		{ "of programs side by side", lay_sides, TURN_SIDES, 400 },
	};
	const struct mirrored *m = &all[sim.seed / READS_ONCE_IN % ARRAY_SIZE(all)];
	u64 reads[2] = { 0 }, up, down;
	u32 i;

	for (i = 0; i < MIRRORED_LAYOUTS; i++) {
		if (i)
			rig_end();
		read_mirrored(m, i % 2, reads);
	}
	up = reads[false];
	down = reads[true];
	run_count(EVENT_MIRRORED, 1);
	if (down > up * 5 / 4 || up > down * 5 / 4 || up + down > m->most)
		sim_fail("%u times %u pages %s took %llu reads upwards, and %llu downwards",
			 MIRRORED_LAYOUTS, LAID_PAGES, m->name, up, down);
}

void reads_set_windows(u32 run, u32 strangers)
{
	struct pagein_shard *sh = rig.engine->pagein.shards;
	u32 i;

	for (i = 0; i < PAGEIN_SHARDS; i++) {
		sh[i].run_tuner.size = run;
		sh[i].strangers_tuner.size = strangers;
	}
}

static void set_credit(u32 pages)
{
	struct pagein_shard *sh = rig.engine->pagein.shards;
	u32 i, account;

	for (i = 0; i < PAGEIN_SHARDS; i++)
		for (account = STEADY_NONE + 1; account < STEADY_ACCOUNTS; account++)
			sh[i].steady.credit[account] = pages * STEADY_TRIES;
}

/* Programs side by side have each granule read for all of them at once, however little credit they have. */
void reads_on_credit(void)
{
	u32 n = LAID_PAGES / TURN_SIDES, page, i;
	bool down = sim_once_in(2);
	u64 reads;

	lay_sides();
	rig.engine->knobs.readahead = MSWAP_READAHEAD_AUTO;
	reads = reads_now().reads;
	for (page = 0; page < n; page++)
		for (i = 0; i < TURN_SIDES; i++) {
			reads_set_windows(WINDOW_FIRST_SIZE, WINDOW_MAX);
			set_credit(CREDIT_PAGES);
			reads_one(i * n + (down ? n - 1 - page : page));
		}
	reads = reads_now().reads - reads;
	run_count(EVENT_ON_CREDIT, 1);
	if (reads * GRANULE_SLOTS > LAID_PAGES * 3 / 2)
		sim_fail("%u pages of programs side by side took %llu reads on the way %s, on little credit",
			 LAID_PAGES, reads, reads_way(down));
}

/* Whole granules of one run; where that lies. */
static u32 lay_run(u32 pages)
{
	static const struct eviction in_order = { 0 };

	/* Batches of several would break it. */
	sim.cpus = 1;
	rig_start_alone(pages, MSWAP_WAITING_PAGES_DEFAULT, 2 * pages);
	reads_write_granules(0, pages);
	check_at_rest();
	SIM_CHECK(scene_phys(0) % GRANULE_SLOTS == 0 && reads_breaks(0, pages, &in_order) == 1);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_AUTO;
	rig.disk.bdev.synchronous = true;
	return scene_phys(0);
}

static u64 read_run(u32 pages, bool down)
{
	u64 reads = 0;
	u32 page;

	for (page = 0; page < pages; page++)
		reads += reads_one(down ? pages - 1 - page : page);
	return reads;
}

/*
 * In the room pages wait that nobody has read, in all frames but so many, and none are to be
 * kept. Returns how many.
 */
static u32 shrink_room(struct waiting_room *r, u32 left)
{
	struct waiting_fate wasted = { 0 };
	struct waiting_frame *f;
	u32 n;

	for (n = 0; waiting_nr_free(r) > left; n++) {
		f = waiting_get(r, &wasted);
		f->slot = rig.engine->map.nr_phys + r->nr_ready;
		f->onward.slot = SLOT_NONE;
		waiting_add(r, f);
	}
	r->target = 0;
	return n;
}

/* Takes out what is left of @n such pages. Those that were given up are not to be counted, either. */
static void restore_room(struct waiting_room *r, u32 n)
{
	struct waiting_frame *f, *next;
	u64 left = 0;

	list_for_each_entry_safe(f, next, &r->ready, list)
		if (f->slot >= rig.engine->map.nr_phys) {
			waiting_take(r, f);
			waiting_put(r, f);
			left++;
		}
	mswap_count(rig.engine->stats, MSWAP_PREFETCH_WASTED, left - n);
	r->target = r->nr_frames;
}

static u32 credit_of(const struct steady *s)
{
	u32 class, sum = 0;

	for (class = STEADY_NONE + 1; class <= STEADY_CLASSES; class++)
		sum += s->credit[class];
	return sum;
}

/* A window behind a hole for which there are too few frames in the end costs its reader nothing. */
void reads_unpaid(void)
{
	u32 slot = lay_run(2 * GRANULE_SLOTS), paid, put;
	struct pagein_shard *sh = &rig.engine->pagein.shards[granule_shard(granule_of(slot))];
	u64 pages;

	io_free_slot(UNPAID_PAGES);
	reads_set_windows(1, 1);
	reads_one(0);
	put = shrink_room(&sh->room, UNPAID_FRAMES);
	paid = credit_of(&sh->steady);
	pages = reads_now().pages;
	reads_one(1);
	pages = reads_now().pages - pages;
	paid -= credit_of(&sh->steady);
	restore_room(&sh->room, put);
	run_count(EVENT_UNPAID, 1);
	if (paid != (pages - 1) * STEADY_TRIES)
		sim_fail("a reader of whom a room that gets smaller keeps %llu pages has paid for %u",
			 pages - 1, paid / STEADY_TRIES);
}

/* A window that is small since its granule ends there has the next one grow all the same. */
void reads_cut_by_granules(void)
{
	bool down = sim_once_in(2);
	u64 reads;

	lay_run(CUT_PAGES);
	reads_set_windows(WINDOW_FIRST_SIZE, 1);
	reads = read_run(CUT_PAGES, down);
	run_count(EVENT_CUT, 1);
	if (reads > CUT_READS)
		sim_fail("on the way %s through a run of %u pages %llu reads were made", reads_way(down),
			 CUT_PAGES, reads);
}

/*
 * Another run begins a slot from where two granules meet. Who comes to it is read its first
 * pages as others', and then all that are left.
 */
void reads_cut_by_runs(void)
{
	bool down = sim_once_in(2);
	u32 border = lay_run(2 * GRANULE_SLOTS) + GRANULE_SLOTS;
	u64 reads;

	pagein_part(&rig.engine->pagein, down ? border - 1 : border + 1);
	reads_set_windows(WINDOW_MAX, WINDOW_FIRST_SIZE);
	reads = read_run(2 * GRANULE_SLOTS, down);
	run_count(EVENT_CUT, 1);
	if (reads > 3)
		sim_fail("on the way %s from a granule to another run in the next one %llu reads were made",
			 reads_way(down), reads);
}

/*
 * Who comes to the last pages that a run has in a granule, upwards or downwards, waits for none
 * in the next one, though the run has lost what lay between.
 */
void reads_over_borders(void)
{
	u32 pages = 2 * GRANULE_SLOTS, lost = 1 + sim_below(LOST_MAX), i;
	bool down = sim_once_in(2);
	u64 missed;

	lay_run(pages);
	for (i = 0; i < lost; i++)
		io_free_slot(down ? GRANULE_SLOTS + i : GRANULE_SLOTS - 1 - i);
	reads_set_windows(WINDOW_MAX, 1);
	missed = pages - lost + scene_stat(MSWAP_PAGES_IN_WAITING);
	read_run(pages, down);
	missed -= scene_stat(MSWAP_PAGES_IN_WAITING);
	run_count(EVENT_LOST, 1);
	if (missed > 1)
		sim_fail("on the way %s through two granules of a run that has lost %u pages between, %llu were missed",
			 reads_way(down), lost, missed);
}

/* Who turns back has pages that are of no run read ahead of him below, at once. */
void reads_scattered(void)
{
	u64 up, down;

	lay_scattered();
	rig.engine->knobs.readahead = MSWAP_READAHEAD_AUTO;
	read_laid(1, false);
	up = read_laid(1, false);
	down = read_laid(1, true);
	run_count(EVENT_SCATTERED, 1);
	if (down > up * 5 / 4)
		sim_fail("%u scattered pages took %llu reads upwards, and %llu downwards", LAID_PAGES,
			 up, down);
}

static u64 page_upwards(u32 virt)
{
	return virt;
}

/* The second one's. */
static u64 page_downwards(u32 virt)
{
	return 2 * EVICTED_PAGES - 1 - virt;
}

/* The swap core has these brought in upwards wherever a program goes, and evicted so. */
static u64 page_by_eights(u32 virt)
{
	return EIGHTS_PAGES - 1 - (virt ^ (ASKED_PAGES - 1));
}

/* What goes out from the last page to the first lies as well as what goes out from there. */
void reads_turned(void)
{
	const struct eviction turned[] = {
		{ .owner = 1, .batch = EVICTED_BATCH, .page_of = page_upwards },
		{ .owner = 2, .batch = EVICTED_BATCH, .page_of = page_downwards },
	};
	u32 side, from, breaks;

	rig_start_alone(2 * EVICTED_PAGES, MSWAP_WAITING_PAGES_DEFAULT, 4 * EVICTED_PAGES);
	rig.engine->knobs.cluster_pages = EVICTED_BATCH;
	for (side = 0, from = 0; side < 2; side++, from += EVICTED_PAGES)
		reads_evict(from, from + EVICTED_PAGES, &turned[side]);
	for (side = 0, from = 0; side < 2; side++, from += EVICTED_PAGES) {
		breaks = reads_breaks(from, from + EVICTED_PAGES, &turned[side]);
		if (breaks > EVICTED_PIECES)
			sim_fail("%u pages evicted %s lie in %u pieces", EVICTED_PAGES,
				 reads_way(side), breaks);
	}
	run_count(EVENT_TURNED, 1);
}

/*
 * From Linux 7.3 on it asks for eight that are side by side in one bio. They lie as they
 * came, so that the window that brings them is joined, and none is read once more.
 */
void reads_eights(void)
{
	const struct eviction eights = { .owner = 1, .batch = EIGHTS_BATCH, .page_of = page_by_eights };
	struct io_group g;
	u64 reads;
	u32 at;

	rig_start_alone(EIGHTS_PAGES, MSWAP_WAITING_PAGES_DEFAULT, 2 * EIGHTS_PAGES);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_ON;
	reads_evict(0, EIGHTS_PAGES, &eights);
	check_at_rest();
	rig.disk.bdev.synchronous = false;
	reads = reads_now().reads;
	for (at = 0; at < EIGHTS_PAGES; at += ASKED_PAGES) {
		io_group_begin(&g);
		io_read(&g, at, ASKED_PAGES, REQ_SYNC);
		io_group_end(&g);
	}
	reads = reads_now().reads - reads;
	run_count(EVENT_EIGHTS, 1);
	if (reads * GRANULE_SLOTS > 2 * EIGHTS_PAGES)
		sim_fail("%u pages asked for by eights, downwards, took %llu reads", EIGHTS_PAGES, reads);
}

/* Where windows are shut, who goes down with the swap core's read-ahead is read ahead of. */
void reads_blocks(void)
{
	u64 reads;
	u32 at;

	rig_start_alone(BLOCKS_PAGES, MSWAP_WAITING_PAGES_DEFAULT, 2 * BLOCKS_PAGES);
	rig.engine->knobs.readahead = MSWAP_READAHEAD_AUTO;
	rig.disk.bdev.synchronous = true;
	reads_write_granules(0, BLOCKS_PAGES);
	reads = reads_now().reads;
	for (at = BLOCKS_PAGES; at; at -= ASKED_PAGES) {
		/* As others do who waste what is read along with their pages. */
		reads_set_windows(1, 1);
		reads_burst(at - ASKED_PAGES, ASKED_PAGES);
	}
	reads = reads_now().reads - reads;
	run_count(EVENT_BLOCKS, 1);
	if (reads > BLOCKS_PAGES / 8)
		sim_fail("who goes down through %u pages, %u at a time, had %llu reads", BLOCKS_PAGES,
			 ASKED_PAGES, reads);
}
