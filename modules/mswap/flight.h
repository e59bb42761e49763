/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts what is under way, device I/Os above all, so that one can wait for all
 * of them (reset) or for the next of them (a writer short of slots: each write or
 * read of a freed slot that ends may have given some up), and can tell that nothing
 * was under way all along while one looked elsewhere.
 */
#ifndef MSWAP_FLIGHT_H
#define MSWAP_FLIGHT_H

#include <linux/atomic.h>
#include <linux/wait.h>

struct flight {
	atomic64_t state;	/* low 32 bits: under way; high: begun so far */
	wait_queue_head_t wait;
};

#define FLIGHT_BEGUN	((1ll << 32) + 1)

static inline void flight_init(struct flight *f)
{
	atomic64_set(&f->state, 0);
	init_waitqueue_head(&f->wait);
}

/*
 * Any context; before the I/O takes what another may be short of, which it does under
 * a lock: who finds it taken there sees that this has begun. It orders nothing by itself.
 */
static inline void flight_begin(struct flight *f)
{
	atomic64_add(FLIGHT_BEGUN, &f->state);
}

static inline void flight_leave(struct flight *f, s64 what)
{
	/*
	 * The waiter may see 0 and tear the device down before we have looked
	 * at the queue: it waits for this read-side section first.
	 */
	rcu_read_lock();
	/* What this I/O has freed is there for who sees that it has ended. */
	smp_mb__before_atomic();
	atomic64_sub(what, &f->state);
	/* Pairs with set_current_state() in the waiter. */
	smp_mb__after_atomic();
	/* After that barrier, as wq_has_sleeper() would with one of its own. */
	if (waitqueue_active(&f->wait))
		wake_up_all(&f->wait);
	rcu_read_unlock();
}

/* Any context; the last thing an I/O does with the device's structures. */
static inline void flight_end(struct flight *f)
{
	flight_leave(f, 1);
}

/* Instead of flight_end(), for what came to nothing and took nothing. */
static inline void flight_cancel(struct flight *f)
{
	flight_leave(f, FLIGHT_BEGUN);
}

/* For flight_idle_since(). */
static inline s64 flight_look(const struct flight *f)
{
	return atomic64_read_acquire(&f->state);
}

static inline u32 flight_count(const struct flight *f)
{
	return flight_look(f);
}

static inline bool flight_idle(const struct flight *f)
{
	return !flight_count(f);
}

/* Nothing was under way at that look, and nothing has begun since. */
static inline bool flight_idle_since(const struct flight *f, s64 look)
{
	return !(u32)look && atomic64_read(&f->state) == look;
}

/* Sleeps until nothing is under way; nothing may be begun meanwhile. */
static inline void flight_wait_idle(struct flight *f)
{
	wait_event(f->wait, flight_idle(f));
	synchronize_rcu();
}

#endif
