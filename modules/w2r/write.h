/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes, and whatever else changes the origin. While one is under way nothing
 * it touches is filled, so what is cached is never older than what was
 * acknowledged.
 */
#ifndef W2R_WRITE_H
#define W2R_WRITE_H

#include <linux/hash.h>

#include "cache.h"

#define W2R_SET_SHIFT	6	/* a set: 64 adjacent blocks; sets may share a count */

static inline u32 w2r_writer_set(u64 block)
{
	return hash_64(block >> W2R_SET_SHIFT, ilog2(W2R_WRITER_SETS));
}

/* Is one of those that are not counted by set on its way over @block? Under ->lock. */
bool w2r_in_wide_writer(const struct w2r *c, u64 block);

/* May @block be under way to the origin? Under ->lock. */
static inline bool w2r_being_written(const struct w2r *c, u64 block)
{
	return c->writers[w2r_writer_set(block)] ||
	       (c->nr_wide && w2r_in_wide_writer(c, block));
}

/* @bio is about to go to the origin; process context. */
void w2r_write(struct w2r *c, struct bio *bio);
/* It ended; any context. */
void w2r_write_ended(struct w2r *c, struct bio *bio, blk_status_t status);
/*
 * Has the kernel write what others have left in the page cache of the origin, of the
 * disk that it is a partition of, or of its own partitions. Process context; waits for
 * I/O, not for any of ours.
 */
void w2r_settle(struct w2r *c);
/* Forgets @n blocks from @first on. Any context, or process context if @may_sleep. */
void w2r_invalidate(struct w2r *c, u64 first, u64 n, bool may_sleep);

#endif
