/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lends the engine of a ready device to another module, which then has all of
 * its slots for itself: nobody can open, reset or remove the device meanwhile.
 * Knobs and counters stay where they are, in the device's folder.
 */
#ifndef MSWAP_LEND_H
#define MSWAP_LEND_H

#include <linux/types.h>

struct engine;
struct page;

/*
 * The engine of device @id. ERR_PTR: -ENODEV no such device, -ENXIO it is not
 * ready, -EBUSY it is open or lent. Process context.
 */
struct engine *mswap_lend(int id);
/* Nothing may be stored and no call under way. Process context. */
void mswap_give_back(struct engine *e);
/* Virtual slots: 0..n - 1. */
u32 mswap_lent_slots(const struct engine *e);

/*
 * Makes a copy of @page the slot's data and returns before it is written. It
 * may wait for earlier ones. Refused, with nothing changed, when the device is
 * full (-ENOSPC), or when no copy is to be had, as the device takes no writes or
 * memory is short (-ENOMEM). Process context, no lock held that reclaim takes.
 */
int mswap_lent_store(struct engine *e, u32 vslot, struct page *page);
/* Counts a page that the borrower did not store. Any context. */
void mswap_lent_refused(struct engine *e);
/* Fills @page with the slot's data, or the device's errno. Process context, waits for I/O. */
int mswap_lent_load(struct engine *e, u32 vslot, struct page *page);
/* The slot holds nothing any more. Any context, also under spinlocks. */
void mswap_lent_free(struct engine *e, u32 vslot);

#endif
