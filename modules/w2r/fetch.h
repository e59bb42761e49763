/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads of our own: prefetches, and whole blocks of which a part was asked for. */
#ifndef W2R_FETCH_H
#define W2R_FETCH_H

#include "cache.h"

/*
 * Takes an entry in the weighing room for @block, which is not in the cache, and
 * adds to @bios a read that fills it; false if that cannot be. Under ->lock.
 */
bool w2r_fetch(struct w2r *c, u64 block, struct bio_list *bios);

/* Adds to @bios the prefetches that follow from reference @ref. Under ->lock. */
void w2r_look_ahead(struct w2r *c, const struct reference *ref,
		    struct bio_list *bios);

/* Sends @bios to the origin. Without ->lock, process context. */
void w2r_submit(struct w2r *c, struct bio_list *bios);

/*
 * The same by a worker: to send may be to wait until the origin has room for one
 * more, and the reader has what it asked for.
 */
void w2r_submit_later(struct w2r *c, struct bio_list *bios);
void w2r_submit_work(struct work_struct *work);

int w2r_fetch_start(struct w2r *c);
void w2r_fetch_stop(struct w2r *c);

#endif
