/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts what is under way, device I/Os above all, so that one can wait for all of them
 * (reset) or for the next of them (a writer short of slots: each end of an I/O
 * may have freed some).
 */
#ifndef MSWAP_FLIGHT_H
#define MSWAP_FLIGHT_H

#include <linux/atomic.h>
#include <linux/wait.h>

struct flight {
	atomic_t nr;
	wait_queue_head_t wait;
};

static inline void flight_init(struct flight *f)
{
	atomic_set(&f->nr, 0);
	init_waitqueue_head(&f->wait);
}

/* Any context. */
static inline void flight_begin(struct flight *f)
{
	atomic_inc(&f->nr);
}

/* Any context; the last thing an I/O does with the device's structures. */
static inline void flight_end(struct flight *f)
{
	/*
	 * The waiter may see 0 and tear the device down before we have looked
	 * at the queue: it waits for this read-side section first.
	 */
	rcu_read_lock();
	atomic_dec(&f->nr);
	if (wq_has_sleeper(&f->wait))
		wake_up_all(&f->wait);
	rcu_read_unlock();
}

static inline bool flight_idle(const struct flight *f)
{
	return !atomic_read(&f->nr);
}

/* Sleeps until nothing is under way; nothing may be begun meanwhile. */
static inline void flight_wait_idle(struct flight *f)
{
	wait_event(f->wait, flight_idle(f));
	synchronize_rcu();
}

#endif
