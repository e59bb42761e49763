/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef W2R_READ_H
#define W2R_READ_H

#include "cache.h"

/* dm's map of a read, @io; returns its DM_MAPIO_. Process context. */
int w2r_read(struct w2r *c, struct bio *bio, struct w2r_io *io);
/* A read that was not served out of frames ended; any context. */
void w2r_read_ended(struct w2r *c, struct bio *bio, blk_status_t status);
/*
 * The I/O of @f ended: its entries stay if @good, and whoever waited for them is
 * served, or sent to the origin; if they are many, most of them by a worker. Any
 * context, without ->lock.
 */
void w2r_filler_ended(struct w2r *c, struct w2r_filler *f, bool good);
/* Worker: serves those that ->late has, or sends them to the origin. */
void w2r_serve_late(struct work_struct *work);
/* Has the worker send @bio, a read, to the origin; any context. */
void w2r_send_anew(struct w2r *c, struct bio *bio);
/* Worker: sends the reads in ->resubmits to the origin. */
void w2r_resubmit(struct work_struct *work);

#endif
