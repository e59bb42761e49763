/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page-out: gathers the pages of many objects, orders them by object, and
 * writes them in as few I/Os as the policy and the free space allow (MOC).
 *
 * The pages of a task's plug make a batch. It is written when it holds M pages
 * or at unplug. Swap pages are taken over by copy while there is room (store.h);
 * left-overs that consist of such pages wait batch_usecs for those of other
 * plugs, and longer while those come or the device is busy. All others are
 * written in place; only slots whose memory is not one aligned page are copied
 * first. Left-overs of swap pages in place wait as well, while all copies are on
 * their way to the device; others do not.
 */
#ifndef MSWAP_BATCH_H
#define MSWAP_BATCH_H

#include <linux/bio.h>
#include <linux/hrtimer.h>
#include <linux/mempool.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "algo/cluster.h"
#include "backing.h"
#include "flight.h"
#include "knobs.h"
#include "pagein.h"
#include "retired.h"
#include "slot_map.h"
#include "space.h"
#include "stats.h"
#include "store.h"

/* Batches come in sizes, for M is a knob and a bio may be large. */
#define BATCH_SIZES		3

struct batching;

struct batch {
	struct list_head list;		/* of the deferred */
	struct batching *bt;
	atomic_t refs;			/* writes under way, and the issuer */
	u32 n;
	u32 limit;			/* it is full with so many pages */
	u32 cap;
	u32 size;			/* which of the BATCH_SIZES */
	u32 next;			/* first page that no write covers yet */
	u32 nr_bios;			/* pages that hold up a bio */
	enum cluster_policy policy;
	blk_opf_t opf;			/* what its bios ask for, put together */
	bool sorted;
	bool in_pieces;			/* no run was left for what came last of it */
	u32 behind;			/* the slot behind what was written last, or SLOT_NONE */
	struct cluster_page pages[];	/* cap of them, and work space behind */
};

/* cluster_page.pos: what the page is, and what its owner is. */
enum batch_page {
	BATCH_PAGE_OF_BIO,	/* the bio's own page */
	BATCH_PAGE_BOUNCED,	/* a copy of the batch's; the owner is the bio */
	BATCH_PAGE_STORED,	/* the owner is a struct stored_page */
};

/* Where the last write of a CPU ended: the next one may continue its run. */
struct batch_tail {
	u32 slot;			/* the one behind it, or SLOT_NONE */
	struct cluster_page page;
};

/* Left-overs of plugs that wait for company. */
struct gather {
	spinlock_t lock;
	struct batch *batch;		/* protected by lock */
	u32 waits;			/* left; protected by lock */
	u32 had;			/* pages, when this wait began; protected by lock */
	struct hrtimer timer;
};

struct batching {
	struct slot_map *map;
	struct space *space;
	struct backing *backing;
	struct pagein *pagein;
	struct store *store;
	struct flight *flight;
	struct flight *givers;
	struct mswap_stats __percpu *stats;
	const struct mswap_knobs *knobs;
	const char *name;
	struct workqueue_struct *wq;
	struct workqueue_struct *write_wq;
	struct workqueue_struct *retry_wq;

	mempool_t batches[BATCH_SIZES];
	mempool_t bounce;
	struct batch_tail __percpu *tails;
	struct gather gather;
	struct flight held;	/* batches that exist, written or not, and plugs */

	struct work_struct work;
	struct work_struct write_work;
	struct work_struct retry_work;
	struct delayed_work rewrite_work;
	bool stopping;			/* rewrite_work is not queued any more */
	spinlock_t deferred_lock;
	struct bio_list deferred_bios;		/* protected by deferred_lock */
	struct list_head deferred_batches;	/* protected by deferred_lock */
	struct list_head failed;		/* protected by deferred_lock */
	u32 nr_failed;				/* protected by deferred_lock */
	struct retired retired;			/* retry_work's */
};

/*
 * The pointers above the blank line are set by the caller and outlive @bt.
 * Process context, may sleep. -ENOMEM leaves nothing behind.
 */
int batching_init(struct batching *bt);
/*
 * Waits until nothing is left to write: pages may wait here that no bio waits
 * for. Process context; no bio may come meanwhile.
 */
void batching_drain(struct batching *bt);
/* After batching_drain(), with no I/O under way. */
void batching_exit(struct batching *bt);

/*
 * Takes a write of whole pages; owns @bio from here on. Called from
 * ->submit_bio: what cannot be done at once goes to a worker. A swap page of a
 * task without a plug waits for a copy to become free, for a second at most.
 */
void batch_bio(struct batching *bt, struct bio *bio);
/* The same for a worker of the engine: may wait for memory and slots. */
void batch_bio_wait(struct batching *bt, struct bio *bio);
/*
 * Takes over a copy of @page, which is to be @vslot's data, and returns: reads
 * see it from now on. Waits for a copy to become free. -ENOMEM: nothing was
 * done, and what the slot held before stays. Process context.
 */
int batch_copy(struct batching *bt, u32 vslot, struct page *page);

/*
 * Writes what @b holds; @b is not the caller's any more. With GFP_NOWAIT the
 * rest goes to the worker when memory or slots are short; with GFP_NOIO it
 * waits. Process context.
 */
void batch_issue(struct batch *b, gfp_t gfp);
/* Hands @b to the worker. Any context. */
void batch_defer(struct batch *b);
/* Drops a reference; the last one frees it. Any context. */
void batch_put(struct batch *b);

/* Memory is to be had at once or not at all. */
#define BATCH_GFP_NOWAIT	(GFP_NOWAIT | __GFP_NOWARN)

/*
 * An empty batch with room for @pages pages and for as many as make it full, or
 * CLUSTER_PAGES_MAX if that is less; NULL only without GFP_NOIO.
 */
struct batch *batch_alloc(struct batching *bt, u32 pages, gfp_t gfp);

static inline bool batch_is_full(const struct batch *b)
{
	return b->n >= b->limit;
}

/* Hands the rest of @bio to the worker, which fills it in. Any context. */
void batch_defer_bio(struct batching *bt, struct bio *bio);

/* fill.c: pages get into batches. */

/*
 * Adds the rest of @bio, a ready-made cluster, to *@bp. Where it does not fit *@bp is
 * written first, or @bio by itself. False when memory is short: the caller still
 * owns the bio, whose bi_iter tells what is left.
 */
bool batch_fill(struct batching *bt, struct batch **bp, struct bio *bio,
		gfp_t gfp);
/*
 * Has the copies whose writes have failed, if there are any, written once more in
 * a while: soon where another write went well. Any context.
 */
#define BATCH_REWRITE_DELAY	HZ
#define BATCH_PROBE_DELAY	(10 * HZ)

void batch_rewrite_in(struct batching *bt, unsigned long delay);
void batch_rewrite_work(struct work_struct *work);

/* write.c: one write of a batch. */

/* Bytes the backing device's write bios carry in front. */
size_t batch_write_pad(void);
/*
 * Sends the next write of @b, of at most @want pages. False, and nothing is
 * done, when memory or (only with GFP_NOWAIT) slots are short. With GFP_NOIO
 * pages for which there is no slot at all are ended with BLK_STS_NOSPC.
 */
bool batch_write(struct batch *b, u32 want, gfp_t gfp);

/*
 * retry.c: tries the failed writes again, one after another, and then looks at
 * retired slots where that is wanted; waits for slots and I/O.
 */
void batch_retry_work(struct work_struct *work);

/* gather.c */

void gather_init(struct batching *bt);
void gather_exit(struct batching *bt);
/*
 * @b waits for company for a while: who is the first with bios in it sleeps
 * meanwhile, unless @defer; a timer sees to all else. Process context; a batch
 * that is full now, or had no room for all of @b, is written at once, or by the worker if
 * @defer.
 */
void gather_batch(struct batching *bt, struct batch *b, bool defer);

#endif
