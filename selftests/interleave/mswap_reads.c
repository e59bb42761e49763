// SPDX-License-Identifier: GPL-2.0-only
/* Steady readers of a device that nobody else uses: how much they have read for what they get. */
#include "mswap.h"

#define READERS_MAX	8
/* Each goes through so many granules, one after the other. */
#define GRANULES	5
#define READER_PAGES	(GRANULES * GRANULE_SLOTS)
/* What is looked at in one go. */
#define ROOM_MAX	64

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

static void write_all(struct readers *rd)
{
	struct io_group g;
	u32 virt, phys;

	for (virt = 0; virt < rig.slots; virt += GRANULE_SLOTS) {
		io_group_begin(&g);
		io_write(&g, virt, GRANULE_SLOTS, REQ_SYNC);
		io_group_end(&g);
	}
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

/* In step: each reads a page, and then each the next one. */
static struct reads_counts read_all(const struct readers *rd)
{
	struct reads_counts before = counts_now(), now;
	struct io_group g;
	u32 page, i;

	for (page = 0; page < READER_PAGES; page++)
		for (i = 0; i < rd->n; i++) {
			io_group_begin(&g);
			io_read(&g, rd->virt[i][page], 1, REQ_SYNC);
			io_group_end(&g);
		}
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

void reads_run(void)
{
	u32 room = 8 << sim_below(4);

	check_smaller_room();
	if (sim_once_in(2))
		check_readers(1, 8, PAGEIN_SHARDS * room, room);
	else
		check_readers(2 + sim_below(READERS_MAX - 1), 8 << sim_below(4),
			      MSWAP_WAITING_PAGES_DEFAULT, GRANULE_SLOTS);
}
