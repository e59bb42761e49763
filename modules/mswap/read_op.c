// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) "mswap: " fmt

#include <linux/bitops.h>
#include <linux/ioprio.h>
#include <linux/printk.h>
#include <linux/sched.h>

#include "read_op.h"
#include "slot_bio.h"
#include "trace.h"

/*
 * The slots that were freed during the read, which is over, and that the caller
 * is to give back now. Those that another read still covers are left to that
 * one, which was told of them too.
 */
static u64 read_op_settle_freed(struct pagein_shard *sh, struct read_op *op)
{
	u32 at = op->slot % GRANULE_SLOTS;
	u64 rest = op->freed;

	lockdep_assert_held(&sh->lock);
	if (rest)
		rest &= ~(pagein_being_read(sh, op->slot - at) >> at);
	return rest;
}

static void read_op_free_slots(struct pagein *pi, u32 slot, u64 mask)
{
	for (; mask; mask &= mask - 1)
		space_free(pi->space, slot + __ffs64(mask), 1);
}

static void read_op_end_front(struct read_op *op, blk_status_t status)
{
	if (op->bounce) {
		if (!status)
			slot_bio_copy(op->front, op->iter, op->bounce, true);
		mempool_free(op->bounce, &op->pi->bounce);
	}
	if (!op->nr_want)
		return;
	if (status && !op->front->bi_status)
		op->front->bi_status = status;
	bio_endio(op->front);
}

static void read_op_free(struct read_op *op)
{
	struct pagein *pi = op->pi;
	bool giver = op->giver;

	bio_uninit(&op->bio);
	read_op_release(pi, op);
	if (giver)
		flight_end(pi->givers);
	flight_end(pi->flight);
}

/* Copies to those of joined[@from..@to - 1], who asked for pages that were on their way. */
static u64 read_op_serve_joined(const struct read_op *op, u32 from, u32 to)
{
	u64 served = 0;
	u32 i, k;

	for (i = from; i < to; i++) {
		const struct read_joined *j = &op->joined[i];
		struct bvec_iter iter = j->bio->bi_iter;

		for (k = j->at; k < j->at + j->n; k++) {
			slot_bio_copy(j->bio, iter, op->frames[k]->page, true);
			bio_advance_iter(j->bio, &iter, PAGE_SIZE);
		}
		served |= GENMASK_ULL(j->at + j->n - 1, j->at);
	}
	return served;
}

static void read_op_end_joined(struct read_op *op)
{
	u32 i;

	for (i = 0; i < op->nr_joined; i++)
		bio_endio(op->joined[i].bio);
}

struct onward read_op_onward(const struct read_op *op, u32 at)
{
	struct onward onward = {
		.slot = SLOT_NONE,
		/* That a granule or a run ends tells nothing of how large the next one is to be. */
		.size = min_t(u32, max_t(u32, op->n, op->meant) * 2, WINDOW_MAX),
		.length = op->n,
		.steady = read_op_on_credit(op),
	};
	u32 g = granule_of(op->slot), first = op->slot % GRANULE_SLOTS;
	u64 live = op->pi->map->live[g], cont = op->pi->map->cont[g];

	if (at >= op->trigger) {
		onward.slot = op->slot - first + window_end(live, cont, first + op->n);
	} else if (at < op->below) {
		onward.slot = op->slot - first + window_begin(live, cont, first) - 1;
		onward.below = true;
		onward.parted = !(cont >> ((onward.slot + 1) % GRANULE_SLOTS) & 1);
	}
	return onward;
}

/* Puts the prefetched pages that are still of use into the waiting room. */
static void read_op_keep_frames(struct pagein_shard *sh, struct read_op *op,
				u64 served)
{
	struct waiting_fate used = { 0 }, wasted = { 0 };
	u32 i;

	lockdep_assert_held(&sh->lock);
	sh->passing -= hweight64(op->skip);
	read_end_share(op, sh);
	for (i = 0; i < op->n; i++) {
		struct waiting_frame *f = op->frames[i];

		if (!f)
			continue;
		if (op->skip >> i & 1) {
			waiting_put(&sh->room, f);
			continue;
		}
		if (served >> i & 1 || op->freed >> i & 1) {
			waiting_note(served >> i & 1 ? &used : &wasted, f);
			if (served >> i & 1)
				steady_earn(&sh->steady, f->steady);
			waiting_put(&sh->room, f);
			continue;
		}
		f->slot = op->slot + i;
		f->onward = read_op_onward(op, i);
		waiting_add(&sh->room, f);
	}
	pagein_learn(op->pi, sh, &used, &wasted);
}

static void read_op_done(struct read_op *op)
{
	struct pagein *pi = op->pi;
	struct pagein_shard *sh = pagein_shard(pi, op->slot);
	unsigned long flags;
	u64 took = op->begun ? ktime_get_ns() - op->begun : 0;
	u64 served = 0, freed;
	u32 done, n;

	spin_lock_irqsave(&sh->lock, flags);
	/* Who comes meanwhile joins, too: else he would read his pages once more, one by one. */
	for (done = 0; done < op->nr_joined; done = n) {
		n = op->nr_joined;
		spin_unlock_irqrestore(&sh->lock, flags);
		served |= read_op_serve_joined(op, done, n);
		spin_lock_irqsave(&sh->lock, flags);
	}
	if (took)
		pace_learn(&sh->pace, op->n, took);
	list_del(&op->list);
	if (op->n > op->nr_want)
		read_op_keep_frames(sh, op, served);
	freed = read_op_settle_freed(sh, op);
	spin_unlock_irqrestore(&sh->lock, flags);

	read_op_free_slots(pi, op->slot, freed);
	read_op_end_front(op, BLK_STS_OK);
	read_op_end_joined(op);
	read_op_free(op);
}

/*
 * Cuts @op down to the slots that somebody wants; it stays among the reads if
 * there are any. Returns the freed slots that nothing covers any more.
 */
static u64 read_op_shrink(struct pagein_shard *sh, struct read_op *op)
{
	u64 keep = op->nr_want ? GENMASK_ULL(op->want + op->nr_want - 1,
					     op->want) : 0;
	u64 kept_freed = op->freed & keep;
	u64 freed;
	u32 i;

	lockdep_assert_held(&sh->lock);
	list_del(&op->list);
	read_end_share(op, sh);
	for (i = 0; i < op->n; i++) {
		if (!op->frames[i])
			continue;
		waiting_put(&sh->room, op->frames[i]);
		op->frames[i] = NULL;
	}
	op->freed &= ~keep;
	freed = read_op_settle_freed(sh, op);
	sh->passing -= hweight64(op->skip);
	op->skip = 0;
	if (op->nr_want) {
		op->freed = kept_freed >> op->want;
		op->slot += op->want;
		op->n = op->nr_want;
		op->want = 0;
		list_add(&op->list, pagein_reads(sh, op->slot));
	}
	return freed;
}

/* From here on nobody joins, so joined[] may be read without the lock. */
static void read_op_close(struct pagein_shard *sh, struct read_op *op)
{
	unsigned long flags;

	spin_lock_irqsave(&sh->lock, flags);
	op->closed = true;
	spin_unlock_irqrestore(&sh->lock, flags);
}

/*
 * One bad slot must not hurt those who want its neighbours, in this read or in
 * one that the block layer merged with it: each reads alone.
 */
static void read_op_again(struct read_op *op)
{
	struct pagein *pi = op->pi;
	struct pagein_shard *sh = pagein_shard(pi, op->slot);
	u32 first = op->slot;
	unsigned long flags;
	u64 freed;
	u32 i;

	read_op_close(sh, op);
	for (i = 0; i < op->nr_joined; i++)
		pagein_defer_alone(pi, op->joined[i].bio);
	op->nr_joined = 0;
	spin_lock_irqsave(&sh->lock, flags);
	if (op->n > op->nr_want)
		pagein_note_failed(sh, op->slot);
	freed = read_op_shrink(sh, op);
	spin_unlock_irqrestore(&sh->lock, flags);
	read_op_free_slots(pi, first, freed);
	if (op->nr_want)
		pagein_defer_retry(pi, op);
	else
		read_op_free(op);
}

static void read_op_failed(struct read_op *op, blk_status_t status)
{
	struct pagein *pi = op->pi;
	struct pagein_shard *sh = pagein_shard(pi, op->slot);
	unsigned long flags;
	u64 freed;

	pr_err_ratelimited("%s: read of %u slots at slot %u of the backing device failed (error %d)\n",
			   pi->name, op->n, op->slot,
			   blk_status_to_errno(status));
	mswap_count(pi->stats, MSWAP_READ_ERRORS, 1);
	if (op->skip && !READ_ONCE(pi->whole_left)) {
		pr_warn_ratelimited("%s: reads no longer pass over slots for a while, since one that did has failed\n",
				    pi->name);
		WRITE_ONCE(pi->whole_left, PAGEIN_WHOLE_READS);
	}
	if (!op->alone) {
		read_op_again(op);
		return;
	}
	spin_lock_irqsave(&sh->lock, flags);
	list_del(&op->list);
	freed = read_op_settle_freed(sh, op);
	spin_unlock_irqrestore(&sh->lock, flags);
	read_op_free_slots(pi, op->slot, freed);
	read_op_end_front(op, status);
	read_op_free(op);
}

/* Of short reads some will do: they are many. */
static u64 read_op_begin_time(const struct read_op *op)
{
	if (op->n >= PACE_LONG || (op->n <= PACE_SHORT && op->slot % 8 == 0))
		return ktime_get_ns();
	return 0;
}

static void read_op_end_io(struct bio *bio)
{
	struct read_op *op = container_of(bio, struct read_op, bio);

	if (bio->bi_status)
		read_op_failed(op, bio->bi_status);
	else
		read_op_done(op);
}

/*
 * Readers of other cgroups may join a read with their pages in it. They are not to
 * wait until this one's may read, which pays later, nor as long as better classes
 * have something to do.
 */
static void read_op_hurry(struct read_op *op)
{
	int ioprio = op->bio.bi_ioprio;

	op->bio.bi_opf |= REQ_SWAP;
	if (IOPRIO_PRIO_CLASS(ioprio) == IOPRIO_CLASS_NONE)
		ioprio = get_current_ioprio();
	if (IOPRIO_PRIO_CLASS(ioprio) == IOPRIO_CLASS_IDLE)
		op->bio.bi_ioprio = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 7);
}

/* The wanted pages are read where their owner wants them, without a copy. */
static void read_op_add_pages(struct read_op *op)
{
	struct bvec_iter iter = op->iter;
	bool adjacent = op->nr_want > 1;	/* a folio's, most likely */
	bool hurry = false;
	u32 i;

	if (op->n == 1 && op->nr_want) {
		backing_add_lone_page(&op->bio, op->bounce ?:
				      bio_iter_page(op->front, iter));
		return;
	}
	for (i = 0; i < op->n; i++) {
		struct page *page;

		if (op->frames[i]) {
			page = op->frames[i]->page;
			hurry |= op->frames[i]->stranger;
		} else if (op->bounce) {
			page = op->bounce;
		} else {
			page = bio_iter_page(op->front, iter);
			bio_advance_iter_single(op->front, &iter, PAGE_SIZE);
		}
		if (adjacent)
			backing_add_page(&op->bio, page);
		else
			backing_add_lone_page(&op->bio, page);
	}
	if (hurry)
		read_op_hurry(op);
}

/*
 * Who sends it has its cgroup by itself, but a worker has another's, which pays later:
 * to sleep until it may read would keep the reads of others waiting.
 */
static void read_op_charge(struct read_op *op)
{
	if (current->flags & PF_WQ_WORKER) {
		op->bio.bi_opf |= REQ_SWAP;
		bio_clone_blkg_association(&op->bio, op->front);
	}
}

void read_op_submit(struct read_op *op)
{
	struct pagein *pi = op->pi;
	u32 passed = op->skip ? hweight64(op->skip) : 0;
	blk_opf_t opf = op->alone ? REQ_NOMERGE : 0;

	if (op->nr_want)
		opf |= op->front->bi_opf & (REQ_SYNC | REQ_META | REQ_PRIO);
	backing_init_read(pi->backing, &op->bio, op->vecs, op->n, op->slot,
			  opf);
	op->bio.bi_ioprio = op->reader.ioprio;
	if (op->nr_want)
		read_op_charge(op);
	op->bio.bi_end_io = read_op_end_io;
	read_op_add_pages(op);
	trace_mswap_pagein(pi->name, op->slot, op->n, op->nr_want, passed);
	mswap_count(pi->stats, MSWAP_DEV_READS, 1);
	mswap_count(pi->stats, MSWAP_DEV_PAGES_READ, op->n);
	if (op->n > op->nr_want) {
		mswap_count(pi->stats, MSWAP_DEV_PAGES_PASSED, passed);
		mswap_count(pi->stats, MSWAP_PREFETCHED,
			    op->n - op->nr_want - passed);
	}
	op->begun = read_op_begin_time(op);
	backing_submit(&op->bio);
}

void read_op_retry(struct read_op *op)
{
	bio_uninit(&op->bio);
	op->alone = true;
	read_op_submit(op);
}
