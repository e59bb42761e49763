/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Readers that go on where they were, among others that do not, and how much it pays
 * to read ahead of them.
 *
 * A place is the slots that one reader has had, side by side: a miss next to them is
 * his next one. How far he has come tells one kind of reader from another: who reads
 * three pages here and three there is never met behind his third. So each class of
 * readers, by how far they have come, has a credit of its own, in pages: what is read
 * ahead of them is taken off, what they use of it is paid back twice. So has each payer:
 * what is read for one who has to wait for it would take all of it off others.
 *
 * Pure functions, each of a few steps: any context; protected by its owner's lock.
 */
#ifndef MSWAP_ALGO_STEADY_H
#define MSWAP_ALGO_STEADY_H

#include "pure.h"

/* Places are looked for by granule, in one of so many sets. A power of two. */
#define STEADY_SETS	16
#define STEADY_WAYS	4

/*
 * Class 1 to 5: who has come 1, 2, 4, 8, and 16 pages or more; 6: who seems to come down
 * by blocks, which those who read at random do by chance.
 */
#define STEADY_CLASSES	6
#define STEADY_BLOCKS	STEADY_CLASSES
/* In place of a class, or of an account: what is read ahead is of no steady reader. */
#define STEADY_NONE	0

/* Who pays for reads: 0, or one of so many others. */
#define STEADY_OTHERS	64
#define STEADY_PAYERS	(1 + STEADY_OTHERS)
/* One for each class of each payer, and STEADY_NONE. */
#define STEADY_ACCOUNTS	(STEADY_PAYERS * STEADY_CLASSES + 1)

/* In pages. */
#define STEADY_CREDIT_FIRST	32
#define STEADY_CREDIT_MAX	128
/* Less than so many ahead are not worth it. */
#define STEADY_AHEAD_MIN	2
/* Whoever leaves out every other page goes on, too. */
#define STEADY_GAP	1
/*
 * The swap core's read-ahead asks for so many pages that end at the wanted one, from the
 * lowest on: who goes down, and has had as many, comes to the farthest of them first.
 */
#define STEADY_BLOCK	8
/* Misses without credit that earn a page of it. */
#define STEADY_TRIES	32

/* Slots first..behind - 1. Empty ones are nobody's. */
struct steady_place {
	u32 first;
	u32 behind;
};

struct steady {
	struct steady_place places[STEADY_SETS][STEADY_WAYS];	/* the latest first */
	u32 credit[STEADY_ACCOUNTS];	/* STEADY_TRIES to a page; STEADY_NONE has none */
};

/* How a reader goes on. */
struct steady_step {
	u32 length;	/* slots that he has had before; 0: he is a new one */
	u32 between;	/* of the granule, if he comes from above: slots that he has not had yet */
	bool down;	/* he comes from above */
};

void steady_init(struct steady *s);

/* A miss of the @want slots from @slot on, all of one granule. */
struct steady_step steady_miss(struct steady *s, u32 slot, u32 want);

/* The reader of the last miss in the granule of @slot gets @n slots from @slot on. */
void steady_read(struct steady *s, u32 slot, u32 n);

/*
 * A reader who has had @length slots up to @slot, in another granule perhaps, gets @n
 * more from there on.
 */
void steady_read_on(struct steady *s, u32 slot, u32 n, u32 length);

/* The class of who has had @length slots, at least 1. */
static inline u32 steady_class(u32 length)
{
	return pure_min(1 + pure_fls64(length), STEADY_BLOCKS - 1);
}

/* The class of who goes on by @step. */
static inline u32 steady_step_class(struct steady_step step)
{
	return step.between > STEADY_GAP ? STEADY_BLOCKS : steady_class(step.length);
}

/* Where @payer has the credit of @class, one from 1 on: fits in 16 bits. */
static inline u32 steady_account(u32 payer, u32 class)
{
	return payer * STEADY_CLASSES + class;
}

/* How many pages to read ahead on @account; 0: none. */
u32 steady_ahead(struct steady *s, u32 account);

/* A page is read ahead on @account. */
static inline void steady_spend(struct steady *s, u32 account)
{
	s->credit[account] -= pure_min(s->credit[account], STEADY_TRIES);
}

/* One that was is used. */
static inline void steady_earn(struct steady *s, u32 account)
{
	if (account != STEADY_NONE)
		s->credit[account] = pure_min(s->credit[account] + 2 * STEADY_TRIES,
					      STEADY_CREDIT_MAX * STEADY_TRIES);
}

#endif
