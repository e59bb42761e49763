// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) "mswap: " fmt

#include <linux/blk-cgroup.h>
#include <linux/printk.h>

#include "batch.h"
#include "trace.h"
#include "write.h"

size_t batch_write_pad(void)
{
	return offsetof(struct batch_write, bio);
}

/*
 * A run that is written in pieces: those in one granule are read back together.
 * Where the pages of a write are several runs, the last one may go on.
 */
static void write_group(struct batch_write *w, bool joins)
{
	struct cluster_page *pages = write_pages(w);
	u32 i = w->n - 1;

	while (i && cluster_continues(&pages[i - 1], &pages[i]))
		i--;
	if (granule_of(w->slot + i) == granule_of(w->slot + w->n - 1))
		pagein_group(w->batch->bt->pagein, w->slot + i, w->n - i,
			     joins && !i);
}

/*
 * What the next pages of @b come after: those of @b before them, or what this CPU
 * wrote last. In between @b may have come to another CPU, or another batch to this
 * one.
 */
static struct batch_tail write_before(const struct batch *b)
{
	struct batch_tail t;

	if (b->next)
		return (struct batch_tail){ .slot = b->behind,
					    .page = b->pages[b->next - 1] };
	t = *get_cpu_ptr(b->bt->tails);
	put_cpu_ptr(b->bt->tails);
	return t;
}

/* A reader of an earlier write's run may well go on into this one. */
static void write_note_tail(struct batch_write *w,
			    const struct batch_tail *before)
{
	bool continues = cluster_continues(&before->page, write_pages(w));
	struct batch_tail *t;

	w->continues = continues && before->slot == w->slot;
	w->batch->behind = w->slot + w->n;
	t = get_cpu_ptr(w->batch->bt->tails);
	t->slot = w->slot + w->n;
	t->page = write_pages(w)[w->n - 1];
	put_cpu_ptr(w->batch->bt->tails);
	if (w->n < SLOT_RUN_LONG)
		write_group(w, continues && granule_of(before->slot - 1) ==
					    granule_of(w->slot));
}

static u32 publish_page(struct batching *bt, struct cluster_page *page,
			u32 slot)
{
	if (page->pos == BATCH_PAGE_STORED)
		return store_publish(bt->store, page->owner, bt->map, slot);
	return store_overwrite(bt->store, bt->map, page->vslot, slot);
}

void write_publish(struct batch_write *w, bool continues)
{
	struct batching *bt = w->batch->bt;
	struct cluster_page *pages = write_pages(w);
	u64 cont[CLUSTER_PAGES_MAX / 64] = { continues };
	u32 i, old;

	for (i = 1; i < w->n; i++)
		if (cluster_continues(&pages[i - 1], &pages[i]))
			cont[i / 64] |= 1ull << (i % 64);
	pagein_publish(bt->pagein, w->slot, w->n, cont);
	for (i = 0; i < w->n; i++) {
		old = publish_page(bt, &pages[i], w->slot + i);
		if (old != SLOT_UNMAPPED)
			pagein_release(bt->pagein, old);
	}
}

static void end_bio_page(struct bio *bio, blk_status_t status)
{
	if (status && !bio->bi_status)
		bio->bi_status = status;
	bio_endio(bio);
}

void write_end_pages(struct batching *bt, struct cluster_page *pages, u32 n,
		     blk_status_t status)
{
	struct store_chain written = { NULL };
	u32 i;

	for (i = 0; i < n; i++) {
		switch (pages[i].pos) {
		case BATCH_PAGE_STORED:
			if (status)
				store_keep(bt->store, pages[i].owner);
			else
				store_chain_add(&written, pages[i].owner);
			break;
		case BATCH_PAGE_BOUNCED:
			mempool_free(pages[i].page, &bt->bounce);
			fallthrough;
		default:
			end_bio_page(pages[i].owner, status);
		}
	}
	store_put_chain(bt->store, &written);
}

void write_free(struct batch_write *w)
{
	struct batch *b = w->batch;
	struct flight *flight = b->bt->flight, *givers = b->bt->givers;

	bio_put(&w->bio);
	batch_put(b);
	flight_end(givers);
	flight_end(flight);
}

void write_log_error(struct batch_write *w, bool retry)
{
	struct batching *bt = w->batch->bt;

	mswap_count(bt->stats, MSWAP_WRITE_ERRORS, 1);
	trace_mswap_write_error(bt->name, w->slot, w->n,
				blk_status_to_errno(w->bio.bi_status), retry);
	pr_err_ratelimited("%s: write of %u slots at slot %u of the backing device failed (error %d)\n",
			   bt->name, w->n, w->slot,
			   blk_status_to_errno(w->bio.bi_status));
}

static void write_end_io(struct bio *bio)
{
	struct batch_write *w = container_of(bio, struct batch_write, bio);
	struct batching *bt = w->batch->bt;
	unsigned long flags;

	if (bio->bi_status) {
		write_log_error(w, false);
		spin_lock_irqsave(&bt->deferred_lock, flags);
		list_add_tail(&w->list, &bt->failed);
		bt->nr_failed++;
		queue_work(bt->retry_wq, &bt->retry_work);
		spin_unlock_irqrestore(&bt->deferred_lock, flags);
		return;
	}
	write_publish(w, w->continues);
	write_end_pages(bt, write_pages(w), w->n, BLK_STS_OK);
	/* It takes writes: perhaps also those that it did not take before. */
	batch_rewrite_in(bt, BATCH_REWRITE_DELAY);
	write_free(w);
}

/*
 * Where the next pages of @b are best written in pieces, if they must be. What is
 * no part of the run before begins in a granule of its own: one holds one group.
 */
static enum space_place write_place(const struct batch *b,
				    const struct batch_tail *before)
{
	if (b->in_pieces)
		return SPACE_PIECE;
	return cluster_continues(&before->page, &b->pages[b->next]) ?
	       SPACE_BEHIND : SPACE_APART;
}

/*
 * Slots for up to @want pages, and bt->givers is begun. A writer that may wait
 * does so while I/O is under way whose end may free slots: overwriting a full
 * device goes on by what it gives up. Reads of what stays do not count, or they
 * could keep a writer waiting for ever. The device is full if nothing was under way
 * all the time that was spent looking, for who takes slots has begun before, and
 * none was given up meanwhile without I/O.
 */
static u32 write_alloc_slots(struct batch *b, const struct batch_tail *before,
			     u32 want, u32 *got, gfp_t gfp)
{
	struct batching *bt = b->bt;
	struct flight *givers = bt->givers;
	enum space_place place = write_place(b, before);
	u32 slot;
	s64 look;

	for (;;) {
		look = flight_look(givers);
		flight_begin(givers);
		slot = space_alloc(bt->space, want, place, before->slot, got);
		if (slot != SLOT_NONE)
			break;
		flight_cancel(givers);
		if (gfp != GFP_NOIO)
			return SLOT_NONE;
		if (flight_idle_since(givers, look) && !space_nr_free(bt->space))
			return SLOT_NONE;
		wait_event_timeout(givers->wait,
				   space_nr_free(bt->space) ||
				   flight_idle(givers), WRITE_SLOT_WAIT);
	}
	trace_mswap_slot_alloc(bt->name, want, slot, *got);
	return slot;
}

static u32 count_objects(const struct cluster_page *pages, u32 n)
{
	u32 i, objects = 1;

	for (i = 1; i < n; i++)
		objects += pages[i].object != pages[i - 1].object;
	return objects;
}

void write_count(struct batch_write *w)
{
	struct batching *bt = w->batch->bt;

	mswap_count_write(bt->stats, w->n);
	if (trace_mswap_pageout_enabled())
		trace_mswap_pageout(bt->name, w->slot, w->n,
				    count_objects(write_pages(w), w->n));
}

/* Are all pages of bios that one cgroup pays for? Those of copies have ended. */
static bool write_has_payer(struct batch_write *w)
{
	struct cluster_page *pages = write_pages(w);
	u32 i;

	for (i = 0; i < w->n; i++)
		if (pages[i].pos == BATCH_PAGE_STORED ||
		    !compat_bio_same_cgroup(pages[i].owner, pages->owner))
			return false;
	return true;
}

/* Have all bios one priority? */
static bool write_has_priority(struct batch_write *w)
{
	struct cluster_page *pages = write_pages(w);
	struct bio *first = pages->owner, *bio;
	u32 i;

	for (i = 1; i < w->n; i++) {
		bio = pages[i].owner;
		if (bio->bi_ioprio != first->bi_ioprio)
			return false;
	}
	return true;
}

/*
 * The cgroup of the pages pays, and their priority counts. What has copies in it, or
 * pages of several, goes to the root's account, or with none: whoever happens to send
 * it, or to be first, may be kept to so little I/O that all would wait for him, or he
 * for what is none of his.
 */
static void write_charge(struct batch_write *w)
{
	struct bio *owner = write_pages(w)->owner;

	if (!write_has_payer(w)) {
		bio_associate_blkg_from_css(&w->bio, blkcg_root_css);
		return;
	}
	bio_clone_blkg_association(&w->bio, owner);
	if (write_has_priority(w))
		w->bio.bi_ioprio = owner->bi_ioprio;
	/* A worker sends what others wait for, too, and sleeps for no cgroup: it pays later. */
	if (current->flags & PF_WQ_WORKER)
		w->bio.bi_opf |= REQ_SWAP;
}

void write_add_pages(struct batch_write *w)
{
	struct cluster_page *pages = write_pages(w);
	u32 i;

	for (i = 0; i < w->n; i++) {
		if (pages[i].pos == BATCH_PAGE_STORED)
			backing_add_lone_page(&w->bio, pages[i].page);
		else
			backing_add_page(&w->bio, pages[i].page);
	}
}

static void no_space(struct batch *b, u32 n)
{
	struct batching *bt = b->bt;
	u32 retired = atomic_read(&bt->space->retired);

	pr_err_ratelimited("%s: no physical slot is left for %u pages (%u slots retired after write errors)\n",
			   bt->name, n, retired);
	if (retired) {
		retired_want(&bt->retired);
		queue_work(bt->retry_wq, &bt->retry_work);
	}
	mswap_count(bt->stats, MSWAP_NOSPACE, 1);
	write_end_pages(bt, &b->pages[b->next], n, BLK_STS_NOSPC);
	b->behind = SLOT_NONE;
	b->next += n;
}

bool batch_write(struct batch *b, u32 want, gfp_t gfp)
{
	struct batch_tail before = write_before(b);
	struct batching *bt = b->bt;
	struct batch_write *w;
	struct bio *bio;
	u32 slot, got;

	slot = write_alloc_slots(b, &before, want, &got, gfp);
	if (slot == SLOT_NONE) {
		if (gfp != GFP_NOIO)
			return false;
		no_space(b, want);
		return true;
	}
	bio = backing_alloc_write(bt->backing, got, b->opf, gfp);
	if (!bio) {
		space_free(bt->space, slot, got);
		flight_end(bt->givers);
		return false;
	}
	w = container_of(bio, struct batch_write, bio);
	flight_begin(bt->flight);
	w->batch = b;
	w->from = b->next;
	w->n = got;
	w->slot = slot;
	pagein_part(bt->pagein, slot + got);
	w->behind = false;
	b->in_pieces = got < want && got < SLOT_RUN_LONG;
	write_note_tail(w, &before);
	b->next += got;
	atomic_inc(&b->refs);
	backing_aim(bio, slot);
	bio->bi_end_io = write_end_io;
	write_charge(w);
	write_add_pages(w);
	write_count(w);
	backing_submit(bio);
	return true;
}
