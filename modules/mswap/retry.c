// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) "mswap: " fmt

#include <linux/bitmap.h>
#include <linux/jiffies.h>
#include <linux/printk.h>

#include "batch.h"
#include "write.h"

/* How often at most one tried again looks, or is told of one: 30 s in all, as a request takes. */
#define WRITE_SLOT_WAITS	300
/* How many runs in turn it meets that are all bad, or gone to others, before it gives up. */
#define WRITE_TRIES	4
/* A run some of whose slots are good is followed by one so much shorter. */
#define WRITE_SHORTER	4
/* So long slots may take to refuse, together, until the rest of their run passes for bad. */
#define WRITE_SETTLE	(5 * HZ)

/* A write that failed and is tried again. */
struct retry {
	struct batch_write *w;
	u32 done;	/* pages that are written */
	u32 good;	/* a slot that took a write, kept to ask the device again */
	u32 waits;	/* left */
	u32 piece;	/* pages a run, at most */
	u32 at;		/* from this slot on is it written */
	u32 away;	/* how far from the next that fails */
	u32 tries;	/* left, until slots take a write */
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

/* Where a run is bad from end to end, a slot far from there may tell. */
static bool other_takes(struct batching *bt, struct retry *r)
{
	u32 slot, got;

	slot = space_alloc_at(bt->space, 1, r->at, &got);
	if (slot == SLOT_NONE)
		return false;
	if (backing_probe_slot(bt->backing, slot)) {
		space_free(bt->space, slot, 1);
		return false;
	}
	r->good = slot;
	return true;
}

static bool device_lives(struct batching *bt, u32 slot, u32 n, struct retry *r)
{
	if (device_takes(bt, slot, n, r))
		return true;
	return r->good == SLOT_NONE && other_takes(bt, r);
}

static void retire_bad(struct batching *bt, u32 slot, u32 n,
		       const unsigned long *bad)
{
	u32 i, from;

	for (i = 0; i < n; i++) {
		for (from = i; i < n && test_bit(i, bad); i++)
			;
		if (i > from)
			retired_add(&bt->retired, bt->space, slot + from,
				    i - from);
	}
}

/*
 * Writes each of @n slots alone to find those that take no write. After each that
 * fails the one kept, which there is, is asked again: a device that has gone has no
 * bad slots, as far as one knows, and may take a time-out for every question; false
 * then. So may a bad slot: once they have taken long the rest passes for bad.
 */
static bool find_bad(struct batching *bt, u32 slot, u32 n,
		     const struct retry *r, unsigned long *bad)
{
	unsigned long began, refused = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		if (slot + i == r->good)
			continue;
		began = jiffies;
		if (refused < WRITE_SETTLE &&
		    !backing_probe_slot(bt->backing, slot + i))
			continue;
		__set_bit(i, bad);
		if (refused >= WRITE_SETTLE)
			continue;
		refused += jiffies - began;
		if (backing_probe_slot(bt->backing, r->good))
			return false;
	}
	return true;
}

/*
 * Gives @n slots where a write failed back, but for the one kept and, where the
 * device works, the bad ones. Returns how many these are.
 */
static u32 settle_slots(struct batching *bt, u32 slot, u32 n, bool works,
			struct retry *r)
{
	DECLARE_BITMAP(bad, CLUSTER_PAGES_MAX);
	u32 i, nr_bad;

	bitmap_zero(bad, CLUSTER_PAGES_MAX);
	if (works && !find_bad(bt, slot, n, r, bad))
		bitmap_zero(bad, CLUSTER_PAGES_MAX);
	for (i = 0; i < n; i++)
		if (!test_bit(i, bad) && slot + i != r->good)
			space_free(bt->space, slot + i, 1);
	retire_bad(bt, slot, n, bad);
	nr_bad = bitmap_weight(bad, CLUSTER_PAGES_MAX);
	if (nr_bad)
		pr_warn_ratelimited("%s: %u of %u slots at slot %u do not take writes and were retired\n",
				    bt->name, nr_bad, n, slot);
	return nr_bad;
}

/*
 * Most writes fail because the device was away for a moment, and then no slot is
 * bad: a few I/Os tell, where there is one for each slot else, and others that
 * failed wait meanwhile.
 */
static void settle_own(struct retry *r, bool works)
{
	struct batch_write *w = r->w;
	struct batching *bt = w->batch->bt;

	works = works && backing_probe(bt->backing, w->slot, w->n);
	settle_slots(bt, w->slot, w->n, works, r);
	r->settled = true;
}

/*
 * A place that is bad may be large, or a part of the device: half of that away from
 * there. What is free first from there on may lie in that part again; then the other
 * part begins half away from that, where this one is a half, and else a quarter
 * further, or an eighth.
 */
static void go_away(struct retry *r, u32 slot)
{
	u32 nr = r->w->batch->bt->space->nr_slots;

	r->at = slot < nr - r->away ? slot + r->away : slot - (nr - r->away);
}

/* Where bad slots are here and there, shorter runs lie between them. */
static void note_bad_run(struct retry *r, u32 slot, u32 n, u32 nr_bad)
{
	if (nr_bad == n && r->piece == r->w->n)
		r->away /= 2;
	else
		r->at = slot;
	if (n == 1 || nr_bad == n) {
		r->tries--;
		return;
	}
	r->tries = WRITE_TRIES;
	r->piece = max(n / WRITE_SHORTER, 1u);
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

	go_away(r, slot);
	if (!works && r->good == SLOT_NONE)
		works = other_takes(bt, r) ||
			(!r->settled && device_takes(bt, w->slot, w->n, r));
	note_bad_run(r, slot, n, settle_slots(bt, slot, n, works, r));
	return works ? -EAGAIN : -EIO;
}

/*
 * Writes pages from.. again, as many as fit in one run elsewhere and are a piece,
 * and waits.
 * -ENOSPC: no slot is free; -EAGAIN: this one failed, but the device works.
 */
static int write_again(struct retry *r)
{
	struct batch_write *w = r->w;
	struct batching *bt = w->batch->bt;
	u32 slot, got, all = w->n, from = w->from, old = w->slot;
	int err;

	slot = space_alloc_at(bt->space, min(all - r->done, r->piece), r->at,
			      &got);
	if (slot == SLOT_NONE)
		return -ENOSPC;
	w->from = from + r->done;
	w->n = got;
	w->slot = slot;
	pagein_part(bt->pagein, slot + got);
	backing_reuse_write(bt->backing, &w->bio, slot, w->batch->opf);
	write_add_pages(w);
	write_count(w);
	err = submit_bio_wait(&w->bio);
	if (err) {
		write_log_error(w, true);
	} else {
		write_publish(w, false);
		r->done += got;
		r->tries = WRITE_TRIES;
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

	while (r->waits && others_under_way(bt)) {
		r->waits--;
		if (retry_behind(r))
			return SLOT_WAIT_BEHIND;
		if (wait_event_timeout(bt->givers->wait,
				       space_nr_free(bt->space),
				       WRITE_SLOT_WAIT))
			return SLOT_WAIT_FREE;
	}
	/* The last of them may have ended meanwhile. */
	if (r->waits && space_nr_free(bt->space)) {
		r->waits--;
		return SLOT_WAIT_FREE;
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
	write_end_pages(bt, write_pages(w), r->done, BLK_STS_OK);
	write_end_pages(bt, write_pages(w) + r->done, w->n - r->done, status);
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
		.tries = WRITE_TRIES,
		.piece = w->n,
		.away = w->batch->bt->space->nr_slots / 2,
	};
	enum slot_wait waited;
	int err = 0;

	go_away(&r, w->slot);
	while (r.done < w->n && r.tries && err != -EIO) {
		err = write_again(&r);
		if (err != -ENOSPC || give_up_slots(&r))
			continue;
		waited = wait_for_slot(&r);
		if (waited == SLOT_WAIT_BEHIND)
			return;
		if (waited == SLOT_WAIT_NONE) {
			retired_want(&r.w->batch->bt->retired);
			break;
		}
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
	retired_look(&bt->retired, bt->space, bt->backing, bt->name);
}
