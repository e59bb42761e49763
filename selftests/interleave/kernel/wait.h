/* SPDX-License-Identifier: GPL-2.0-only */
/* Wait queues and completions. To be about to sleep is to have one's plug flushed. */
#ifndef INTERLEAVE_WAIT_H
#define INTERLEAVE_WAIT_H

#include "list.h"
#include "lock.h"

#define HZ		250
#define NSEC_PER_USEC	1000ull
#define NSEC_PER_JIFFY	(1000000000ull / HZ)

struct wait_queue_head {
	struct list_head waiters;
	const char *name;
};

#define wait_queue_head_t	struct wait_queue_head

/* One wait of a task, on its stack. */
struct sim_wait {
	struct list_head list;
	struct task_struct *task;
	bool woken;
	struct sim_event timeout;
	u64 until;		/* 0: for ever */
};

#define init_waitqueue_head(head)	sim_wait_init(head, #head)

void sim_wait_init(wait_queue_head_t *head, const char *name);
void sim_wait_begin(struct sim_wait *w, long jiffies);
/* From here on a wake-up counts. */
void sim_wait_prepare(wait_queue_head_t *head, struct sim_wait *w);
/* Until woken, or until the time is up. */
void sim_wait_sleep(wait_queue_head_t *head, struct sim_wait *w);
/* Jiffies left: 0 if the time is up and @done is false, else at least 1. */
long sim_wait_finish(struct sim_wait *w, bool done);
bool sim_wait_is_over(const struct sim_wait *w);

#define WAIT_FOR_EVER	-1

/* @before and @after are done around each sleep. */
#define sim_wait_event(head, condition, jiffies, before, after) ({	\
	struct sim_wait wait_;						\
	bool done_;							\
									\
	sim_wait_begin(&wait_, jiffies);				\
	for (;;) {							\
		bool over_ = sim_wait_is_over(&wait_);			\
									\
		sim_wait_prepare(head, &wait_);				\
		done_ = (condition);					\
		if (done_ || over_)					\
			break;						\
		before;							\
		sim_wait_sleep(head, &wait_);				\
		after;							\
	}								\
	sim_wait_finish(&wait_, done_); })

#define wait_event(head, condition) do {				\
	might_sleep();							\
	if (!(condition))						\
		sim_wait_event(&(head), condition, WAIT_FOR_EVER,	\
			       (void)0, (void)0);			\
} while (0)
#define wait_event_timeout(head, condition, jiffies) ({			\
	might_sleep();							\
	sim_wait_event(&(head), condition, jiffies, (void)0, (void)0); })
#define wait_event_lock_irq(head, condition, lock)			\
	sim_wait_event(&(head), condition, WAIT_FOR_EVER,		\
		       spin_unlock_irq(&(lock)), spin_lock_irq(&(lock)))

/* Is somebody there? A look without a lock. */
bool waitqueue_active(const wait_queue_head_t *head);	/* no barrier is needed here */
#define wq_has_sleeper(head)	waitqueue_active(head)		/* likewise */
/* Nobody waits exclusively, so one wake-up is for all. */
void wake_up(wait_queue_head_t *head);
#define wake_up_all(head)	wake_up(head)
/* The same, with no other task running before it is done. */
void sim_wake_all(wait_queue_head_t *head);

/* --- completions: who waits may take them away as soon as they are done --- */

struct completion {
	bool done;
	wait_queue_head_t wait;
};

#define DECLARE_COMPLETION_ONSTACK(name)				\
	struct completion name = { .done = false };			\
									\
	init_completion(&name)

static inline void init_completion(struct completion *c)
{
	c->done = false;
	sim_wait_init(&c->wait, "a completion");
}

void complete(struct completion *c);
void wait_for_completion(struct completion *c);
#define wait_for_completion_io(c)	wait_for_completion(c)

/* --- time --- */

#define jiffies			((unsigned long)(sim_now() / NSEC_PER_JIFFY))
#define time_after(a, b)	((long)((b) - (a)) < 0)
#define ktime_get_ns()		sim_now()
#define ns_to_ktime(ns)		((ktime_t)(ns))

#endif
