// SPDX-License-Identifier: GPL-2.0-only
/* One run: a target is made, used, suspended and taken away. */
#include "w2r.h"

struct rig rig;

static void begin(void)
{
	memset(&rig, 0, sizeof(rig));
	init_waitqueue_head(&rig.gate);
	rig.sectors = 200 + (sim_once_in(3) ? 5800 : sim_size(6000));
	rig.begin = sim_once_in(2) ? 0 : sim_below(5000);
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
	control_end();
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
