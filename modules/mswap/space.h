/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Free physical slots: slot trees, one a shard, so that CPUs do not meet on
 * one lock.  A shard is a contiguous part of the device.
 *
 * Taking and giving back slots never sleeps and may be done in any context.
 * Locks: each shard's, innermost.
 */
#ifndef MSWAP_SPACE_H
#define MSWAP_SPACE_H

#include <linux/atomic.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "algo/slot_tree.h"

struct space_shard {
	spinlock_t lock;
	struct slot_tree tree;	/* protected by lock */
	u32 hint;		/* protected by lock: where the last run ended */
	u32 base;
	u32 nr;
	void *arena;
} ____cacheline_aligned_in_smp;

struct space {
	struct space_shard *shards;
	u32 nr_shards;
	u32 nr_slots;
	atomic_t retired;	/* slots not to be given out; 0 while there are none */
};

/*
 * @one: a single shard, as on a disk with heads, which would go to and fro between
 * the CPUs' parts. Process context, may sleep. -ENOMEM leaves nothing behind.
 */
int space_init(struct space *s, u32 nr_slots, bool one);
void space_exit(struct space *s);
size_t space_bytes(const struct space *s);

/* What may be taken where no run is as long as wanted. */
enum space_place {
	SPACE_APART,	/* short runs of a granule that the last ones are not of */
	SPACE_BEHIND,	/* short runs, those behind the last one first: it goes on */
	SPACE_PIECE,	/* the same, and a short one there rather than all elsewhere */
};

/*
 * A run of @want slots (1..SLOT_RUN_MAX) of any shard, the CPU's own before
 * others; where none has one, what slot_tree_alloc_upto() takes in the shard where
 * the caller's last run ended, before slot @behind (SLOT_NONE: he has none), from
 * there on but for SPACE_APART, or in the shard with most free slots if those are
 * clearly more; where that one is in shreds, in any that is not, unless it is for a
 * SPACE_PIECE. SLOT_NONE when nothing is free, else its first slot and *@got.  The
 * paper's rule (MOC, section 4.2): the caller writes *@got pages and asks again for
 * the rest.
 */
u32 space_alloc(struct space *s, u32 want, enum space_place place, u32 behind,
		u32 *got);
/* The same, but from slot @at on, and in its shard before others. */
u32 space_alloc_at(struct space *s, u32 want, u32 at, u32 *got);
/* @n slots from @slot, all in one shard as space_alloc() gave them. */
void space_free(struct space *s, u32 slot, u32 n);
/* Counts @n taken slots that stay taken: the device failed to write them. */
void space_retire(struct space *s, u32 n);
/* Frees @n of those, from @slot, as space_free() does. */
void space_return(struct space *s, u32 slot, u32 n);
/* Any context, no lock: a shard may change while the next one is looked at. */
u32 space_nr_free(const struct space *s);
/* The same: slots that are neither free nor retired. */
u32 space_nr_used(const struct space *s);

#endif
