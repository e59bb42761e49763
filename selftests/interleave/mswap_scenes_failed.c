// SPDX-License-Identifier: GPL-2.0-only
/* What the device answers when the disk fails a certain write or read, or memory is short. */
#include "mswap_scenes.h"

static void wait_for_failed(u32 n)
{
	u32 waits = 0;

	while (store_nr_failed(&rig.engine->store) != n) {
		SIM_CHECK(waits++ < 60);
		sim_sleep(A_SECOND);
	}
}

static u32 nr_retired(void)
{
	return rig.engine->space.retired.value;
}

/* --- what could not be written --- */

static void held_go_after_a_retry(void)
{
	rig.disk.fates = ~0ull;
	scene_swap_out(0, 1);
	wait_for_failed(1);
	rig.disk.fates = 1;
	scene_swap_out(1, 1);
	sim_sleep(4 * A_SECOND);
	if (store_nr_held(&rig.engine->store))
		sim_fail("a copy is not written, though the disk took another at the second try");
}

static void held_go_by_themselves(void)
{
	u32 slot = 0;

	rig.disk.gone = true;
	while (scene_stat(MSWAP_STORES_REFUSED) < 2)
		lent_store(slot++ % SCENE_SLOTS);
	wait_for_failed(rig.engine->store.nr_pages);
	rig.disk.gone = false;
	lent_store(slot);
	sim_sleep(15 * A_SECOND);
	if (store_nr_held(&rig.engine->store))
		sim_fail("no copy is free, and the disk is not asked whether it takes writes again");
}

static struct stored_page *hold_failed(u32 slot)
{
	struct store *st = &rig.engine->store;
	struct stored_page *s = store_get(st);

	store_hold(st, s, slot);
	store_keep(st, s);
	return s;
}

struct taker {
	struct stored_page *got;
	bool over;
};

static void take_failed(void *arg)
{
	struct taker *taker = arg;

	taker->got = store_take_failed(&rig.engine->store);
	taker->over = true;
	wake_up(&rig.gate);
}

/* Another copy, which somebody else writes, takes the place of one that failed as that is taken. */
static void only_failed_copies_are_taken(void)
{
	struct store *st = &rig.engine->store;
	struct stored_page *failed, *fresh;
	struct taker taker;
	u32 i;

	for (i = 0; i < 300; i++) {
		failed = hold_failed(0);
		fresh = store_get(st);
		taker.over = false;
		sim_spawn("a taker", take_failed, &taker);
		store_hold(st, fresh, 0);
		wait_event(rig.gate, taker.over);
		SIM_CHECK(!taker.got || taker.got == failed);
		if (taker.got)
			store_keep(st, taker.got);
		store_drop(st, 0);
		store_put(st, fresh);
	}
}

/* They are to be written, as they are given up. */
static void failed_copies_go_as_they_are_taken(void)
{
	struct store *st = &rig.engine->store;
	u32 i, turns;

	rig.disk.fates = 1;
	scene_write(2, 1);
	for (i = 0; i < 100; i++) {
		hold_failed(0);
		hold_failed(1);
		batch_rewrite_in(&rig.engine->batching, 0);
		for (turns = sim_below(16); turns; turns--)
			sim_switch();
		store_drop(st, 0);
		store_drop(st, 1);
		sim_sleep(A_SECOND / 100);
	}
}

/* A rewrite that begins as the device stops, and is taken in part, is the last one. */
static void no_rewrite_follows_the_end(void)
{
	struct batching *bt = &rig.engine->batching;
	u32 i, turns;

	for (i = 0; i < 200; i++) {
		hold_failed(0);
		hold_failed(1);
		rig.disk.fates = sim_random() | 1;
		batch_rewrite_in(bt, 0);
		for (turns = sim_below(16); turns; turns--)
			sim_switch();
		batching_drain(bt);
		SIM_CHECK(!bt->rewrite_work.work.pending);
		bt->stopping = false;
		store_drop(&rig.engine->store, 0);
		store_drop(&rig.engine->store, 1);
	}
	rig.disk.fates = 0;
}

/* Takes all copies, but for those that are held. */
static void take_copies(struct store_chain *taken)
{
	struct stored_page *s;

	*taken = (struct store_chain) { NULL };
	while ((s = store_get(&rig.engine->store)))
		store_chain_add(taken, s);
}

/* How long one waits for a copy, in vain. */
static u64 refused_after(u32 slot)
{
	u64 begin = sim_now(), refused = scene_stat(MSWAP_STORES_REFUSED);

	lent_store(slot);
	SIM_CHECK(scene_stat(MSWAP_STORES_REFUSED) == refused + 1);
	return sim_now() - begin;
}

static void only_one_waits_for_copies(void)
{
	struct store_chain taken;
	u32 i;

	for (i = 0; i < 2; i++) {
		take_copies(&taken);
		SIM_CHECK(refused_after(0) > A_SECOND / 2);
		SIM_CHECK(refused_after(1) < A_SECOND / 2);
		store_put_chain(&rig.engine->store, &taken);
		lent_store(2);
		if (store_nr_held(&rig.engine->store) != 1)
			sim_fail("a store is refused though there are copies");
		check_at_rest();
	}
}

static void no_batch_is_to_be_had(void)
{
	struct batching *bt = &rig.engine->batching;
	struct batch *taken[64];
	u32 n = 0;

	rig.disk.fates = 1;
	scene_write(2, 1);
	check_at_rest();
	hold_failed(0);
	sim.refused = 1024;
	while ((taken[n] = batch_alloc(bt, 1, BATCH_GFP_NOWAIT)))
		SIM_CHECK(++n < ARRAY_SIZE(taken));
	batch_rewrite_in(bt, 0);
	refused_after(1);
	sim_sleep(A_SECOND);
	/* Behind it are those that try writes again, who may hold a batch. */
	flush_work(&bt->rewrite_work.work);
	sim.refused = 0;
	while (n)
		batch_put(taken[--n]);
	SIM_CHECK(store_nr_held(&rig.engine->store) == 1);
	store_drop(&rig.engine->store, 0);
}

/* What is in pieces is copied for its write, and there is no page to copy it to: a worker waits. */
static void deferred_bios_make_no_batch(void)
{
	struct batching *bt = &rig.engine->batching;
	struct page *taken[64];
	struct io_group g;
	u32 n = 0, i;

	sim.refused = 1024;
	while ((taken[n] = mempool_alloc(&bt->bounce, BATCH_GFP_NOWAIT)))
		SIM_CHECK(++n < ARRAY_SIZE(taken));
	io_group_begin(&g);
	for (i = 0; i < 32; i++)
		io_write(&g, i, 1, 0);
	sim_sleep(A_SECOND);
	while (n)
		mempool_free(taken[--n], &bt->bounce);
	io_group_end(&g);
	sim.refused = 0;
}

/* --- failed writes --- */

/* The write, the other one instead, a slot that tells, all slots, one of them, and that slot. */
static void gone_while_asked(void)
{
	bool gone = sim_once_in(2);

	rig.disk.fates = gone ? 0x39 : 0x19;
	scene_write(0, 4);
	check_at_rest();
	if (nr_retired() != !gone)
		sim_fail("%u slots are retired", nr_retired());
}

/* Of the run, and of the one half of the disk further, where it is tried again. */
static void first_slots_are_bad(void)
{
	scene_spoil(0, DISK_BAD_WRITE);
	scene_spoil(rig.engine->space.nr_slots / 2, DISK_BAD_WRITE);
	scene_write(0, 8);
	check_at_rest();
	SIM_CHECK(nr_retired() == 2 && scene_stat(MSWAP_WRITE_ERRORS) == 2);
}

/* The write goes elsewhere, once, and of the slots that it leaves only the bad one is retired. */
static void bad_slot_is_in_the_middle(void)
{
	scene_spoil(3, DISK_BAD_WRITE);
	scene_write(0, 8);
	check_at_rest();
	SIM_CHECK(nr_retired() == 1 && scene_stat(MSWAP_WRITE_ERRORS) == 1);
}

static void bad_place_is_left_behind(void)
{
	u32 i;

	for (i = 0; i < SCENE_PHYS / 4; i++)
		scene_spoil(i, DISK_BAD_WRITE);
	scene_write(0, 128);
	check_at_rest();
	SIM_CHECK(nr_retired() == 128 && scene_stat(MSWAP_WRITE_ERRORS) == 1);
	for (i = 0; i < 128; i++)
		SIM_CHECK(scene_phys(i) < SCENE_PHYS);
}

/* Its middle takes no write. All else is taken but for two slots, before the place half of the disk away. */
static void bad_half_is_left_behind(void)
{
	struct space *s = &rig.engine->space;
	u32 i, quarter = s->nr_slots / 4, good = 3 * quarter + 8;

	scene_leave_slots(quarter, 2 * quarter);
	space_free(s, good, 2);
	rig.taken -= 2;
	atomic_set(&s->retired, rig.taken);
	for (i = quarter; i < 3 * quarter; i++)
		scene_spoil(i, DISK_BAD_WRITE);
	s->shards->hint = 2 * quarter;
	scene_write(0, 1);
	check_at_rest();
	SIM_CHECK(scene_phys(0) - good < 2 && scene_stat(MSWAP_WRITE_ERRORS) == 2);
}

static void every_other_slot_is_bad(void)
{
	u32 i;

	for (i = 0; i < SCENE_PHYS; i += 2)
		scene_spoil(i, DISK_BAD_WRITE);
	scene_write(0, 32);
	check_at_rest();
	for (i = 0; i < 32; i++)
		SIM_CHECK(scene_phys(i) < SCENE_PHYS && scene_phys(i) % 2);
}

/* Though each slot takes a write when it is asked. */
static void fails_again_and_again(void)
{
	u32 i;

	rig.disk.fates = 3;
	for (i = 3; i < 64; i += 3)
		rig.disk.fates |= 1ull << i;
	scene_write(0, 1);
	check_at_rest();
	if (nr_retired() || scene_stat(MSWAP_WRITE_ERRORS) != 5)
		sim_fail("a page was written %llu times", scene_stat(MSWAP_WRITE_ERRORS));
}

/* No slot will be given up: who wants another one does not wait for it. */
static void full_and_gone(void)
{
	u64 begun;

	scene_leave_slots(0, 4);
	rig.disk.gone = true;
	begun = sim_now();
	scene_write(0, 4);
	if (sim_now() - begun > A_SECOND / 20)
		sim_fail("a write waited %llu ns for slots that nothing gives up", sim_now() - begun);
	check_at_rest();
	SIM_CHECK(space_nr_free(&rig.engine->space) == 4);
}

static void full_with_a_bad_slot(void)
{
	scene_leave_slots(0, 4);
	scene_spoil(0, DISK_BAD_WRITE);
	scene_write(0, 3);
	check_at_rest();
	SIM_CHECK(nr_retired() == rig.taken + 1);
	SIM_CHECK(scene_phys(0) + scene_phys(1) + scene_phys(2) == 1 + 2 + 3);
}

/* 0 and 1 of 8. */
static void two_are_bad(u8 flag)
{
	scene_spoil(0, flag);
	scene_spoil(1, flag);
}

/* Where no other is free; a page that found none is the writer's again, and the next one may have them. */
static void retired_are_asked_when_none_is_free(void)
{
	u64 asked;

	scene_leave_slots(0, 8);
	two_are_bad(DISK_BAD_WRITE);
	scene_write(0, 6);
	check_at_rest();
	SIM_CHECK(nr_retired() == rig.taken + 2);
	asked = rig.disk.counts.probes;
	scene_write(6, 1);
	check_at_rest();
	if (rig.disk.counts.probes == asked)
		sim_fail("no slot is left, and the retired ones are not asked");
	SIM_CHECK(nr_retired() == rig.taken + 2 && scene_stat(MSWAP_NOSPACE) == 1);
	asked = rig.disk.counts.probes;
	two_are_bad(0);
	scene_write(6, 1);
	check_at_rest();
	if (rig.disk.counts.probes != asked)
		sim_fail("retired slots are asked at each write that finds none");
	sim_sleep(10 * A_SECOND);
	scene_write(6, 1);
	check_at_rest();
	if (nr_retired() != rig.taken)
		sim_fail("slots that take writes again are not used");
	scene_write(6, 2);
	SIM_CHECK(scene_phys(6) + scene_phys(7) == 1 && scene_stat(MSWAP_NOSPACE) == 3);
}

static void retire_one(void *arg)
{
	struct space *s = &rig.engine->space;
	bool *over = arg;
	u32 got;

	space_alloc(s, 1, SPACE_APART, SLOT_NONE, &got);
	space_retire(s, 1);
	*over = true;
	wake_up(&rig.gate);
}

static void retired_as_used_are_counted(void)
{
	struct space *s = &rig.engine->space;
	bool over;
	u32 i;

	for (i = 0; i < 300; i++) {
		over = false;
		sim_spawn("who retires", retire_one, &over);
		do
			SIM_CHECK(space_nr_used(s) <= 1);
		while (sim_once_in(2));
		wait_event(rig.gate, over);
		SIM_CHECK(!space_nr_used(s));
	}
}

/* --- failed reads --- */

static void bad_slot_is_not_loaded(void)
{
	lent_store(0);
	sim_sleep(A_SECOND);
	scene_spoil(scene_phys(0), DISK_BAD_READ);
	lent_load(0);
}

/* Each shard has two of these granules. */
#define NEIGHBOURS	(2 * PAGEIN_SHARDS)

static void bad_granule_is_read_alone(void)
{
	u32 i, bad = GRANULE_SLOTS + 40, good = bad - 10;
	u64 pages;

	rig.engine->knobs.readahead = MSWAP_READAHEAD_ON;
	for (i = 0; i < NEIGHBOURS; i++)
		scene_write(i * GRANULE_SLOTS, GRANULE_SLOTS);
	for (i = 0; i < NEIGHBOURS * GRANULE_SLOTS; i++)
		SIM_CHECK(scene_phys(i) == i);
	scene_spoil(bad, DISK_BAD_READ);
	scene_read(good);
	SIM_CHECK(rig.disk.counts.failed_reads == 1);
	for (i = 0; i < GRANULE_SLOTS; i++)
		scene_read(i);
	if (rig.disk.counts.failed_reads != 1)
		sim_fail("what has failed is read ahead again");
	for (i = 2 * GRANULE_SLOTS; i < NEIGHBOURS * GRANULE_SLOTS; i++)
		scene_read(i);
	if (rig.disk.counts.reads > 2 + 2 * NEIGHBOURS)
		sim_fail("beside a granule with a bad slot others were read %llu times",
			 rig.disk.counts.reads);
	for (i = 0; i < GRANULE_SLOTS; i++) {
		pages = rig.disk.counts.read_pages;
		scene_read(good);
		if (rig.disk.counts.read_pages != pages + 1)
			sim_fail("the %u-th read after one that failed is a window", i);
	}
	scene_read(good);
	if (rig.disk.counts.failed_reads != 2)
		sim_fail("windows are never tried again");
}

void (*const scenes_failed[])(void) = {
	held_go_after_a_retry, held_go_by_themselves, gone_while_asked, first_slots_are_bad,
	bad_slot_is_in_the_middle, every_other_slot_is_bad, bad_granule_is_read_alone, fails_again_and_again,
	only_one_waits_for_copies, only_failed_copies_are_taken, failed_copies_go_as_they_are_taken,
	no_rewrite_follows_the_end,
	no_batch_is_to_be_had, full_and_gone, full_with_a_bad_slot, bad_slot_is_not_loaded,
	retired_as_used_are_counted, deferred_bios_make_no_batch, retired_are_asked_when_none_is_free,
	bad_place_is_left_behind, bad_half_is_left_behind,
};

const u32 nr_scenes_failed = ARRAY_SIZE(scenes_failed);
