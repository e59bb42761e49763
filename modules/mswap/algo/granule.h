/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which page-in shard a granule belongs to, and which group word is its own.
 *
 * Pure functions: any context.
 */
#ifndef MSWAP_ALGO_GRANULE_H
#define MSWAP_ALGO_GRANULE_H

#include "pure.h"

/* A power of two. So many granules from a multiple of it on are in as many shards. */
#define GRANULE_SHARDS	8

/*
 * Their order is another one from one such octet to the next: who reads large
 * arrays of the same size side by side reads granules a power of two apart.
 */
static inline u32 granule_shard(u32 granule)
{
	return (granule + (granule / GRANULE_SHARDS * 0x61c88647u >> 29)) %
	       GRANULE_SHARDS;
}

/* The group words for @granules granules: for all of them but a sixteenth. */
static inline u32 granule_nr_groups(u32 granules)
{
	u32 n = granules - granules / 16;

	return (n + GRANULE_SHARDS - 1) / GRANULE_SHARDS * GRANULE_SHARDS;
}

/*
 * Which of @nr_groups words it is. Those beyond share the words of others, each that
 * of a granule of its own shard, whose lock is for both.
 */
static inline u32 granule_group(u32 granule, u32 nr_groups)
{
	u32 octet, other;

	if (granule < nr_groups)
		return granule;
	other = granule - nr_groups;
	octet = other - other % GRANULE_SHARDS;
	return octet + (granule_shard(granule) - granule_shard(octet)) %
	       GRANULE_SHARDS;
}

#endif
