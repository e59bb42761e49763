// SPDX-License-Identifier: GPL-2.0-only
/* One run: a target is made, used, suspended and taken away. */
#include "w2r.h"

struct rig rig;

/* On a small device, or at the end of a large one: where a number of 32 bits ends, or beyond. */
static u64 some_base(void)
{
	static const u32 bits[] = { 32, 35, 39, 45, 54 };

	if (sim_below(8))
		return 0;
	return (1ull << bits[sim_below(ARRAY_SIZE(bits))]) - (sim_once_in(2) ? 4096 : 0);
}

static void begin(void)
{
	memset(&rig, 0, sizeof(rig));
	init_waitqueue_head(&rig.gate);
	rig.sectors = 200 + (sim_once_in(3) ? 5800 : sim_size(6000));
	rig.begin = sim_once_in(2) ? 0 : sim_below(5000);
	rig.base = some_base();
	rig.faults = sim_once_in(3) ? 0 : sim_below(32);
	rig.outside = sim_once_in(2);
	rig.restless = sim_once_in(4);
	rig.left = 200 + sim_size(2000);
	SIM_CHECK(!sim_module_init());
	if (rig.faults & FAULT_MEMORY)
		sim.refused_waiting = sim_size(512);
	oracle_begin(rig.sectors);
	control_start();
}

/* Each sector has a value of its own, so that none can be taken for another. */
static void fill_disk(void)
{
	u32 i;

	for (i = 0; i < rig.sectors; i++) {
		rig.disk.media[i] = oracle_value(i);
		oracle_set(i, rig.disk.media[i]);
	}
}

static void work(void)
{
	u32 i, n = 1 + sim_below(8);

	rig.tasks = n;
	rig.controlled = true;
	for (i = 0; i < n; i++)
		sim_spawn("a task", task_work, NULL);
	sim_spawn("control", control_work, NULL);
	wait_event(rig.gate, !rig.tasks && !rig.controlled);
}

static void run(void)
{
	bool others = sim_once_in(10);

	begin();
	fill_disk();
	work();
	control_heal();
	read_all();
	control_suspend();
	check_at_rest();
	count_events();
	control_shrink();
	check_at_rest();
	control_starve();
	check_at_rest();
	control_holes();
	check_at_rest();
	if (sim_once_in(4)) {
		control_read_ahead();
		check_at_rest();
	}
	if (others)
		others_begin();
	control_end();
	if (others)
		others_end();
	sim_module_exit();
	oracle_end();
	sim_check_cgroups();
}

int main(int argc, char **argv)
{
	static const struct run_test test = {
		.name = "w2r", .seeds = 600, .run = run,
		.events = check_events, .nr_events = NR_EVENTS,
	};

	return run_main(argc, argv, &test);
}
