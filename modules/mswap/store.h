/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages taken over by copy: swap pages that wait for company, or for their
 * write to end, without holding up the reclaim that evicted them. Their bios
 * have ended; until the write has, reads are served from the copy.
 *
 * A copy is free, or held: found by its virtual slot, until its data is on the
 * device or nobody needs it any more. A copy whose write has failed for good
 * stays held, so that nothing is lost while the machine runs, and is written
 * again when the device takes other writes.
 *
 * All functions run in any context and never sleep, unless they say so. Locks
 * are taken inside, with interrupts off, failed_lock inside a shard's.
 */
#ifndef MSWAP_STORE_H
#define MSWAP_STORE_H

#include <linux/bio.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "slot_map.h"

/* Copies of a device: 2 MiB, or a task's plug for each CPU, and 16 MiB at most. */
#define STORE_PAGES_MIN		512
#define STORE_PAGES_MAX		4096
#define STORE_PAGES_A_CPU	32
#define STORE_SHARDS		16
#define STORE_HASH_BITS		6

struct stored_page {
	struct hlist_node hash;		/* while held */
	struct list_head failed_list;	/* while failed */
	struct page *page;
	u32 number;	/* from 1 on */
	u32 next;	/* number of the next, while free or in a chain; or 0 */
	u32 vslot;
	bool dead;	/* under the shard's lock: freed or written anew meanwhile */
	bool failed;	/* under the shard's lock: no write is going to end */
};

/* Copies that are to be given back together; starts as { NULL }. */
struct store_chain {
	struct stored_page *first;
	struct stored_page *last;
};

struct store_shard {
	spinlock_t lock;
	u32 nr_held;		/* protected by lock */
	struct hlist_head hash[1 << STORE_HASH_BITS];
} ____cacheline_aligned_in_smp;

struct store {
	struct stored_page *pages;
	u32 nr_pages;
	struct store_shard *shards;
	/* low 32 bits: first's number; high: changes so far */
	atomic64_t free ____cacheline_aligned_in_smp;
	spinlock_t failed_lock;
	struct list_head failed;	/* protected by failed_lock */
	wait_queue_head_t wait;		/* for a free copy */
	bool stuck;			/* none has come for as long as one waits */
	atomic_t nr_failed;
};

/* Process context, may sleep. -ENOMEM leaves nothing behind. */
int store_init(struct store *st);
/* Process context, may sleep. No write of a copy may be under way. */
void store_exit(struct store *st);

/* How many copies are held; those that come and go meanwhile may be missed. */
u32 store_nr_held(const struct store *st);
/* Are all held, or about to be? */
static inline bool store_is_used_up(const struct store *st)
{
	return !(u32)atomic64_read(&st->free);
}

/* A free copy, the caller's now, or NULL. */
struct stored_page *store_get(struct store *st);
/*
 * The same, but waits for one up to a second, unless half of them are stuck
 * with a device that takes no writes, or none has come since somebody waited as
 * long. Process context.
 */
struct stored_page *store_get_wait(struct store *st);
/* Waits likewise until there may be one. */
void store_wait(struct store *st);
/* Its data is @vslot's from now on, in place of what was held for it. */
void store_hold(struct store *st, struct stored_page *s, u32 vslot);
/* Copies what is held for the slot at @iter to @bio; false if nothing is. */
bool store_read(struct store *st, struct bio *bio, struct bvec_iter iter);
/* Is something held for @vslot? */
bool store_holds(struct store *st, u32 vslot);
/* Nobody needs what is held for @vslot any more. False if nothing is. */
bool store_drop(struct store *st, u32 vslot);

/*
 * The data of @s is on the device at @slot: the map points there unless it was
 * dropped meanwhile. Returns the physical slot that is to be released now, or
 * SLOT_UNMAPPED. store_put() follows.
 */
u32 store_publish(struct store *st, struct stored_page *s,
		  struct slot_map *map, u32 slot);
/* The same for a page that was not copied: it takes the place of a copy. */
u32 store_overwrite(struct store *st, struct slot_map *map, u32 vslot,
		    u32 slot);
/* Gives back a copy that is not held (any more). */
void store_put(struct store *st, struct stored_page *s);
/* The same for all of @chain, which store_chain_add() has made. */
void store_put_chain(struct store *st, const struct store_chain *chain);
/* No write of @s is going to end well: it is held on in memory. */
void store_keep(struct store *st, struct stored_page *s);
/* One of those: it is held as before, and the caller writes it. Or NULL. */
struct stored_page *store_take_failed(struct store *st);

static inline void store_chain_add(struct store_chain *chain,
				   struct stored_page *s)
{
	/* Who was late to take @s may still be looking. */
	WRITE_ONCE(s->next, chain->first ? chain->first->number : 0);
	chain->first = s;
	if (!chain->last)
		chain->last = s;
}

static inline u32 store_nr_failed(const struct store *st)
{
	return atomic_read(&st->nr_failed);
}

#endif
