// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/gfp.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "slot_bio.h"
#include "store.h"

#define STORE_WAIT	HZ

static struct store_shard *store_shard(struct store *st, u32 vslot)
{
	return &st->shards[vslot % STORE_SHARDS];
}

static struct hlist_head *store_bucket(struct store_shard *sh, u32 vslot)
{
	return &sh->hash[hash_32(vslot / STORE_SHARDS, STORE_HASH_BITS)];
}

static struct stored_page *store_find(struct store_shard *sh, u32 vslot)
{
	struct stored_page *s;

	lockdep_assert_held(&sh->lock);
	hlist_for_each_entry(s, store_bucket(sh, vslot), hash)
		if (s->vslot == vslot)
			return s;
	return NULL;
}

static void store_unhash(struct store_shard *sh, struct stored_page *s)
{
	lockdep_assert_held(&sh->lock);
	hlist_del(&s->hash);
	WRITE_ONCE(sh->nr_held, sh->nr_held - 1);
}

u32 store_nr_held(const struct store *st)
{
	u32 i, n = 0;

	for (i = 0; i < STORE_SHARDS; i++)
		n += READ_ONCE(st->shards[i].nr_held);
	return n;
}

/*
 * Is nothing held for @vslot? A look without the lock. If so, the map, read after
 * it, is no older than any copy that was acknowledged before: a copy that was there
 * has left its bucket either after its data, or what was written over it in place,
 * was put in the map (with a full barrier, and under the lock that whoever emptied
 * the bucket had later), or because its slot was freed, when nobody is to read it.
 * One that gives way to a newer copy leaves after that has come (store_hold()).
 */
static bool store_none_at(struct store_shard *sh, u32 vslot)
{
	bool none = hlist_empty(store_bucket(sh, vslot));

	smp_rmb(); /* pairs with slot_map_exchange() before store_unhash() */
	return none;
}

static void store_note_failed(struct store *st, struct stored_page *s)
{
	s->failed = true;
	spin_lock(&st->failed_lock);
	list_add_tail(&s->failed_list, &st->failed);
	spin_unlock(&st->failed_lock);
	atomic_inc(&st->nr_failed);
}

static void store_unfail(struct store *st, struct stored_page *s)
{
	s->failed = false;
	spin_lock(&st->failed_lock);
	list_del(&s->failed_list);
	spin_unlock(&st->failed_lock);
	atomic_dec(&st->nr_failed);
}

/*
 * Whoever writes a dead copy gives it back when the write ends; one that nobody
 * writes goes at once.
 */
static bool store_kill(struct store *st, struct store_shard *sh,
		       struct stored_page *s)
{
	if (!s)
		return false;
	store_unhash(sh, s);
	s->dead = true;
	if (s->failed) {
		store_unfail(st, s);
		store_put(st, s);
	}
	return true;
}

/* What st->free is after @old: one change more, and another first copy. */
static s64 store_free_after(s64 old, u32 first)
{
	return (((u64)old >> 32) + 1) << 32 | first;
}

/*
 * The first free copy may have been taken and given back between the look at its
 * next one and the exchange, and have another next one now: the count of changes
 * tells.
 */
struct stored_page *store_get(struct store *st)
{
	s64 old = atomic64_read(&st->free);
	struct stored_page *s;

	do {
		if (!(u32)old)
			return NULL;
		s = &st->pages[(u32)old - 1];
	} while (!atomic64_try_cmpxchg(&st->free, &old,
			store_free_after(old, READ_ONCE(s->next))));
	return s;
}

void store_put_chain(struct store *st, const struct store_chain *chain)
{
	s64 old = atomic64_read(&st->free);

	if (!chain->first)
		return;
	do {
		WRITE_ONCE(chain->last->next, (u32)old);
	} while (!atomic64_try_cmpxchg(&st->free, &old,
			store_free_after(old, chain->first->number)));
	if (unlikely(READ_ONCE(st->stuck)))
		WRITE_ONCE(st->stuck, false);
	if (wq_has_sleeper(&st->wait))
		wake_up(&st->wait);
}

void store_put(struct store *st, struct stored_page *s)
{
	struct store_chain one = { .first = s, .last = s };

	store_put_chain(st, &one);
}

static bool store_may_wait(const struct store *st)
{
	return !READ_ONCE(st->stuck) && store_nr_failed(st) < st->nr_pages / 2;
}

struct stored_page *store_get_wait(struct store *st)
{
	struct stored_page *s = store_get(st);

	if (s || !store_may_wait(st))
		return s;
	wait_event_timeout(st->wait, (s = store_get(st)), STORE_WAIT);
	if (!s)
		WRITE_ONCE(st->stuck, true);
	return s;
}

void store_wait(struct store *st)
{
	if (store_is_used_up(st) && store_may_wait(st) &&
	    !wait_event_timeout(st->wait, !store_is_used_up(st), STORE_WAIT))
		WRITE_ONCE(st->stuck, true);
}

void store_hold(struct store *st, struct stored_page *s, u32 vslot)
{
	struct store_shard *sh = store_shard(st, vslot);
	struct stored_page *old;
	unsigned long flags;

	s->vslot = vslot;
	s->dead = false;
	spin_lock_irqsave(&sh->lock, flags);
	old = store_find(sh, vslot);
	/* First: who finds none held looks into the map, where the older data is. */
	hlist_add_head(&s->hash, store_bucket(sh, vslot));
	WRITE_ONCE(sh->nr_held, sh->nr_held + 1);
	store_kill(st, sh, old);
	spin_unlock_irqrestore(&sh->lock, flags);
}

bool store_read(struct store *st, struct bio *bio, struct bvec_iter iter)
{
	u32 vslot = slot_bio_virt(iter);
	struct store_shard *sh = store_shard(st, vslot);
	struct stored_page *s;
	unsigned long flags;

	if (store_none_at(sh, vslot))
		return false;
	spin_lock_irqsave(&sh->lock, flags);
	s = store_find(sh, vslot);
	if (s)
		slot_bio_copy(bio, iter, s->page, true);
	spin_unlock_irqrestore(&sh->lock, flags);
	return s;
}

bool store_holds(struct store *st, u32 vslot)
{
	struct store_shard *sh = store_shard(st, vslot);
	unsigned long flags;
	bool held;

	if (store_none_at(sh, vslot))
		return false;
	spin_lock_irqsave(&sh->lock, flags);
	held = store_find(sh, vslot);
	spin_unlock_irqrestore(&sh->lock, flags);
	return held;
}

bool store_drop(struct store *st, u32 vslot)
{
	struct store_shard *sh = store_shard(st, vslot);
	unsigned long flags;
	bool held;

	if (store_none_at(sh, vslot))
		return false;
	spin_lock_irqsave(&sh->lock, flags);
	held = store_kill(st, sh, store_find(sh, vslot));
	spin_unlock_irqrestore(&sh->lock, flags);
	return held;
}

u32 store_publish(struct store *st, struct stored_page *s,
		  struct slot_map *map, u32 slot)
{
	struct store_shard *sh = store_shard(st, s->vslot);
	unsigned long flags;
	u32 old = slot;

	spin_lock_irqsave(&sh->lock, flags);
	if (!s->dead) {
		old = slot_map_exchange(map, s->vslot, slot);
		store_unhash(sh, s);
	}
	spin_unlock_irqrestore(&sh->lock, flags);
	return old;
}

/*
 * A copy that has left before the look has exchanged the map before we do. One that
 * comes after it belongs to a write that was under way together with this one:
 * either may win.
 */
u32 store_overwrite(struct store *st, struct slot_map *map, u32 vslot,
		    u32 slot)
{
	struct store_shard *sh = store_shard(st, vslot);
	unsigned long flags;
	u32 old;

	if (store_none_at(sh, vslot))
		return slot_map_exchange(map, vslot, slot);
	spin_lock_irqsave(&sh->lock, flags);
	/* In this order, for the same reason as in store_hold(). */
	old = slot_map_exchange(map, vslot, slot);
	store_kill(st, sh, store_find(sh, vslot));
	spin_unlock_irqrestore(&sh->lock, flags);
	return old;
}

void store_keep(struct store *st, struct stored_page *s)
{
	struct store_shard *sh = store_shard(st, s->vslot);
	unsigned long flags;

	spin_lock_irqsave(&sh->lock, flags);
	if (s->dead)
		store_put(st, s);
	else
		store_note_failed(st, s);
	spin_unlock_irqrestore(&sh->lock, flags);
}

/* The slot of a copy that is among the failed just now. */
static bool store_failed_slot(struct store *st, u32 *vslot)
{
	struct stored_page *s;
	unsigned long flags;

	spin_lock_irqsave(&st->failed_lock, flags);
	s = list_first_entry_or_null(&st->failed, struct stored_page,
				     failed_list);
	if (s)
		*vslot = s->vslot;
	spin_unlock_irqrestore(&st->failed_lock, flags);
	return s;
}

struct stored_page *store_take_failed(struct store *st)
{
	struct store_shard *sh;
	struct stored_page *s;
	unsigned long flags;
	u32 vslot;

	while (store_failed_slot(st, &vslot)) {
		sh = store_shard(st, vslot);
		spin_lock_irqsave(&sh->lock, flags);
		s = store_find(sh, vslot);
		if (s && s->failed)
			store_unfail(st, s);
		else
			s = NULL;
		spin_unlock_irqrestore(&sh->lock, flags);
		if (s)
			return s;
	}
	return NULL;
}

static void store_free(struct store *st)
{
	u32 i;

	for (i = 0; st->pages && i < st->nr_pages; i++)
		if (st->pages[i].page)
			__free_page(st->pages[i].page);
	kvfree(st->pages);
	kvfree(st->shards);
}

int store_init(struct store *st)
{
	u32 i, j;

	spin_lock_init(&st->failed_lock);
	INIT_LIST_HEAD(&st->failed);
	init_waitqueue_head(&st->wait);
	atomic_set(&st->nr_failed, 0);
	st->stuck = false;
	st->nr_pages = clamp_t(u32, num_online_cpus() * STORE_PAGES_A_CPU,
			       STORE_PAGES_MIN, STORE_PAGES_MAX);
	st->pages = kvcalloc(st->nr_pages, sizeof(*st->pages), GFP_KERNEL);
	st->shards = kvcalloc(STORE_SHARDS, sizeof(*st->shards), GFP_KERNEL);
	if (!st->pages || !st->shards)
		goto err_free;
	for (i = 0; i < STORE_SHARDS; i++) {
		spin_lock_init(&st->shards[i].lock);
		for (j = 0; j < 1 << STORE_HASH_BITS; j++)
			INIT_HLIST_HEAD(&st->shards[i].hash[j]);
	}
	for (i = 0; i < st->nr_pages; i++) {
		st->pages[i].page = alloc_page(GFP_KERNEL);
		if (!st->pages[i].page)
			goto err_free;
		st->pages[i].number = i + 1;
		st->pages[i].next = i;
	}
	atomic64_set(&st->free, st->nr_pages);
	return 0;

err_free:
	store_free(st);
	return -ENOMEM;
}

void store_exit(struct store *st)
{
	store_free(st);
}
