// SPDX-License-Identifier: GPL-2.0-only
/* What must hold when nothing is under way: the cache has what the disk has, and all is counted. */
#include "w2r.h"

const struct run_event check_events[NR_EVENTS] = {
	[W2R_READ_BLOCKS] = { "blocks read", 70000 },
	[W2R_HITS_WEIGHING] = { "found in the weighing room", 40000 },
	[W2R_HITS_WAITING] = { "found in the waiting room", 3000 },
	[W2R_MISSES] = { "not found", 10000 },
	[W2R_BYPASSED] = { "passed by", 10000 },
	[W2R_WRITTEN_BLOCKS] = { "blocks written", 10000 },
	[W2R_PREFETCHED] = { "blocks read ahead", 4000 },
	[W2R_ORIGIN_READS] = { "reads of the disk", 20000 },
	[W2R_ORIGIN_PREFETCHES] = { "reads ahead of it", 1000 },
	[W2R_READ_ERRORS] = { "failed reads", 5000 },
	[W2R_WRITE_ERRORS] = { "failed writes", 1000 },
	[W2R_WAITED] = { "waited for a block on its way", 5000 },
	[W2R_RECLAIMED] = { "frames reclaimed", 30 },
	[EVENT_SUSPENDS] = { "suspends", 500 },
	[EVENT_TABLES] = { "tables", 200 },
	[EVENT_REFUSED] = { "tables without memory", 200 },
	[EVENT_PARTS] = { "frames that several targets gave", 5000 },
	[EVENT_OUTSIDE] = { "writes from outside", 100 },
	[EVENT_LATE] = { "of them in the page cache", 100 },
	[EVENT_WIDE] = { "wide clears", 500 },
	[EVENT_WRITTEN_OVER] = { "written over, and read without the disk", 200 },
	[EVENT_HOLES] = { "frames refused past what is cached", 1000 },
};

void count_events(void)
{
	u32 i;

	for (i = 0; i < W2R_NR_STATS; i++)
		run_count(i, rig_target()->stats[i]);
	run_count(EVENT_TABLES, 1);
}

/* Each does for any small read; they are no cgroup's, and all that there is of the pools. */
static void check_spares(struct w2r *c)
{
	struct bio *bio;
	u32 n = 0;

	bio_list_for_each(bio, &c->spares) {
		SIM_CHECK(bio->bi_max_vecs == BIO_INLINE_VECS);
		SIM_CHECK(!bio->bi_blkg && !bio->sent);
		n++;
	}
	SIM_CHECK(n == c->nr_spares && n <= 4);
	SIM_CHECK(c->bios.bios.nr_live == n && !c->bios.vecs.nr_live);
}

static void check_nothing_under_way(struct w2r *c)
{
	u32 i;

	for (i = 0; i < W2R_WRITER_SETS; i++)
		SIM_CHECK(!c->writers[i]);
	SIM_CHECK(list_empty(&c->wide_writers) && !c->nr_wide);
	SIM_CHECK(!c->prefetching && !c->own);
	for (i = 0; i < PLAN_PAYERS; i++)
		SIM_CHECK(!c->prefetching_by[i]);
	SIM_CHECK(list_empty(&c->late));
	SIM_CHECK(bio_list_empty(&c->resubmits) && bio_list_empty(&c->aheads));
	check_spares(c);
}

static void check_content(struct w2r *c, u32 e)
{
	u64 first = (w2r_entry(c, e)->block << c->block_shift) - rig.base;
	const char *mem = c->slots[e].page->mem;
	u64 have, want;
	u32 i;

	for (i = 0; i < c->block_sectors; i++) {
		have = sim_stamp_of(mem + i * SECTOR_SIZE);
		want = rig.disk.media[first + i];
		if (have != want)
			sim_fail("sector %llu is cached as value %llu, and is %llu on the disk",
				 first + i, have, want);
	}
}

static void check_entries(struct w2r *c)
{
	struct rooms *r = &c->rooms;
	u32 held[3] = { 0 }, resident = 0, e;

	for (e = 0; e < r->arena.nr; e++) {
		const struct entry *x = w2r_entry(c, e);

		SIM_CHECK(!x->pins && !c->slots[e].filler);
		resident += !!c->slots[e].page;
		if (x->room == ROOM_DISK)
			continue;
		held[x->room]++;
		SIM_CHECK(!x->flags || (x->flags == ENTRY_EXPECTED && x->room == ROOM_WAITING));
		SIM_CHECK(c->slots[e].page && e < c->touched);
		SIM_CHECK(index_peek(&r->index, x->block) == e);
		check_content(c, e);
	}
	SIM_CHECK(resident == c->resident);
	SIM_CHECK(held[ROOM_WEIGHING] == r->held[ROOM_WEIGHING]);
	SIM_CHECK(held[ROOM_WAITING] == r->held[ROOM_WAITING]);
	SIM_CHECK(r->in_use == held[ROOM_WEIGHING] + held[ROOM_WAITING]);
	SIM_CHECK(r->spare.count + r->in_use == r->arena.nr);
}

static void check_counters(const struct w2r *c)
{
	const struct disk_counts *now = &rig.disk.counts, *then = &rig.before;
	const u64 *s = c->stats;
	const struct rooms *r = &c->rooms;
	u64 fates = r->used - c->used_base + r->wasted - c->wasted_base;

	SIM_CHECK(s[W2R_READ_BLOCKS] == s[W2R_HITS_WEIGHING] + s[W2R_HITS_WAITING] +
					s[W2R_MISSES] + s[W2R_BYPASSED]);
	/* Whether reading ahead pays is told by what met its fate, each once. */
	SIM_CHECK(c->toggle.used <= r->used && c->toggle.wasted <= r->wasted);
	if (rig.cleared)
		return;
	if (s[W2R_PREFETCHED] != fates + r->held[ROOM_WAITING])
		sim_fail("%llu were prefetched, %llu met their fates, and %u wait",
			 s[W2R_PREFETCHED], fates, r->held[ROOM_WAITING]);
	SIM_CHECK(s[W2R_WRITE_ERRORS] == now->failed_writes - then->failed_writes);
	SIM_CHECK(s[W2R_READ_ERRORS] == rig.md.failed_reads);
	SIM_CHECK(s[W2R_ORIGIN_READS] + s[W2R_ORIGIN_PREFETCHES] <= now->reads - then->reads);
}

void check_at_rest(void)
{
	struct w2r *c = rig_target();

	check_nothing_under_way(c);
	check_entries(c);
	check_counters(c);
	SIM_CHECK(rig.md.bdi.ra_pages == rig.ra_pages && sim_work_is_idle(&c->tick.work));
	/* As in a target that is made with this table. */
	SIM_CHECK(c->rooms.bounded == table_bounded(&c->table));
	SIM_CHECK(c->rooms.step == table_split_step(&c->table, c->nr_entries));
}

/* What a cgroup's limit or an idle priority holds back must hold back nobody's metadata. */
static void check_waiters_of(const struct w2r_filler *f)
{
	struct w2r_io *io;

	if (!f || !f->limited)
		return;
	list_for_each_entry(io, &f->waiters, wait)
		SIM_CHECK(!(dm_bio_from_per_bio_data(io, sizeof(*io))->bi_opf & REQ_META));
}

void check_waiters(void)
{
	struct w2r *c = rig_target();
	u32 e;

	for (e = 0; e < c->nr_entries; e++)
		check_waiters_of(c->slots[e].filler);
}
