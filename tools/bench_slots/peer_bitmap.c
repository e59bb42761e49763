// SPDX-License-Identifier: GPL-2.0-only
/* A plain bitmap: the next zero bit from the hint, a word at a time, then from 0. */
#include <stdlib.h>

#include "peers.h"

struct bitmap {
	u64 *words;	/* 1 = used */
	u32 nr;
	u32 nr_free;
};

static size_t size(u32 nr)
{
	return ((size_t)nr + 63) / 64 * 8;
}

static void *create(u32 nr)
{
	struct bitmap *b = malloc(sizeof(*b));

	b->words = aligned_alloc(64, (size(nr) + 63) & ~(size_t)63);
	memset(b->words, 0, size(nr));
	b->nr = nr;
	b->nr_free = nr;
	return b;
}

static void destroy(void *p)
{
	struct bitmap *b = p;

	free(b->words);
	free(b);
}

/* The next bit from @at on that differs from those in @flip; @end if there is none below. */
static inline u32 next(const u64 *words, u32 at, u32 end, u64 flip)
{
	u32 w = at / 64;
	u64 word;

	if (at >= end)
		return end;
	word = (words[w] ^ flip) & (~0ull << at % 64);
	while (!word) {
		if (++w * 64 >= end)
			return end;
		word = words[w] ^ flip;
	}
	return pure_min(w * 64 + pure_ctz64(word), end);
}

static u32 next_zero(const u64 *words, u32 at, u32 end)
{
	return next(words, at, end, ~0ull);
}

static u32 next_one(const u64 *words, u32 at, u32 end)
{
	return next(words, at, end, 0);
}

/* A run of @n that starts in [@from, @to), @n of which may lie beyond @to. */
static u32 find(const struct bitmap *b, u32 from, u32 to, u32 n)
{
	for (;;) {
		u32 start = next_zero(b->words, from, to);

		if (start >= to || n > b->nr - start)
			return SLOT_NONE;
		if (n == 1)
			return start;
		from = next_one(b->words, start, start + n);
		if (from == start + n)
			return start;
	}
}

static void change(struct bitmap *b, u32 start, u32 n, bool used)
{
	u64 mask = ((1ull << n) - 1) << start % 64;
	u64 over = start % 64 + n > 64 ? ((1ull << n) - 1) >> (64 - start % 64) : 0;
	u64 *w = &b->words[start / 64];

	if (used)
		w[0] |= mask;
	else
		w[0] &= ~mask;
	if (over && used)
		w[1] |= over;
	else if (over)
		w[1] &= ~over;
}

static bool alloc(void *p, u32 n, u32 hint, u32 *slots)
{
	struct bitmap *b = p;
	u32 start;

	if (b->nr_free < n)
		return false;
	start = find(b, hint, b->nr, n);
	if (start == SLOT_NONE && hint)
		start = find(b, 0, hint, n);
	if (start == SLOT_NONE)
		return false;
	change(b, start, n, true);
	b->nr_free -= n;
	slots[0] = start;
	return true;
}

static void give_back(void *p, u32 n, const u32 *slots)
{
	struct bitmap *b = p;

	change(b, slots[0], n, false);
	b->nr_free += n;
}

const struct peer peer_bitmap = {
	.name = "bitmap",
	.adjacent = true,
	.create = create,
	.destroy = destroy,
	.bytes = size,
	.alloc = alloc,
	.free = give_back,
};
