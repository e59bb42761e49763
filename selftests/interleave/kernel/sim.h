/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulator: tasks that take turns, time, and chance. What runs when follows from
 * the seed alone. One task runs at a time; another may at each sim_point(), which all
 * that tasks do to each other goes through: locks, atomic operations, looks without a
 * lock, waits, copies of pages. A task that holds a spinlock may have to stand still
 * as any other, as if its CPU were slow; what another task on its CPU could not do
 * meanwhile it cannot do here either.
 */
#ifndef INTERLEAVE_SIM_H
#define INTERLEAVE_SIM_H

#include "base.h"
#include "coroutine.h"

#define SIM_CPUS_MAX	16
#define SIM_HELD_MAX	8

struct bio_list;
struct blk_plug;
struct reclaim_state;
struct sim_lock;

/* A task, or an interrupt. */
struct task_struct {
	/* What modules look at. */
	unsigned int flags;
	struct bio_list *bio_list;
	struct blk_plug *plug;
	struct reclaim_state *reclaim_state;

	struct cgroup_subsys_state *blkcg; /* that pays for its bios; NULL: sim_blkcg_other */

	/* What they may not do just now. */
	bool irq;			/* it is an interrupt */
	bool irqs_off;
	u32 pages_irqs_off;		/* that it has added to bios since */
	bool unplugging;		/* the scheduler flushes its plug */
	int cpu;			/* it may not leave it; or -1 */
	u32 nr_rcu;			/* read-side sections that it is in, */
	u64 rcu_since;			/* since this number of sim_rcu_clock */
	u32 nr_held;
	struct sim_lock *held[SIM_HELD_MAX];

	/* The scheduler's. */
	struct coroutine co;
	const char *name;
	void (*run)(void *arg);
	void *arg;
	const char *waits_for;		/* NULL: it may run */
	bool stalled;			/* until its time has come */
	u32 index;			/* of those that may */
	struct task_struct *next;	/* of all */
	struct task_struct *next_idle;	/* of those that have ended */
};

#define PF_WQ_WORKER	1u
#define PF_KTHREAD	2u
#define PF_MEMALLOC	4u
#define PF_KSWAPD	8u

extern struct task_struct *current;

/* --- chance --- */

u64 sim_random(void);
/* 0 to @n - 1; @n is not 0. */
u32 sim_below(u32 n);
/* True once in @n times; never for 0. */
bool sim_once_in(u32 n);
/* 1 to @most, small ones as often as ones of any other size. */
u32 sim_size(u32 most);
/* How many times of 1024 something happens: never, now and then, often, or always. */
u32 sim_of_1024(void);

/* --- tasks --- */

void sim_spawn(const char *name, void (*run)(void *arg), void *arg);
/* The same in interrupt context. */
void sim_spawn_irq(const char *name, void (*run)(void *arg), void *arg);

/* How much of the way to the next switch each kind of point is. */
enum sim_point {
	SIM_LOOK = 1,
	SIM_ATOMIC = 4,
	SIM_LOCK = 4,
	SIM_COPY = 2,
};

extern u32 sim_patience;

/* Another task runs, perhaps this one again. */
void sim_switch(void);

static inline void sim_point(enum sim_point kind)
{
	if (sim_patience > kind)
		sim_patience -= kind;
	else
		sim_switch();
}

/* Now and then stands still for long, in any context: to be called where that matters most. */
void sim_lag(void);
/* The same at one line of all files, of every run another one, and often. */
void sim_lag_here(void);
#define sim_site() do {							\
	if (sim.slow_line == __LINE__)					\
		sim_lag_here();						\
} while (0)

/* Stands still until sim_wake(); it may have come before. @what is for who looks on. */
void sim_block(const char *what);
void sim_wake(struct task_struct *task);
/* All who wait for just this @what: the text's place tells. */
void sim_wake_those(const char *what);
/* Fails if the current task may not sleep; a point. */
void sim_might_sleep(const char *what);
/* The same, and it is about to: the scheduler flushes its plug. */
void sim_about_to_sleep(const char *what);
#define might_sleep()	sim_might_sleep(__func__)
#define cond_resched()	sim_might_sleep("cond_resched")

/* --- time, in ns --- */

u64 sim_now(void);
void sim_sleep(u64 ns);
static inline void usleep_range(unsigned long least, unsigned long most)
{
	sim_sleep((least + sim_below(most - least + 1)) * 1000ull);
}

struct sim_event {
	u64 when;
	u64 order;
	void (*fire)(struct sim_event *event);
	u32 place;		/* in the queue, from 1 on; 0: in none */
};

/* @event->fire is called then, by whoever runs; it must not switch. */
void sim_event_at(struct sim_event *event, u64 when);
/* False if it was not queued. */
bool sim_event_cancel(struct sim_event *event);

/* --- a run --- */

struct sim {
	u64 seed;
	u64 switches;
	u32 cpus;		/* possible ones */
	u32 workers;		/* of each workqueue, at most */
	u32 mean;		/* points between two switches */
	u32 stall;		/* one in so many switches makes the task stand still */
	u32 slow_line;		/* where many stand still */
	u32 tick;		/* ns from one switch to the next */
	bool plugs_each;	/* each bio, as Linux 6.12 does, if it is sent without a plug */
	u32 refused;		/* of 1024 allocations that may not wait; */
	u32 refused_waiting;	/* of those that may, and may fail all the same */
	u32 refused_next;	/* the so-manieth of all from now on, too; 0: none */
	bool short_of_memory;	/* there is little that nobody uses */
	u64 refusals;		/* so far */
};

extern struct sim sim;

/* The caller becomes the first task. */
void sim_begin(u64 seed);
/* All other tasks have ended. */
void sim_end(void);
/* Something that was waited for has come: the rest may take as long again. */
void sim_progress(void);

/* What each task waits for, or does. */
void sim_show_tasks(void);
void sim_all_tasks(void (*fn)(struct task_struct *task, void *arg), void *arg);

#endif
