// SPDX-License-Identifier: GPL-2.0-only
#include "slot_tree.h"

#define WORD_BITS 64u
#define WORD_SHIFT 6
#define WORD_MASK (WORD_BITS - 1)

/* A node is one word of level 1: the slots over which the lowest bound is kept. */
#define NODE_SHIFT (2 * WORD_SHIFT)
#define NODE_SLOTS (1u << NODE_SHIFT)
#define NODE_MASK (NODE_SLOTS - 1)

/*
 * How far to look ahead for free slots when making the open run: each slot
 * beyond SLOT_RUN_MAX is one that a sequence of allocs takes without looking.
 */
#define OPEN_LOOK (SLOT_RUN_MAX + 4 * WORD_BITS)

static u64 bit(u32 i)
{
	return 1ull << (i & WORD_MASK);
}

static u64 bits_from(u32 i)
{
	return ~0ull << (i & WORD_MASK);
}

/* Number of set bits at the bottom and at the top of @w. */
static u32 low_ones(u64 w)
{
	return ~w ? pure_ctz64(~w) : WORD_BITS;
}

static u32 high_ones(u64 w)
{
	return ~w ? WORD_MASK - pure_fls64(~w) : WORD_BITS;
}

/* The bits of @w at which @n (1 to 64) set bits in a row begin. */
static u64 run_starts(u64 w, u32 n)
{
	u32 have = 1;

	while (have < n) {
		u32 step = pure_min(have, n - have);

		w &= w >> step;
		have += step;
	}
	return w;
}

static u32 words_for(u32 n)
{
	return (n >> WORD_SHIFT) + !!(n & WORD_MASK);
}

/* Sets the shape for @nr slots; returns the number of words, and of bounds in @bounds. */
static u32 layout(struct slot_tree *t, u32 nr, u32 *bounds)
{
	u32 l = 0, total;

	t->nr = nr;
	t->words[0] = words_for(nr);
	total = t->words[0];
	*bounds = 0;
	do {
		l++;
		t->words[l] = words_for(t->words[l - 1]);
		total += t->words[l];
		*bounds += t->words[l];
	} while (t->words[l] > 1);
	t->top = l;
	return total;
}

size_t slot_tree_bytes(u32 nr)
{
	struct slot_tree shape;
	u32 bounds;
	size_t bytes = (size_t)layout(&shape, nr, &bounds) * sizeof(u64);

	return bytes + (((size_t)bounds * sizeof(u16) + 7) & ~(size_t)7);
}

void slot_tree_init(struct slot_tree *t, void *arena, u32 nr)
{
	u32 bounds, words = layout(t, nr, &bounds);
	u16 *longest = (u16 *)((u64 *)arena + words);
	u64 *bits = arena;
	u32 below = nr, l, i;

	t->nr_free = nr;
	t->open_start = 0;
	t->open_end = 0;
	memset(arena, 0xff, (size_t)words * sizeof(u64));
	for (l = 0; l <= t->top; l++) {
		t->bits[l] = bits;
		bits += t->words[l];
		/* Absent slots and words read as used for ever. */
		if (below & WORD_MASK)
			bits[-1] = bit(below) - 1;
		below = t->words[l];
	}
	for (l = 1; l <= t->top; l++) {
		u32 shift = (l + 1) * WORD_SHIFT;

		t->longest[l] = longest;
		longest += t->words[l];
		for (i = 0; i < t->words[l]; i++) {
			u64 rest = nr - ((u64)i << shift);

			t->longest[l][i] = rest < SLOT_RUN_MAX ? rest : SLOT_RUN_MAX;
		}
	}
}

/* Free slots from @slot on, counted up to at least @most. */
static u32 run_right(const struct slot_tree *t, u32 slot, u32 most)
{
	u32 w = slot >> WORD_SHIFT, len;
	u64 used;

	if (slot >= t->nr)
		return 0;
	used = ~t->bits[0][w] >> (slot & WORD_MASK);
	if (used)
		return pure_ctz64(used);
	len = WORD_BITS - (slot & WORD_MASK);
	while (len < most && ++w < t->words[0]) {
		u32 more = low_ones(t->bits[0][w]);

		len += more;
		if (more < WORD_BITS)
			break;
	}
	return len;
}

/* Free slots that end just before @slot, counted up to SLOT_RUN_MAX. */
static u32 run_left(const struct slot_tree *t, u32 slot)
{
	u32 w, len;
	u64 used;

	if (!slot)
		return 0;
	slot--;
	w = slot >> WORD_SHIFT;
	used = ~t->bits[0][w] << (WORD_MASK - (slot & WORD_MASK));
	if (used)
		return WORD_MASK - pure_fls64(used);
	len = (slot & WORD_MASK) + 1;
	while (len < SLOT_RUN_MAX && w--) {
		u32 more = high_ones(t->bits[0][w]);

		len += more;
		if (more < WORD_BITS)
			break;
	}
	return pure_min(len, SLOT_RUN_MAX);
}

/*
 * The longest run that starts in node @k, given that one of @best exists and
 * none longer than @most.
 */
static u32 node_longest(const struct slot_tree *t, u32 k, u32 best, u32 most)
{
	const u64 *words = t->bits[0] + ((size_t)k << WORD_SHIFT);
	u64 left = t->bits[1][k];
	u32 run = 0, next = 0;

	if (left)
		best = pure_max(best, 1);
	for (; left && best < most; left &= left - 1) {
		u32 i = pure_ctz64(left);
		u64 w = words[i];
		u32 low = low_ones(w);

		if (i != next)
			run = 0;
		next = i + 1;
		run += low;
		best = pure_max(best, run);
		if (low == WORD_BITS)
			continue;
		if (best < WORD_BITS) {
			for (w = run_starts(w, best + 1); w; w &= w >> 1)
				best++;
		}
		run = high_ones(words[i]);
	}
	if (best < most && next == WORD_BITS && run && k + 1 < t->words[1])
		best = pure_max(best, run + run_right(t, (k + 1) << NODE_SHIFT, SLOT_RUN_MAX));
	return pure_min(best, most);
}

/* First run of @want slots that starts in the node of @from, at @from or after; or SLOT_NONE. */
static u32 node_find(const struct slot_tree *t, u32 from, u32 want)
{
	u32 k = from >> NODE_SHIFT, base = from & ~NODE_MASK;
	u32 first = (from & NODE_MASK) >> WORD_SHIFT;
	const u64 *words = t->bits[0] + ((size_t)k << WORD_SHIFT);
	u64 left = t->bits[1][k] & bits_from(first);
	u32 run = 0, next = first;

	for (; left; left &= left - 1) {
		u32 i = pure_ctz64(left);
		u64 w = words[i];
		u32 low;

		if (i == first)
			w &= bits_from(from);
		if (i != next)
			run = 0;
		next = i + 1;
		low = low_ones(w);
		if (run && run + low >= want)
			return base + i * WORD_BITS - run;
		if (want <= WORD_BITS) {
			u64 starts = run_starts(w, want);

			if (starts)
				return base + i * WORD_BITS + pure_ctz64(starts);
		}
		run = low == WORD_BITS ? run + low : high_ones(w);
	}
	if (next == WORD_BITS && run && k + 1 < t->words[1] &&
	    run + run_right(t, (k + 1) << NODE_SHIFT, want) >= want)
		return base + NODE_SLOTS - run;
	return SLOT_NONE;
}

/* First node at @k or after in which a run of @want starts; or SLOT_NONE. */
static u32 next_node(const struct slot_tree *t, u32 k, u32 want)
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

static u32 find_run(const struct slot_tree *t, u32 want, u32 hint)
{
	u32 k = hint >> NODE_SHIFT, start;

	if (want <= WORD_BITS) {
		u64 w = t->bits[0][hint >> WORD_SHIFT] >> (hint & WORD_MASK);

		w = run_starts(w, want);
		if (w)
			return hint + pure_ctz64(w);
	}
	if (t->longest[1][k] >= want) {
		start = node_find(t, hint, want);
		if (start != SLOT_NONE)
			return start;
	}
	k = next_node(t, k + 1, want);
	if (k == SLOT_NONE)
		k = next_node(t, 0, want);
	return node_find(t, k << NODE_SHIFT, want);
}

/* At least one slot must be free. */
static u32 find_one(const struct slot_tree *t, u32 hint)
{
	u64 w = t->bits[0][hint >> WORD_SHIFT] & bits_from(hint);
	u32 i = hint >> WORD_SHIFT, l = 0;

	while (!w && l < t->top) {
		l++;
		/* The words after i, in two shifts: one by 64 would be undefined. */
		w = t->bits[l][i >> WORD_SHIFT] & (bits_from(i) << 1);
		i >>= WORD_SHIFT;
	}
	if (!w)
		w = t->bits[l][0];
	i = (i << WORD_SHIFT) + pure_ctz64(w);
	while (l--)
		i = (i << WORD_SHIFT) + pure_ctz64(t->bits[l][i]);
	return i;
}

/* Leaf word @w became 0: the levels above hear of it. */
static void word_filled(struct slot_tree *t, u32 w)
{
	u32 l;

	for (l = 1; l <= t->top; l++) {
		u64 *up = &t->bits[l][w >> WORD_SHIFT];

		*up &= ~bit(w);
		if (*up)
			break;
		w >>= WORD_SHIFT;
	}
}

/* Leaf word @w was 0 and is not any more. */
static void word_opened(struct slot_tree *t, u32 w)
{
	u32 l;

	for (l = 1; l <= t->top; l++) {
		u64 *up = &t->bits[l][w >> WORD_SHIFT];
		u64 was = *up;

		*up |= bit(w);
		if (was)
			break;
		w >>= WORD_SHIFT;
	}
}

/* A run of @len starts in node @k. */
static void raise_bounds(struct slot_tree *t, u32 k, u32 len)
{
	u32 l;

	for (l = 1; l <= t->top && t->longest[l][k] < len; l++) {
		t->longest[l][k] = len;
		k >>= WORD_SHIFT;
	}
}

/* One of the longest runs that start in node @k is gone; one of @best is left. */
static void lower_bounds(struct slot_tree *t, u32 k, u32 best)
{
	u32 was = t->longest[1][k], l;

	best = node_longest(t, k, best, was);
	for (l = 1; best < was; l++) {
		u32 i, end;

		t->longest[l][k] = best;
		if (l == t->top)
			break;
		i = k & ~WORD_MASK;
		end = pure_min(i + WORD_BITS, t->words[l]);
		k >>= WORD_SHIFT;
		if (t->longest[l + 1][k] > was)
			break;
		for (; i < end && best < was; i++)
			best = pure_max(best, t->longest[l][i]);
	}
}

/*
 * True if taking [@s, @end) cannot have changed a bound: at least SLOT_RUN_MAX
 * slots of the same node are known to be free behind it, and runs that start in
 * the node before do not reach that far.
 */
static bool in_open_run(struct slot_tree *t, u32 s, u32 end)
{
	u32 off = s & NODE_MASK;

	if (s >= t->open_end || end <= t->open_start)
		return false;
	t->open_start = pure_min(end, t->open_end);
	return t->open_end - t->open_start >= SLOT_RUN_MAX && off >= SLOT_RUN_MAX &&
	       off + (end - s) < NODE_SLOTS;
}

/* Keeps the bounds exact after the free slots [@s, @s + @n) were taken. */
static void bounds_after_take(struct slot_tree *t, u32 s, u32 n)
{
	u32 end = s + n, k = s >> NODE_SHIFT, left, right, from;

	if (in_open_run(t, s, end))
		return;
	/* A run of one inside a node that has others. */
	if (t->longest[1][k] == 1 && (s & NODE_MASK) && t->bits[1][k])
		return;
	left = run_left(t, s);
	right = run_right(t, end, OPEN_LOOK);
	from = s - left;
	if (right >= SLOT_RUN_MAX) {
		t->open_start = end;
		t->open_end = end + right;
	}
	for (k = from >> NODE_SHIFT; k <= (end - 1) >> NODE_SHIFT; k++) {
		u32 first = pure_max(from, k << NODE_SHIFT);
		u32 longest = t->longest[1][k], rest;

		if (end + right - first < longest)
			continue;
		rest = s > first ? s - first : 0;
		if (end >> NODE_SHIFT == k)
			rest = pure_max(rest, right);
		if (rest < longest)
			lower_bounds(t, k, rest);
	}
}

static void bounds_after_free(struct slot_tree *t, u32 s, u32 n)
{
	u32 end = s + n, from = s - run_left(t, s), k;

	end += pure_min(run_right(t, end, SLOT_RUN_MAX), SLOT_RUN_MAX);
	for (k = from >> NODE_SHIFT; k <= (s + n - 1) >> NODE_SHIFT; k++) {
		u32 first = pure_max(from, k << NODE_SHIFT);

		raise_bounds(t, k, pure_min(end - first, SLOT_RUN_MAX));
	}
}

static void take(struct slot_tree *t, u32 s, u32 n)
{
	u32 w = s >> WORD_SHIFT, last = (s + n - 1) >> WORD_SHIFT;
	u64 mask = bits_from(s);

	t->nr_free -= n;
	for (;; w++, mask = ~0ull) {
		if (w == last)
			mask &= ~0ull >> (WORD_MASK - ((s + n - 1) & WORD_MASK));
		t->bits[0][w] &= ~mask;
		if (!t->bits[0][w])
			word_filled(t, w);
		if (w == last)
			break;
	}
	bounds_after_take(t, s, n);
}

u32 slot_tree_alloc(struct slot_tree *t, u32 want, u32 hint)
{
	u32 start;

	if (!want || want > slot_tree_longest(t))
		return SLOT_NONE;
	if (hint >= t->nr)
		hint = 0;
	start = want == 1 ? find_one(t, hint) : find_run(t, want, hint);
	take(t, start, want);
	return start;
}

u32 slot_tree_alloc_upto(struct slot_tree *t, u32 want, u32 hint, u32 *got)
{
	*got = want <= SLOT_RUN_MAX ? pure_min(want, slot_tree_longest(t)) : 0;
	return slot_tree_alloc(t, *got, hint);
}

/* Whether no slot of [@s, @s + @n) is free; all are in range. */
static bool all_used(const struct slot_tree *t, u32 s, u32 n)
{
	u32 w = s >> WORD_SHIFT, last = (s + n - 1) >> WORD_SHIFT;
	u64 mask = bits_from(s);

	for (; w < last; w++, mask = ~0ull) {
		if (t->bits[0][w] & mask)
			return false;
	}
	mask &= ~0ull >> (WORD_MASK - ((s + n - 1) & WORD_MASK));
	return !(t->bits[0][w] & mask);
}

bool slot_tree_free(struct slot_tree *t, u32 start, u32 n)
{
	u32 w, last;
	u64 mask = bits_from(start);

	if (!n || start >= t->nr || n > t->nr - start || !all_used(t, start, n))
		return false;
	t->nr_free += n;
	last = (start + n - 1) >> WORD_SHIFT;
	for (w = start >> WORD_SHIFT; w <= last; w++, mask = ~0ull) {
		u64 was = t->bits[0][w];

		if (w == last)
			mask &= ~0ull >> (WORD_MASK - ((start + n - 1) & WORD_MASK));
		t->bits[0][w] = was | mask;
		if (!was)
			word_opened(t, w);
	}
	bounds_after_free(t, start, n);
	return true;
}

bool slot_tree_is_used(const struct slot_tree *t, u32 slot)
{
	return slot >= t->nr || !(t->bits[0][slot >> WORD_SHIFT] & bit(slot));
}

u32 slot_tree_nr_free(const struct slot_tree *t)
{
	return t->nr_free;
}

u32 slot_tree_longest(const struct slot_tree *t)
{
	return t->longest[t->top][0];
}
