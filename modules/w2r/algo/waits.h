/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long a prefetched block may wait for its first reference: some times as long as
 * nearly all did that were asked for of late, and at least while more are asked for that
 * late than never. One that has waited longer is taken for prefetched in vain.
 *
 * A block that had been asked for before, and came back by a prefetch, tells nothing: a
 * set that is read again and again is used at any age, and the more of it was pushed out
 * by blocks in vain, the longer these would be kept. So those that were asked for and
 * have left are remembered, of one in so many blocks; and only blocks of that sample
 * count. Of the same sample those are remembered that left while they waited: who is slow
 * beside others, and whose blocks leave too early, is known by what he misses. While
 * there is nothing to learn from, and blocks are missed that were asked for and left
 * lately, one may wait half as long each time.
 *
 * Time is counted in steps of some blocks that come, not more than 256 for as many as
 * there are entries, and goes round after 256 times as many. The caller's lock protects
 * all; nothing allocates.
 */
#ifndef W2R_ALGO_WAITS_H
#define W2R_ALGO_WAITS_H

#include "ghost.h"

#define WAITS_CLASSES	12
#define WAITS_LEFT	512	/* blocks, for the last in 4 times the entries, or more */

struct waits {
	u64 came;		/* blocks, */
	u32 shift;		/* 2^this of them are a step */
	u32 others;		/* 2^n less 1: blocks that do not count, for one that does */
	struct ghost left;	/* what was asked for, and has left */
	struct ghost unasked;	/* what has left, and was not */
	u32 used[WAITS_CLASSES];	/* those that waited for less than 2^index steps */
	u32 wanted[WAITS_CLASSES];	/* the same, in parts, with those that had left */
	u32 vain;		/* those that left and were not missed since, in parts */
	u32 samples;		/* of them, since ... */
	u32 lost;		/* asked for, left lately and missed, since ... */
	u64 judged;		/* ... so many blocks had come */
	u32 most;		/* steps that one may wait */
};

/* Bytes of memory that waits_init() needs for a cache of @entries; a multiple of 8. */
size_t waits_size(u32 entries);
/* @mem has waits_size() bytes, aligned to 8. May sleep. */
void waits_init(struct waits *w, void *mem, u32 entries);

static inline u16 waits_now(const struct waits *w)
{
	return (u16)(w->came >> w->shift);
}

/*
 * Has a block that came at @came waited in vain? One that is @expected may wait at least
 * until twice as many blocks have come as there is place for, which is @limit.
 */
bool waits_in_vain(const struct waits *w, u16 came, bool expected, u32 limit);
/* @block, which was asked for, leaves. */
void waits_left(struct waits *w, u64 block);
/*
 * @block is missed. If it had been asked for, and left, and is of the sample: for how many
 * that did so it stands, not more than 64.
 */
u32 waits_lost(const struct waits *w, u64 block);
/* The same of a @block that is asked for, if @within blocks have come since it left, at most. */
u32 waits_lost_lately(const struct waits *w, u64 block, u32 within);
/* @block, which came at @came and waits since, leaves. */
void waits_unasked(struct waits *w, u64 block, u16 came);
/* @block, which is missed, comes: it may be one that left, asked for or not. */
void waits_missed(struct waits *w, u64 block, u32 limit);
/* @block, which came at @came and waits since, is asked for. */
void waits_used(struct waits *w, u64 block, u16 came, u32 limit);

#endif
