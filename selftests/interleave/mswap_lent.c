// SPDX-License-Identifier: GPL-2.0-only
/* Stores, loads and frees by the interface for frontswap. */
#include "device.h"
#include "lend.h"
#include "mswap.h"

/* The device, whose engine nobody lends here. */
struct mswap_device *mswap_device_lend(int id)
{
	return ERR_PTR(-ENODEV);
}

void mswap_device_give_back(struct mswap_device *dev)
{
	sim_fail("a device is given back that was not lent");
}

static void fill_page(struct page *page, u64 value)
{
	u32 i;

	for (i = 0; i < PAGE_SECTORS; i++)
		sim_stamp(page->mem + i * SECTOR_SIZE, stamp_of(value, i));
}

static u64 value_in(const struct page *page)
{
	u64 value = value_of(sim_stamp_of(page->mem));
	u32 i;

	for (i = 0; i < PAGE_SECTORS; i++)
		if (sim_stamp_of(page->mem + i * SECTOR_SIZE) != stamp_of(value, i))
			sim_fail("a loaded page is not whole");
	return value;
}

/* Refused, it leaves the slot as it was, and the page is frontswap's to free. */
void lent_store(u32 slot)
{
	u64 value = oracle_value(slot), begin = oracle_now();
	struct page *page = sim_page(0);
	int err;

	page->anon = true;
	page->ksm = false;
	page->mapping = (1 + sim_below(3)) << PAGE_SHIFT;
	page->index = slot;
	fill_page(page, value);
	oracle_under_way(begin);
	oracle_write(slot, value, begin, false);
	err = mswap_lent_store(rig.engine, slot, page);
	if (err && err != -ENOMEM && err != -ENOSPC)
		sim_fail("a store gave error %d", err);
	if (!err)
		rig.pages_out++;
	else
		mswap_lent_refused(rig.engine);
	rig.ended++;
	sim_progress();
	oracle_written(slot, value, begin, oracle_now(), err ? ORACLE_NOT_DONE : ORACLE_DONE);
	oracle_over(begin);
	__free_page(page);
	if (err && !rig.keeps && sim_once_in(2))
		lent_free(slot);
}

void lent_load(u32 slot)
{
	u64 failed = rig.disk.counts.failed_alone, begin = oracle_now();
	struct page *page = sim_page(0);
	int err;

	oracle_under_way(begin);
	rig.pages_in++;
	err = mswap_lent_load(rig.engine, slot, page);
	rig.ended++;
	sim_progress();
	if (!err)
		oracle_read(slot, value_in(page), begin, oracle_now());
	else if (rig.disk.counts.failed_alone == failed)
		sim_fail("slot %u could not be loaded, and the disk failed no read of it alone", slot);
	oracle_over(begin);
	__free_page(page);
}

void lent_free(u32 slot)
{
	u64 begin = oracle_now();

	oracle_under_way(begin);
	oracle_write(slot, 0, begin, false);
	spin_lock(&rig.swap_lock);
	mswap_lent_free(rig.engine, slot);
	spin_unlock(&rig.swap_lock);
	oracle_written(slot, 0, begin, oracle_now(), ORACLE_DONE);
	oracle_over(begin);
}
