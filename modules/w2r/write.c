// SPDX-License-Identifier: GPL-2.0-only
#include "compat/bdev.h"
#include "frames.h"
#include "write.h"

#define DROP_AT_ONCE	1024
#define ENTRIES_A_BLOCK	8	/* looked at, as they lie in a row, while one block is looked up */
#define WIDE_MOST	16	/* looked at for each block, with the lock held */

static bool is_wide(const struct w2r_io *io)
{
	return io->n > W2R_IO_BLOCKS + 1;
}

bool w2r_in_wide_writer(const struct w2r *c, u64 block)
{
	const struct w2r_io *io;

	if (c->nr_wide > WIDE_MOST)
		return true;
	list_for_each_entry(io, &c->wide_writers, wait)
		if (block - io->first < io->n)
			return true;
	return false;
}

static void count_wide_writer(struct w2r *c, struct w2r_io *io, int by)
{
	c->nr_wide += by;
	if (by > 0)
		list_add(&io->wait, &c->wide_writers);
	else
		list_del(&io->wait);
}

static void count_writer(struct w2r *c, struct w2r_io *io, int by)
{
	u64 set;

	lockdep_assert_held(&c->lock);
	if (is_wide(io)) {
		count_wide_writer(c, io, by);
		return;
	}
	for (set = io->first >> W2R_SET_SHIFT;
	     set <= (io->first + io->n - 1) >> W2R_SET_SHIFT; set++)
		c->writers[w2r_writer_set(set << W2R_SET_SHIFT)] += by;
}

/* Entries @from on, up to @to, of blocks in the range are dropped. */
static void drop_entries(struct w2r *c, u64 first, u64 n, u32 from, u32 to)
{
	u32 e;

	lockdep_assert_held(&c->lock);
	for (e = from; e < to; e++)
		if (w2r_entry(c, e)->room != ROOM_DISK &&
		    w2r_entry(c, e)->block - first < n)
			rooms_drop(&c->rooms, e);
}

static void drop_blocks(struct w2r *c, u64 first, u64 n)
{
	u64 block;
	u32 e;

	lockdep_assert_held(&c->lock);
	for (block = first; block < first + n; block++) {
		e = index_peek(&c->rooms.index, block);
		if (e != ENTRY_NONE)
			rooms_drop(&c->rooms, e);
	}
}

/*
 * Who has the origin open without a claim, as long as we have, too, ends without that
 * being written: what was read before would be kept. What cannot be written is not
 * written later, either, and who wrote it is told.
 */
void w2r_settle(struct w2r *c)
{
	compat_bdev_sync(c->dev->bdev);
}

/*
 * By block or by entry, whichever takes less; the lock is let go in between. What
 * comes meanwhile, to further entries, too, is read after this began.
 */
void w2r_invalidate(struct w2r *c, u64 first, u64 n, bool may_sleep)
{
	u64 at, some, all = n;
	unsigned long flags;
	bool by_entry;
	u32 touched;

	spin_lock_irqsave(&c->lock, flags);
	touched = c->touched;
	spin_unlock_irqrestore(&c->lock, flags);
	by_entry = n > touched / ENTRIES_A_BLOCK;
	if (by_entry)
		all = touched;
	for (at = 0; at < all; at += some) {
		some = min_t(u64, all - at, DROP_AT_ONCE);
		spin_lock_irqsave(&c->lock, flags);
		if (by_entry)
			drop_entries(c, first, n, at, at + some);
		else
			drop_blocks(c, first + at, some);
		spin_unlock_irqrestore(&c->lock, flags);
		if (may_sleep)
			cond_resched();
	}
}

/*
 * An entry waits for the end of a write, if nobody else has to do with its
 * content; otherwise it is dropped.
 */
static void hold_or_drop(struct w2r *c, struct w2r_io *io, u64 block)
{
	u32 e = index_peek(&c->rooms.index, block);
	struct entry *x;

	if (e == ENTRY_NONE)
		return;
	x = w2r_entry(c, e);
	if (x->pins || x->flags & (ENTRY_FILLING | ENTRY_STALE)) {
		rooms_drop(&c->rooms, e);
		return;
	}
	x->flags |= ENTRY_STALE;
	io->stale++;
}

void w2r_write(struct w2r *c, struct bio *bio)
{
	struct w2r_io *io = w2r_io_of(bio);
	bool hold = bio_op(bio) == REQ_OP_WRITE && !is_wide(io);
	unsigned long flags;
	u32 i;

	io->kind = W2R_IO_WRITE;
	io->stale = 0;
	io->iter = bio->bi_iter;
	spin_lock_irqsave(&c->lock, flags);
	count_writer(c, io, 1);
	w2r_count(c, W2R_WRITTEN_BLOCKS, io->n);
	for (i = 0; hold && i < io->n; i++)
		hold_or_drop(c, io, io->first + i);
	spin_unlock_irqrestore(&c->lock, flags);
	/* Of a discard they may be a million. */
	if (!hold)
		w2r_invalidate(c, io->first, io->n, true);
}

/* Pins up to @n entries from @first on that wait for the end of this write. */
static void pin_stale(struct w2r *c, u64 first, u32 n, u32 *entries)
{
	u32 i, e;

	lockdep_assert_held(&c->lock);
	for (i = 0; i < n; i++) {
		e = index_peek(&c->rooms.index, first + i);
		entries[i] = ENTRY_NONE;
		if (e == ENTRY_NONE || !(w2r_entry(c, e)->flags & ENTRY_STALE))
			continue;
		entries[i] = e;
		rooms_pin(&c->rooms, e);
	}
}

static void unpin_renewed(struct w2r *c, u32 n, const u32 *entries)
{
	u32 i;

	lockdep_assert_held(&c->lock);
	for (i = 0; i < n; i++)
		if (entries[i] != ENTRY_NONE) {
			w2r_entry(c, entries[i])->flags &= ~ENTRY_STALE;
			rooms_unpin(&c->rooms, entries[i]);
		}
}

/* No other write touches these entries: one that did would have dropped them. */
static void renew(struct w2r *c, struct bio *bio)
{
	struct w2r_io *io = w2r_io_of(bio);
	struct bvec_iter iter = io->iter;
	u32 entries[W2R_SERVE_MAX];
	unsigned long flags;
	u32 from, n;

	for (from = 0; from < io->n; from += n) {
		n = min_t(u32, io->n - from, W2R_SERVE_MAX);
		spin_lock_irqsave(&c->lock, flags);
		pin_stale(c, io->first + from, n, entries);
		spin_unlock_irqrestore(&c->lock, flags);
		w2r_copy(c, bio, &iter, entries, n, from ? 0 : io->offset,
			 false);
		spin_lock_irqsave(&c->lock, flags);
		unpin_renewed(c, n, entries);
		spin_unlock_irqrestore(&c->lock, flags);
	}
}

/* What a device does not have the block layer makes of writes, or does without. */
static bool not_offered(const struct bio *bio, blk_status_t status)
{
	return bio_op(bio) != REQ_OP_WRITE &&
	       (status == BLK_STS_NOTSUPP || status == BLK_STS_TARGET);
}

void w2r_write_ended(struct w2r *c, struct bio *bio, blk_status_t status)
{
	struct w2r_io *io = w2r_io_of(bio);
	unsigned long flags;

	/* What is not stale was dropped, and nothing was filled meanwhile. */
	if (io->stale && status)
		w2r_invalidate(c, io->first, io->n, false);
	else if (io->stale)
		renew(c, bio);
	spin_lock_irqsave(&c->lock, flags);
	if (status && !not_offered(bio, status))
		w2r_count(c, W2R_WRITE_ERRORS, 1);
	count_writer(c, io, -1);
	spin_unlock_irqrestore(&c->lock, flags);
}
