/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One store of virtual slots on a backing device: takes bios of whole pages
 * from a frontend, whichever it is, and serves them through batch and page-in.
 */
#ifndef MSWAP_ENGINE_H
#define MSWAP_ENGINE_H

#include <linux/bio.h>
#include <linux/workqueue.h>

#include "backing.h"
#include "batch.h"
#include "flight.h"
#include "knobs.h"
#include "pagein.h"
#include "slot_map.h"
#include "space.h"
#include "stats.h"
#include "store.h"

/* Physical slots beyond the virtual ones, so that a full device can be written. */
#define ENGINE_RESERVE_MIN	64
#define ENGINE_RESERVE_MAX	65536

struct engine {
	const char *name;
	struct mswap_knobs knobs;
	struct backing backing;
	struct slot_map map;
	struct space space;
	struct store store;
	struct flight flight;	/* all I/O */
	struct flight givers;	/* of it what may give up slots when it ends */
	struct pagein pagein;
	struct batching batching;
	struct mswap_stats __percpu *stats;
	struct workqueue_struct *wq;
	struct workqueue_struct *read_wq;
	struct workqueue_struct *write_wq;
	struct workqueue_struct *retry_wq;
	struct work_struct flush_work;
	spinlock_t flush_lock;
	struct bio_list flushes;	/* protected by flush_lock */
	bool started;
};

/* Sets defaults. @name outlives @e. Process context; -ENOMEM. */
int engine_init(struct engine *e, const char *name);
/* @e must be stopped. */
void engine_exit(struct engine *e);

/*
 * Opens the backing device and makes the engine ready. @slots is the wanted
 * number of virtual slots, 0 = as many as fit with the usual reserve. A refusal
 * is in the kernel log (but for some want of memory) and changes nothing.
 * Process context, may sleep; the caller serialises the calls below and lets no bio
 * in meanwhile.
 * -ENOSPC: too many slots wanted; -ENOMEM; and all of backing_open().
 */
int engine_start(struct engine *e, const char *path, u32 slots);
/*
 * Was it ready? If so it is not any more, no bio begins, and engine_stop() is due:
 * with nobody in engine_submit() it waits for the I/O under way, and for who is in
 * an RCU read section, then drops everything. No queue may be frozen meanwhile,
 * since what it takes down is under locks that others hold while they reclaim.
 */
bool engine_shut(struct engine *e);
void engine_stop(struct engine *e);
/* In an RCU read section: if so, what @e is made of stays until that ends. Any context. */
static inline bool engine_is_ready(const struct engine *e)
{
	/* Pairs with engine_start(), which sets it last. */
	return smp_load_acquire(&e->started);
}

/*
 * Another number of virtual slots; only while nothing is stored (-EBUSY). Waits for
 * the I/O under way.
 * -ENOSPC: they do not fit; -ENOMEM. A refusal changes nothing.
 */
int engine_resize(struct engine *e, u32 slots);
/* -ENOMEM: the waiting room keeps its size. */
int engine_set_waiting_pages(struct engine *e, u32 pages);
/*
 * How many virtual slots fit in those that are not retired: @wish, or with 0 the
 * usual; 0 if @wish does not.
 */
u32 engine_fit_slots(const struct engine *e, u32 wish);
/* Memory for map, run bits and slot trees. */
size_t engine_footprint(const struct engine *e);

/*
 * Serves @bio and owns it from here on; waits for I/O only as batch_bio() does.
 * While @e is stopped an empty flush ends well and all else with an error. Process
 * context.
 */
void engine_submit(struct engine *e, struct bio *bio);
/* The swap core has freed a slot. Any context, also under its spinlocks. */
void engine_free_slot(struct engine *e, u32 virt);

#endif
