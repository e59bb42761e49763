// SPDX-License-Identifier: GPL-2.0-only
#include "lock.h"

/* --- classes, as lockdep sees them --- */

#define CLASSES_MAX	63

static struct class_state {
	const char *name;
	u64 inside;		/* classes taken while one of this was held */
	bool in_irq;
	bool irqs_on;
} classes[CLASSES_MAX + 1];

static u32 nr_classes;
static u64 runs;

static struct class_state *state_of(const struct sim_lock *lock)
{
	struct sim_lock_class *class = lock->class;

	if (class->run != runs) {
		SIM_CHECK(nr_classes < CLASSES_MAX);
		class->run = runs;
		class->number = ++nr_classes;
		classes[class->number] = (struct class_state) { .name = class->name };
	}
	return &classes[class->number];
}

static u64 bit_of(const struct class_state *c)
{
	return 1ull << (c - classes);
}

/* Those that may be waited for by who holds one of @from. */
static u64 reachable(u64 from)
{
	u64 seen = 0, left = from;

	while (left) {
		u32 number = __ffs64(left);

		seen |= 1ull << number;
		left |= classes[number].inside;
		left &= ~seen;
	}
	return seen;
}

static void note_order(struct class_state *outer, struct class_state *inner)
{
	if (outer->inside & bit_of(inner))
		return;
	if (reachable(bit_of(inner)) & bit_of(outer))
		sim_fail("lock order: %s is taken inside %s, and the other way round",
			 inner->name, outer->name);
	outer->inside |= bit_of(inner);
}

static void note_taken(struct sim_lock *lock)
{
	struct class_state *c = state_of(lock);
	u32 i;

	c->in_irq |= current->irq;
	c->irqs_on |= !current->irqs_off;
	for (i = 0; i < current->nr_held; i++)
		note_order(state_of(current->held[i]), c);
}

/* An interrupt may want what it has interrupted, or what that is waited for with. */
static void check_irqs(void)
{
	u64 unsafe = 0;
	u32 i;

	for (i = 1; i <= nr_classes; i++)
		if (classes[i].irqs_on)
			unsafe |= 1ull << i;
	for (i = 1; i <= nr_classes; i++)
		if (classes[i].in_irq && reachable(1ull << i) & unsafe)
			sim_fail("lock %s is taken in interrupts, and it or one inside it with interrupts on",
				 classes[i].name);
}

void lock_begin(void)
{
	runs++;
	nr_classes = 0;
}

void lock_end(void)
{
	check_irqs();
}

/* --- locks --- */

void sim_lock_init(struct sim_lock *lock, struct sim_lock_class *class, bool sleeps)
{
	*lock = (struct sim_lock) { .class = class, .sleeps = sleeps };
}

static void wait_for(struct sim_lock *lock)
{
	if (lock->owner == current)
		sim_fail("%s is taken twice by one task", lock->class->name);
	lock->nr_waiters++;
	while (lock->owner)
		sim_block(lock->class->name);
	lock->nr_waiters--;
}

void sim_lock(struct sim_lock *lock)
{
	SIM_CHECK(lock->class && current->nr_held < SIM_HELD_MAX);
	note_taken(lock);
	sim_point(SIM_LOCK);
	if (lock->owner)
		wait_for(lock);
	lock->owner = current;
	current->held[current->nr_held++] = lock;
}

/* Whoever waits tries again, in any order. */
void sim_unlock(struct sim_lock *lock)
{
	u32 i = current->nr_held;

	sim_assert_held(lock);
	while (current->held[--i] != lock)
		;
	current->held[i] = current->held[--current->nr_held];
	lock->owner = NULL;
	if (lock->nr_waiters)
		sim_wake_those(lock->class->name);
	sim_point(SIM_LOCK);
}

void sim_assert_held(const struct sim_lock *lock)
{
	if (lock->owner != current)
		sim_fail("%s is not held", lock->class ? lock->class->name : "a lock that was not set up");
}

void sim_irqs_off(void)
{
	if (current->irqs_off)
		sim_fail("interrupts are off already, and would be on afterwards");
	current->irqs_off = true;
	current->pages_irqs_off = 0;
}

void sim_irqs_on(void)
{
	current->irqs_off = false;
}

void lock_check_sleep(const char *what)
{
	const struct task_struct *t = current;
	const char *why = NULL;
	u32 i;

	if (t->irq)
		why = "in an interrupt";
	else if (t->irqs_off)
		why = "with interrupts off";
	else if (t->nr_rcu)
		why = "in a read-side section of RCU";
	else if (t->unplugging)
		why = "as it is about to sleep already";
	else if (t->cpu >= 0)
		why = "with preemption off";
	for (i = 0; i < t->nr_held; i++)
		if (!t->held[i]->sleeps)
			why = t->held[i]->class->name;
	if (why)
		sim_fail("%s may sleep, and does not here: %s", what, why);
}

/* --- RCU --- */

static u64 rcu_clock;
static u32 rcu_waiters;

void rcu_read_lock(void)
{
	if (!current->nr_rcu++)
		current->rcu_since = rcu_clock;
	sim_point(SIM_LOOK);
}

static const char rcu_wait[] = "readers under RCU";

void rcu_read_unlock(void)
{
	SIM_CHECK(current->nr_rcu);
	sim_point(SIM_LOOK);
	if (!--current->nr_rcu && rcu_waiters)
		sim_wake_those(rcu_wait);
}

static void find_reader(struct task_struct *task, void *arg)
{
	u64 *since = arg;

	if (task->nr_rcu && task->rcu_since < *since)
		*since = task->rcu_since;
}

/* Waits for those sections that had begun. */
void synchronize_rcu(void)
{
	u64 began = ++rcu_clock, oldest;

	sim_about_to_sleep(__func__);
	rcu_waiters++;
	for (;;) {
		oldest = began;
		sim_all_tasks(find_reader, &oldest);
		if (oldest == began)
			break;
		sim_block(rcu_wait);
	}
	rcu_waiters--;
}

/* --- CPUs --- */

static const char cpu_wait[] = "a CPU";

static void find_pinned(struct task_struct *task, void *arg)
{
	u64 *taken = arg;

	if (task->cpu >= 0)
		*taken |= 1ull << task->cpu;
}

int raw_smp_processor_id(void)
{
	return current->cpu >= 0 ? current->cpu : (int)sim_below(sim.cpus);
}

int sim_get_cpu(void)
{
	int cpu = raw_smp_processor_id();
	u64 taken;

	SIM_CHECK(current->cpu < 0);
	for (;;) {
		taken = 0;
		sim_all_tasks(find_pinned, &taken);
		if (!(taken >> cpu & 1))
			break;
		sim_block(cpu_wait);
	}
	current->cpu = cpu;
	return cpu;
}

void sim_put_cpu(void)
{
	current->cpu = -1;
	sim_wake_those(cpu_wait);
	sim_point(SIM_LOCK);
}
