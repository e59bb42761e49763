// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes one mistake on request, which only a debug kernel notices:
 *	how=atomic	sleeps with a spinlock held
 *	how=bounds	reads beyond an array
 *	how=freed	reads memory that it has freed
 *	how=leak	forgets memory
 *	how=lock	takes two locks in both orders
 *	how=race	counts in two threads without a lock
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

static char *how = "";
module_param(how, charp, 0444);
MODULE_PARM_DESC(how, "atomic, bounds, freed, leak, lock or race");

static DEFINE_SPINLOCK(spin);
static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static int numbers[4];
static int beyond = ARRAY_SIZE(numbers);
static int *memory;
static unsigned long counted;

/*
 * One mistake only: a lock given back on another CPU is one, too, and so is a tick that finds
 * preemption allowed more often than forbidden, as the scheduler forgets what it has told of.
 * After these no order of locks is checked.
 */
static void plant_atomic(void)
{
	int count;

	migrate_disable();
	spin_lock(&spin);
	count = preempt_count();
	msleep(20);
	preempt_count_set(count);
	spin_unlock(&spin);
	migrate_enable();
}

static void plant_bounds(void)
{
	pr_info("%d\n", numbers[READ_ONCE(beyond)]);
}

static void plant_freed(void)
{
	WRITE_ONCE(memory, kmalloc(sizeof(*memory), GFP_KERNEL));
	kfree(READ_ONCE(memory));
	pr_info("%d\n", READ_ONCE(*memory));
}

static void plant_leak(void)
{
	WRITE_ONCE(memory, kzalloc(100, GFP_KERNEL));
	WRITE_ONCE(memory, NULL);
}

static void plant_lock(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static int count_until_stopped(void *unused)
{
	while (!kthread_should_stop()) {
		counted++;
		cond_resched();
	}
	return 0;
}

static void plant_race(void)
{
	unsigned long end = jiffies + 2 * HZ;
	struct task_struct *other;

	other = kthread_run(count_until_stopped, NULL, "muster_planted");
	if (IS_ERR(other))
		return;
	while (time_before(jiffies, end)) {
		counted++;
		cond_resched();
	}
	kthread_stop(other);
}

static int __init muster_planted_init(void)
{
	if (!strcmp(how, "atomic"))
		plant_atomic();
	else if (!strcmp(how, "bounds"))
		plant_bounds();
	else if (!strcmp(how, "freed"))
		plant_freed();
	else if (!strcmp(how, "leak"))
		plant_leak();
	else if (!strcmp(how, "lock"))
		plant_lock();
	else if (!strcmp(how, "race"))
		plant_race();
	else
		return -EINVAL;
	return 0;
}

static void __exit muster_planted_exit(void)
{
}

module_init(muster_planted_init);
module_exit(muster_planted_exit);
MODULE_DESCRIPTION("Makes one mistake on request, for the tests of muster's test harness");
MODULE_LICENSE("GPL");
