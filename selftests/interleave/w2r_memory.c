// SPDX-License-Identifier: GPL-2.0-only
/* What little memory does to a target by itself, which is suspended before and after. */
#include "write.h"
#include "w2r.h"

#define CALM		(5 * HZ)
#define GROWN_AFTER	70000000000ull
#define PAIRS_APART	16
#define HOLES_REFUSED	256	/* of 1024 frames */

static u64 first_missing(struct w2r *c)
{
	u64 block = rig.base >> c->block_shift;

	while (block < c->nr_blocks && rooms_where(&c->rooms, block) != ROOM_DISK)
		block++;
	return block;
}

static void read_from(const struct w2r *c, u64 block, u32 sectors)
{
	struct io_group g;

	io_group_begin(&g);
	io_read(&g, (block << c->block_shift) - rig.base, sectors, 0);
	io_group_end(&g);
}

static void read_missing(struct w2r *c)
{
	read_from(c, first_missing(c), 1);
}

/* What was wanted at @since stays away for a while; but a task may stand still for longer. */
static void check_stays(const struct w2r *c, u32 limit, unsigned long since)
{
	SIM_CHECK(c->rooms.limit == limit || time_after(jiffies, since + CALM));
}

/* What was dropped may come back at once; what was wanted at @since may not. */
static void check_growth(const struct w2r *c, bool wanted, u32 before, unsigned long since)
{
	u32 after = c->rooms.limit;

	SIM_CHECK(after == max_t(u32, c->resident, ROOMS_ENTRIES_MIN));
	control_resume();
	sim_sleep(TICKS);
	/* The worker that is to see to it may stand still for longer. */
	while (!wanted && c->dropped_from)
		sim_sleep(TICKS);
	if (wanted)
		check_stays(c, after, since);
	else
		SIM_CHECK(c->rooms.limit >= before);
	control_suspend();
}

static void hold_some(struct w2r *c)
{
	while (c->resident < KEPT_FRAMES + 8)
		read_missing(c);
}

/* That something was dropped before says nothing of what is wanted now. */
static void check_wanted_after_dropped(struct w2r *c)
{
	unsigned long since;
	u32 after;

	if (min(rig.sectors >> c->block_shift, c->nr_entries) < 2 * KEPT_FRAMES)
		return;
	control_resume();
	hold_some(c);
	sim_shrink(ULONG_MAX, SIM_DROP_CACHES);
	sim_sleep(TICKS);
	hold_some(c);
	since = jiffies;
	sim_shrink(ULONG_MAX, SIM_RECLAIM);
	after = c->rooms.limit;
	sim_sleep(TICKS);
	check_stays(c, after, since);
	control_suspend();
}

void control_shrink(void)
{
	struct w2r *c = rig_target();
	bool wanted = sim_once_in(2), dropped = c->dropped_from;
	u32 before = c->rooms.limit, resident = c->resident;
	unsigned long since = jiffies;

	sim_shrink(ULONG_MAX, wanted ? SIM_RECLAIM : SIM_DROP_CACHES);
	SIM_CHECK(c->resident <= KEPT_FRAMES);
	check_at_rest();
	if (c->resident < resident && !dropped)
		check_growth(c, wanted, before, since);
	control_resume();
	sim_sleep(GROWN_AFTER);
	SIM_CHECK(c->rooms.limit == c->nr_entries);
	control_suspend();
	check_wanted_after_dropped(c);
}

/* There are frames for half of the reads at most, and for some nothing to read them with: no block is kept then. */
void control_starve(void)
{
	struct w2r *c = rig_target();
	u32 i;

	if (c->nr_entries < 4 * KEPT_FRAMES || rig.sectors >> c->block_shift < 2 * c->nr_entries)
		return;
	control_resume();
	/* As large as it was before memory was wanted. */
	sim_sleep(GROWN_AFTER);
	SIM_CHECK(c->rooms.limit == c->nr_entries);
	sim.refused = 512;
	for (i = 0; i < 8 * KEPT_FRAMES && c->rooms.limit == c->nr_entries; i++)
		read_missing(c);
	sim.refused = 0;
	SIM_CHECK(c->rooms.limit < c->nr_entries);
	i = c->rooms.limit;
	sim_sleep(TICKS);
	/* The read that went without may itself have taken long. */
	check_stays(c, i, c->shrunk_at);
	control_suspend();
}

/* One after the other, each by itself. */
static void read_blocks(const struct w2r *c, u64 first, u32 n)
{
	while (n--)
		read_from(c, first++, c->block_sectors);
}

/* Two blocks here and there are cached, and all frames that they and those between them need are there. */
static void cache_pairs(struct w2r *c, u64 first, u32 n)
{
	u32 at;

	control_set(c, TABLE_READAHEAD, "off");
	read_blocks(c, first, n);
	w2r_invalidate(c, first, n, true);
	for (at = PAIRS_APART / 2; at + 2 <= n; at += PAIRS_APART)
		read_blocks(c, first + at, 2);
}

/* Memory that no entry has. */
static u32 other_pages(const struct w2r *c)
{
	return sim_live_pages - (c->resident << get_order(c->block_sectors << SECTOR_SHIFT));
}

/* Who reads ahead past what is cached may get memory for the first block of it, and none for the next. */
void control_holes(void)
{
	struct w2r *c = rig_target();
	u32 n = min_t(u64, rig.sectors >> c->block_shift, c->nr_entries), pages = other_pages(c);
	u64 first = rig.base >> c->block_shift, refusals;

	if (plan_hole(c->block_shift) < 2)
		return;
	control_resume();
	/* As large as it was before memory was refused. */
	sim_sleep(GROWN_AFTER);
	cache_pairs(c, first, n);
	control_set(c, TABLE_PLANNER, "stream");
	control_set(c, TABLE_LOOKAHEAD, "512");
	control_set(c, TABLE_READAHEAD, "on");
	refusals = sim.refusals;
	sim.refused = HOLES_REFUSED;
	read_blocks(c, first, n);
	sim.refused = 0;
	run_count(EVENT_HOLES, sim.refusals - refusals);
	control_suspend();
	SIM_CHECK(other_pages(c) == pages);
}
