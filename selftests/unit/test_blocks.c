// SPDX-License-Identifier: GPL-2.0-only
/* What blkcheck allows a block to hold. */
#include "../progs/oracle.h"
#include "unit.h"

#define OWNER	7
#define BLOCKS	2
#define BLOCK	1

static struct oracle oracle;
static uint8_t mem[PAGE_SIZE];

static bool holds(uint32_t version, uint32_t since)
{
	if (version)
		version_fill(&oracle, mem, BLOCK, version);
	else
		memset(mem, 0, sizeof(mem));
	return oracle_allows(&oracle, mem, BLOCK, since);
}

static uint32_t done(void)
{
	return atomic_load(&oracle.done[BLOCK]);
}

static uint32_t change(bool zero)
{
	uint32_t version = oracle_begin(&oracle, BLOCK, zero);

	oracle_complete(&oracle, BLOCK);
	return version;
}

static void begin(void)
{
	oracle_init(&oracle, OWNER, BLOCKS);
}

static void end(void)
{
	free(oracle.done);
	free(oracle.begun);
	free(oracle.zeroed);
}

static void test_one_change(void)
{
	uint32_t since, version;

	begin();
	CHECK(holds(0, done()));
	since = done();
	version = oracle_begin(&oracle, BLOCK, false);
	CHECK(holds(0, since));
	CHECK(holds(version, since));
	oracle_complete(&oracle, BLOCK);
	CHECK(holds(version, done()));
	CHECK(!holds(0, done()));
	CHECK(holds(0, since));
	end();
}

/* A block that is written anew never holds zeros meanwhile, nor after that has failed. */
static void test_written_anew(void)
{
	uint32_t first, second, third;

	begin();
	first = change(false);
	second = oracle_begin(&oracle, BLOCK, false);
	CHECK(holds(first, done()));
	CHECK(holds(second, done()));
	CHECK(!holds(0, done()));
	third = oracle_begin(&oracle, BLOCK, false);
	CHECK(holds(first, done()) && holds(second, done()) && holds(third, done()));
	CHECK(!holds(0, done()));
	oracle_complete(&oracle, BLOCK);
	CHECK(!holds(first, done()) && !holds(second, done()) && holds(third, done()));
	end();
}

static void test_zeroed(void)
{
	uint32_t first, second, zeros;

	begin();
	first = change(false);
	zeros = oracle_begin(&oracle, BLOCK, true);
	CHECK(holds(0, done()) && holds(first, done()));
	second = oracle_begin(&oracle, BLOCK, false);
	CHECK(holds(0, done()) && holds(first, done()) && holds(second, done()));
	CHECK(second > zeros && zeros > first);
	oracle_complete(&oracle, BLOCK);
	CHECK(!holds(0, done()) && !holds(first, done()) && holds(second, done()));
	change(true);
	CHECK(holds(0, done()) && !holds(second, done()));
	end();
}

/* Another block's content is nobody's. */
static void test_others(void)
{
	uint32_t version;

	begin();
	version = change(false);
	version_fill(&oracle, mem, BLOCK - 1, version);
	CHECK(!oracle_allows(&oracle, mem, BLOCK, done()));
	version_fill(&oracle, mem, BLOCK, version);
	mem[PAGE_SIZE - 1] ^= 1;
	CHECK(!oracle_allows(&oracle, mem, BLOCK, done()));
	end();
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_one_change),
		UNIT_CASE(test_written_anew),
		UNIT_CASE(test_zeroed),
		UNIT_CASE(test_others),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
