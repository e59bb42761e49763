// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "slot_map.h"
#include "space.h"

#define SPACE_SHARDS_MAX	16
/* Smaller shards would break runs more often than locks would be met. */
#define SPACE_SHARD_SLOTS_MIN	16384
/* By what part of its own free slots another shard must have more to be gone to. */
#define SPACE_LEAD		8

static u32 space_shard_count(u32 nr_slots)
{
	u32 n = min_t(u32, num_possible_cpus(), SPACE_SHARDS_MAX);

	return clamp_t(u32, nr_slots / SPACE_SHARD_SLOTS_MIN, 1, n);
}

static int space_shard_init(struct space_shard *sh, u32 base, u32 nr)
{
	sh->arena = kvmalloc(slot_tree_bytes(nr), GFP_KERNEL);
	if (!sh->arena)
		return -ENOMEM;
	spin_lock_init(&sh->lock);
	sh->base = base;
	sh->nr = nr;
	sh->hint = 0;
	slot_tree_init(&sh->tree, sh->arena, nr);
	return 0;
}

int space_init(struct space *s, u32 nr_slots, bool one)
{
	u32 n = one ? 1 : space_shard_count(nr_slots);
	u32 each = rounddown(nr_slots / n, GRANULE_SLOTS);
	u32 i, base = 0;

	if (n == 1)
		each = nr_slots;
	s->nr_slots = nr_slots;
	s->nr_shards = n;
	atomic_set(&s->retired, 0);
	s->shards = kcalloc(n, sizeof(*s->shards), GFP_KERNEL);
	if (!s->shards)
		return -ENOMEM;
	for (i = 0; i < n; i++, base += each) {
		u32 nr = i == n - 1 ? nr_slots - base : each;

		if (space_shard_init(&s->shards[i], base, nr))
			goto err_shards;
	}
	return 0;

err_shards:
	space_exit(s);
	return -ENOMEM;
}

void space_exit(struct space *s)
{
	u32 i;

	if (!s->shards)
		return;
	for (i = 0; i < s->nr_shards; i++)
		kvfree(s->shards[i].arena);
	kfree(s->shards);
	s->shards = NULL;
	s->nr_shards = 0;
	atomic_set(&s->retired, 0);
}

size_t space_bytes(const struct space *s)
{
	size_t bytes = s->nr_shards * sizeof(*s->shards);
	u32 i;

	for (i = 0; i < s->nr_shards; i++)
		bytes += slot_tree_bytes(s->shards[i].nr);
	return bytes;
}

enum take {
	TAKE_WHOLE,	/* as many as wanted, or none */
	TAKE_LONG,	/* fewer, if need be, but none of an area in shreds */
	TAKE_BEHIND,	/* fewer, if need be */
	TAKE_APART,
};

/* Several CPUs may write to one shard: who goes on does so where he was. */
static u32 space_hint(const struct space_shard *sh, u32 behind)
{
	bool here = behind != SLOT_NONE && behind - sh->base <= sh->nr;

	return here ? behind - sh->base : sh->hint;
}

static u32 space_shard_alloc(struct space_shard *sh, u32 want, enum take take,
			     u32 behind, u32 *got)
{
	unsigned long flags;
	u32 slot, hint;

	spin_lock_irqsave(&sh->lock, flags);
	*got = want;
	hint = space_hint(sh, behind);
	if (take == TAKE_WHOLE)
		slot = slot_tree_alloc(&sh->tree, want, hint);
	else if (take == TAKE_LONG &&
		 slot_tree_longest(&sh->tree) < SLOT_RUN_LONG)
		slot = SLOT_NONE;
	else
		slot = slot_tree_alloc_upto(&sh->tree, want, hint,
					    take == TAKE_APART, got);
	if (slot != SLOT_NONE) {
		sh->hint = slot + *got < sh->nr ? slot + *got : 0;
		slot += sh->base;
	}
	spin_unlock_irqrestore(&sh->lock, flags);
	return slot;
}

static u32 space_alloc_from(struct space *s, u32 first, u32 want,
			    enum take take, u32 behind, u32 *got)
{
	u32 i, slot;

	for (i = 0; i < s->nr_shards; i++) {
		u32 k = (first + i) % s->nr_shards;

		slot = space_shard_alloc(&s->shards[k], want, take, behind,
					 got);
		if (slot != SLOT_NONE)
			return slot;
	}
	return SLOT_NONE;
}

static u32 space_shard_nr(const struct space *s, u32 slot)
{
	return min(slot / s->shards[0].nr, s->nr_shards - 1);
}

/*
 * The shard with most free slots; @own, unless another has clearly more: what is
 * written one after the other is to lie together.
 */
static u32 space_roomiest(const struct space *s, u32 own)
{
	u32 most = slot_tree_nr_free(&s->shards[own].tree);
	u32 best = own, i;

	most += most / SPACE_LEAD;
	for (i = 0; i < s->nr_shards; i++) {
		u32 nr_free = slot_tree_nr_free(&s->shards[i].tree);

		if (nr_free > most) {
			most = nr_free;
			best = i;
		}
	}
	return best;
}

/*
 * A whole run in any shard is better than a broken one in the CPU's own, and a long
 * one than shreds, unless it is the rest of a broken one. The more of a shard is free
 * the longer are its runs, as a rule: one CPU that writes much would be down to
 * single slots in its own while others have runs left.
 */
u32 space_alloc(struct space *s, u32 want, enum space_place place, u32 behind,
		u32 *got)
{
	enum take take = place == SPACE_APART ? TAKE_APART : TAKE_BEHIND;
	u32 own = raw_smp_processor_id() % s->nr_shards, first, slot;

	if (place != SPACE_PIECE) {
		slot = space_alloc_from(s, own, want, TAKE_WHOLE, SLOT_NONE,
					got);
		if (slot != SLOT_NONE || want == 1)
			return slot;
	}
	if (behind != SLOT_NONE)
		own = space_shard_nr(s, behind - 1);
	first = space_roomiest(s, own);
	if (place == SPACE_APART)
		behind = SLOT_NONE;
	if (place != SPACE_PIECE && want > SLOT_RUN_LONG) {
		slot = space_alloc_from(s, first, want, TAKE_LONG, behind, got);
		if (slot != SLOT_NONE)
			return slot;
	}
	return space_alloc_from(s, first, want, take, behind, got);
}

u32 space_alloc_at(struct space *s, u32 want, u32 at, u32 *got)
{
	u32 first = space_shard_nr(s, at), slot;

	slot = space_alloc_from(s, first, want, TAKE_WHOLE, at, got);
	if (slot != SLOT_NONE || want == 1)
		return slot;
	return space_alloc_from(s, first, want, TAKE_BEHIND, at, got);
}

static struct space_shard *space_shard_of(struct space *s, u32 slot)
{
	return &s->shards[space_shard_nr(s, slot)];
}

void space_free(struct space *s, u32 slot, u32 n)
{
	struct space_shard *sh = space_shard_of(s, slot);
	unsigned long flags;
	bool ok;

	spin_lock_irqsave(&sh->lock, flags);
	ok = slot_tree_free(&sh->tree, slot - sh->base, n);
	spin_unlock_irqrestore(&sh->lock, flags);
	WARN_ON_ONCE(!ok);
}

void space_retire(struct space *s, u32 n)
{
	atomic_add(n, &s->retired);
}

void space_return(struct space *s, u32 slot, u32 n)
{
	atomic_sub(n, &s->retired);
	space_free(s, slot, n);
}

u32 space_nr_free(const struct space *s)
{
	u32 i, n = 0;

	for (i = 0; i < s->nr_shards; i++)
		n += slot_tree_nr_free(&s->shards[i].tree);
	return n;
}

/* A slot may have been taken and retired since it was counted as free. */
u32 space_nr_used(const struct space *s)
{
	u32 taken = s->nr_slots - space_nr_free(s);
	u32 retired = atomic_read(&s->retired);

	return taken - min(taken, retired);
}
