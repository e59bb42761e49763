// SPDX-License-Identifier: GPL-2.0-only
/* What tasks do with the device, and what befalls the target meanwhile. */
#include "w2r.h"

#define READ_MAX	2000
/* Of more blocks, of 4 KiB, than the target counts by set. */
#define WIDE_SECTORS	((W2R_IO_BLOCKS + 2) * PAGE_SECTORS)
#define WIDE_READS	8
/* Where many are to be under way at a time: how many, and the disk that takes and keeps them. */
#define WIDE_MANY	24
#define WIDE_DEPTH	64u
#define WIDE_SLOW	(1u << 16)

void enter(void)
{
	wait_event(rig.gate, !rig.shut);
	rig.inside++;
}

void leave(void)
{
	rig.inside--;
	wake_up(&rig.gate);
}

static void done(u32 n)
{
	rig.left -= min(rig.left, n);
}

/* --- where --- */

/* A range of up to @most sectors, in most cases of whole blocks and where others are at work. */
static u32 random_range(u32 most, u32 *n)
{
	u32 sector = sim_below(rig.sectors), len = sim_size(most);

	if (sim_below(4))
		sector = (rig.hot + sim_below(300)) % rig.sectors;
	if (sim_below(3)) {
		sector = rounddown(sector, PAGE_SECTORS);
		len = round_up(len, PAGE_SECTORS);
	}
	*n = min(len, rig.sectors - sector);
	return sector;
}

/* The same, or one of more blocks than the cache has entries. */
static u32 random_range_or_wide(u32 *n)
{
	u32 sector;

	if (sim_below(4))
		return random_range(100, n);
	sector = sim_below(rig.sectors / 2);
	*n = 1 + sim_below(rig.sectors - sector);
	return sector;
}

/* --- single I/Os --- */

static void do_read(struct io_group *g)
{
	static const blk_opf_t flags[] = { REQ_META, REQ_RAHEAD, REQ_POLLED, REQ_SYNC };
	u32 n, sector = random_range(sim_once_in(8) ? READ_MAX : 100, &n);

	io_read(g, sector, n, sim_once_in(2) ? 0 : flags[sim_below(ARRAY_SIZE(flags))]);
}

static void do_write(struct io_group *g)
{
	u32 n, sector = random_range(sim_once_in(8) ? READ_MAX : 100, &n);

	io_write(g, sector, n, sim_once_in(4) ? REQ_FUA : 0);
}

static void clear(struct io_group *g, u32 sector, u32 n)
{
	run_count(EVENT_WIDE, n >= WIDE_SECTORS);
	io_clear(g, sector, n, sim_once_in(2) ? REQ_OP_DISCARD : REQ_OP_WRITE_ZEROES);
}

static void do_clear(struct io_group *g)
{
	u32 n, sector = random_range_or_wide(&n);

	clear(g, sector, n);
}

static void do_flush(struct io_group *g)
{
	io_flush(g);
}

/* A message has to do with a target that is live. */
static void do_outside(struct io_group *g)
{
	u32 n, sector;

	if (!rig.outside || g->under_way)
		return;
	sector = random_range_or_wide(&n);
	enter();
	io_outside(sector, n);
	leave();
}

static void do_one(struct io_group *g)
{
	static void (*const kinds[])(struct io_group *g) = {
		do_read, do_read, do_read, do_read, do_read, do_write, do_write, do_write,
		do_clear, do_flush, do_outside,
	};

	kinds[sim_below(ARRAY_SIZE(kinds))](g);
	done(1);
}

/* --- jobs --- */

static void job_burst(void)
{
	u32 n = sim_size(12);
	struct blk_plug plug;
	struct io_group g;

	io_group_begin(&g);
	if (sim_once_in(2))
		blk_start_plug(&plug);
	while (n-- && rig.left)
		do_one(&g);
	if (current->plug)
		blk_finish_plug(&plug);
	io_group_end(&g);
}

/* One after the other, with steps that a planner may learn; some are written over behind. */
static void job_reader(void)
{
	u32 n = 1 + sim_below(60), len = PAGE_SECTORS * sim_size(8), step = len * sim_size(3);
	u32 sector = sim_below(rig.sectors), i;
	struct io_group g;

	for (i = 0; i < n && rig.left; i++) {
		sector = (sector + step) % rig.sectors;
		io_group_begin(&g);
		io_read(&g, sector, min(len, rig.sectors - sector), 0);
		if (sim_once_in(8))
			io_write(&g, sector, min(len, rig.sectors - sector), 0);
		io_group_end(&g);
		done(1);
	}
}

/* What wide clears are under way over is read, and again when they have ended. */
static void job_wide(void)
{
	u32 n = sim_once_in(4) ? WIDE_MANY : 1, reads = 1 + sim_below(WIDE_READS);
	u32 from = sim_below(rig.sectors - WIDE_SECTORS), at[WIDE_READS], i;
	struct sim_disk *disk = &rig.disk;
	u32 depth = disk->depth, slow = disk->slow;
	/* Another one may have made it so. */
	bool many = n > 1 && slow != WIDE_SLOW;
	struct io_group g;

	/* Else few of many are under way at a time, and none when it comes to the reads. */
	if (many) {
		disk->depth = max(depth, WIDE_DEPTH);
		disk->slow = WIDE_SLOW;
	}
	io_group_begin(&g);
	for (i = 0; i < n; i++)
		clear(&g, from, WIDE_SECTORS + sim_below(rig.sectors - WIDE_SECTORS - from));
	for (i = 0; i < reads; i++) {
		at[i] = from + sim_below(WIDE_SECTORS);
		io_read(&g, at[i], 1, 0);
	}
	if (many) {
		disk->depth = depth;
		disk->slow = slow;
	}
	io_group_end(&g);
	io_group_begin(&g);
	for (i = 0; i < reads; i++)
		io_read(&g, at[i], 1, 0);
	io_group_end(&g);
	done(n);
}

static void alone(void (*io)(struct io_group *g, u32 sector, u32 n, blk_opf_t opf),
		  u32 sector, u32 n)
{
	struct io_group g;

	io_group_begin(&g);
	io(&g, sector, n, 0);
	io_group_end(&g);
}

/* What is cached and written over stays so: where nobody else is about, no disk is read. */
static void job_write_over(void)
{
	u32 n, sector = random_range(sim_once_in(4) ? READ_MAX : 100, &n);
	u64 reads;

	alone(io_read, sector, n);
	alone(io_write, sector, n);
	reads = rig.disk.counts.reads;
	alone(io_read, sector, n);
	run_count(EVENT_WRITTEN_OVER, rig.disk.counts.reads == reads);
	done(1);
}

void task_work(void *unused)
{
	while (rig.left) {
		if (sim_once_in(32) && rig.sectors > WIDE_SECTORS)
			job_wide();
		else if (sim_once_in(16))
			job_write_over();
		else if (sim_once_in(3))
			job_reader();
		else
			job_burst();
		if (sim_once_in(8))
			sim_sleep((u64)sim.tick * sim_size(2000));
		if (sim_once_in(16))
			rig.hot = sim_below(rig.sectors);
	}
	rig.tasks--;
	wake_up(&rig.gate);
}

void read_all(void)
{
	struct io_group g;
	u32 sector;

	io_group_begin(&g);
	for (sector = 0; sector < rig.sectors; sector += 64)
		io_read(&g, sector, min(64u, rig.sectors - sector), 0);
	io_group_end(&g);
}
