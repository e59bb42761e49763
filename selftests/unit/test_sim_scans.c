// SPDX-License-Identifier: GPL-2.0-only
/* A set that is read again and again keeps its room beside short sequential runs, each of which is read once. */
#include "sim_run.h"

#define ENTRIES	8192u
#define HOT	(ENTRIES * 3 / 4)
#define FAR	1000000u
#define READS	240000u

/* Beside one in @every reads of two blocks a run of @least to @most reads, @n blocks each. */
struct mix {
	const char *name;
	u32 every, least, most, n;
	bool zipf;		/* the set is larger than the cache, and read by Zipf's law */
};

static const struct mix mixes[] = {
	{ "scans of 3 to 20 pages, many", 8, 3, 20, 2, false },
	{ "some", 32, 3, 20, 2, false },
	{ "few", 128, 3, 20, 2, false },
	{ "beside Zipf's law", 64, 3, 20, 2, true },
	{ "files, in steps of 16 KiB", 64, 1, 8, 4, false },
	{ "files, in steps of 64 KiB", 64, 2, 7, 16, false },
	{ "three pages", 32, 3, 3, 2, false },
};

static void read_blocks(u64 block, u32 n)
{
	struct trace_op op = { .sector = 8 * block, .sectors = 8 * n, .what = TRACE_READ };

	replay_op(&replay, &op);
}

static u64 hot_page(const struct mix *m)
{
	if (!m->zipf)
		return unit_below(HOT / 2);
	return (u64)unit_below(2u << unit_below(15)) * 2654435761u % (4 * ENTRIES);
}

static void read_run(const struct mix *m)
{
	u32 reads = m->least + unit_below(m->most - m->least + 1);
	u64 block = FAR + 2 * unit_below(32 * ENTRIES);

	for (; reads--; block += m->n)
		read_blocks(block, m->n);
}

struct result {
	u64 missed;		/* of the set, in thousandths */
	u64 ios;
};

/* Of the second half: the first one is for the cache to fill, and to learn what it can. */
static struct result replay_mix(const struct mix *m, const char *name, const char *policy)
{
	struct replay_config config = {
		.entries = ENTRIES, .sectors = 1ull << 31, .delay = 4, .latency_ns = 100000, .cost_ns = 1000,
	};
	const struct replay_counts *c = &replay.counts;
	struct result result = { 0 };
	char scheme[64];
	u64 before;
	u32 i;

	snprintf(scheme, sizeof(scheme), "%s,policy=%s", name, policy);
	CHECK(!scheme_parse(&config.table, scheme));
	replay_init(&replay, &config);
	for (i = 0; i < READS; i++) {
		before = c->misses;
		read_blocks(2 * hot_page(m), 2);
		if (i >= READS / 2)
			result.missed += c->misses - before;
		if (i % m->every == 0)
			read_run(m);
	}
	result.missed = result.missed * 1000 / READS;
	result.ios = c->origin_reads + c->origin_prefetches;
	check_sums();
	replay_end(&replay);
	return result;
}

static void beside_short_scans(const char *policy, u32 more)
{
	struct result none, own;
	size_t i;

	for (i = 0; i < UNIT_COUNT(mixes); i++) {
		none = replay_mix(&mixes[i], "none", policy);
		own = replay_mix(&mixes[i], "default,readahead=auto", policy);
		printf("# %s, %s: %llu thousandths of the set missed, without looking ahead %llu; %llu and %llu I/Os\n",
		       policy, mixes[i].name, (unsigned long long)own.missed, (unsigned long long)none.missed,
		       (unsigned long long)own.ios, (unsigned long long)none.ios);
		CHECK(own.missed <= none.missed + more);
	}
}

static void test_arc(void)
{
	beside_short_scans("arc", 10);
}

static void test_s3fifo(void)
{
	beside_short_scans("s3fifo", 40);
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_arc),
		UNIT_CASE(test_s3fifo),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
