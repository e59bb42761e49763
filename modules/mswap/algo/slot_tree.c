// SPDX-License-Identifier: GPL-2.0-only
#include "slot_find.h"
#include "slot_tree.h"

/* Words of 0 after the bits of the whole words, so that a look ahead needs no check. */
#define WHOLE_PAD 2

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

	bytes += ((size_t)shape.words[1] + WHOLE_PAD) * sizeof(u64);
	return bytes + (((size_t)bounds * sizeof(u16) + 7) & ~(size_t)7);
}

/* Sets the first @n bits from @w on, and clears the rest of the last word. */
static void set_first(u64 *w, u32 n)
{
	memset(w, 0xff, (size_t)(n >> WORD_SHIFT) * sizeof(u64));
	if (n & WORD_MASK)
		w[n >> WORD_SHIFT] = bit(n) - 1;
}

void slot_tree_init(struct slot_tree *t, void *arena, u32 nr)
{
	u32 bounds, words = layout(t, nr, &bounds);
	u64 *bits = arena;
	u32 below = nr, l, i;
	u16 *longest;

	t->nr_free = nr;
	t->stale = SLOT_NONE;
	t->last = SLOT_NONE;
	t->scraps = SLOT_NONE;
	t->worn = 0;
	for (l = 0; l <= t->top; l++) {
		t->bits[l] = bits;
		set_first(bits, below);
		bits += t->words[l];
		below = t->words[l];
	}
	t->whole = (u64 *)arena + words;
	memset(t->whole, 0, ((size_t)t->words[1] + WHOLE_PAD) * sizeof(u64));
	set_first(t->whole, nr >> WORD_SHIFT);
	longest = (u16 *)(t->whole + t->words[1] + WHOLE_PAD);
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

/* Word @i of level @l became 0: the levels above hear of it. */
static void word_filled(struct slot_tree *t, u32 l, u32 i)
{
	while (l < t->top) {
		u64 *up = &t->bits[++l][i >> WORD_SHIFT];

		*up &= ~bit(i);
		if (*up)
			break;
		i >>= WORD_SHIFT;
	}
}

/* Leaf word @i was 0 and is not any more. */
static void word_opened(struct slot_tree *t, u32 i)
{
	u32 l;

	for (l = 1; l <= t->top; l++) {
		u64 *up = &t->bits[l][i >> WORD_SHIFT];
		u64 was = *up;

		*up |= bit(i);
		if (was)
			break;
		i >>= WORD_SHIFT;
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
 * Keeps the bounds of all nodes but the stale one exact after the free slots
 * [@s, @s + @n) were taken.
 */
static void bounds_after_take(struct slot_tree *t, u32 s, u32 n)
{
	u32 end = s + n, from = s - run_left(t, s), right = run_right(t, end), k;

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

	end += run_right(t, end);
	for (k = from >> NODE_SHIFT; k <= (s + n - 1) >> NODE_SHIFT; k++) {
		u32 first = pure_max(from, k << NODE_SHIFT);

		raise_bounds(t, k, pure_min(end - first, SLOT_RUN_MAX));
	}
}

/* The slots of [@s, @s + @n) that lie in word @w. */
static u64 part_of_word(u32 w, u32 s, u32 n)
{
	u64 mask = ~0ull;

	if (w == s >> WORD_SHIFT)
		mask = bits_from(s);
	if (w == (s + n - 1) >> WORD_SHIFT)
		mask &= low_bits(((s + n - 1) & WORD_MASK) + 1);
	return mask;
}

static void take_words(struct slot_tree *t, u32 s, u32 n)
{
	u32 w;

	for (w = s >> WORD_SHIFT; w <= (s + n - 1) >> WORD_SHIFT; w++) {
		t->whole[w >> WORD_SHIFT] &= ~bit(w);
		t->bits[0][w] &= ~part_of_word(w, s, n);
		if (!t->bits[0][w])
			word_filled(t, 0, w);
	}
	WRITE_ONCE(t->nr_free, t->nr_free - n);
	bounds_after_take(t, s, n);
}

/* Makes the bound of the stale node exact, and with it all that depend on it. */
static void freshen(struct slot_tree *t)
{
	if (t->stale != SLOT_NONE)
		lower_bounds(t, t->stale, 0);
	t->stale = SLOT_NONE;
}

/*
 * Whether taking @s may go without a look at the bounds: the node's own is stale
 * already, and runs that start in the node before do not reach so far.
 */
static bool bounds_wait(const struct slot_tree *t, u32 s)
{
	return s >> NODE_SHIFT == t->stale && (s & NODE_MASK) >= SLOT_RUN_MAX;
}

/* Whether the run around the free slot @s of word @w lies in it and is shorter than @len. */
static bool run_shorter(u64 w, u32 s, u32 len)
{
	u64 up = ~w >> (s & WORD_MASK), down = ~w << (WORD_MASK - (s & WORD_MASK));

	return ((up != 0) & (down != 0)) &&
	       pure_ctz64(up) - pure_fls64(down) + WORD_MASK - 1 < len;
}

/*
 * Whether the run around @s, in a word that was @was, lies in that word and is
 * shorter than the longest of the node, which has others if it is one of 1.
 */
static bool run_is_short(const struct slot_tree *t, u64 was, u32 s)
{
	return run_shorter(was, s, pure_max(t->longest[1][s >> NODE_SHIFT], 2));
}

/*
 * Whether runs of SLOT_RUN_MAX still start behind [@s, @s + @n), in the same node,
 * and if one of the node before may have ended here, in that node as well.
 */
static bool runs_stay_longest(const struct slot_tree *t, u64 was, u32 s, u32 n)
{
	u32 k = s >> NODE_SHIFT, off = s & NODE_MASK;
	u64 before = t->whole[k - !!k] >> (WORD_BITS - RUN_MAX_WORDS);
	bool apart = (off >= SLOT_RUN_MAX) | (k == 0) | (before == low_bits(RUN_MAX_WORDS)) |
		     (~was << (WORD_MASK - (s & WORD_MASK)) != 0);

	return !(~was >> (s & WORD_MASK)) && apart && off + n < NODE_SLOTS &&
	       whole_behind(t, s >> WORD_SHIFT) == RUN_MAX_WORDS;
}

/*
 * The rest of take_in_word(); returns @s. The second alloc in a row from one node
 * makes its bound stale: more are likely, and one look at the node when the allocs
 * have moved on is cheaper than one at every alloc.
 */
static noinline u32 settle(struct slot_tree *t, u64 was, u32 s, u32 n)
{
	u32 w = s >> WORD_SHIFT, k = s >> NODE_SHIFT;

	if (was == ~0ull)
		t->whole[k] &= ~bit(w);
	if (!t->bits[1][k])
		word_filled(t, 1, k);
	if (bounds_wait(t, s))
		return s;
	if (!runs_stay_longest(t, was, s, n) && !(t->bits[1][k] && run_is_short(t, was, s))) {
		bounds_after_take(t, s, n);
	} else if (t->last == k && t->stale != k) {
		freshen(t);
		t->stale = k;
	}
	t->last = k;
	return s;
}

/* Takes [@s, @s + @n), free slots of one word, and returns @s. */
static u32 take_in_word(struct slot_tree *t, u32 s, u32 n)
{
	u64 *w = &t->bits[0][s >> WORD_SHIFT], *up = &t->bits[1][s >> NODE_SHIFT];
	u64 was = *w, rest = was & ~(low_bits(n) << (s & WORD_MASK));

	*w = rest;
	WRITE_ONCE(t->nr_free, t->nr_free - n);
	if (!rest)
		*up &= ~bit(s >> WORD_SHIFT);
	if ((rest || *up) && was != ~0ull) {
		if (bounds_wait(t, s))
			return s;
		if (t->last != s >> NODE_SHIFT && run_is_short(t, was, s)) {
			t->last = s >> NODE_SHIFT;
			return s;
		}
	}
	return settle(t, was, s, n);
}

static u32 take(struct slot_tree *t, u32 s, u32 n)
{
	if ((s & WORD_MASK) + n <= WORD_BITS)
		return take_in_word(t, s, n);
	take_words(t, s, n);
	return s;
}

/* One slot that is not in the word of @hint, at @hint or behind. */
static noinline u32 alloc_one_far(struct slot_tree *t, u32 hint)
{
	return t->nr_free ? take_in_word(t, find_one(t, hint), 1) : SLOT_NONE;
}

/* A run that does not begin and end in the 64 slots from @hint on. */
static noinline u32 alloc_run_far(struct slot_tree *t, u32 want, u32 hint)
{
	u32 start = SLOT_NONE, k;

	if (want <= t->longest[1][hint >> NODE_SHIFT])
		start = node_find(t, hint, want);
	if (start == SLOT_NONE) {
		/* Refused without a search if even the bound of the whole area says no. */
		if (want > t->longest[t->top][0])
			return SLOT_NONE;
		k = other_node(t, want, hint);
		if (k == t->stale) {
			freshen(t);
			k = other_node(t, want, hint);
		}
		if (k == SLOT_NONE)
			return SLOT_NONE;
		start = node_find(t, k << NODE_SHIFT, want);
	}
	return take(t, start, want);
}

/* The 64 slots from @slot on: 1 = free. */
static u64 window(const struct slot_tree *t, u32 slot)
{
	u32 w = slot >> WORD_SHIFT, i = slot & WORD_MASK;
	u64 bits = t->bits[0][w] >> i;

	if (i && w + 1 < t->words[0])
		bits |= t->bits[0][w + 1] << (WORD_BITS - i);
	return bits;
}

static noinline u32 alloc_run(struct slot_tree *t, u32 want, u32 hint)
{
	u64 near, starts;

	if (want > WORD_BITS)
		return alloc_run_far(t, want, hint);
	near = window(t, hint);
	if (!(~near & low_bits(want)))
		return take(t, hint, want);
	starts = run_starts(near, want);
	if (!starts)
		return alloc_run_far(t, want, hint);
	return take(t, hint + pure_ctz64(starts), want);
}

u32 slot_tree_alloc(struct slot_tree *t, u32 want, u32 hint)
{
	u64 near;

	if (hint >= t->nr)
		hint = 0;
	if (want - 1 >= SLOT_RUN_MAX)
		return SLOT_NONE;
	if (want != 1)
		return alloc_run(t, want, hint);
	near = t->bits[0][hint >> WORD_SHIFT] & bits_from(hint);
	if (!near)
		return alloc_one_far(t, hint);
	return take_in_word(t, (hint & ~WORD_MASK) + pure_ctz64(near), 1);
}

/* Takes the first run in the free slots @free of word @w, up to @want slots. */
static u32 take_first_run(struct slot_tree *t, u32 w, u64 free, u32 want, u32 *got)
{
	u32 i = pure_ctz64(free);

	free >>= i;
	*got = pure_min(want, free == ~0ull ? WORD_BITS : low_ones(free));
	return take_in_word(t, (w << WORD_SHIFT) + i, *got);
}

/* With so much free dense words come back by themselves. */
static void rest(struct slot_tree *t)
{
	if (t->worn && t->nr_free > t->nr / 8 * SLOT_REST_EIGHTHS)
		t->worn = 0;
}

static bool is_worn(const struct slot_tree *t)
{
	return t->worn >= pure_min(t->words[1] * SLOT_WORN_NODE, SLOT_WORN);
}

/* The best word of the node that was gone to is dense, or it is not. */
static void wear(struct slot_tree *t, bool dense)
{
	if (!dense)
		t->worn += SLOT_WORN_STEP;
	else if (t->worn)
		t->worn--;
}

/* The word to go on in when that of @hint has nothing more to give. */
static u32 next_word(struct slot_tree *t, u32 hint)
{
	u32 k = other_node(t, 1, hint), w, most;

	if (k == t->stale) {
		freshen(t);
		k = other_node(t, 1, hint);
	}
	rest(t);
	if (!is_worn(t)) {
		w = best_word(t, k, true, &most);
		wear(t, most >= SLOT_WORD_DENSE);
		if (most >= SLOT_WORD_DENSE)
			return w;
	}
	t->scraps = best_word(t, k, false, &most);
	return t->scraps;
}

/* One of many short runs; at least one slot is free. */
static u32 alloc_shred(struct slot_tree *t, u32 want, u32 hint, bool apart, u32 *got)
{
	u32 w = hint < t->nr ? hint >> WORD_SHIFT : 0;
	u64 free = apart ? 0 : t->bits[0][w];

	if (hint < t->nr)
		free &= bits_from(hint);
	if (w != t->scraps && !is_worn(t)) {
		t->scraps = SLOT_NONE;
		free = in_pairs(free);
	}
	if (!free) {
		t->scraps = SLOT_NONE;
		w = next_word(t, w << WORD_SHIFT);
		free = t->bits[0][w];
		if (w != t->scraps)
			free = in_pairs(free);
	}
	return take_first_run(t, w, free, want, got);
}

u32 slot_tree_alloc_upto(struct slot_tree *t, u32 want, u32 hint, bool apart, u32 *got)
{
	*got = 0;
	if (want - 1 >= SLOT_RUN_MAX || !t->nr_free)
		return SLOT_NONE;
	/* A bound that is too high is made exact first, since that takes time. */
	if (t->longest[t->top][0] < SLOT_RUN_LONG ||
	    slot_tree_longest(t) < SLOT_RUN_LONG)
		return alloc_shred(t, want, hint, apart, got);
	*got = pure_min(want, slot_tree_longest(t));
	return slot_tree_alloc(t, *got, hint);
}

/* Frees the slots @bits of word @i; returns what that is now. */
static u64 free_in_word(struct slot_tree *t, u32 i, u64 bits)
{
	u64 was = t->bits[0][i], w = was | bits;

	t->bits[0][i] = w;
	if (w == ~0ull)
		t->whole[i >> WORD_SHIFT] |= bit(i);
	if (!was)
		word_opened(t, i);
	return w;
}

static bool free_words(struct slot_tree *t, u32 s, u32 n)
{
	u32 first = s >> WORD_SHIFT, last = (s + n - 1) >> WORD_SHIFT, w;

	for (w = first; w <= last; w++) {
		if (t->bits[0][w] & part_of_word(w, s, n))
			return false;
	}
	for (w = first; w <= last; w++)
		free_in_word(t, w, part_of_word(w, s, n));
	WRITE_ONCE(t->nr_free, t->nr_free + n);
	bounds_after_free(t, s, n);
	return true;
}

/* Whether no bound rises with the slot @s, of a word that is now @w. */
static bool bounds_stay(const struct slot_tree *t, u64 w, u32 s)
{
	u32 longest = t->longest[1][s >> NODE_SHIFT];

	if (longest == SLOT_RUN_MAX && (s & NODE_MASK) >= SLOT_RUN_MAX)
		return true;
	return run_shorter(w, s, longest + 1);
}

static bool free_one(struct slot_tree *t, u32 s)
{
	u64 w;

	if (!slot_tree_is_used(t, s))
		return false;
	w = free_in_word(t, s >> WORD_SHIFT, bit(s));
	WRITE_ONCE(t->nr_free, t->nr_free + 1);
	if (!bounds_stay(t, w, s))
		bounds_after_free(t, s, 1);
	return true;
}

bool slot_tree_free(struct slot_tree *t, u32 start, u32 n)
{
	if (!n || start >= t->nr || n > t->nr - start)
		return false;
	if (!(n == 1 ? free_one(t, start) : free_words(t, start, n)))
		return false;
	rest(t);
	return true;
}

bool slot_tree_is_used(const struct slot_tree *t, u32 slot)
{
	return slot >= t->nr || !(t->bits[0][slot >> WORD_SHIFT] & bit(slot));
}

u32 slot_tree_nr_free(const struct slot_tree *t)
{
	return READ_ONCE(t->nr_free);
}

u32 slot_tree_longest(struct slot_tree *t)
{
	freshen(t);
	return t->longest[t->top][0];
}
