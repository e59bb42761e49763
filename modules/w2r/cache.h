/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One target: its rooms, its frames and what is under way.
 *
 * Blocks are numbered from the start of the target. Entry e of the rooms has
 * its content in the frame slots[e].page of block_sectors, which is there while
 * the entry is in use.
 *
 * ->lock, taken in any context, is the innermost of ours: under it work is queued,
 * who waits is woken, and memory is taken without waiting. It protects the rooms,
 * the planner, the slots' page pointers, the table of writers, the counters and
 * all else below that is not said to be under another. Frames are copied without
 * it: out of an entry that is pinned or that is being filled (its filler owns it),
 * and into a stale one that is pinned (its writer's).
 */
#ifndef W2R_CACHE_H
#define W2R_CACHE_H

#include <linux/bio.h>
#include <linux/device-mapper.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "algo/planner.h"
#include "algo/rooms.h"
#include "algo/table.h"
#include "algo/toggle.h"
#include "compat/dm.h"

#define W2R_SERVE_MAX	64	/* blocks copied at once, in any context, */
#define W2R_SERVE_SECTORS 512	/* and to who waited no more than that */
#define W2R_IO_BLOCKS	256	/* blocks in one bio of ours or of dm's, */
#define W2R_IO_SECTORS	2048	/* and no more than that */
#define W2R_LOCKED_BLOCKS 32	/* taken before ->lock is let go for a moment */
#define W2R_WRITER_SETS	16384	/* a power of two */

enum w2r_stat {
	W2R_READ_BLOCKS,	/* = the next four */
	W2R_HITS_WEIGHING,
	W2R_HITS_WAITING,
	W2R_MISSES,
	W2R_BYPASSED,		/* being written just then, or at a cut-off end */
	W2R_WRITTEN_BLOCKS,
	W2R_PREFETCHED,
	W2R_ORIGIN_READS,	/* I/Os */
	W2R_ORIGIN_PREFETCHES,	/* I/Os */
	W2R_READ_ERRORS,
	W2R_WRITE_ERRORS,
	W2R_WAITED,		/* reads that waited for a block on its way */
	W2R_RECLAIMED,		/* frames that the shrinker gave back */
	W2R_NR_STATS,
};

struct w2r_files;

struct w2r_slot {
	struct page *page;
	struct w2r_filler *filler;	/* while the entry is being filled */
};

/* A read of the origin that fills entries: a chain by entry.next, ascending. */
struct w2r_filler {
	u32 head;
	u32 tail;
	struct list_head waiters;	/* struct w2r_io.wait */
	bool limited;			/* by its cgroup or idle priority */
};

struct w2r {
	spinlock_t lock;
	struct rooms rooms;
	struct planner *planner;
	struct w2r_slot *slots;
	u32 *writers;			/* [W2R_WRITER_SETS] writes under way, by set of blocks */
	struct list_head wide_writers;	/* struct w2r_io.wait: those of too many sets */
	u32 nr_wide;
	u64 stats[W2R_NR_STATS];
	u64 used_base, wasted_base;	/* rooms' counters when stats were cleared */
	u32 resident;			/* frames that have memory */
	u32 touched;			/* entries from here on never had a block */
	u32 prefetching;		/* blocks of prefetches under way */
	u32 prefetching_by[PLAN_PAYERS];	/* of these, by who pays */
	u32 traced_target;		/* rooms.waiting_target, as the trace has it */
	bool suspended;			/* no prefetch may start */
	bool lookahead_on;		/* what readahead= came to */
	struct toggle toggle;
	u32 toggle_used, toggle_wasted;	/* rooms' counters at the last period */
	unsigned long shrunk_at;	/* jiffies */
	u32 dropped_from;		/* the limit before drop_caches, or 0 */

	struct table table;		/* knobs; written under ->lock */
	struct dm_target *ti;
	struct dm_dev *dev;
	dev_t devt;			/* the target's own device */
	void *mem;			/* of the rooms */
	u32 nr_entries;
	u32 block_sectors;
	u32 block_shift;		/* log2(block_sectors) */
	u64 nr_blocks;			/* whole ones */

	struct bio_set bios;
	struct bio_list spares;		/* of them, for the next small reads; under ->lock */
	u32 nr_spares;
	u32 own;			/* bios of ours under way; under ->lock */
	wait_queue_head_t idle;
	struct workqueue_struct *wq;
	struct work_struct resubmit;
	struct bio_list resubmits;	/* reads that must go to the origin */
	struct work_struct serve;
	struct list_head late;		/* struct w2r_io.wait: a worker serves them */
	struct work_struct submit;
	struct bio_list aheads;		/* prefetches that a worker sends */
	struct delayed_work tick;
	struct list_head giver;		/* of those that give memory back */

	struct mutex ra_lock;		/* the next two; outside of ->lock */
	unsigned long saved_ra;		/* read-ahead we switched off, in pages */
	bool ra_off;
	struct w2r_files *files;	/* in sysfs, or NULL */
};

enum w2r_io_kind {
	W2R_IO_PASS,
	W2R_IO_SERVED,		/* a read out of frames */
	W2R_IO_WRITE,
};

/* Our part of each bio of dm. */
struct w2r_io {
	enum w2r_io_kind kind;
	u32 offset;		/* sectors by which it starts inside ->first */
	u64 first;		/* blocks that it touches */
	u32 n;
	u32 stale;		/* a write's entries that wait for its end */
	u64 start_ns;		/* of a read of the origin that is timed; or 0 */
	struct bvec_iter iter;	/* a write's, as it came */
	struct list_head wait;	/* of a read that waits, or a wide write under way */
};

static inline void w2r_count(struct w2r *c, enum w2r_stat what, u64 n)
{
	c->stats[what] += n;
}

static inline struct entry *w2r_entry(struct w2r *c, u32 e)
{
	return &c->rooms.arena.entries[e];
}

static inline struct w2r_io *w2r_io_of(struct bio *bio)
{
	return dm_per_bio_data(bio, sizeof(struct w2r_io));
}

/*
 * Sends @bio, whose sectors count from the start of the target, to the origin.
 * REQ_DRV is dm's own, of a bio that is polled for; dm leaves it in the clone of a
 * rest, and an origin that is dm's as well would take it for its own.
 */
static inline void w2r_aim(struct w2r *c, struct bio *bio)
{
	bio->bi_opf &= ~REQ_DRV;
	bio_set_dev(bio, c->dev->bdev);
	bio->bi_iter.bi_sector = dm_target_offset(c->ti, bio->bi_iter.bi_sector);
}

static inline void w2r_filler_init(struct w2r_filler *f)
{
	f->limited = false;
	f->head = ENTRY_NONE;
	f->tail = ENTRY_NONE;
	INIT_LIST_HEAD(&f->waiters);
}

#endif
