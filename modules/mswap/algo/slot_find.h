/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Searches in a slot tree for free slots and runs. Private to slot_tree.c; apart
 * from it because finding and keeping the books are two matters.
 */
#ifndef MSWAP_ALGO_SLOT_FIND_H
#define MSWAP_ALGO_SLOT_FIND_H

#include "slot_bits.h"
#include "slot_tree.h"

/* A node is one word of level 1: the slots over which the lowest bound is kept. */
#define NODE_SHIFT (2 * WORD_SHIFT)
#define NODE_SLOTS (1u << NODE_SHIFT)
#define NODE_MASK (NODE_SLOTS - 1)

/* So many free words in a row are a run of SLOT_RUN_MAX. */
#define RUN_MAX_WORDS (SLOT_RUN_MAX / WORD_BITS)

/* Whole words behind and before word @w, counted up to RUN_MAX_WORDS. */
static inline u32 whole_behind(const struct slot_tree *t, u32 w)
{
	u32 k = (w + 1) >> WORD_SHIFT, b = (w + 1) & WORD_MASK;
	u64 x = (t->whole[k] >> b) | (t->whole[k + 1] << 1 << (WORD_MASK - b));

	return low_ones(x & low_bits(RUN_MAX_WORDS));
}

static inline u32 whole_before(const struct slot_tree *t, u32 w)
{
	u32 k = w >> WORD_SHIFT, b = w & WORD_MASK;
	u64 x = 0;

	if (b)
		x = t->whole[k] << (WORD_BITS - b);
	if (b < RUN_MAX_WORDS && k)
		x |= t->whole[k - 1] >> b;
	return high_ones(x & ~low_bits(WORD_BITS - RUN_MAX_WORDS));
}

/* Free slots from @slot on, all of them or SLOT_RUN_MAX at least. */
static inline u32 run_right(const struct slot_tree *t, u32 slot)
{
	u32 w = slot >> WORD_SHIFT, more, len;
	u64 used;

	if (slot >= t->nr)
		return 0;
	used = ~t->bits[0][w] >> (slot & WORD_MASK);
	if (used)
		return pure_ctz64(used);
	more = whole_behind(t, w);
	len = (more + 1) * WORD_BITS - (slot & WORD_MASK);
	w += more + 1;
	if (more < RUN_MAX_WORDS && w < t->words[0])
		len += low_ones(t->bits[0][w]);
	return len;
}

/* Free slots that end just before @slot, all of them or SLOT_RUN_MAX at least. */
static inline u32 run_left(const struct slot_tree *t, u32 slot)
{
	u32 w, more, len;
	u64 used;

	if (!slot)
		return 0;
	slot--;
	w = slot >> WORD_SHIFT;
	used = ~t->bits[0][w] << (WORD_MASK - (slot & WORD_MASK));
	if (used)
		return WORD_MASK - pure_fls64(used);
	more = whole_before(t, w);
	len = more * WORD_BITS + (slot & WORD_MASK) + 1;
	if (more < RUN_MAX_WORDS && w > more)
		len += high_ones(t->bits[0][w - more - 1]);
	return len;
}

static inline u32 node_words(const struct slot_tree *t, u32 k)
{
	return pure_min(WORD_BITS, t->words[0] - (k << WORD_SHIFT));
}

/*
 * The longest run that starts in node @k, given that one of @best exists and
 * none longer than @most.
 */
static inline u32 node_longest(const struct slot_tree *t, u32 k, u32 best, u32 most)
{
	const u64 *words = t->bits[0] + ((size_t)k << WORD_SHIFT);
	u64 left = t->bits[1][k];
	u32 run = 0, next = 0, i;

	best = pure_max(best, !!left);
	for (; left && best < most; left &= left - 1) {
		u64 w;

		i = pure_ctz64(left);
		w = words[i];
		run = i == next ? run : 0;
		next = i + 1;
		if (w == ~0ull) {
			run += WORD_BITS;
			best = pure_max(best, run);
			continue;
		}
		best = pure_max(best, run + low_ones(w));
		run = high_ones(w);
		if (best >= WORD_BITS)
			continue;
		for (w = run_starts(w, best + 1); w; w &= w >> 1)
			best++;
	}
	if (best < most && next == WORD_BITS && run && k + 1 < t->words[1])
		best = pure_max(best, run + run_right(t, (k + 1) << NODE_SHIFT));
	return pure_min(best, most);
}

/*
 * Finds the first run of @want slots in @words from bit @from on, or returns
 * SLOT_NONE and in @run the number of free slots at the end of @words. Two ways:
 * a run of up to a word begins inside a word or at its end, a longer one is summed up.
 */
static inline u32 find_short_by(const u64 *words, u32 count, u32 from, u32 want, u32 *run, u32 log)
{
	u32 i = from >> WORD_SHIFT, before = 0;
	u64 w = words[i] & bits_from(from);

	for (;;) {
		bool across = !(~w & low_bits(want - before));
		u64 starts = run_starts_by(w, want, log);

		/* One branch for both, as it is seldom known which it will be. */
		if (across | (starts != 0))
			return i * WORD_BITS + (across ? -before : pure_ctz64(starts));
		before = high_ones(w);
		if (++i == count)
			break;
		w = words[i];
	}
	*run = before;
	return SLOT_NONE;
}

/* A loop for each logarithm. */
static inline u32 find_short(const u64 *words, u32 count, u32 from, u32 want, u32 *run)
{
	switch (pure_fls64(want)) {
	case 0:
		return find_short_by(words, count, from, want, run, 0);
	case 1:
		return find_short_by(words, count, from, want, run, 1);
	case 2:
		return find_short_by(words, count, from, want, run, 2);
	case 3:
		return find_short_by(words, count, from, want, run, 3);
	case 4:
		return find_short_by(words, count, from, want, run, 4);
	case 5:
		return find_short_by(words, count, from, want, run, 5);
	default:
		return find_short_by(words, count, from, want, run, 6);
	}
}

static inline u32 find_long(const u64 *words, u32 count, u32 from, u32 want, u32 *run)
{
	u32 i = from >> WORD_SHIFT, before = 0;
	u64 w = words[i] & bits_from(from);

	for (;;) {
		u32 low = w == ~0ull ? WORD_BITS : low_ones(w);

		if (before + low >= want)
			return i * WORD_BITS - before;
		before = low == WORD_BITS ? before + low : high_ones(w);
		if (++i == count)
			break;
		w = words[i];
	}
	*run = before;
	return SLOT_NONE;
}

/* First run of @want slots that starts in the node of @from, at @from or after; or SLOT_NONE. */
static inline u32 node_find(const struct slot_tree *t, u32 from, u32 want)
{
	u32 k = from >> NODE_SHIFT, base = from & ~NODE_MASK, off = from & NODE_MASK;
	const u64 *words = t->bits[0] + ((size_t)k << WORD_SHIFT);
	u32 count = node_words(t, k), run = 0, at;

	if (want <= WORD_BITS)
		at = find_short(words, count, off, want, &run);
	else
		at = find_long(words, count, off, want, &run);
	if (at != SLOT_NONE)
		return base + at;
	if (run && k + 1 < t->words[1] && run + run_right(t, (k + 1) << NODE_SHIFT) >= want)
		return base + NODE_SLOTS - run;
	return SLOT_NONE;
}

/* First node at @k or after in which a run of @want starts; or SLOT_NONE. */
static inline u32 node_after(const struct slot_tree *t, u32 k, u32 want)
{
	u32 l, i = k;

	for (l = 1; l < t->top; l++) {
		u32 end = pure_min((i + WORD_MASK) & ~WORD_MASK, t->words[l]);

		while (i < end && t->longest[l][i] < want)
			i++;
		if (i < end)
			break;
		i = words_for(i);
	}
	if (l == t->top && (i || t->longest[l][0] < want))
		return SLOT_NONE;
	while (l > 1) {
		l--;
		i <<= WORD_SHIFT;
		while (t->longest[l][i] < want)
			i++;
	}
	return i;
}

/*
 * The first node behind that of @hint, or else in the area, in which a run of
 * @want starts by its bound; or SLOT_NONE.
 */
static inline u32 other_node(const struct slot_tree *t, u32 want, u32 hint)
{
	u32 k = node_after(t, (hint >> NODE_SHIFT) + 1, want);

	return k != SLOT_NONE ? k : node_after(t, 0, want);
}

/* The first free slot behind the word of @hint, or else in the area; one must exist. */
static inline u32 find_one(const struct slot_tree *t, u32 hint)
{
	u32 i = hint >> WORD_SHIFT, l;
	u64 w = 0;

	for (l = 1; ; l++) {
		/* The words after i, in two shifts: one by 64 would be undefined. */
		w = t->bits[l][i >> WORD_SHIFT] & (bits_from(i) << 1);
		i >>= WORD_SHIFT;
		if (w || l == t->top)
			break;
	}
	if (!w)
		w = t->bits[l][0];
	i = (i << WORD_SHIFT) + pure_ctz64(w);
	while (l--)
		i = (i << WORD_SHIFT) + pure_ctz64(t->bits[l][i]);
	return i;
}

/* The word of node @k with most free slots, or most in runs of two or more: *@most of them. */
static inline u32 best_word(const struct slot_tree *t, u32 k, bool pairs, u32 *most)
{
	u32 first = k << WORD_SHIFT, best = first, i;

	*most = 0;
	for (i = first; i < first + node_words(t, k); i++) {
		u64 w = t->bits[0][i];
		u32 n = pure_popcount64(pairs ? in_pairs(w) : w);

		if (n > *most) {
			*most = n;
			best = i;
		}
	}
	return best;
}

#endif
