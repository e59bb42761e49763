/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page-in: a miss reads the run around the wanted page in one I/O; the rest of
 * it waits in the waiting room for its own read (MOC's clustered page-in,
 * SA-W2R's waiting room).
 *
 * The physical slots are dealt to shards by granule. A shard's lock protects
 * the live, cont and group words of its granules, its waiting room and its reads
 * under way. It is taken with interrupts off; inside it only a lock of the store is.
 *
 * A slot that is given up while a read of it is under way stays taken until the
 * read ends, so that no reader ever sees what a later owner wrote.
 */
#ifndef MSWAP_PAGEIN_H
#define MSWAP_PAGEIN_H

#include <linux/atomic.h>
#include <linux/bio.h>
#include <linux/mempool.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "algo/order.h"
#include "algo/pace.h"
#include "algo/steady.h"
#include "algo/window.h"
#include "backing.h"
#include "flight.h"
#include "knobs.h"
#include "slot_map.h"
#include "space.h"
#include "stats.h"
#include "store.h"
#include "waiting.h"

#define PAGEIN_SHARDS	GRANULE_SHARDS
/* Reads of granules so many shards apart are in one list. */
#define PAGEIN_READS	32

struct read_op;

#define PAGEIN_FAILED	8	/* of which a shard knows */
#define PAGEIN_WHOLE_READS	4096	/* pass over no slots after one that did has failed */

/* A granule in which a window has failed; protected by the shard's lock. */
struct pagein_failed {
	u32 granule;
	u32 alone;	/* so many more reads of it are of what is wanted only */
};

struct pagein_shard {
	spinlock_t lock;
	struct list_head reads[PAGEIN_READS];	/* under way, of struct read_op */
	struct waiting_room room;
	u32 passing;	/* frames for what reads under way pass over */
	u32 held;	/* frames of reads under way */
	u32 held_by[STEADY_PAYERS];	/* of these, by who pays; others read it without the lock */
	struct window_tuner run_tuner;
	struct window_tuner strangers_tuner;
	struct steady steady;
	struct order order;
	struct pace pace;
	struct pagein_failed failed[PAGEIN_FAILED];
	u32 nr_failed;	/* that were ever noted */
} ____cacheline_aligned_in_smp;

struct pagein {
	struct slot_map *map;
	struct store *store;
	struct space *space;
	struct backing *backing;
	struct flight *flight;
	struct flight *givers;
	struct mswap_stats __percpu *stats;
	const struct mswap_knobs *knobs;
	const char *name;
	struct workqueue_struct *wq;
	struct workqueue_struct *retry_wq;

	struct pagein_shard *shards;
	mempool_t ops;
	struct read_op * __percpu *spares;	/* one of ops, or NULL */
	mempool_t bounce;
	struct bio_set parts;	/* of bios that reads under way bring in part */

	struct work_struct work;
	struct work_struct retry_work;
	spinlock_t deferred_lock;
	struct bio_list deferred;	/* protected by deferred_lock */
	struct bio_list alone;		/* likewise: to be read with nothing else */
	struct list_head retries;	/* protected by deferred_lock */

	u32 whole_left;		/* of PAGEIN_WHOLE_READS */
};

/* Once a module. Process context. -ENOMEM. */
int pagein_module_init(void);
void pagein_module_exit(void);

/*
 * The pointers above the blank line are set by the caller and outlive @pi.
 * Process context, may sleep. -ENOMEM leaves nothing behind.
 */
int pagein_init(struct pagein *pi);
/* Waits for the workers, which may have begun reads when they are done. */
void pagein_drain(struct pagein *pi);
/* No I/O may be under way. */
void pagein_exit(struct pagein *pi);
/* -ENOMEM leaves each shard with its old or its new number. May sleep. */
int pagein_set_waiting_pages(struct pagein *pi, u32 pages);
u32 pagein_waiting_frames(struct pagein *pi);
/* The mean of the shards' windows just now. */
u32 pagein_window(struct pagein *pi);

/*
 * Serves a read of whole pages; owns @bio from here on. Process context, also
 * in ->submit_bio: never waits; what cannot be done at once goes to a worker.
 */
void pagein_read(struct pagein *pi, struct bio *bio);

/*
 * The slots up to @slot are about to be written: what is there went on with what
 * they held before. Not when they are published, since what goes on with them may
 * have been by then: writes end in any order. Any context.
 */
void pagein_part(struct pagein *pi, u32 slot);
/*
 * @n slots from @slot hold their data now. Bit i % 64 of @cont[i / 64]: slot i
 * continues slot i - 1. Before the map points at them. Any context.
 */
void pagein_publish(struct pagein *pi, u32 slot, u32 n, const u64 *cont);
/*
 * @n slots from @slot, all of one granule, take a piece of a run; @joins: so did
 * the piece before, in that granule. Any context.
 */
void pagein_group(struct pagein *pi, u32 slot, u32 n, bool joins);
/* A slot taken out of the map: kills its waiting copy, frees it. Any context. */
void pagein_release(struct pagein *pi, u32 slot);

#endif
