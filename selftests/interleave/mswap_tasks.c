// SPDX-License-Identifier: GPL-2.0-only
/* What tasks do with the device: as programs that swap do, and as nobody should. */
#include "mswap.h"

/* --- the gate --- */

void gate_enter(void)
{
	wait_event(rig.gate, !rig.shut);
	rig.users++;
}

void gate_leave(void)
{
	rig.users--;
	wake_up(&rig.gate);
}

void gate_shut(void)
{
	wait_event(rig.gate, !rig.shut);
	rig.shut = true;
	wait_event(rig.gate, !rig.users);
}

void gate_open(void)
{
	rig.shut = false;
	wake_up(&rig.gate);
}

/* --- where --- */

/* A range of up to @most slots, in most cases where others are at work too. */
static u32 random_range(u32 most, u32 *n)
{
	u32 slot = sim_below(rig.slots);

	if (sim_below(4))
		slot = (rig.hot + sim_below(rig.hot_slots)) % rig.slots;
	*n = min(sim_size(most), rig.slots - slot);
	return slot;
}

/* Others have done some, too. */
static void done(u32 n)
{
	rig.left -= min(rig.left, n);
}

/* --- single I/Os --- */

static blk_opf_t random_flags(void)
{
	static const blk_opf_t flags[] = {
		REQ_SYNC, REQ_META, REQ_PRIO, REQ_FUA, REQ_PREFLUSH, REQ_SYNC | REQ_FUA,
	};

	return sim_once_in(3) ? flags[sim_below(ARRAY_SIZE(flags))] : 0;
}

static void do_swap_out(struct io_group *g)
{
	u32 n, slot = random_range(sim_once_in(8) ? 64 : 4, &n);

	io_swap_out(g, slot, n, sim_once_in(8) ? REQ_SYNC : 0);
}

static void do_write(struct io_group *g)
{
	u32 n, slot = random_range(sim_once_in(8) ? IO_PAGES_MAX : 8, &n);

	io_write(g, slot, n, random_flags());
}

/* In most cases of what there is. */
static void do_read(struct io_group *g)
{
	u32 most = sim_once_in(4) ? 64 : 2, tries = sim_below(4), slot, n;

	do {
		slot = random_range(most, &n);
	} while (tries-- && slot_map_get(&rig.engine->map, slot) == SLOT_UNMAPPED);
	io_read(g, slot, n, random_flags() & (REQ_SYNC | REQ_META | REQ_PRIO));
}

static void do_clear(struct io_group *g)
{
	u32 n, slot = random_range(32, &n);

	if (!rig.keeps)
		io_clear(g, slot, n, sim_once_in(2) ? REQ_OP_DISCARD : REQ_OP_WRITE_ZEROES);
}

static void do_flush(struct io_group *g)
{
	io_flush(g);
}

static void do_free(struct io_group *g)
{
	u32 n, slot = random_range(16, &n);

	while (n-- && !rig.keeps)
		io_free_slot(slot + n);
}

static void do_wrong(struct io_group *g)
{
	if (sim_once_in(8))
		io_wrong();
}

static struct kind {
	void (*fn)(struct io_group *g);
	u32 weight;
} kinds[] = {
	{ do_swap_out }, { do_read }, { do_write }, { do_clear }, { do_free }, { do_flush },
	{ do_wrong },
};

static u32 weights;

void tasks_begin(void)
{
	u32 i;

	weights = 0;
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		/* The first two are what it is for; the others are rarer, or missing. */
		kinds[i].weight = i < 2 ? 2 + sim_below(10) : sim_below(3);
		weights += kinds[i].weight;
	}
}

static void do_one(struct io_group *g)
{
	u32 at = sim_below(weights), i;

	for (i = 0; at >= kinds[i].weight; i++)
		at -= kinds[i].weight;
	kinds[i].fn(g);
	done(1);
}

/* --- jobs --- */

/* Many at a time, in a plug or not; who sleeps in one is unplugged by the scheduler. */
static void job_burst(void)
{
	u32 n = sim_size(sim_once_in(4) ? 100 : 12);
	struct blk_plug plug;
	struct io_group g;

	io_group_begin(&g);
	if (sim_below(4))
		blk_start_plug(&plug);
	while (n-- && rig.left) {
		do_one(&g);
		if (sim_once_in(16))
			sim_sleep(sim_size(5000000));
	}
	if (current->plug && sim_below(4))
		blk_finish_plug(&plug);
	io_group_end(&g);
	if (current->plug)
		blk_finish_plug(&plug);
}

static void swap_out_run(u32 slot, u32 n, u32 step)
{
	struct blk_plug plug;
	struct io_group g;
	u32 i;

	io_group_begin(&g);
	blk_start_plug(&plug);
	for (i = 0; i < n; i++)
		io_swap_out(&g, (slot + i * step) % rig.slots, 1, 0);
	blk_finish_plug(&plug);
	io_group_end(&g);
	done(n);
}

/* --- one who writes for others --- */

struct errand {
	struct io_group g;
	u32 slot;
	u32 n;
	bool sent;
	wait_queue_head_t wait;
};

/*
 * As reclaim does: who waits for the pages may go on, and take the device away, while the
 * one who has written them is on his way out of his plug.
 */
static void run_errand(void *arg)
{
	struct errand *errand = arg;
	struct blk_plug plug;
	u32 i;

	blk_start_plug(&plug);
	for (i = 0; i < errand->n; i++)
		io_swap_out(&errand->g, errand->slot + i, 1, 0);
	errand->sent = true;
	sim_wake_all(&errand->wait);
	blk_finish_plug(&plug);
}

static void job_errand(void)
{
	struct errand errand = { .sent = false };

	errand.slot = random_range(40, &errand.n);
	init_waitqueue_head(&errand.wait);
	io_group_begin(&errand.g);
	sim_spawn("an errand", run_errand, &errand);
	wait_event(errand.wait, errand.sent);
	io_group_end(&errand.g);
	done(errand.n);
}

/* --- programs --- */

/* Pages that were evicted together. */
struct program {
	u32 slot;
	u32 n;
	u32 step;
	bool down;		/* it comes back for the last one first */
};

static u32 program_slot(const struct program *p, u32 i)
{
	return (p->slot + (p->down ? p->n - 1 - i : i) * p->step) % rig.slots;
}

/* Wants pages @i to @i + @n - 1 at a time, as its threads would. */
static void swap_in(const struct program *p, u32 i, u32 n)
{
	struct io_group g;
	u32 k, at;

	io_group_begin(&g);
	for (k = i; k < i + n; k++) {
		at = program_slot(p, k);
		io_read(&g, at, 1, 0);
		if (sim_once_in(8))
			io_read(&g, at, min(1 + sim_below(8), rig.slots - at), 0);
	}
	io_group_end(&g);
	for (k = i; k < i + n && !rig.keeps; k++)
		if (sim_once_in(3))
			io_free_slot(program_slot(p, k));
	done(n);
}

static void job_program(void)
{
	struct program p = {
		.slot = sim_below(rig.slots),
		.n = 1 + sim_below(min(rig.slots, 80u)),
		.step = sim_once_in(3) ? 1 + sim_below(4) : 1,
		.down = sim_once_in(4),
	};
	u32 most = sim_size(8), i, n;

	swap_out_run(p.slot, p.n, p.step);
	if (sim_once_in(2))
		sim_sleep(sim_size(20000000));
	for (i = 0; i < p.n && rig.left; i += n) {
		n = min(1 + sim_below(most), p.n - i);
		swap_in(&p, i, n);
	}
}

/* --- frontswap's --- */

/* Slots of one task, four of which lie side by side. */
static u32 own_slot(u32 number, u32 i)
{
	return (i / 4 * 16 + number) * 4 + i % 4;
}

static void job_lent(u32 number)
{
	u32 first = sim_below(100), n = sim_size(64), i, slot;
	u32 what = sim_below(3);
	struct blk_plug plug;

	if (sim_once_in(2))
		blk_start_plug(&plug);
	for (i = first; i < first + n && rig.left; i++) {
		/* Also without one: on a small device a task has hardly any. */
		done(1);
		slot = own_slot(number, i);
		if (slot >= rig.slots)
			break;
		if (what == 0 || sim_once_in(8))
			lent_store(slot);
		else if (what == 1 || sim_once_in(8))
			lent_load(slot);
		else if (!rig.keeps)
			lent_free(slot);
	}
	if (current->plug)
		blk_finish_plug(&plug);
}

void task_work(void *number)
{
	while (rig.left) {
		gate_enter();
		if (rig.lent)
			job_lent((size_t)number);
		else if (sim_once_in(3))
			job_program();
		else if (sim_once_in(4))
			job_errand();
		else
			job_burst();
		gate_leave();
		if (sim_once_in(8))
			sim_sleep(sim_size(10000000));
		if (sim_once_in(16))
			rig.hot = sim_below(rig.slots);
	}
	rig.tasks--;
	wake_up(&rig.gate);
}

void read_slots(u32 from, u32 to)
{
	struct io_group g;
	u32 slot;

	io_group_begin(&g);
	for (slot = from; slot < to; slot++)
		io_read(&g, slot, 1, 0);
	io_group_end(&g);
}
