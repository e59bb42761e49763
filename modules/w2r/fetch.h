/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads of our own, into frames: what readers miss, and prefetches. The cache is
 * never filled out of a reader's pages, which he may write to at any time.
 */
#ifndef W2R_FETCH_H
#define W2R_FETCH_H

#include "cache.h"
#include "compat/bio.h"

struct w2r_fetch;

/*
 * A read of the origin for @owner (@io), with his first block, which is not in the
 * cache: takes an entry in the weighing room for it. NULL if that cannot be.
 * When it ends, so does @owner; but if it failed, he is sent to the origin by
 * himself. Under ->lock; the caller sends w2r_fetch_bio().
 */
struct w2r_fetch *w2r_fetch_begin(struct w2r *c, struct bio *owner,
				  struct w2r_io *io);

/*
 * Adds the next block, to the cache as well if @keep and there is a place. False
 * if it cannot be read with the others: it was not added. Under ->lock.
 */
bool w2r_fetch_add(struct w2r *c, struct w2r_fetch *f, u64 block, bool keep);
struct bio *w2r_fetch_bio(struct w2r_fetch *f);

/* Who pays for @bio, of PLAN_PAYERS. */
u32 w2r_payer(struct bio *bio);
/* The prefetched blocks on their way, as they count for @payer. Under ->lock. */
u32 w2r_under_way(const struct w2r *c, u32 payer);

/*
 * Lets go of ->lock for a moment, and turns interrupts on: each block that is taken may
 * take memory. What was found out about entries holds no longer, but for those that the
 * caller's own reads fill. Process context.
 */
void w2r_relock(struct w2r *c) __must_hold(&c->lock);
/* Tells the trace of a change of the split. Under ->lock. */
void w2r_trace_split(struct w2r *c);

/*
 * Adds to @bios the prefetches that follow from reference @ref of @cause, for whose
 * cgroup they count, with the flags @opf. Under ->lock, which is let go if they are
 * many; then @cause may have ended when this returns, if it waits. Process context.
 */
void w2r_look_ahead(struct w2r *c, const struct reference *ref,
		    struct bio *cause, blk_opf_t opf, struct bio_list *bios);

/* Sends @bios to the origin. Without ->lock, process context. */
void w2r_submit(struct bio_list *bios);

/*
 * The same by a worker: to send may be to wait until the origin has room for one
 * more, and the reader has what it asked for. Takes ->lock.
 */
void w2r_submit_later(struct w2r *c, struct bio_list *bios);
void w2r_submit_work(struct work_struct *work);

/* -ENOMEM leaves nothing behind. Process context; may sleep. */
int w2r_fetch_start(struct w2r *c);
/* No I/O may be under way. */
void w2r_fetch_stop(struct w2r *c);

#endif
