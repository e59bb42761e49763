// SPDX-License-Identifier: GPL-2.0-only
/* One run: a device is made, used, brought to rest, emptied and taken away. */
#include "mswap.h"

struct rig rig;

void rig_make_engine(void)
{
	rig.engine = calloc(1, sizeof(*rig.engine));
	SIM_CHECK(rig.engine);
	while (engine_init(rig.engine, "mswap0"))
		sim.refused_waiting /= 2;
}

void rig_drop_engine(void)
{
	engine_exit(rig.engine);
	free(rig.engine);
}

static void submit_alone(struct block_device *front, struct bio *bio)
{
	engine_submit(rig.engine, bio);
}

void rig_start_alone(u32 slots, u32 waiting_pages, u32 phys)
{
	u32 i;

	memset(&rig, 0, sizeof(rig));
	rig.slots = slots;
	rig.slots_max = slots;
	rig.keeps = true;
	init_waitqueue_head(&rig.gate);
	spin_lock_init(&rig.swap_lock);
	oracle_begin(rig.slots_max);
	SIM_CHECK(!pagein_module_init());
	rig_make_engine();
	disk_make(&rig.disk, 0, (u64)(phys + BACKING_FIRST_EDGE + BACKING_LAST_EDGE) * PAGE_SECTORS);
	sim_name_device(RIG_DISK_PATH, &rig.disk.bdev);
	rig.front.submit = submit_alone;
	rig.front.nr_sectors = (u64)rig.slots * PAGE_SECTORS;
	rig.engine->knobs.waiting_pages = waiting_pages;
	SIM_CHECK(!engine_start(rig.engine, RIG_DISK_PATH, rig.slots));
	for (i = 0; i < rig.slots_max; i++)
		oracle_set(i, 0);
}

static void begin(void)
{
	memset(&rig, 0, sizeof(rig));
	init_waitqueue_head(&rig.gate);
	spin_lock_init(&rig.swap_lock);
	rig.slots_max = 40 + sim_size(600);
	rig.faults = sim_once_in(3) ? 0 : sim_below(32);
	rig.lent = sim_once_in(6);
	rig.keeps = sim_once_in(3);
	rig.restless = sim_once_in(4);
	rig.left = 300 + sim_size(4000);
	rig.hot_slots = sim_size(60);
	if (rig.faults & FAULT_MEMORY)
		sim.refused_waiting = sim_size(64);
	oracle_begin(rig.slots_max);
	SIM_CHECK(!pagein_module_init());
	rig_make_engine();
	control_start();
	tasks_begin();
}

static void work(void)
{
	u32 i, n = 1 + sim_below(TASKS_MAX);

	rig.tasks = n;
	rig.controlled = true;
	for (i = 0; i < n; i++)
		sim_spawn("a task", task_work, (void *)(size_t)i);
	sim_spawn("control", control_work, NULL);
	wait_event(rig.gate, !rig.tasks && !rig.controlled);
}

/* All that was acknowledged is there, and can be taken away. */
static void empty(void)
{
	struct engine *e = rig.engine;
	struct io_group g;
	u32 fit;

	control_heal();
	read_slots(0, rig.slots);
	check_at_rest();
	io_group_begin(&g);
	io_clear(&g, 0, min_t(u32, rig.slots, IO_PAGES_MAX), REQ_OP_DISCARD);
	io_group_end(&g);
	while (rig.slots > IO_PAGES_MAX)
		io_free_slot(--rig.slots);
	read_slots(0, rig.slots);
	check_at_rest();
	SIM_CHECK(space_nr_free(&e->space) + e->space.retired.value == e->space.nr_slots);
	SIM_CHECK(!store_nr_held(&e->store));
	fit = rig_fit();
	if (engine_resize(e, fit + 1) != -ENOSPC)
		sim_fail("of %u slots the device has %u as a reserve", fit + ENGINE_RESERVE_MIN,
			 ENGINE_RESERVE_MIN - 1);
	if (fit && engine_resize(e, fit))
		sim_fail("a device that holds nothing cannot have another size");
}

void rig_end(void)
{
	control_stop();
	rig_drop_engine();
	pagein_module_exit();
	disk_free(&rig.disk);
	oracle_end();
	sim_check_cgroups();
}

static void run(void)
{
	if (sim.seed % READS_ONCE_IN == READS_SEED) {
		reads_run();
		rig_end();
		return;
	}
	if (sim.seed % SCENES_ONCE_IN == 0) {
		scenes_run();
		rig_end();
		return;
	}
	begin();
	work();
	if (sim_once_in(2)) {
		/* As a reset does, with whatever is under way. */
		rig_end();
		return;
	}
	empty();
	rig_end();
}

int main(int argc, char **argv)
{
	static const struct run_test test = {
		.name = "mswap", .seeds = 1000, .run = run,
		.events = check_events, .nr_events = NR_EVENTS,
	};

	return run_main(argc, argv, &test);
}
