/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One read of a window of physical slots from the backing device. Private to
 * page-in.
 */
#ifndef MSWAP_READ_OP_H
#define MSWAP_READ_OP_H

#include <linux/bio.h>
#include <linux/list.h>

#include "algo/window.h"
#include "pagein.h"

/* Pages of bios that join a read: they bound what is copied where its I/O ends. */
#define READ_OP_JOINED_MAX	WINDOW_MAX

/* For whom is read, or ahead of whom. */
struct reader {
	u16 ioprio;			/* of his bio */
	u8 payer;			/* of STEADY_PAYERS; 0: the root cgroup */
};

/* The rest of @bio is the @n slots of the read from @at on. */
struct read_joined {
	struct bio *bio;
	u32 at;
	u32 n;
};

struct read_op {
	struct list_head list;		/* of the shard's reads */
	struct list_head retry;
	struct pagein *pi;
	u32 slot;			/* first slot of the window */
	u32 n;
	u32 want;			/* the wanted slots: want..want + nr_want - 1 */
	u32 nr_want;			/* 0: nobody waits */
	/* Under the shard's lock; WINDOW_MAX and 0 once what they start has begun. */
	u32 trigger;			/* a hit from here on starts the next window, */
	u32 below;			/* and one before here that below */
	u64 begun;			/* ns; 0: nobody takes the time */
	u64 skip;			/* slots that nobody gets to see: their frames go back */
	u64 freed;			/* under the shard's lock: given up meanwhile */
	struct reader reader;
	u8 held;			/* frames that count as his */
	u16 steady;			/* for whom is read ahead: his account, or STEADY_NONE */
	u8 meant;			/* slots that it might have had; 0: no more than it has */
	bool down;			/* whom it is read for goes down */
	bool alone;			/* no window, and merged with nothing */
	bool giver;			/* under the shard's lock: counted among pi->givers */
	bool closed;			/* under the shard's lock: failed, takes no more joins */
	u8 nr_joined;			/* under the shard's lock */
	u8 joined_pages;		/* under the shard's lock */
	struct read_joined joined[READ_OP_JOINED_MAX];
	struct bio *front;		/* holds one reference of it if nr_want */
	struct bvec_iter iter;		/* of the first wanted slot */
	struct page *bounce;		/* in place of the only wanted page */
	struct waiting_frame *frames[WINDOW_MAX];	/* NULL where wanted */
	struct bio bio;
	struct bio_vec vecs[WINDOW_MAX];
};

static inline struct reader reader_of(struct bio *bio)
{
	return (struct reader){
		.ioprio = bio->bi_ioprio,
		.payer = pure_one_of(compat_bio_payer(bio), STEADY_OTHERS),
	};
}

/* Sends @op, which is among the shard's reads. Process context. */
void read_op_submit(struct read_op *op);
/* Reads the wanted slots alone again, after a read failed. Worker. */
void read_op_retry(struct read_op *op);

static inline struct pagein_shard *pagein_shard(struct pagein *pi, u32 slot)
{
	return &pi->shards[granule_shard(granule_of(slot))];
}

/* Where the reads of @slot's granule are. */
static inline struct list_head *pagein_reads(struct pagein_shard *sh, u32 slot)
{
	return &sh->reads[granule_of(slot) / PAGEIN_SHARDS % PAGEIN_READS];
}

static inline bool read_op_covers(const struct read_op *op, u32 slot)
{
	u32 at = slot - op->slot;

	return slot >= op->slot && at < op->n && !(op->skip >> at & 1);
}

/*
 * Is what it goes on with read on the credit of steady readers? Behind holes it is for
 * all: else those who come to a few pages at a time would shut the shard's windows.
 */
static inline bool read_op_on_credit(const struct read_op *op)
{
	return op->steady != STEADY_NONE || op->skip;
}

/*
 * The window that a hit of the slot @at in @op starts, if it has not begun yet: behind what its
 * run has lost up to the end of the granule. Under the shard's lock.
 */
struct onward read_op_onward(const struct read_op *op, u32 at);

/*
 * Gives the memory of an op back. The last one of each CPU is kept for the next
 * read: the allocator would clear its 3 KiB each time. Any context.
 */
void read_op_release(struct pagein *pi, struct read_op *op);

/* read_plan.c */

/* The most pages that the knobs let one window have. Any context. */
u32 pagein_limit(const struct pagein *pi);

/* The rest of it under the shard's lock. */

/*
 * Makes @op read the run around @slot, of which @want slots are wanted, or the
 * group, passing over what does not belong to it, if that is more; or what is
 * wanted alone, where more has failed; and puts it among the reads.
 */
void read_plan(struct read_op *op, struct pagein_shard *sh, u32 slot, u32 want);
/*
 * The same for what a run goes on with, for a reader who has come to slot @from, and asks
 * for the first @wanted of it next. False if there is nothing, or no frame for it, or such a
 * read has failed lately.
 */
bool read_plan_ahead(struct read_op *op, struct pagein_shard *sh,
		     const struct onward *onward, u32 from, u32 wanted);
/* The same for the @want slots from @slot on alone. */
void read_plan_wanted(struct read_op *op, struct pagein_shard *sh, u32 slot,
		      u32 want);

/* read_frames.c: under the shard's lock. No reader gets more than his share of its frames. */

/*
 * Gives each slot of the window @w but the @want wanted ones from @at on a frame; where frames
 * run out the window ends. Those outside @run are strangers. @from: the slot that the reader
 * has come to. Sets want, nr_want and n of @op, and meant to 0 where that is less than @w.
 */
void read_take_frames(struct read_op *op, struct pagein_shard *sh, struct window w,
		      struct window run, u32 at, u32 want, u32 from);
/* The same for what is wanted alone. */
void read_take_no_frames(struct read_op *op, u32 want);
/*
 * Frames for the slots @bits of @op, of which those in @skip are passed over, or, and
 * false, none at all. @ahead: nobody waits for the read.
 */
bool read_take_frames_of(struct read_op *op, struct pagein_shard *sh, u64 bits, u64 skip,
			 u32 from, bool ahead);
/* The frames of @op, if it has any, count as its reader's no more. */
void read_end_share(struct read_op *op, struct pagein_shard *sh);

/* join.c: under the shard's lock. */

/*
 * How many of @bio's slots from bi_iter on, of which the first lies at @slot, come with
 * @op, which covers that, to who joins it now.
 */
u32 read_op_brings(const struct read_op *op, const struct bio *bio, u32 slot);
/*
 * @bio, of which so many, @n, are left, ends with @op. Returns what begins with that, or
 * one without a slot.
 */
struct onward read_op_join(struct read_op *op, struct pagein_shard *sh,
			   struct bio *bio, u32 slot, u32 n);
/*
 * How many slots of what begins with @onward are wanted by @bio, the rest of one whose page
 * before that lies at slot @from? 0 downwards.
 */
u32 pagein_wants_onward(struct pagein *pi, const struct bio *bio,
			const struct onward *onward, u32 from);

/* runs.c: under the shard's lock. */

/* Is @slot where @virt's data is, and no copy of that held? */
bool pagein_lies_at(struct pagein *pi, u32 virt, u32 slot);

/* The newest read under way that covers @slot, or NULL. */
struct read_op *pagein_find_read(struct pagein_shard *sh, u32 slot);
/* The slots that reads under way cover, as bits of the granule that begins at @base. */
u64 pagein_being_read(struct pagein_shard *sh, u32 base);
/* Those of @slots, bits as before, whose pages are in the waiting room. */
u64 pagein_waiting(struct pagein_shard *sh, u32 base, u64 slots);
/* The same, or on their way. */
u64 pagein_held(struct pagein_shard *sh, u32 base, u64 slots);
/*
 * A read from @slot on of more than was wanted has failed: for a while there are no
 * others like it in its granule.
 */
void pagein_note_failed(struct pagein_shard *sh, u32 slot);
/* What is known of that in granule @g, or NULL. */
struct pagein_failed *pagein_find_failed(struct pagein_shard *sh, u32 g);
/* Is this read of granule @g to be one of those? It counts. */
bool pagein_stays_alone(struct pagein_shard *sh, u32 g);
/* Somebody asks for the page at @slot. */
void pagein_note_order(struct pagein_shard *sh, u32 slot);
extern const struct waiting_fate waiting_no_fate;
/* Counts prefetched pages that met their fate. */
void pagein_learn(struct pagein *pi, struct pagein_shard *sh,
		  const struct waiting_fate *used,
		  const struct waiting_fate *wasted);

/* pagein.c */

/* Hands @bio, of which the caller owns one reference, to the worker. */
void pagein_defer(struct pagein *pi, struct bio *bio);
/*
 * The same for one whose page was in a read that failed: nothing else is to be
 * read with it.
 */
void pagein_defer_alone(struct pagein *pi, struct bio *bio);
/* Hands a failed read, whose wanted slots are to be read again. */
void pagein_defer_retry(struct pagein *pi, struct read_op *op);

#endif
