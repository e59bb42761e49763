// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/swap.h>
#include <linux/xarray.h>

#include "area.h"

struct chunk {
	u32 id;			/* slots id * CHUNK_SLOTS.. */
	u32 nr_stored;
	DECLARE_BITMAP(stored, CHUNK_SLOTS);
};

static DEFINE_SPINLOCK(areas_lock);
/* All below is protected by areas_lock. */
static struct xarray areas[MAX_SWAPFILES];
static unsigned long *used_ids;
static u32 nr_ids;
static u32 next_id;
static u32 nr_stored;

unsigned long *areas_alloc(u32 nr_slots)
{
	u32 n = max_t(u32, nr_slots / CHUNK_SLOTS, 1);

	return kvcalloc(BITS_TO_LONGS(n), sizeof(long), GFP_KERNEL);
}

unsigned long *areas_reset(unsigned long *ids, u32 nr_slots)
{
	unsigned long *old;
	u32 i;

	spin_lock(&areas_lock);
	WARN_ON_ONCE(nr_stored);
	for (i = 0; i < MAX_SWAPFILES; i++)
		xa_init(&areas[i]);
	old = used_ids;
	used_ids = ids;
	nr_ids = nr_slots / CHUNK_SLOTS;
	next_id = 0;
	spin_unlock(&areas_lock);
	return old;
}

static struct chunk *chunk_of(unsigned int type, pgoff_t offset)
{
	lockdep_assert_held(&areas_lock);
	return xa_load(&areas[type], offset / CHUNK_SLOTS);
}

static u32 take_id(void)
{
	u32 id = find_next_zero_bit(used_ids, nr_ids, next_id);

	if (id >= nr_ids)
		id = find_first_zero_bit(used_ids, nr_ids);
	if (id >= nr_ids)
		return AREA_NONE;
	__set_bit(id, used_ids);
	next_id = id + 1;
	return id;
}

static struct chunk *chunk_make(unsigned int type, pgoff_t offset)
{
	struct chunk *c = kzalloc(sizeof(*c), GFP_NOWAIT | __GFP_NOWARN);

	lockdep_assert_held(&areas_lock);
	if (!c)
		return NULL;
	c->id = take_id();
	if (c->id == AREA_NONE)
		goto err_free;
	if (!xa_err(xa_store(&areas[type], offset / CHUNK_SLOTS, c,
			     GFP_NOWAIT | __GFP_NOWARN)))
		return c;
	__clear_bit(c->id, used_ids);
err_free:
	kfree(c);
	return NULL;
}

u32 area_add(unsigned int type, pgoff_t offset)
{
	u32 at = offset % CHUNK_SLOTS, slot = AREA_NONE;
	struct chunk *c;

	spin_lock(&areas_lock);
	c = chunk_of(type, offset);
	if (!c)
		c = chunk_make(type, offset);
	if (c) {
		slot = c->id * CHUNK_SLOTS + at;
		if (!__test_and_set_bit(at, c->stored)) {
			c->nr_stored++;
			WRITE_ONCE(nr_stored, nr_stored + 1);
		}
	}
	spin_unlock(&areas_lock);
	return slot;
}

u32 area_find(unsigned int type, pgoff_t offset)
{
	u32 at = offset % CHUNK_SLOTS, slot = AREA_NONE;
	struct chunk *c;

	spin_lock(&areas_lock);
	c = chunk_of(type, offset);
	if (c && test_bit(at, c->stored))
		slot = c->id * CHUNK_SLOTS + at;
	spin_unlock(&areas_lock);
	return slot;
}

void area_remove(unsigned int type, pgoff_t offset)
{
	u32 at = offset % CHUNK_SLOTS;
	struct chunk *c, *empty = NULL;

	spin_lock(&areas_lock);
	c = chunk_of(type, offset);
	if (c && __test_and_clear_bit(at, c->stored)) {
		WRITE_ONCE(nr_stored, nr_stored - 1);
		if (!--c->nr_stored)
			empty = c;
	}
	if (empty) {
		xa_erase(&areas[type], offset / CHUNK_SLOTS);
		__clear_bit(empty->id, used_ids);
	}
	spin_unlock(&areas_lock);
	kfree(empty);
}

u32 area_next(unsigned int type, pgoff_t *offset)
{
	unsigned long index = *offset / CHUNK_SLOTS;
	u32 at = *offset % CHUNK_SLOTS, slot = AREA_NONE;
	struct chunk *c;

	spin_lock(&areas_lock);
	for (c = xa_find(&areas[type], &index, ULONG_MAX, XA_PRESENT); c;
	     c = xa_find_after(&areas[type], &index, ULONG_MAX, XA_PRESENT)) {
		if (index != *offset / CHUNK_SLOTS)
			at = 0;
		at = find_next_bit(c->stored, CHUNK_SLOTS, at);
		if (at == CHUNK_SLOTS)
			continue;
		*offset = index * CHUNK_SLOTS + at;
		slot = c->id * CHUNK_SLOTS + at;
		break;
	}
	spin_unlock(&areas_lock);
	return slot;
}

u32 areas_nr_stored(void)
{
	return READ_ONCE(nr_stored);
}
