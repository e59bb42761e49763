/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The waiting room of one page-in shard: pages that were read along with a
 * wanted one and that nobody has asked for yet, found by physical slot, the
 * oldest given up first (SA-W2R's waiting room, for swap).
 *
 * A frame is a page of memory that the room owns for good. It is free, or
 * taken (by a read under way or a copy being made), or ready (holds a slot's
 * data). No function sleeps but waiting_resize() and waiting_exit(). All but these,
 * waiting_init() and waiting_return() want the shard's lock held.
 */
#ifndef MSWAP_WAITING_H
#define MSWAP_WAITING_H

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "algo/steady.h"

/* The window that a hit starts. */
struct onward {
	u32 slot;	/* its first one or, if it is below, its last; SLOT_NONE: no window */
	u8 size;
	u8 length;	/* of the window before it */
	bool below;
	bool parted;	/* that one is of another run */
	bool steady;	/* on the credit of steady readers */
};

struct waiting_frame {
	union {
		struct hlist_node hash;		/* ready */
		struct llist_node returned;	/* on its way back */
	};
	struct list_head list;		/* of free or of ready frames */
	struct page *page;
	u32 slot;
	struct onward onward;
	u16 steady;	/* for whom it was read: his account, or STEADY_NONE */
	bool stranger;	/* was not of the wanted page's run */
	bool passed;	/* a reader who goes in order has left it out */
};

struct waiting_room {
	struct hlist_head *hash;	/* two buckets a frame or more, NULL before the first */
	u32 hash_bits;
	struct list_head ready;		/* oldest first */
	struct list_head free;
	struct llist_head returned;
	u32 nr_ready;
	u32 nr_passed;	/* of these */
	u32 nr_free;
	u32 nr_frames;	/* read without the lock, too */
	u32 target;	/* frames above it are freed when they come back */
};

void waiting_init(struct waiting_room *r);
/* All frames must be back. Process context. */
void waiting_exit(struct waiting_room *r);
/*
 * Sets the number of frames. @lock is the shard's, taken inside; where there are to
 * be more than ever, for as long as all ready ones take to be hashed anew. -ENOMEM
 * leaves the number as it was. May sleep.
 */
int waiting_resize(struct waiting_room *r, spinlock_t *lock, u32 nr_frames);

/* The ready frame that holds @slot, or NULL. */
struct waiting_frame *waiting_find(struct waiting_room *r, u32 slot);
/* Takes a ready frame out: the caller owns it now. */
void waiting_take(struct waiting_room *r, struct waiting_frame *f);
/* A taken frame becomes ready; f->slot and f->onward are set. Those of a read follow each other. */
void waiting_add(struct waiting_room *r, struct waiting_frame *f);
/* A reader in order has left out @f, which is ready. */
void waiting_pass(struct waiting_room *r, struct waiting_frame *f);
/* A hit of @f, which is ready still, starts f->onward: no other frame of its read will. */
void waiting_begun(struct waiting_room *r, struct waiting_frame *f);
/* What became of prefetched pages, by whether they were of the wanted run. */
struct waiting_fate {
	u32 run;
	u32 strangers;
	u32 steady;	/* read ahead of a steady reader, or passed by one in order */
};

static inline void waiting_note(struct waiting_fate *fate,
				const struct waiting_frame *f)
{
	if (f->stranger)
		fate->strangers++;
	else if (f->steady != STEADY_NONE || f->passed)
		fate->steady++;
	else
		fate->run++;
}

/* How many frames waiting_get() has before it gives up a ready one. */
u32 waiting_nr_free(struct waiting_room *r);
/*
 * A frame to read into, or NULL. When none is free the oldest ready one is
 * given up, or several while there are more frames than wanted, and *@wasted
 * notes it.
 */
struct waiting_frame *waiting_get(struct waiting_room *r,
				  struct waiting_fate *wasted);
/* A taken frame becomes free. */
void waiting_put(struct waiting_room *r, struct waiting_frame *f);
/* The same without the lock; it counts as taken until waiting_get() looks. */
static inline void waiting_return(struct waiting_room *r,
				  struct waiting_frame *f)
{
	llist_add(&f->returned, &r->returned);
}

#endif
