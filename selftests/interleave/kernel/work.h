/* SPDX-License-Identifier: GPL-2.0-only */
/* Workqueues and timers. A work is never run twice at a time, and may go while it runs. */
#ifndef INTERLEAVE_WORK_H
#define INTERLEAVE_WORK_H

#include "wait.h"

/* --- works --- */

struct workqueue_struct;
struct work_struct;

struct work_struct {
	void (*fn)(struct work_struct *work);
	struct list_head list;
	struct workqueue_struct *wq;	/* it was last queued on */
	u64 order;			/* of its last queueing */
	bool pending;
	bool queued;			/* its time has come, if it was delayed */
	u32 cancelling;			/* it may not be queued */
};

struct delayed_work {
	struct work_struct work;
	struct sim_event timer;
};

#define WQ_MEM_RECLAIM	1u
#define WQ_UNBOUND	2u

#define INIT_WORK(work, run)		sim_init_work(work, run)
#define INIT_DELAYED_WORK(dwork, run)	sim_init_delayed_work(dwork, run)
#define to_delayed_work(w)		container_of(w, struct delayed_work, work)

void sim_init_work(struct work_struct *work, void (*fn)(struct work_struct *work));
void sim_init_delayed_work(struct delayed_work *dwork, void (*fn)(struct work_struct *work));

/*
 * With few workers, as when there is no memory for more: then a work that waits for
 * another one of its queue waits for ever.
 */
struct workqueue_struct *alloc_workqueue(const char *format, unsigned int flags, int most, ...);
/* Waits for what is queued. */
void destroy_workqueue(struct workqueue_struct *wq);
/* False if it was pending. */
bool queue_work(struct workqueue_struct *wq, struct work_struct *work);
bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *dwork,
			unsigned long delay);
/* Waits for what was queued before, but for no time to come. */
void flush_work(struct work_struct *work);
bool cancel_delayed_work_sync(struct delayed_work *dwork);
/* Is it neither pending nor run? No point. */
bool sim_work_is_idle(const struct work_struct *work);

/* --- timers: their functions run in interrupts --- */

enum hrtimer_restart {
	HRTIMER_NORESTART,
};

struct hrtimer {
	enum hrtimer_restart (*function)(struct hrtimer *timer);
	struct sim_event event;
};

#define CLOCK_MONOTONIC		1
#define HRTIMER_MODE_REL	1

void hrtimer_setup(struct hrtimer *timer,
		   enum hrtimer_restart (*function)(struct hrtimer *timer),
		   int clock, int mode);
void hrtimer_start(struct hrtimer *timer, ktime_t after, int mode);
/* Waits until its function has ended. */
void hrtimer_cancel(struct hrtimer *timer);

#endif
