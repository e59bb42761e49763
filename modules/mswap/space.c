// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "slot_map.h"
#include "space.h"

#define SPACE_SHARDS_MAX	16
/* Smaller shards would break runs more often than locks would be met. */
#define SPACE_SHARD_SLOTS_MIN	16384

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

int space_init(struct space *s, u32 nr_slots)
{
	u32 n = space_shard_count(nr_slots);
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
}

size_t space_bytes(const struct space *s)
{
	size_t bytes = s->nr_shards * sizeof(*s->shards);
	u32 i;

	for (i = 0; i < s->nr_shards; i++)
		bytes += slot_tree_bytes(s->shards[i].nr);
	return bytes;
}

static u32 space_shard_alloc(struct space_shard *sh, u32 want, bool shrink,
			     u32 *got)
{
	unsigned long flags;
	u32 slot;

	spin_lock_irqsave(&sh->lock, flags);
	*got = want;
	if (shrink)
		slot = slot_tree_alloc_upto(&sh->tree, want, sh->hint, got);
	else
		slot = slot_tree_alloc(&sh->tree, want, sh->hint);
	if (slot != SLOT_NONE) {
		sh->hint = slot + *got < sh->nr ? slot + *got : 0;
		slot += sh->base;
	}
	spin_unlock_irqrestore(&sh->lock, flags);
	return slot;
}

/* A whole run in any shard is better than a broken one in the CPU's own. */
u32 space_alloc(struct space *s, u32 want, u32 *got)
{
	u32 own = raw_smp_processor_id() % s->nr_shards;
	int shrink;
	u32 i, slot;

	for (shrink = 0; shrink <= (want > 1); shrink++) {
		for (i = 0; i < s->nr_shards; i++) {
			u32 k = (own + i) % s->nr_shards;

			slot = space_shard_alloc(&s->shards[k], want, shrink,
						 got);
			if (slot != SLOT_NONE)
				return slot;
		}
	}
	return SLOT_NONE;
}

static struct space_shard *space_shard_of(struct space *s, u32 slot)
{
	u32 k = min(slot / s->shards[0].nr, s->nr_shards - 1);

	return &s->shards[k];
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

void space_retire(struct space *s)
{
	atomic_inc(&s->retired);
}

u32 space_nr_free(const struct space *s)
{
	u32 i, n = 0;

	for (i = 0; i < s->nr_shards; i++)
		n += slot_tree_nr_free(&s->shards[i].tree);
	return n;
}
