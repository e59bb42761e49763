/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which virtual slot of the engine holds a page of a swap area. Frontswap names
 * pages by (type, offset) and does not tell how large an area is, so slots are
 * given out in chunks of CHUNK_SLOTS consecutive offsets.
 *
 * Frontswap never works on one page twice at a time; one lock, taken inside,
 * protects the chunks. Nothing here sleeps but areas_alloc(), or is for interrupts.
 */
#ifndef MSWAP_FRONTSWAP_AREA_H
#define MSWAP_FRONTSWAP_AREA_H

#include <linux/types.h>

#define CHUNK_SLOTS	512
#define AREA_NONE	((u32)-1)

/*
 * Memory to keep track of @nr_slots virtual slots; NULL if there is none. It goes
 * by kvfree(). May reclaim, so no lock may be held that a store takes.
 */
unsigned long *areas_alloc(u32 nr_slots);
/*
 * From now on there are @nr_slots virtual slots to give out, tracked in @ids (NULL
 * for none); nothing may be stored. Returns the memory that was used before.
 */
unsigned long *areas_reset(unsigned long *ids, u32 nr_slots);

/* The slot for a page that is about to be stored; AREA_NONE: none is left. */
u32 area_add(unsigned int type, pgoff_t offset);
/* The slot of a stored page, or AREA_NONE. */
u32 area_find(unsigned int type, pgoff_t offset);
/* The slot of a stored page, which must be free by now, is given back. */
void area_remove(unsigned int type, pgoff_t offset);
/*
 * The first stored page of an area at or after *@offset: sets *@offset and
 * returns its slot; AREA_NONE at the end.
 */
u32 area_next(unsigned int type, pgoff_t *offset);
/* Pages stored, of all areas. */
u32 areas_nr_stored(void);

#endif
