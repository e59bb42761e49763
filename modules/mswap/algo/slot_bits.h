/* SPDX-License-Identifier: GPL-2.0-only */
/* Bits of one 64-bit word, and runs of them; for the slot tree's own use. */
#ifndef MSWAP_ALGO_SLOT_BITS_H
#define MSWAP_ALGO_SLOT_BITS_H

#include "pure.h"

#define WORD_BITS 64u
#define WORD_SHIFT 6
#define WORD_MASK (WORD_BITS - 1)

static inline u64 bit(u32 i)
{
	return 1ull << (i & WORD_MASK);
}

static inline u64 bits_from(u32 i)
{
	return ~0ull << (i & WORD_MASK);
}

/* @n (1 to 64) bits from bit 0 on. */
static inline u64 low_bits(u32 n)
{
	return ~0ull >> (WORD_BITS - n);
}

/* Number of set bits at the bottom and at the top of @w, which is not ~0. */
static inline u32 low_ones(u64 w)
{
	return pure_ctz64(~w);
}

static inline u32 high_ones(u64 w)
{
	return WORD_MASK - pure_fls64(~w);
}

/*
 * The bits of @w at which @n (1 to 64) set bits in a row begin: rows of 2, 4, 8 ...
 * are found by overlap, and then the rest of @n. @log is its logarithm, rounded
 * down: where it is a constant, nothing is left to decide.
 */
static inline u64 run_starts_by(u64 w, u32 n, u32 log)
{
	if (log >= 1)
		w &= w >> 1;
	if (log >= 2)
		w &= w >> 2;
	if (log >= 3)
		w &= w >> 4;
	if (log >= 4)
		w &= w >> 8;
	if (log >= 5)
		w &= w >> 16;
	if (log >= 6)
		w &= w >> 32;
	return w & (w >> (n - (1u << log)));
}

static inline u64 run_starts(u64 w, u32 n)
{
	return run_starts_by(w, n, pure_fls64(n));
}

/* The bits of @w that have a set bit beside them. */
static inline u64 in_pairs(u64 w)
{
	return w & ((w >> 1) | (w << 1));
}

/* Words that hold @n bits. */
static inline u32 words_for(u32 n)
{
	return (n >> WORD_SHIFT) + !!(n & WORD_MASK);
}

#endif
