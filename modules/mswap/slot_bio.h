/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The slots of a bio that a frontend hands in. An iterator stands at the start
 * of a slot; the slot's memory may lie in one page or in several pieces.
 * Any context.
 */
#ifndef MSWAP_SLOT_BIO_H
#define MSWAP_SLOT_BIO_H

#include <linux/bio.h>

#include "compat/bio.h"

#define SLOT_SECTORS	(PAGE_SIZE >> SECTOR_SHIFT)

/* The virtual slot at @iter. */
static inline u32 slot_bio_virt(struct bvec_iter iter)
{
	return iter.bi_sector / SLOT_SECTORS;
}

/* Is the slot's memory one whole page, which a device can use as it is? */
static inline bool slot_bio_is_page(struct bio *bio, struct bvec_iter iter)
{
	return !offset_in_page(mp_bvec_iter_offset(bio->bi_io_vec, iter)) &&
	       mp_bvec_iter_len(bio->bi_io_vec, iter) >= PAGE_SIZE;
}

/* The slot in pieces: begins and ends anywhere in its pages. */
static inline void slot_bio_copy_pieces(struct bio *bio, struct bvec_iter iter,
					struct page *page, bool to_bio)
{
	u32 done = 0;

	while (done < PAGE_SIZE) {
		struct bio_vec bv = bio_iter_iovec(bio, iter);
		u32 len = min_t(u32, bv.bv_len, PAGE_SIZE - done);

		if (to_bio) {
			memcpy_page(bv.bv_page, bv.bv_offset, page, done, len);
			flush_dcache_page(bv.bv_page);
		} else {
			memcpy_page(page, done, bv.bv_page, bv.bv_offset, len);
		}
		bio_advance_iter_single(bio, &iter, len);
		done += len;
	}
}

/* Copies the slot to @page, or (@to_bio) the page to the slot. */
static inline void slot_bio_copy(struct bio *bio, struct bvec_iter iter,
				 struct page *page, bool to_bio)
{
	struct page *own = bio_iter_page(bio, iter);

	if (!slot_bio_is_page(bio, iter)) {
		slot_bio_copy_pieces(bio, iter, page, to_bio);
	} else if (to_bio) {
		compat_copy_page(own, page);
		flush_dcache_page(own);
	} else {
		compat_copy_page(page, own);
	}
}

#endif
