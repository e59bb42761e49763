/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One write of a batch, as write.c sends it and retry.c, if it fails, once more.
 * It owns its slots until they are published or given back, and holds a reference
 * of its batch, bt->flight and bt->givers.
 */
#ifndef MSWAP_WRITE_H
#define MSWAP_WRITE_H

#include <linux/bio.h>
#include <linux/list.h>

#include "algo/cluster.h"
#include "batch.h"

/* How often one that waits for slots looks again: whoever frees them without I/O wakes nobody. */
#define WRITE_SLOT_WAIT	(HZ / 10)

/* One write of a batch to the device: pages from.. go to slots slot... */
struct batch_write {
	struct list_head list;		/* of the failed */
	struct batch *batch;
	u32 from;
	u32 n;
	u32 slot;
	bool continues;			/* the run of the slot before */
	bool behind;			/* failed, and let the other failed go first */
	struct bio bio;			/* last: its vectors follow */
};

static inline struct cluster_page *write_pages(struct batch_write *w)
{
	return &w->batch->pages[w->from];
}

/* None of these sleeps: all may be called where I/O ends. */

/* Hands @w's pages to its bio, which is empty. */
void write_add_pages(struct batch_write *w);
/* Counts @w, which is about to be sent. */
void write_count(struct batch_write *w);
/*
 * The pages of @w are on the device: the map names their slots from now on, and
 * those it named before are given up. @continues: the first one goes on with the
 * run of the slot before.
 */
void write_publish(struct batch_write *w, bool continues);
/* Ends @n of @w's pages for their owners: bios, or copies, which are kept after an error. */
void write_end_pages(struct batching *bt, struct cluster_page *pages, u32 n,
		     blk_status_t status);
/* Counts and logs that @w failed; @retry: not for the first time. */
void write_log_error(struct batch_write *w, bool retry);
/* All pages of @w are ended: gives it and what it holds back. */
void write_free(struct batch_write *w);

#endif
