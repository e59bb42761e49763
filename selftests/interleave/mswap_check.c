// SPDX-License-Identifier: GPL-2.0-only
/* What must hold when nothing is under way: nothing is lost, nothing is there twice. */
#include "mswap.h"

const struct run_event check_events[NR_EVENTS] = {
	[MSWAP_PAGES_OUT] = { "pages swapped out", 20000 },
	[MSWAP_PAGES_OUT_COPIED] = { "copied", 10000 },
	[MSWAP_PAGES_IN] = { "pages swapped in", 30000 },
	[MSWAP_PAGES_IN_WAITING] = { "found in the waiting room", 1000 },
	[MSWAP_PAGES_IN_COPIED] = { "copied from another read or a held copy", 6000 },
	[MSWAP_PAGES_IN_ZERO] = { "never written", 10000 },
	[MSWAP_DEV_WRITES] = { "writes", 10000 },
	[MSWAP_DEV_PAGES_WRITTEN] = { "pages written", 20000 },
	[MSWAP_DEV_READS] = { "reads", 10000 },
	[MSWAP_DEV_PAGES_READ] = { "pages read", 10000 },
	[MSWAP_DEV_PAGES_PASSED] = { "read for nobody", 90 },
	[MSWAP_BATCHES] = { "batches", 3000 },
	[MSWAP_PREFETCHED] = { "read ahead", 5000 },
	[MSWAP_PREFETCH_USED] = { "of that used", 1000 },
	[MSWAP_PREFETCH_WASTED] = { "of that wasted", 2000 },
	[MSWAP_SLOT_FREES] = { "slots freed", 3000 },
	[MSWAP_DISCARDS] = { "discards", 1000 },
	[MSWAP_WRITE_ERRORS] = { "failed writes", 3000 },
	[MSWAP_WRITE_RETRIES] = { "of these tried again", 1000 },
	[MSWAP_READ_ERRORS] = { "failed reads", 1000 },
	[MSWAP_NOSPACE] = { "no slot was free", 5 },
	[MSWAP_STORES_REFUSED] = { "stores refused", 700 },
	[MSWAP_DEFERRED] = { "left to a worker", 1000 },
	[EVENT_RETIRED] = { "slots retired", 100 },
	[EVENT_HELD] = { "copies lost by a reset", 900 },
	[EVENT_RESETS] = { "resets", 300 },
	[EVENT_RESIZES] = { "other sizes", 100 },
	[EVENT_READERS] = { "steady readers", 20 },
	[EVENT_BESIDE] = { "a steady one beside a random one", 3 },
	[EVENT_SIDES] = { "programs side by side after random reads", 2 },
	[EVENT_PARTED] = { "runs that end above others", 2 },
	[EVENT_AMONG] = { "pages beside what is in memory", 2 },
	[EVENT_REWRITES] = { "programs that write some pages anew", 2 },
	[EVENT_SKIPPING] = { "programs that leave pages out", 2 },
	[EVENT_FEW] = { "programs that leave most pages out", 2 },
	[EVENT_SMALL] = { "programs with small windows", 2 },
	[EVENT_LATE] = { "windows that were late", 2 },
	[EVENT_BEGUN] = { "windows that others waited for", 2 },
	[EVENT_ACROSS] = { "bios across the end of a read under way", 4 },
	[EVENT_UNSPLIT] = { "those that there was no memory to split", 1 },
	[EVENT_UNJOINED] = { "those whose part could not be read", 1 },
	[EVENT_BIOS] = { "bios of several pages asked for all at once", 2 },
	[EVENT_PAIRS] = { "bios of pages of two programs", 1 },
	[EVENT_BEYOND] = { "bios beyond a small window under way", 1 },
	[EVENT_COPIED] = { "pages asked for while they are copied to others", 2 },
	[EVENT_BURST] = { "pages asked for all at once", 2 },
	[EVENT_DOWN] = { "readers who go down", 2 },
	[EVENT_MIRRORED] = { "readers who go up and down", 3 },
	[EVENT_ON_CREDIT] = { "readers with little credit side by side", 1 },
	[EVENT_UNPAID] = { "readers in a room that gets smaller", 1 },
	[EVENT_CUT] = { "readers whose windows are cut short", 1 },
	[EVENT_LOST] = { "readers whose run has lost pages where two granules meet", 1 },
	[EVENT_SCATTERED] = { "readers of scattered pages who turn back", 2 },
	[EVENT_TURNED] = { "programs evicted downwards", 2 },
	[EVENT_BLOCKS] = { "readers who go down by blocks", 2 },
	[EVENT_EIGHTS] = { "readers who go down by bios of several pages", 2 },
	[EVENT_HOLES] = { "windows beside holes", 2 },
	[EVENT_FILLED] = { "holes in runs that were filled", 2 },
	[EVENT_SCENES] = { "scenes", 100 },
};

static u64 stat(enum mswap_stat what)
{
	return mswap_stat_sum(rig.engine->stats, what);
}

void count_events(void)
{
	u32 i;

	for (i = 0; i < MSWAP_NR_STATS; i++)
		run_count(i, stat(i));
}

static u32 under_way(const struct flight *f)
{
	return f->state.value;
}

/* Copies that could not be written are tried again by themselves, for as long as that helps. */
static bool is_at_rest(struct engine *e)
{
	const struct work_struct *works[] = {
		&e->pagein.work, &e->pagein.retry_work, &e->batching.work,
		&e->batching.write_work, &e->batching.retry_work,
		&e->batching.rewrite_work.work,
	};
	u32 i;

	/* All at one moment. */
	for (i = 0; i < ARRAY_SIZE(works); i++)
		if (!sim_work_is_idle(works[i]))
			return false;
	return !under_way(&e->flight) && !under_way(&e->batching.held);
}

static void wait_for_rest(struct engine *e)
{
	u32 waits = 0;

	while (!is_at_rest(e)) {
		if (waits++ == 6000)
			sim_fail("no rest: %u I/Os and %u batches are under way",
				 under_way(&e->flight), under_way(&e->batching.held));
		sim_sleep(100000000);
	}
	SIM_CHECK(!under_way(&e->givers) && !e->batching.nr_failed && !e->batching.gather.batch);
}

/* --- slots --- */

static u32 count_bits(const u64 *words, u32 bits)
{
	u32 i, n = 0;

	for (i = 0; i < DIV_ROUND_UP(bits, GRANULE_SLOTS); i++)
		n += hweight64(words[i]);
	return n;
}

/* Each physical slot is that of one virtual slot, and live, or free, or retired. */
static void check_slots(const struct engine *e)
{
	u64 *seen = calloc(DIV_ROUND_UP(e->map.nr_phys, GRANULE_SLOTS), sizeof(u64));
	u32 virt, phys, mapped = 0, left;

	SIM_CHECK(seen);
	for (virt = 0; virt < e->map.nr_virt; virt++) {
		phys = e->map.map[virt] - 1;
		if (phys == SLOT_UNMAPPED)
			continue;
		SIM_CHECK(phys < e->map.nr_phys);
		if (seen[granule_of(phys)] & granule_bit(phys))
			sim_fail("physical slot %u has two owners", phys);
		seen[granule_of(phys)] |= granule_bit(phys);
		if (!(e->map.live[granule_of(phys)] & granule_bit(phys)))
			sim_fail("physical slot %u is in the map and not live", phys);
		mapped++;
	}
	free(seen);
	SIM_CHECK(count_bits(e->map.live, e->map.nr_phys) == mapped);
	left = space_nr_free(&e->space) + e->space.retired.value + mapped;
	if (left != e->space.nr_slots)
		sim_fail("%u slots: %u free, %u in use, %d retired", e->space.nr_slots,
			 space_nr_free(&e->space), mapped, e->space.retired.value);
}

/* --- copies --- */

static u32 count_held(const struct store *st)
{
	const struct stored_page *s;
	u32 i, j, n = 0, nr_held;

	for (i = 0; i < STORE_SHARDS; i++) {
		nr_held = 0;
		for (j = 0; j < 1 << STORE_HASH_BITS; j++)
			hlist_for_each_entry(s, &st->shards[i].hash[j], hash) {
				SIM_CHECK(s->vslot % STORE_SHARDS == i && s->failed && !s->dead);
				nr_held++;
			}
		SIM_CHECK(nr_held == st->shards[i].nr_held);
		n += nr_held;
	}
	return n;
}

static void check_copies(const struct store *st)
{
	u32 number = (u32)st->free.value, nr_free = 0, nr_failed = 0, held = count_held(st);
	const struct stored_page *s;

	for (; number; number = st->pages[number - 1].next)
		if (++nr_free > st->nr_pages)
			break;
	list_for_each_entry(s, &st->failed, failed_list)
		nr_failed++;
	if (nr_free + held + rig.nr_copies != st->nr_pages)
		sim_fail("%u copies are free, %u held, of %u", nr_free, held,
			 st->nr_pages - rig.nr_copies);
	SIM_CHECK(nr_failed == held && store_nr_failed(st) == held);
}

/* --- the waiting room --- */

static u32 check_room(const struct waiting_room *r)
{
	u32 nr_free = 0, nr_ready = 0, nr_passed = 0, nr_hashed = 0, nr_returned = 0, i;
	const struct waiting_frame *f;
	const struct llist_node *node;

	list_for_each_entry(f, &r->free, list)
		nr_free++;
	list_for_each_entry(f, &r->ready, list) {
		nr_ready++;
		nr_passed += f->passed;
	}
	SIM_CHECK(nr_passed == r->nr_passed);
	SIM_CHECK(r->nr_frames <= 1u << r->hash_bits);
	for (i = 0; r->hash && i < 1 << r->hash_bits; i++)
		hlist_for_each_entry(f, &r->hash[i], hash)
			nr_hashed++;
	for (node = r->returned.first; node; node = node->next)
		nr_returned++;
	SIM_CHECK(nr_ready == r->nr_ready && nr_hashed == nr_ready && nr_free == r->nr_free);
	if (nr_free + nr_ready + nr_returned != r->nr_frames)
		sim_fail("frames: %u free, %u ready, %u on their way back, of %u",
			 nr_free, nr_ready, nr_returned, r->nr_frames);
	/* Those that were being read as the room shrank go when they are given up. */
	if (r->nr_frames < r->target || nr_free > r->target)
		sim_fail("there are %u frames, %u of them free, and should be %u",
			 r->nr_frames, nr_free, r->target);
	return nr_ready;
}

static u32 check_shards(struct pagein *pi)
{
	struct waiting_frame *f;
	u32 i, j, ready = 0;

	for (i = 0; i < PAGEIN_SHARDS; i++) {
		struct pagein_shard *sh = &pi->shards[i];

		SIM_CHECK(!sh->passing);
		SIM_CHECK(!sh->held);
		for (j = 0; j < STEADY_PAYERS; j++)
			SIM_CHECK(!sh->held_by[j]);
		for (j = 0; j < PAGEIN_READS; j++)
			SIM_CHECK(list_empty(&sh->reads[j]));
		ready += check_room(&sh->room);
		list_for_each_entry(f, &sh->room.ready, list)
			if (!(pi->map->live[granule_of(f->slot)] & granule_bit(f->slot)))
				sim_fail("a page of slot %u waits, which is not live", f->slot);
	}
	return ready;
}

/* --- memory --- */

static void check_pools(struct engine *e)
{
	u32 i, spares = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		spares += !!*per_cpu_ptr(e->pagein.spares, cpu);
	SIM_CHECK(e->pagein.ops.nr_live == spares);
	SIM_CHECK(!e->pagein.bounce.nr_live && !e->batching.bounce.nr_live);
	SIM_CHECK(!e->pagein.parts.bios.nr_live);
	for (i = 0; i < BATCH_SIZES; i++)
		SIM_CHECK(!e->batching.batches[i].nr_live);
	SIM_CHECK(!e->backing.writes.bios.nr_live && !e->backing.writes.vecs.nr_live);
}

/* --- counters --- */

#define CHECK_SAME(what, wanted) do {						\
	u64 what_ = (what), wanted_ = (wanted);					\
										\
	if (what_ != wanted_)							\
		sim_fail("%s is %llu, %s %llu", #what, what_, #wanted, wanted_);	\
} while (0)

static void check_histogram(struct engine *e)
{
	u64 writes = 0, sum = 0, n;
	u32 pages;

	for (pages = 0; pages <= CLUSTER_PAGES_MAX; pages++) {
		n = mswap_hist_sum(e->stats, pages);
		SIM_CHECK(!n || pages);
		writes += n;
		sum += n * pages;
	}
	CHECK_SAME(writes, stat(MSWAP_DEV_WRITES));
	CHECK_SAME(sum, stat(MSWAP_DEV_PAGES_WRITTEN));
}

static void check_writes(const struct disk_counts *now, const struct disk_counts *before)
{
	u64 failed = now->failed_writes - before->failed_writes;

	CHECK_SAME(stat(MSWAP_DEV_WRITES), now->writes - before->writes);
	CHECK_SAME(stat(MSWAP_DEV_PAGES_WRITTEN), now->written_pages - before->written_pages);
	CHECK_SAME(stat(MSWAP_WRITE_ERRORS), failed);
	SIM_CHECK(stat(MSWAP_WRITE_RETRIES) <= failed);
	/* None is empty. */
	SIM_CHECK(stat(MSWAP_BATCHES) <= stat(MSWAP_DEV_WRITES) + stat(MSWAP_NOSPACE));
	SIM_CHECK(stat(MSWAP_PAGES_OUT_COPIED) <= stat(MSWAP_PAGES_OUT));
	/* What is to be written after a flush that fails does not come so far. */
	if (now->failed_flushes == before->failed_flushes)
		CHECK_SAME(stat(MSWAP_PAGES_OUT), rig.pages_out);
	if (!failed && !stat(MSWAP_NOSPACE))
		CHECK_SAME(stat(MSWAP_DEV_PAGES_WRITTEN), stat(MSWAP_PAGES_OUT));
}

static void check_reads(const struct disk_counts *now, const struct disk_counts *before, u32 ready)
{
	u64 ahead = stat(MSWAP_PREFETCHED);
	u64 fates = stat(MSWAP_PREFETCH_USED) + stat(MSWAP_PREFETCH_WASTED) + ready;
	u64 served = stat(MSWAP_PAGES_IN_WAITING) + stat(MSWAP_PAGES_IN_COPIED) +
		     stat(MSWAP_PAGES_IN_ZERO);
	u64 direct = stat(MSWAP_DEV_PAGES_READ) - ahead - stat(MSWAP_DEV_PAGES_PASSED);

	CHECK_SAME(stat(MSWAP_DEV_READS), now->reads - before->reads);
	CHECK_SAME(stat(MSWAP_DEV_PAGES_READ), now->read_pages - before->read_pages);
	CHECK_SAME(stat(MSWAP_READ_ERRORS), now->failed_reads - before->failed_reads);
	CHECK_SAME(stat(MSWAP_PAGES_IN), rig.pages_in);
	SIM_CHECK(fates <= ahead);
	if (now->failed_reads != before->failed_reads)
		return;
	CHECK_SAME(served + direct, rig.pages_in);
	if (!rig.trimmed)
		CHECK_SAME(fates, ahead);
}

void check_at_rest(void)
{
	struct engine *e = rig.engine;
	u32 ready;

	wait_for_rest(e);
	check_slots(e);
	check_copies(&e->store);
	ready = check_shards(&e->pagein);
	check_pools(e);
	check_histogram(e);
	check_writes(&rig.disk.counts, &rig.before);
	check_reads(&rig.disk.counts, &rig.before, ready);
}
