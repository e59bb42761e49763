// SPDX-License-Identifier: GPL-2.0-only
/* Shards and group words of granules: one lock for a word, and no shard for which readers meet. */
#include "granule.h"
#include "unit.h"

/* Of 700 GiB. */
#define GRANULES 3000000

static void test_an_octet_meets_all_shards(void)
{
	u32 octet, i, met;

	for (octet = 0; octet < GRANULES / GRANULE_SHARDS; octet++) {
		for (i = met = 0; i < GRANULE_SHARDS; i++) {
			u32 shard = granule_shard(octet * GRANULE_SHARDS + i);

			CHECK(shard < GRANULE_SHARDS);
			met |= 1u << shard;
		}
		CHECK_EQ(met, (1u << GRANULE_SHARDS) - 1);
	}
	/* The last one there may be. */
	for (i = met = 0; i < GRANULE_SHARDS; i++)
		met |= 1u << granule_shard((1u << 26) - 1 - i);
	CHECK_EQ(met, (1u << GRANULE_SHARDS) - 1);
}

/* Granules that share a word are of one shard, and are two at most. */
static void check_words(u32 granules)
{
	u32 nr_groups = granule_nr_groups(granules), g, word;
	u32 octet_met = 0;

	CHECK_EQ(nr_groups % GRANULE_SHARDS, 0);
	CHECK(nr_groups >= granules - granules / 16);
	for (g = 0; g < granules && g < nr_groups; g += 1 + unit_below(1000))
		CHECK_EQ(granule_group(g, nr_groups), g);
	for (g = nr_groups; g < granules; g++) {
		word = granule_group(g, nr_groups);
		CHECK(word < nr_groups);
		CHECK_EQ(granule_shard(word), granule_shard(g));
		CHECK_EQ(word / GRANULE_SHARDS, (g - nr_groups) / GRANULE_SHARDS);
		if (g % GRANULE_SHARDS == 0)
			octet_met = 0;
		CHECK(!(octet_met >> word % GRANULE_SHARDS & 1));
		octet_met |= 1u << word % GRANULE_SHARDS;
	}
}

static void test_a_word_has_one_lock(void)
{
	u32 granules, i;

	for (granules = 1; granules < 3000; granules++)
		check_words(granules);
	for (i = 0; i < 200; i++)
		check_words(1 + unit_below(200000));
	check_words(GRANULES);
	check_words(1u << 26);
}

/* The most of @n readers, the first of whom is at granule @from, that are in one shard. */
static u32 most_in_one(u32 from, u32 apart, u32 n)
{
	u32 in[GRANULE_SHARDS] = { 0 }, most = 0, i;

	for (i = 0; i < n; i++) {
		u32 *k = &in[granule_shard(from + i * apart)];

		most = ++*k > most ? *k : most;
	}
	return most;
}

/* Of readers of arrays of 2^n granules, wherever they are, at most three of 8, or four of 16, are in one shard. */
static void test_readers_in_step_are_spread(void)
{
	u32 apart, from;

	for (apart = GRANULE_SHARDS; apart <= 1u << 20; apart *= 2)
		for (from = 0; from < 50000; from += 1 + unit_below(50)) {
			CHECK(most_in_one(from, apart, 8) <= 3);
			CHECK(most_in_one(from, apart, 16) <= 4);
		}
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_an_octet_meets_all_shards),
		UNIT_CASE(test_a_word_has_one_lock),
		UNIT_CASE(test_readers_in_step_are_spread),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
