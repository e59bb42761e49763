/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device that holds the physical slots, and the bios sent to it: nothing
 * else in mswap knows sectors.
 */
#ifndef MSWAP_BACKING_H
#define MSWAP_BACKING_H

#include <linux/bio.h>
#include <linux/types.h>

#include "compat/bdev.h"
#include "compat/bio.h"

/*
 * So many at the ends are not ours: there lies what tells others what a disk
 * holds. Pages are any program's, and could tell anything. The furthest places
 * where libblkid looks are those of a LUKS header, 4 MiB from the begin, and of a
 * RAID member of Promise's, 1.5 MiB from the end.
 */
#define BACKING_FIRST_EDGE	1280	/* 5 MiB */
#define BACKING_LAST_EDGE	512	/* 2 MiB */
#define BACKING_SLOTS_MIN	256
#define BACKING_SLOTS_MAX	((u32)-2)

/* Slots are counted from the end of the first edge on. */
struct backing {
	struct compat_bdev handle;
	struct block_device *bdev;
	struct bio_set writes;
	u32 nr_slots;
	char *path;
};

/*
 * Opens @path exclusively and checks that it can serve; the refusal is in the
 * log, with @name (our disk's) in front. @front_pad bytes precede each bio of
 * backing_alloc_write(). Process context, may sleep.
 * -EBUSY, -EROFS, -ENOTBLK, -ENOSPC (too small), -EFBIG, -EINVAL (blocks larger
 * than a slot, zoned), -ENOMEM, or what the open gave, or the writing of what
 * others had left in the page cache.
 */
int backing_open(struct backing *b, const char *path, const char *name,
		 size_t front_pad);
void backing_close(struct backing *b);

/*
 * A bio that writes up to @nr pages; where to, backing_aim() says, and pages are
 * added by the caller. With GFP_NOWAIT it may be NULL; with GFP_NOIO it sleeps and never fails
 * (then the caller may hold no other bio of this set that is not submitted).
 */
struct bio *backing_alloc_write(struct backing *b, u32 nr, blk_opf_t opf,
				gfp_t gfp);
/* @bio goes to @slot and those after it. */
void backing_aim(struct bio *bio, u32 slot);
/*
 * Empties a bio that has ended, and aims it at @slot, to write once more, merged
 * with nothing: whatever it was merged with may have failed instead of it.
 */
void backing_reuse_write(struct backing *b, struct bio *bio, u32 slot,
			 blk_opf_t opf);
/* Makes @bio read from @slot on; @vecs is the caller's and outlives it. */
void backing_init_read(struct backing *b, struct bio *bio, struct bio_vec *vecs,
		       u32 nr, u32 slot, blk_opf_t opf);
/*
 * One more slot for @bio, which was made with room for it; of a page that hardly
 * ever lies behind the one before in memory.
 */
static inline void backing_add_lone_page(struct bio *bio, struct page *page)
{
	if (WARN_ON_ONCE(bio->bi_vcnt == bio->bi_max_vecs))
		return;
	bio->bi_io_vec[bio->bi_vcnt++] = (struct bio_vec) {
		.bv_page = page,
		.bv_len = PAGE_SIZE,
	};
	bio->bi_iter.bi_size += PAGE_SIZE;
}

/*
 * The same for any page. From 6.17 to 7.0 the block layer refuses one of ordinary
 * memory beside one of DAX: pages left out would leave those behind them to the
 * wrong slots.
 */
static inline void backing_add_page(struct bio *bio, struct page *page)
{
	if (bio_add_page(bio, page, PAGE_SIZE, 0) != PAGE_SIZE)
		backing_add_lone_page(bio, page);
}

/*
 * @pages, or the next lower multiple of what one request of the device holds, so
 * that no request is a short rest.
 */
u32 backing_fit_pages(const struct backing *b, u32 pages);

/* Process context (it may be inside another device's submit_bio). */
static inline void backing_submit(struct bio *bio)
{
	submit_bio_noacct(bio);
}

/*
 * Writes zeros over @n slots, merged with nothing, and waits: did the device take
 * all? May sleep.
 */
int backing_probe(struct backing *b, u32 slot, u32 n);
static inline int backing_probe_slot(struct backing *b, u32 slot)
{
	return backing_probe(b, slot, 1);
}
/* Flushes the device's cache and waits. May sleep. */
int backing_flush(struct backing *b);

#endif
