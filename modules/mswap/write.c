// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) "mswap: " fmt

#include <linux/bitmap.h>
#include <linux/blk-cgroup.h>
#include <linux/printk.h>

#include "batch.h"
#include "trace.h"

/* How often one that waits for slots looks again: whoever frees them without I/O wakes nobody. */
#define WRITE_SLOT_WAIT	(HZ / 10)
/* How often at most one that is tried again looks, or is told of one: 30 s in all, which a request may take. */
#define WRITE_SLOT_WAITS	300
/* How many runs it meets that are bad, or gone to others, before it gives up. */
#define WRITE_TRIES	4

/* One write of a batch to the device: pages from.. go to slots slot... */
struct batch_write {
	struct list_head list;		/* of the failed */
	struct batch *batch;
	u32 from;
	u32 n;
	u32 slot;
	bool continues;			/* the run of the slot before */
	bool behind;			/* failed, and let the other failed go first */
	struct bio bio;			/* last: its vectors follow */
};

size_t batch_write_pad(void)
{
	return offsetof(struct batch_write, bio);
}

static struct cluster_page *write_pages(struct batch_write *w)
{
	return &w->batch->pages[w->from];
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

/* A reader of an earlier write's run may well go on into this one. */
static void write_note_tail(struct batch_write *w)
{
	struct batch_tail *t = get_cpu_ptr(w->batch->bt->tails);
	bool continues = cluster_continues(&t->page, write_pages(w));
	u32 last = t->slot - 1;

	w->continues = continues && t->slot == w->slot;
	t->slot = w->slot + w->n;
	t->page = write_pages(w)[w->n - 1];
	put_cpu_ptr(w->batch->bt->tails);
	if (w->n < SLOT_RUN_LONG)
		write_group(w, continues &&
			       granule_of(last) == granule_of(w->slot));
}

static u32 publish_page(struct batching *bt, struct cluster_page *page,
			u32 slot)
{
	if (page->pos == BATCH_PAGE_STORED)
		return store_publish(bt->store, page->owner, bt->map, slot);
	return store_overwrite(bt->store, bt->map, page->vslot, slot);
}

/* Pages from.. + @n, of one batch and policy, are on the device at @slot. */
static void write_publish(struct batch_write *w, u32 from, u32 n, u32 slot,
			  bool continues)
{
	struct batching *bt = w->batch->bt;
	struct cluster_page *pages = &w->batch->pages[from];
	u64 cont[CLUSTER_PAGES_MAX / 64] = { continues };
	u32 i, old;

	for (i = 1; i < n; i++)
		if (cluster_continues(&pages[i - 1], &pages[i]))
			cont[i / 64] |= 1ull << (i % 64);
	pagein_publish(bt->pagein, slot, n, cont);
	for (i = 0; i < n; i++) {
		old = publish_page(bt, &pages[i], slot + i);
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

static void end_pages(struct batching *bt, struct cluster_page *pages, u32 n,
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

static void write_free(struct batch_write *w)
{
	struct batch *b = w->batch;
	struct flight *flight = b->bt->flight, *givers = b->bt->givers;

	bio_put(&w->bio);
	batch_put(b);
	flight_end(givers);
	flight_end(flight);
}

static void write_log_error(struct batch_write *w, bool retry)
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
	write_publish(w, w->from, w->n, w->slot, w->continues);
	end_pages(bt, write_pages(w), w->n, BLK_STS_OK);
	/* It takes writes: perhaps also those that it did not take before. */
	batch_rewrite_in(bt, BATCH_REWRITE_DELAY);
	write_free(w);
}

/*
 * Slots for up to @want pages, and bt->givers is begun. A writer that may wait
 * does so while I/O is under way whose end may free slots: overwriting a full
 * device goes on by what it gives up. Reads of what stays do not count, or they
 * could keep a writer waiting for ever. The device is full if nothing was under way
 * all the time that was spent looking: who takes slots has begun before.
 */
static u32 write_alloc_slots(struct batching *bt, u32 want, u32 *got, gfp_t gfp)
{
	struct flight *givers = bt->givers;
	s64 look;
	u32 slot;

	for (;;) {
		look = flight_look(givers);
		flight_begin(givers);
		slot = space_alloc(bt->space, want,
				   raw_cpu_read(bt->tails->slot), got);
		if (slot != SLOT_NONE)
			break;
		flight_cancel(givers);
		if (gfp != GFP_NOIO || flight_idle_since(givers, look))
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

static void write_count(struct batch_write *w)
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

/*
 * The cgroup of the pages pays, and the priority of the first one counts. What has
 * copies in it, or pages of several, goes to the root's account: whoever happens to
 * send it, or to be first, may be kept to so little I/O that all would wait for him,
 * or he for what is none of his.
 */
static void write_charge(struct batch_write *w)
{
	struct bio *owner = write_pages(w)->owner;

	if (!write_has_payer(w)) {
		bio_associate_blkg_from_css(&w->bio, blkcg_root_css);
		return;
	}
	bio_clone_blkg_association(&w->bio, owner);
	w->bio.bi_ioprio = owner->bi_ioprio;
}

static void write_add_pages(struct batch_write *w)
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

	pr_err_ratelimited("%s: no physical slot is left for %u pages (%d slots retired after write errors)\n",
			   bt->name, n, atomic_read(&bt->space->retired));
	mswap_count(bt->stats, MSWAP_NOSPACE, 1);
	end_pages(bt, &b->pages[b->next], n, BLK_STS_NOSPC);
	b->next += n;
}

bool batch_write(struct batch *b, u32 want, gfp_t gfp)
{
	struct batching *bt = b->bt;
	struct batch_write *w;
	struct bio *bio;
	u32 slot, got;

	slot = write_alloc_slots(bt, want, &got, gfp);
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
	w->behind = false;
	write_note_tail(w);
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

/* A write that failed and is tried again. */
struct retry {
	struct batch_write *w;
	u32 done;	/* pages that are written */
	u32 good;	/* a slot that took a write, kept to ask the device again */
	u32 waits;	/* left */
	bool settled;	/* the slots of @w are given back */
};

enum slot_wait {
	SLOT_WAIT_FREE,		/* there may be one */
	SLOT_WAIT_BEHIND,	/* the write is behind others that failed */
	SLOT_WAIT_NONE,
};

/*
 * Whether the device takes writes: both ends of @n slots, which are the caller's,
 * tell; later, the one of them that did.
 */
static bool device_takes(struct batching *bt, u32 slot, u32 n, struct retry *r)
{
	if (r->good != SLOT_NONE)
		return !backing_probe_slot(bt->backing, r->good);
	if (!backing_probe_slot(bt->backing, slot))
		r->good = slot;
	else if (!backing_probe_slot(bt->backing, slot + n - 1))
		r->good = slot + n - 1;
	return r->good != SLOT_NONE;
}

/* Where a run is bad from end to end, any other slot may tell. */
static bool other_takes(struct batching *bt, struct retry *r)
{
	u32 got;

	r->good = space_alloc(bt->space, 1, SLOT_NONE, &got);
	return r->good != SLOT_NONE &&
	       !backing_probe_slot(bt->backing, r->good);
}

static bool device_lives(struct batching *bt, u32 slot, u32 n, struct retry *r)
{
	if (device_takes(bt, slot, n, r))
		return true;
	return r->good == SLOT_NONE && other_takes(bt, r);
}

/*
 * Gives @n slots where a write failed back, but for the one kept and, where the
 * device works, those that take no write: each is written alone to find them.
 * After each that fails the one kept, which there is then, is asked again: a
 * device that has gone has no bad slots, as far as one knows, and may take a
 * time-out for every question.
 */
static void settle_slots(struct batching *bt, u32 slot, u32 n, bool works,
			 struct retry *r)
{
	DECLARE_BITMAP(bad, CLUSTER_PAGES_MAX);
	u32 i, nr_bad;

	bitmap_zero(bad, CLUSTER_PAGES_MAX);
	for (i = 0; works && i < n; i++) {
		if (slot + i == r->good ||
		    !backing_probe_slot(bt->backing, slot + i))
			continue;
		__set_bit(i, bad);
		works = !backing_probe_slot(bt->backing, r->good);
	}
	if (!works)
		bitmap_zero(bad, CLUSTER_PAGES_MAX);
	for (i = 0; i < n; i++) {
		if (test_bit(i, bad))
			space_retire(bt->space);
		else if (slot + i != r->good)
			space_free(bt->space, slot + i, 1);
	}
	nr_bad = bitmap_weight(bad, CLUSTER_PAGES_MAX);
	if (nr_bad)
		pr_warn_ratelimited("%s: %u of %u slots at slot %u do not take writes and were retired\n",
				    bt->name, nr_bad, n, slot);
}

static void settle_own(struct retry *r, bool works)
{
	struct batch_write *w = r->w;

	settle_slots(w->batch->bt, w->slot, w->n, works, r);
	r->settled = true;
}

/*
 * A run that was written to instead has failed too. To ask the device by the
 * slots of the first one writes to them: not once they are given back.
 */
static int write_failed_again(struct retry *r, u32 slot, u32 n)
{
	struct batch_write *w = r->w;
	struct batching *bt = w->batch->bt;
	bool works = device_takes(bt, slot, n, r);

	if (!works && r->good == SLOT_NONE)
		works = r->settled ? other_takes(bt, r) :
				     device_takes(bt, w->slot, w->n, r);
	settle_slots(bt, slot, n, works, r);
	return works ? -EAGAIN : -EIO;
}

/*
 * Writes pages from.. again, as many as fit in one run elsewhere, and waits.
 * -ENOSPC: no slot is free; -EAGAIN: this one failed, but the device works.
 */
static int write_again(struct retry *r)
{
	struct batch_write *w = r->w;
	struct batching *bt = w->batch->bt;
	u32 slot, got, all = w->n, from = w->from, old = w->slot;
	int err;

	slot = space_alloc(bt->space, all - r->done, SLOT_NONE, &got);
	if (slot == SLOT_NONE)
		return -ENOSPC;
	w->from = from + r->done;
	w->n = got;
	w->slot = slot;
	backing_reuse_write(bt->backing, &w->bio, slot, w->batch->opf);
	write_add_pages(w);
	write_count(w);
	err = submit_bio_wait(&w->bio);
	if (err) {
		write_log_error(w, true);
	} else {
		write_publish(w, w->from, got, slot, false);
		r->done += got;
	}
	w->from = from;
	w->n = all;
	w->slot = old;
	return err ? write_failed_again(r, slot, got) : 0;
}

/*
 * Puts the write behind those that failed after it, once: they may give slots up.
 * Not once its slots are settled: to start anew would free them twice.
 */
static bool retry_behind(struct retry *r)
{
	struct batch_write *w = r->w;
	struct batching *bt = w->batch->bt;
	bool others;

	if (w->behind || r->done || r->settled || r->good != SLOT_NONE)
		return false;
	spin_lock_irq(&bt->deferred_lock);
	others = bt->nr_failed;
	if (others) {
		w->behind = true;
		list_add_tail(&w->list, &bt->failed);
		bt->nr_failed++;
	}
	spin_unlock_irq(&bt->deferred_lock);
	return others;
}

/* Is anything under way but the write that is tried again and those that wait for that? */
static bool others_under_way(struct batching *bt)
{
	u32 failed;

	spin_lock_irq(&bt->deferred_lock);
	failed = bt->nr_failed;
	spin_unlock_irq(&bt->deferred_lock);
	return flight_count(bt->givers) > failed + 1;
}

/* False if no slot was kept. */
static bool drop_good(struct retry *r)
{
	if (r->good == SLOT_NONE)
		return false;
	space_free(r->w->batch->bt->space, r->good, 1);
	r->good = SLOT_NONE;
	return true;
}

/*
 * No slot is free but those that the retry holds. It cannot go on for ever: only
 * after another failed write is there one kept again.
 */
static bool give_up_slots(struct retry *r)
{
	struct batch_write *w = r->w;

	if (r->settled)
		return drop_good(r);
	if (!device_takes(w->batch->bt, w->slot, w->n, r))
		return false;
	settle_own(r, true);
	return true;
}

/*
 * What is under way gives slots up when it ends well; or it fails too, and @r can
 * go behind it. Not for ever: it may itself wait for a bio that is given back here.
 */
static enum slot_wait wait_for_slot(struct retry *r)
{
	struct batching *bt = r->w->batch->bt;

	while (r->waits) {
		r->waits--;
		if (retry_behind(r))
			return SLOT_WAIT_BEHIND;
		if (wait_event_timeout(bt->givers->wait,
				       space_nr_free(bt->space),
				       WRITE_SLOT_WAIT))
			return SLOT_WAIT_FREE;
		if (!others_under_way(bt))
			break;
	}
	return retry_behind(r) ? SLOT_WAIT_BEHIND : SLOT_WAIT_NONE;
}

static void end_retry(struct retry *r, int err)
{
	struct batch_write *w = r->w;
	struct batching *bt = w->batch->bt;
	blk_status_t status = w->bio.bi_status ?: BLK_STS_IOERR;
	bool works = r->done || err == -EAGAIN;

	mswap_count(bt->stats, MSWAP_WRITE_RETRIES, 1);
	end_pages(bt, write_pages(w), r->done, BLK_STS_OK);
	end_pages(bt, write_pages(w) + r->done, w->n - r->done, status);
	if (works)
		batch_rewrite_in(bt, BATCH_REWRITE_DELAY);
	if (!r->settled)
		settle_own(r, works && device_lives(bt, w->slot, w->n, r));
	drop_good(r);
	write_free(w);
}

/*
 * Tries a failed write once more, elsewhere. When the device does not take that
 * either it is at fault, not the slots: none is retired, and the error goes to
 * those whose pages these are. On a full device the only slots there are may be
 * those that failed: they would fail for ever if the bad ones of them were not
 * found first.
 */
static void write_retry(struct batch_write *w)
{
	struct retry r = {
		.w = w,
		.good = SLOT_NONE,
		.waits = WRITE_SLOT_WAITS,
	};
	enum slot_wait waited;
	u32 tries = WRITE_TRIES;
	int err = 0;

	while (r.done < w->n && tries && err != -EIO) {
		err = write_again(&r);
		if (err == -EAGAIN)
			tries--;
		if (err != -ENOSPC || give_up_slots(&r))
			continue;
		waited = wait_for_slot(&r);
		if (waited == SLOT_WAIT_BEHIND)
			return;
		if (waited == SLOT_WAIT_NONE)
			break;
	}
	end_retry(&r, err);
}

void batch_retry_work(struct work_struct *work)
{
	struct batching *bt = container_of(work, struct batching, retry_work);
	struct batch_write *w;

	do {
		spin_lock_irq(&bt->deferred_lock);
		w = list_first_entry_or_null(&bt->failed, struct batch_write,
					     list);
		if (w) {
			list_del(&w->list);
			bt->nr_failed--;
		}
		spin_unlock_irq(&bt->deferred_lock);
		if (w)
			write_retry(w);
		cond_resched();
	} while (w);
}
