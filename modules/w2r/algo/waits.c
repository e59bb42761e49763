// SPDX-License-Identifier: GPL-2.0-only
#include "waits.h"

#define STEPS		256	/* while all entries are filled once, at most */
#define HORIZON		4	/* times the entries that left are known, or up to twice that */
#define STANDS_FOR	64	/* blocks, one that was lost, at most */
#define SAMPLES		16	/* for a judgement */
#define LATEST		64	/* one in so many may have waited longer */
#define PATIENCE	4	/* times as long as the others, */
#define LONGEST		3	/* times the limit of blocks that come, at most, */
#define LEAST_SHARE	16	/* and such a share of it at least, */
#define EXPECTED	2	/* or, what is expected, so many times the limit */
#define LOST		8	/* that had been asked for and left lately are too many, */
#define OLD		2	/* once so many times the limit came since a judgement */
#define PARTS		16	/* of one that counts: a single one does for some judgements */

static u32 most_left(u32 entries)
{
	return pure_min(entries, WAITS_LEFT);
}

size_t waits_size(u32 entries)
{
	return 2 * ghost_size(most_left(entries));
}

void waits_init(struct waits *w, void *mem, u32 entries)
{
	u64 horizon = (u64)HORIZON * entries;
	u32 most = most_left(entries);

	memset(w, 0, sizeof(*w));
	ghost_init(&w->left, mem, most);
	ghost_init(&w->unasked, (char *)mem + ghost_size(most), most);
	while (entries >> w->shift > STEPS)
		w->shift++;
	while (horizon > (u64)most * (w->others + 1))
		w->others = 2 * w->others + 1;
	w->most = (u32)-1;
}

static u32 age(const struct waits *w, u16 came)
{
	return (u16)(waits_now(w) - came);
}

bool waits_in_vain(const struct waits *w, u16 came, bool expected, u32 limit)
{
	u32 longest = LONGEST * limit >> w->shift;
	u32 least = (expected ? EXPECTED * limit : limit / LEAST_SHARE) >> w->shift;

	/* A step is the least that can be told, however small the limit has become. */
	return age(w, came) > pure_max(1, pure_min(longest, pure_max(least, w->most)));
}

static bool counts(const struct waits *w, u64 block)
{
	return !(index_hash(block, 32) & w->others);
}

static void remember(struct ghost *g, u64 block, u16 came)
{
	ghost_add(g, block);
	g->arena.entries[g->fifo.head].came = came;
}

void waits_left(struct waits *w, u64 block)
{
	if (!counts(w, block))
		return;
	ghost_take(&w->left, block);
	remember(&w->left, block, waits_now(w));
}

u32 waits_lost(const struct waits *w, u64 block)
{
	if (!counts(w, block) || index_peek(&w->left.index, block) == ENTRY_NONE)
		return 0;
	return pure_min(w->others + 1, STANDS_FOR);
}

/* That @block left, if it did, was not in vain, or does not count twice. */
static void forget_unasked(struct waits *w, u64 block)
{
	if (ghost_take(&w->unasked, block))
		w->vain -= pure_min(w->vain, PARTS);
}

void waits_unasked(struct waits *w, u64 block, u16 came)
{
	if (!counts(w, block) || index_peek(&w->left.index, block) != ENTRY_NONE)
		return;
	forget_unasked(w, block);
	remember(&w->unasked, block, came);
	w->vain += PARTS;
}

/* What counts now counts half at the next one. */
static void judge(struct waits *w)
{
	u32 i, sum = 0, later = 0, wanted = 0;

	for (i = 0; i < WAITS_CLASSES; i++)
		sum += w->used[i];
	for (i = WAITS_CLASSES - 1; i; i--) {
		later += w->used[i];
		wanted += w->wanted[i];
		if (LATEST * later >= sum || wanted > w->vain)
			break;
	}
	w->most = PATIENCE << i;
	for (i = 0; i < WAITS_CLASSES; i++) {
		w->used[i] /= 2;
		w->wanted[i] /= 2;
	}
	w->vain /= 2;
	w->samples = 0;
	w->lost = 0;
	w->judged = w->came;
}

/* One that came at @came is wanted now; returns of which class it is. */
static u32 want(struct waits *w, u16 came)
{
	u32 waited = age(w, came), class = waited ? pure_fls64(waited) + 1 : 0;

	class = pure_min(class, WAITS_CLASSES - 1);
	w->wanted[class] += PARTS;
	return class;
}

/* It was asked for, and @within blocks have come since it left, at most. */
static bool left_lately(const struct waits *w, u64 block, u32 within)
{
	u32 e = index_peek(&w->left.index, block);

	return e != ENTRY_NONE &&
	       age(w, w->left.arena.entries[e].came) <= within >> w->shift;
}

u32 waits_lost_lately(const struct waits *w, u64 block, u32 within)
{
	u32 lost = waits_lost(w, block);

	return lost && left_lately(w, block, within) ? lost : 0;
}

/*
 * Of a tree that is read again and again all that is used had left before, and nothing
 * is judged any more. What was learnt when it was read first, and nothing had to give
 * way to it, holds for half as long from now on, until nothing has to any more.
 */
static void lose(struct waits *w, u32 limit)
{
	if (++w->lost < LOST || w->came - w->judged <= OLD * (u64)limit)
		return;
	w->most = pure_min(w->most, limit >> w->shift) / 2;
	w->lost = 0;
	w->judged = w->came;
}

void waits_missed(struct waits *w, u64 block, u32 limit)
{
	u32 e;

	if (!counts(w, block))
		return;
	/* With place for twice as many it would be here. */
	if (left_lately(w, block, limit))
		lose(w, limit);
	e = index_peek(&w->unasked.index, block);
	if (e == ENTRY_NONE)
		return;
	want(w, w->unasked.arena.entries[e].came);
	forget_unasked(w, block);
}

void waits_used(struct waits *w, u64 block, u16 came, u32 limit)
{
	if (!counts(w, block))
		return;
	forget_unasked(w, block);
	if (ghost_take(&w->left, block))
		return;
	w->used[want(w, came)]++;
	if (++w->samples >= SAMPLES && w->came - w->judged >= limit)
		judge(w);
}
