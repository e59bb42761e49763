/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which physical slot holds a virtual slot, and which physical slots form runs.
 *
 * map:  4 bytes a virtual slot: 0 = never written or freed, else physical + 1.
 *       Lock-free: each entry is read with one load and changed with one
 *       exchange, and whoever takes a physical slot out of an entry owns it.
 * live: 1 bit a physical slot: its data is on the device and belongs to some
 *       virtual slot.
 * cont: 1 bit a physical slot: it continues the run of the slot before it, so
 *       that both are worth reading together. A slot that is not live may have
 *       it: a run goes on behind what it has lost, until others are written there.
 *
 * group: 1 bit a physical slot: it was written by the last of those that wrote a
 *       run in pieces there, so that all of them are worth reading together. A
 *       hint: there is a word for 15 of 16 granules only, and two share one
 *       where need be.
 *
 * live, cont and group are words of 64 slots (a *granule*); a granule is protected
 * by the lock of its page-in shard (pagein.h).  cont of a granule's first slot
 * is a hint only: its predecessor is in another granule.
 */
#ifndef MSWAP_SLOT_MAP_H
#define MSWAP_SLOT_MAP_H

#include <linux/types.h>

#include "algo/granule.h"

#define GRANULE_SLOTS	64
#define SLOT_UNMAPPED	((u32)-1)

struct slot_map {
	u32 *map;
	u64 *live;
	u64 *cont;
	u64 *group;
	u32 nr_groups;
	u32 nr_virt;
	u32 nr_phys;
};

/* Process context, may sleep. -ENOMEM leaves nothing behind. */
int slot_map_init(struct slot_map *m, u32 nr_virt, u32 nr_phys);
/* Another number of virtual slots; the map must be empty. -ENOMEM: unchanged. */
int slot_map_resize(struct slot_map *m, u32 nr_virt);
void slot_map_exit(struct slot_map *m);
size_t slot_map_bytes(const struct slot_map *m);

/* Physical slot of @virt, or SLOT_UNMAPPED. Any context. @virt < nr_virt. */
static inline u32 slot_map_get(const struct slot_map *m, u32 virt)
{
	return READ_ONCE(m->map[virt]) - 1;
}

/* Puts @phys (or SLOT_UNMAPPED) in; the caller owns what it gets back. */
static inline u32 slot_map_exchange(struct slot_map *m, u32 virt, u32 phys)
{
	return xchg(&m->map[virt], phys + 1) - 1;
}

static inline u32 granule_of(u32 phys)
{
	return phys / GRANULE_SLOTS;
}

static inline u64 *slot_map_group(const struct slot_map *m, u32 granule)
{
	return &m->group[granule_group(granule, m->nr_groups)];
}

static inline u64 granule_bit(u32 phys)
{
	return 1ull << (phys % GRANULE_SLOTS);
}

#endif
