// SPDX-License-Identifier: GPL-2.0-only
/*
 * Other devices over the same disk, with targets of their own, which give memory back
 * together with the rig's, and go while others are asked for it.
 */
#include "w2r.h"

#define OTHERS_MAX	12
#define TARGETS_MAX	(OTHERS_MAX + 1)

static struct mapped_device others[OTHERS_MAX];
static u32 nr_others, nr_asking;
static bool over;

/* --- they come, and read --- */

static struct w2r *target_of(u32 i)
{
	return i < nr_others ? others[i].ti->private : rig_target();
}

static void look_at_sector(struct user_io *user, u32 i, char *mem)
{
	SIM_CHECK(sim_stamp_of(mem) == rig.disk.media[user->iter.bi_sector - rig.base + i]);
}

static void look(struct user_io *user)
{
	user_io_for_sectors(user, look_at_sector);
}

static void on_end(struct user_io *user)
{
	SIM_CHECK(!user->bio.bi_status);
}

static void read_some(struct mapped_device *md, u32 sectors)
{
	struct user_io *io;
	struct io_group g;
	u32 at, n;

	io_group_begin(&g);
	for (at = 0; at < sectors; at += n) {
		n = min(64u, sectors - at);
		io = user_io_new(sizeof(*io), &g, &md->bdev, rig.base + at, REQ_OP_READ);
		io->on_end = on_end;
		io->look = look;
		user_io_add_pages(io, DIV_ROUND_UP(n, PAGE_SECTORS));
		io->bio.bi_iter.bi_size = n * SECTOR_SIZE;
		user_io_begin(io);
		user_io_send(io);
	}
	io_group_end(&g);
}

static void make_one(struct mapped_device *md)
{
	static char *const kibs[] = { "4", "4", "8", "64" };
	static char *const mibs[] = { "1", "2", "3" };
	char *words[7] = {
		RIG_DISK_PATH, mibs[sim_below(ARRAY_SIZE(mibs))], "4", "readahead", "off",
		"block_kib", kibs[sim_below(ARRAY_SIZE(kibs))],
	};

	SIM_CHECK(!sim_dm_make(md));
	SIM_CHECK(!sim_dm_load(md, 0, rig.base + rig.sectors, ARRAY_SIZE(words), words));
	sim_dm_resume(md);
	read_some(md, sim_below(4) ? rig.sectors : sim_size(rig.sectors));
}

static void take_one_away(struct mapped_device *md)
{
	sim_dm_suspend(md);
	sim_dm_unload(md);
	sim_dm_free(md);
}

/* --- they give --- */

static u64 spare_of(u32 i)
{
	u32 resident = target_of(i)->resident;

	return resident - min(resident, KEPT_FRAMES);
}

/* Of what is asked for each gives its part, to one frame, and all of them all of it. */
static void check_parts(u64 asked, const u64 *had, u64 all, u64 freed)
{
	u64 gave, sum = 0;
	u32 i;

	for (i = 0; i <= nr_others; i++) {
		gave = had[i] - spare_of(i);
		sum += gave;
		if (all && (gave * all >= asked * had[i] + all || (gave + 1) * all <= asked * had[i]))
			sim_fail("target %u of %u gave %llu frames of %llu, where %llu of %llu were asked for",
				 i, nr_others + 1, gave, had[i], asked, all);
	}
	SIM_CHECK(sum == asked && freed == asked);
}

static u64 reclaimed(void)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i <= nr_others; i++)
		sum += target_of(i)->stats[W2R_RECLAIMED];
	return sum;
}

/* Nothing else is under way. */
static void ask_for(u64 nr, enum sim_asker asker)
{
	u64 had[TARGETS_MAX], all = 0, counted = reclaimed(), freed;
	u32 i;

	for (i = 0; i <= nr_others; i++) {
		had[i] = spare_of(i);
		all += had[i];
	}
	freed = sim_shrink(nr, asker);
	/* While there is other memory to be had, it takes nothing. */
	if (asker == SIM_KSWAPD && !sim.short_of_memory)
		nr = 0;
	check_parts(min(nr, all), had, all, freed);
	SIM_CHECK(reclaimed() - counted == freed);
	run_count(EVENT_PARTS, freed);
}

static void check_memory(void)
{
	u32 tries;

	for (tries = 0; tries < 4; tries++) {
		sim.short_of_memory = sim_once_in(2);
		ask_for(sim_size(1000), sim_below(SIM_ASKERS));
	}
	sim.short_of_memory = false;
	if (sim_once_in(2))
		ask_for(ULONG_MAX, SIM_RECLAIM);
}

/* --- they go --- */

static void ask_on(void *unused)
{
	while (!over) {
		sim_shrink(sim_size(100), SIM_RECLAIM);
		sim_sleep((u64)sim.tick * sim_size(100));
	}
	nr_asking--;
	wake_up(&rig.gate);
}

void others_begin(void)
{
	u32 n = 1 + sim_below(OTHERS_MAX);

	nr_others = 0;
	while (nr_others < n)
		make_one(&others[nr_others++]);
	check_memory();
	over = false;
	nr_asking = 1 + sim_below(3);
	for (n = 0; n < nr_asking; n++)
		sim_spawn("one who wants memory", ask_on, NULL);
	while (nr_others) {
		if (sim_once_in(2))
			read_some(&others[sim_below(nr_others)], sim_size(rig.sectors));
		take_one_away(&others[--nr_others]);
	}
}

void others_end(void)
{
	over = true;
	wait_event(rig.gate, !nr_asking);
}
