/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spinlocks, mutexes, RCU, and CPUs. As lockdep does, taking a lock notes in which order
 * and with interrupts on or off locks of its class are taken, and fails where two orders,
 * or a class used both in interrupts and with these on, could hang.
 */
#ifndef INTERLEAVE_LOCK_H
#define INTERLEAVE_LOCK_H

#include "sim.h"

/* All locks that are set up at one place in the source are of one class. */
struct sim_lock_class {
	const char *name;
	u32 number;		/* from 1 on, in order of coming; 0: not known yet */
	u64 run;		/* that this holds for */
};

struct sim_lock {
	struct sim_lock_class *class;
	struct task_struct *owner;
	u32 nr_waiters;
	bool sleeps;			/* it is a mutex */
};

void sim_lock_init(struct sim_lock *lock, struct sim_lock_class *class, bool sleeps);
void sim_lock(struct sim_lock *lock);
void sim_unlock(struct sim_lock *lock);
/* Fails unless the current task has it. */
void sim_assert_held(const struct sim_lock *lock);

#define sim_lock_init_here(lock, what, sleeps) do {			\
	static struct sim_lock_class class_ = { .name = what };		\
									\
	sim_lock_init(lock, &class_, sleeps);				\
} while (0)

/* --- spinlocks --- */

struct spinlock {
	struct sim_lock sim;
};

#define spinlock_t	struct spinlock

/* Outside of functions. */
#define DEFINE_SPINLOCK(lock) \
	spinlock_t lock = { { .class = &(struct sim_lock_class) { .name = #lock } } }
#define spin_lock_init(lock)	sim_lock_init_here(&(lock)->sim, #lock, false)
#define spin_lock(lock)		sim_lock(&(lock)->sim)
#define spin_unlock(lock) do {						\
	sim_unlock(&(lock)->sim);					\
	sim_site();							\
} while (0)
#define lockdep_assert_held(lock)	sim_assert_held(&(lock)->sim)

/* What was on before must be on after, so a section with them off must not be entered so. */
void sim_irqs_off(void);
void sim_irqs_on(void);

#define spin_lock_irqsave(lock, saved) do {				\
	(saved) = current->irqs_off;					\
	current->irqs_off = true;					\
	spin_lock(lock);						\
} while (0)
#define spin_unlock_irqrestore(lock, saved) do {			\
	spin_unlock(lock);						\
	current->irqs_off = (saved);					\
} while (0)
#define spin_lock_irq(lock) do {					\
	sim_irqs_off();							\
	spin_lock(lock);						\
} while (0)
#define spin_unlock_irq(lock) do {					\
	spin_unlock(lock);						\
	sim_irqs_on();							\
} while (0)

/* --- mutexes --- */

struct mutex {
	struct sim_lock sim;
};

#define mutex_init(lock)	sim_lock_init_here(&(lock)->sim, #lock, true)

static inline void mutex_lock(struct mutex *lock)
{
	sim_might_sleep("mutex_lock");
	if (lock->sim.owner)
		sim_about_to_sleep("mutex_lock");
	sim_lock(&lock->sim);
}

static inline void mutex_unlock(struct mutex *lock)
{
	sim_unlock(&lock->sim);
}

/* --- RCU --- */

void rcu_read_lock(void);
void rcu_read_unlock(void);
void synchronize_rcu(void);
/* No task is preempted for good here. */
static inline void synchronize_rcu_tasks(void)
{
	synchronize_rcu();
}

/* --- CPUs: one that a task may not leave is not another's meanwhile --- */

int sim_get_cpu(void);
void sim_put_cpu(void);
/* The one that the task is on just now. */
int raw_smp_processor_id(void);
#define num_possible_cpus()		sim.cpus
#define num_online_cpus()		sim.cpus
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < (int)sim.cpus; (cpu)++)

/* --- for the scheduler --- */

void lock_begin(void);
void lock_end(void);
/* Fails if the current task may not sleep. */
void lock_check_sleep(const char *what);

#endif
