// SPDX-License-Identifier: GPL-2.0-only
/* Which frames the pages of a read go to that nobody waits for. */
#include "read_op.h"

/* A read ahead gives up what others wait for until it has one in so many of a shard's frames. */
#define AHEAD_SHARE	2
/* Who pays for reads holds at most so many times as many frames of a shard as are in no read, */
#define PAYER_SHARE	2
/* but in any case as many of all shards together as are so many windows: what one reader needs. */
#define PAYER_WINDOWS	2

/* Not exact: other shards take some, and give some back, at the same time. */
static u32 held_of_all(const struct pagein *pi, u8 payer)
{
	u32 n = 0, i;

	for (i = 0; i < PAGEIN_SHARDS; i++)
		n += READ_ONCE(pi->shards[i].held_by[payer]);
	return n;
}

/*
 * How many more frames the reader of @op may hold. If those of whom his cgroup's limit
 * keeps waiting were not bounded the others would soon have none (the dynamic threshold
 * of A. K. Choudhury and E. L. Hahne, "Dynamic queue length thresholds for shared-memory
 * packet switches", 1998). It is a share of each shard's frames, since a reader may come
 * to any shard, and gets no other's frames there. Nothing limits the root cgroup.
 */
static u32 share_left(const struct read_op *op, const struct pagein_shard *sh)
{
	const struct pagein *pi = op->pi;
	u8 payer = op->reader.payer;
	int idle = sh->room.nr_frames - sh->held;
	int share, least;

	lockdep_assert_held(&sh->lock);
	if (!payer)
		return WINDOW_MAX;
	/* Each one that he gets leaves fewer idle, too. */
	share = (PAYER_SHARE * idle - (int)sh->held_by[payer]) / (1 + PAYER_SHARE);
	if (share >= WINDOW_MAX)
		return WINDOW_MAX;
	least = PAYER_WINDOWS * pagein_limit(pi) - held_of_all(pi, payer);
	return clamp_t(int, max(share, least), 0, WINDOW_MAX);
}

static void count_held(struct read_op *op, struct pagein_shard *sh, int by)
{
	u32 *held_by = &sh->held_by[op->reader.payer];

	lockdep_assert_held(&sh->lock);
	sh->held += by;
	WRITE_ONCE(*held_by, *held_by + by);
}

static void begin_share(struct read_op *op, struct pagein_shard *sh, u32 frames)
{
	op->held = frames;
	count_held(op, sh, frames);
}

void read_end_share(struct read_op *op, struct pagein_shard *sh)
{
	count_held(op, sh, -(int)op->held);
	op->held = 0;
}

/*
 * How many frames, of @most, are to be had for a reader who has come to slot @from.
 * He would be the first to miss what waits ahead of him, or below him if he goes down,
 * in the granule, so that is not given up, nor what is younger. @ahead: nobody waits
 * for the read; for it not all is given up that others may come to yet.
 */
static u32 frames_for(struct pagein_shard *sh, u32 most, u32 from, bool down,
		      bool ahead)
{
	u32 share = ahead ? sh->room.nr_frames / AHEAD_SHARE : most;
	u32 n = waiting_nr_free(&sh->room);
	const struct waiting_frame *f;

	lockdep_assert_held(&sh->lock);
	if (n >= most)
		return most;
	list_for_each_entry(f, &sh->room.ready, list) {
		bool own = granule_of(f->slot) == granule_of(from);
		bool needed = down ? f->slot < from : f->slot > from;

		if (n == most || (own ? needed : n >= share))
			break;
		n++;
	}
	return n;
}

/*
 * A frame for a slot that is a @stranger to the run, or is @passed over: neither is read
 * for a reader who goes on.
 */
static struct waiting_frame *get_frame(struct read_op *op,
				       struct pagein_shard *sh,
				       bool stranger, bool passed,
				       struct waiting_fate *wasted)
{
	struct waiting_frame *f = waiting_get(&sh->room, wasted);

	if (!f)
		return NULL;
	f->stranger = stranger;
	f->passed = false;
	f->steady = stranger || passed ? STEADY_NONE : op->steady;
	return f;
}

static bool is_outside(struct window run, u32 at)
{
	return at - run.first >= run.n;
}

/* Outwards from the wanted slots. */
static void take_frames_around(struct read_op *op, struct pagein_shard *sh,
			       struct window w, struct window run,
			       u32 at, u32 want, u32 from)
{
	u32 most = frames_for(sh, min(w.n - want, share_left(op, sh)), from, op->down,
			      !want);
	struct waiting_frame *up[WINDOW_MAX];
	struct waiting_fate wasted = { 0 };
	u32 nr_up = 0, nr_down = 0;
	struct waiting_frame *f;
	u32 i;

	while (at + want + nr_up < w.first + w.n && nr_up < most) {
		f = get_frame(op, sh, is_outside(run, at + want + nr_up), false,
			      &wasted);
		if (!f)
			break;
		steady_spend(&sh->steady, f->steady);
		up[nr_up++] = f;
	}
	while (at - nr_down > w.first && nr_up + nr_down < most) {
		f = get_frame(op, sh, is_outside(run, at - nr_down - 1), false,
			      &wasted);
		if (!f)
			break;
		steady_spend(&sh->steady, f->steady);
		op->frames[at - w.first - ++nr_down] = f;
	}
	for (i = 0; i < nr_down; i++)
		op->frames[i] = op->frames[at - w.first - nr_down + i];
	for (i = 0; i < want; i++)
		op->frames[nr_down + i] = NULL;
	memcpy(&op->frames[nr_down + want], up, nr_up * sizeof(*up));
	op->want = nr_down;
	op->nr_want = want;
	op->n = nr_down + want + nr_up;
	begin_share(op, sh, nr_down + nr_up);
	if (op->n < w.n)
		op->meant = 0;
	pagein_learn(op->pi, sh, &waiting_no_fate, &wasted);
}

void read_take_no_frames(struct read_op *op, u32 want)
{
	u32 i;

	for (i = 0; i < want; i++)
		op->frames[i] = NULL;
	op->want = 0;
	op->nr_want = want;
	op->n = want;
}

void read_take_frames(struct read_op *op, struct pagein_shard *sh, struct window w,
		      struct window run, u32 at, u32 want, u32 from)
{
	if (w.n > want)
		take_frames_around(op, sh, w, run, at, want, from);
	else
		read_take_no_frames(op, want);
}

bool read_take_frames_of(struct read_op *op, struct pagein_shard *sh, u64 bits, u64 skip,
			 u32 from, bool ahead)
{
	u32 most = hweight64(bits);
	struct waiting_fate wasted = { 0 };
	struct waiting_frame *f;
	u64 left, got;

	if (share_left(op, sh) < most || frames_for(sh, most, from, op->down, ahead) < most)
		return false;
	for (left = bits; left; left &= left - 1) {
		f = get_frame(op, sh, false, skip >> __ffs64(left) & 1, &wasted);
		if (!f)
			break;
		op->frames[__ffs64(left)] = f;
	}
	pagein_learn(op->pi, sh, &waiting_no_fate, &wasted);
	for (got = bits & ~left; got; got &= got - 1) {
		f = op->frames[__ffs64(got)];
		/* Who gets none of them, since the room gets smaller, has not spent any. */
		if (left)
			waiting_put(&sh->room, f);
		else
			steady_spend(&sh->steady, f->steady);
	}
	if (!left)
		begin_share(op, sh, most);
	return !left;
}
