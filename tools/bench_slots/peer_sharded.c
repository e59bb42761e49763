// SPDX-License-Identifier: GPL-2.0-only
/*
 * In the manner of lib/sbitmap: every word on its own cache line, so that CPUs
 * meet seldom; a freed bit goes to a second word and is moved over when the first
 * has no room. A run lies within one word. No atomics here, which only helps it.
 */
#include <stdlib.h>

#include "peers.h"

struct shard {
	u64 word;	/* 1 = used */
	u64 cleared;	/* 1 = freed since, still set in word */
	u8 pad[48];
};

struct sharded {
	struct shard *shards;
	u32 nr_shards;
	u32 nr_free;
};

static size_t size(u32 nr)
{
	return ((size_t)nr + 63) / 64 * sizeof(struct shard);
}

static void *create(u32 nr)
{
	struct sharded *s = malloc(sizeof(*s));

	s->shards = aligned_alloc(64, size(nr));
	memset(s->shards, 0, size(nr));
	s->nr_shards = (nr + 63) / 64;
	if (nr % 64)
		s->shards[s->nr_shards - 1].word = ~0ull << nr % 64;
	s->nr_free = nr;
	return s;
}

static void destroy(void *p)
{
	struct sharded *s = p;

	free(s->shards);
	free(s);
}

/* The lowest run of @n zero bits of @word at @from or after, or 64. */
static u32 find_in_word(u64 word, u32 n, u32 from)
{
	u64 zeros = ~word & (~0ull << from);
	u32 have = 1;

	while (have < n) {
		u32 step = pure_min(have, n - have);

		zeros &= zeros >> step;
		have += step;
	}
	return zeros ? pure_ctz64(zeros) : 64;
}

static u32 take_in_shard(struct shard *s, u32 n, u32 from)
{
	u32 at = find_in_word(s->word, n, from);

	if (at == 64 && s->cleared) {
		s->word &= ~s->cleared;
		s->cleared = 0;
		at = find_in_word(s->word, n, from);
	}
	if (at < 64)
		s->word |= ((1ull << n) - 1) << at;
	return at;
}

static bool alloc(void *p, u32 n, u32 hint, u32 *slots)
{
	struct sharded *s = p;
	u32 i = hint / 64, from = hint % 64, looked;

	if (s->nr_free < n)
		return false;
	for (looked = 0; looked <= s->nr_shards; looked++) {
		u32 at = take_in_shard(&s->shards[i], n, from);

		if (at < 64) {
			slots[0] = i * 64 + at;
			s->nr_free -= n;
			return true;
		}
		from = 0;
		if (++i == s->nr_shards)
			i = 0;
	}
	return false;
}

static void give_back(void *p, u32 n, const u32 *slots)
{
	struct sharded *s = p;

	s->shards[slots[0] / 64].cleared |= ((1ull << n) - 1) << slots[0] % 64;
	s->nr_free += n;
}

const struct peer peer_sharded = {
	.name = "sharded",
	.adjacent = true,
	.create = create,
	.destroy = destroy,
	.bytes = size,
	.alloc = alloc,
	.free = give_back,
};
