// SPDX-License-Identifier: GPL-2.0-only
#include "event.h"
#include "lock.h"

#define TASKS_MAX	1024
/* No file of a module has many more. */
#define LINES_MAX	550

/* No run takes as long, unless something waits for what does not come. */
#define SWITCHES_MAX	20000000ull
#define SILENCE_MAX	(3600ull * 1000 * 1000 * 1000)

struct sim sim;
u32 sim_patience;
struct task_struct *current;

/*
 * All that were ever made, in that order: those from unused on have not run in this run,
 * which so does not depend on the runs before. idle: those that have ended in this one.
 */
static struct task_struct first, *newest = &first, *unused, *idle;
static struct task_struct *runnable[TASKS_MAX];
static u32 nr_runnable;
static u64 now, last_progress, last_switches, random_state;

/* --- chance --- */

/* xorshift64* */
u64 sim_random(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1dull;
}

u32 sim_below(u32 n)
{
	return ((sim_random() >> 32) * n) >> 32;
}

bool sim_once_in(u32 n)
{
	return n && !sim_below(n);
}

u32 sim_size(u32 most)
{
	u32 bits = sim_below(fls64(most)) + 1;
	u32 top = min(most, (u32)((1ull << bits) - 1));

	return 1 + sim_below(top);
}

u32 sim_of_1024(void)
{
	switch (sim_below(6)) {
	case 0:
		return sim_size(100);
	case 1:
		return sim_size(1024);
	case 2:
		return 1024;
	default:
		return 0;
	}
}

/* --- who may run --- */

static void may_run(struct task_struct *task)
{
	SIM_CHECK(nr_runnable < TASKS_MAX);
	task->waits_for = NULL;
	task->index = nr_runnable;
	runnable[nr_runnable++] = task;
}

static void may_not_run(struct task_struct *task, const char *why)
{
	struct task_struct *last = runnable[--nr_runnable];

	task->waits_for = why;
	runnable[task->index] = last;
	last->index = task->index;
}

void sim_wake(struct task_struct *task)
{
	SIM_CHECK(task->name);
	if (task->waits_for && !task->stalled)
		may_run(task);
}

static void fire(struct sim_event *event)
{
	now = max(now, event->when);
	sim_event_cancel(event);
	event->fire(event);
}

static void fire_due(void)
{
	struct sim_event *event;

	while ((event = event_first()) && event->when <= now)
		fire(event);
}

/* Where nobody may run, time passes until somebody may. */
static struct task_struct *choose(void)
{
	fire_due();
	while (!nr_runnable) {
		if (!event_first())
			sim_fail("deadlock: all tasks wait");
		fire(event_first());
		if (now - last_progress > SILENCE_MAX)
			sim_fail("nothing has ended for an hour");
	}
	return runnable[sim_below(nr_runnable)];
}

static void switch_to_another(void)
{
	struct task_struct *from = current, *to = choose();

	sim_patience = 1 + sim_below(2 * sim.mean);
	if (to == from)
		return;
	current = to;
	coroutine_switch(&from->co, &to->co);
}

/* --- standing still --- */

#define STALL_MAX	100000	/* ticks */

struct stall {
	struct sim_event event;
	struct task_struct *task;
};

static void stall_over(struct sim_event *event)
{
	struct task_struct *task = container_of(event, struct stall, event)->task;

	task->stalled = false;
	may_run(task);
}

/* Nothing but time ends it: what wakes a task that waits does not. */
static void stall(u64 ns, const char *why)
{
	struct stall s = { .event.fire = stall_over, .task = current };

	sim_event_at(&s.event, now + ns);
	current->stalled = true;
	may_not_run(current, why);
	switch_to_another();
}

void sim_lag(void)
{
	if (sim_once_in(16))
		stall((u64)sim.tick * sim_size(STALL_MAX), "its CPU");
}

void sim_lag_here(void)
{
	if (sim_once_in(4))
		stall((u64)sim.tick * sim_size(50000), "its CPU");
}

void sim_switch(void)
{
	now += sim.tick;
	if (++sim.switches - last_switches > SWITCHES_MAX)
		sim_fail("nothing ends");
	if (sim_once_in(sim.stall))
		stall((u64)sim.tick * sim_size(sim_once_in(8) ? STALL_MAX : 5000), "its CPU");
	else
		switch_to_another();
}

void sim_block(const char *what)
{
	may_not_run(current, what);
	now += sim.tick;
	switch_to_another();
}

void sim_might_sleep(const char *what)
{
	lock_check_sleep(what);
	sim_point(SIM_LOCK);
}

u64 sim_now(void)
{
	return now;
}

void sim_sleep(u64 ns)
{
	sim_about_to_sleep(__func__);
	stall(ns, "some time to pass");
}

/* --- tasks --- */

static void end_task(struct task_struct *task)
{
	if (task->nr_held || task->nr_rcu || task->plug || task->bio_list ||
	    task->cpu >= 0)
		sim_fail("task %s ended with %u locks, plug %p", task->name,
			 task->nr_held, (void *)task->plug);
	may_not_run(task, "nothing: it has ended");
	task->name = NULL;
	task->next_idle = idle;
	idle = task;
	switch_to_another();
}

static void run_tasks(void)
{
	coroutine_begun();
	for (;;) {
		current->run(current->arg);
		end_task(current);
	}
}

static struct task_struct *new_task(void)
{
	struct task_struct *task = idle;

	if (task) {
		idle = task->next_idle;
		return task;
	}
	if (!unused) {
		unused = calloc(1, sizeof(*unused));
		SIM_CHECK(unused);
		coroutine_make(&unused->co, run_tasks);
		newest->next = unused;
		newest = unused;
	}
	task = unused;
	unused = task->next;
	return task;
}

static struct task_struct *spawn(const char *name, void (*run)(void *arg), void *arg)
{
	struct task_struct *task = new_task();

	task->name = name;
	task->run = run;
	task->arg = arg;
	task->flags = 0;
	task->irq = false;
	task->irqs_off = false;
	task->cpu = -1;
	may_run(task);
	return task;
}

void sim_spawn(const char *name, void (*run)(void *arg), void *arg)
{
	spawn(name, run, arg);
}

void sim_spawn_irq(const char *name, void (*run)(void *arg), void *arg)
{
	struct task_struct *task = spawn(name, run, arg);

	task->irq = true;
	task->irqs_off = true;
}

void sim_all_tasks(void (*fn)(struct task_struct *task, void *arg), void *arg)
{
	struct task_struct *task;

	for (task = &first; task; task = task->next)
		if (task->name)
			fn(task, arg);
}

static void wake_if_waits(struct task_struct *task, void *what)
{
	if (task->waits_for == what)
		sim_wake(task);
}

void sim_wake_those(const char *what)
{
	sim_all_tasks(wake_if_waits, (void *)what);
}

static void show_task(struct task_struct *task, void *arg)
{
	printf("# %s%s: %s%s\n", task == current ? "* " : "", task->name,
	       task->waits_for ? "waits for " : "may run",
	       task->waits_for ? task->waits_for : "");
}

void sim_show_tasks(void)
{
	sim_all_tasks(show_task, NULL);
}

/* --- a run --- */

void sim_begin(u64 seed)
{
	/* Neighbouring seeds must not give neighbouring sequences; 0 is a fixed point. */
	random_state = (seed + 1) * 0x9e3779b97f4a7c15ull;
	if (!random_state)
		random_state = 1;
	sim = (struct sim) { .seed = seed, .plugs_each = random_state >> 63 };
	sim.cpus = 1 + sim_below(sim_once_in(2) ? 2 : 8);
	sim.workers = sim_once_in(2) ? 1 : 4;
	sim.mean = sim_size(200);
	sim.stall = sim_once_in(4) ? 0 : 8 + sim_size(500);
	sim.slow_line = sim_below(LINES_MAX);
	sim.tick = 20 * sim_size(10000);
	now = 1000000000ull;
	last_progress = now;
	last_switches = 0;
	sim_patience = 1;
	if (!first.co.begun)
		coroutine_adopt(&first.co);
	idle = NULL;
	unused = first.next;
	first.name = "main";
	first.cpu = -1;
	current = &first;
	nr_runnable = 0;
	may_run(&first);
	lock_begin();
}

static void count_task(struct task_struct *task, void *arg)
{
	++*(u32 *)arg;
}

/* Those that have done what they were for may be on their way out yet, and stand still there. */
void sim_end(void)
{
	u32 tries, alive;

	for (tries = 0; tries < 1000; tries++) {
		alive = 0;
		sim_all_tasks(count_task, &alive);
		if (alive == 1)
			break;
		sim_sleep((u64)sim.tick * STALL_MAX / 10);
	}
	if (alive != 1 || event_first())
		sim_fail("%u tasks have not ended, or something is to come yet", alive - 1);
	lock_end();
}

void sim_progress(void)
{
	last_progress = now;
	last_switches = sim.switches;
}
