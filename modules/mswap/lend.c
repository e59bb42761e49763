// SPDX-License-Identifier: GPL-2.0-only
#include <linux/completion.h>
#include <linux/module.h>

#include "device.h"
#include "lend.h"
#include "slot_bio.h"

struct engine *mswap_lend(int id)
{
	struct mswap_device *dev = mswap_device_lend(id);

	return IS_ERR(dev) ? ERR_CAST(dev) : &dev->engine;
}
EXPORT_SYMBOL_GPL(mswap_lend);

void mswap_give_back(struct engine *e)
{
	mswap_device_give_back(container_of(e, struct mswap_device, engine));
}
EXPORT_SYMBOL_GPL(mswap_give_back);

u32 mswap_lent_slots(const struct engine *e)
{
	return e->map.nr_virt;
}
EXPORT_SYMBOL_GPL(mswap_lent_slots);

/* Copies that are held need slots too, and the last of them are for retries. */
static bool lent_is_full(struct engine *e)
{
	return space_nr_free(&e->space) <
	       store_nr_held(&e->store) + ENGINE_RESERVE_MIN;
}

int mswap_lent_store(struct engine *e, u32 vslot, struct page *page)
{
	if (lent_is_full(e))
		return -ENOSPC;
	return batch_copy(&e->batching, vslot, page);
}
EXPORT_SYMBOL_GPL(mswap_lent_store);

void mswap_lent_refused(struct engine *e)
{
	mswap_count(e->stats, MSWAP_STORES_REFUSED, 1);
}
EXPORT_SYMBOL_GPL(mswap_lent_refused);

static void lent_load_end(struct bio *bio)
{
	complete(bio->bi_private);
}

int mswap_lent_load(struct engine *e, u32 vslot, struct page *page)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct bio_vec vec;
	struct bio bio;
	int err;

	compat_bio_init(&bio, NULL, &vec, 1, REQ_OP_READ | REQ_SYNC);
	__bio_add_page(&bio, page, PAGE_SIZE, 0);
	bio.bi_iter.bi_sector = (sector_t)vslot * SLOT_SECTORS;
	bio.bi_end_io = lent_load_end;
	bio.bi_private = &done;
	pagein_read(&e->pagein, &bio);
	wait_for_completion_io(&done);
	err = blk_status_to_errno(bio.bi_status);
	bio_uninit(&bio);
	return err;
}
EXPORT_SYMBOL_GPL(mswap_lent_load);

void mswap_lent_free(struct engine *e, u32 vslot)
{
	engine_free_slot(e, vslot);
}
EXPORT_SYMBOL_GPL(mswap_lent_free);
