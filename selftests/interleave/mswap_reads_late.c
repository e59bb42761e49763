// SPDX-License-Identifier: GPL-2.0-only
/* Who asks for pages that are on their way. */
#include "mswap_reads.h"

/* A granule of a reader between others of his. */
#define AMID	2

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
