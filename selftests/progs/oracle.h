/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each 4 KiB block of a device may hold while threads write it.
 *
 * Every change of a block gets a version above all earlier ones of that block; the lowest bit of a version
 * says that the change makes zeros. Not every version is of a change. Only one thread changes a block; any
 * thread may read it: what it then sees must be whole and of one of the versions between the last one
 * completed before the read began and the last one begun before the read ended. A change that failed stays a
 * version that may be seen until the next one completes.
 */
#ifndef SELFTESTS_ORACLE_H
#define SELFTESTS_ORACLE_H

#include <stdatomic.h>

#include "page.h"

#define VERSION_ZERO	1u

struct oracle {
	uint32_t owner;
	size_t blocks;
	atomic_uint *done;		/* last version that completed */
	atomic_uint *begun;	/* last version that was begun */
	atomic_uint *zeroed;	/* last of them that makes zeros */
};

static inline void oracle_init(struct oracle *oracle, uint32_t owner, size_t blocks)
{
	oracle->owner = owner;
	oracle->blocks = blocks;
	oracle->done = calloc(blocks, sizeof(*oracle->done));
	oracle->begun = calloc(blocks, sizeof(*oracle->begun));
	oracle->zeroed = calloc(blocks, sizeof(*oracle->zeroed));
	if (!oracle->done || !oracle->begun || !oracle->zeroed)
		die("no memory for what %zu blocks hold", blocks);
	for (size_t i = 0; i < blocks; i++) {
		oracle->done[i] = VERSION_ZERO;
		oracle->begun[i] = VERSION_ZERO;
		oracle->zeroed[i] = VERSION_ZERO;
	}
}

/* Returns the version that the change now beginning has. */
static inline uint32_t oracle_begin(struct oracle *oracle, size_t block, bool zero)
{
	uint32_t version = (atomic_load(&oracle->begun[block]) | VERSION_ZERO) + 1;

	version += zero ? VERSION_ZERO : 0;
	if (zero)
		atomic_store(&oracle->zeroed[block], version);
	atomic_store(&oracle->begun[block], version);
	return version;
}

static inline void oracle_complete(struct oracle *oracle, size_t block)
{
	atomic_store(&oracle->done[block], atomic_load(&oracle->begun[block]));
}

static inline void version_fill(const struct oracle *oracle, void *mem, size_t block, uint32_t version)
{
	page_fill(mem, oracle->owner, block, version);
}

static inline bool version_match(const struct oracle *oracle, const void *mem, size_t block, uint32_t version)
{
	return seed_match(mem, PAGE_SIZE, page_seed(oracle->owner, block, version));
}

/* @since: "done" of the block before the read began. */
static inline bool oracle_allows(const struct oracle *oracle, const void *mem, size_t block, uint32_t since)
{
	uint32_t until = atomic_load(&oracle->begun[block]);

	if (atomic_load(&oracle->zeroed[block]) >= since && all_zero(mem, PAGE_SIZE))
		return true;
	for (uint32_t version = (since + 1) & ~VERSION_ZERO; version <= until; version += 2)
		if (version_match(oracle, mem, block, version))
			return true;
	return false;
}

/* For the eye: whose content and how much of it the block at @mem has that holds nothing it may hold. */
static inline void oracle_explain(const struct oracle *oracle, const void *mem, size_t block, uint32_t since)
{
	const uint64_t *word = mem;
	size_t same = 0;

	fprintf(stderr, "bad block %zu: versions %u to %u allowed; ", block, since,
		atomic_load(&oracle->begun[block]));
	for (size_t other = 0; other < oracle->blocks; other++) {
		uint32_t newest = atomic_load(&oracle->begun[other]);

		for (uint32_t version = VERSION_ZERO + 1; version <= newest; version += 2) {
			uint64_t seed = page_seed(oracle->owner, other, version);

			if (*word != seed)
				continue;
			while (same < PAGE_WORDS && word[same] == seed + same * WORD_STEP)
				same++;
			fprintf(stderr, "holds block %zu version %u in %zu of its %zu bytes\n", other, version,
				same * sizeof(*word), PAGE_SIZE);
			return;
		}
	}
	fprintf(stderr, "starts with %016llx, no block's content\n", (unsigned long long)*word);
}

#endif
