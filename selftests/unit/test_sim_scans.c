// SPDX-License-Identifier: GPL-2.0-only
/*
 * A set that is read again and again keeps its room beside short sequential runs, each of which is read once, and when it
 * is read by turns with a tree of files, or beside a backup.
 */
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

#define FILES		800u
#define ROUNDS		20u
#define SET_READS	3000u

/* Small files with a larger one now and then, 30 to a directory, each of these in one of 64 places; returns blocks. */
static u32 make_tree(u64 at[FILES], u32 len[FILES])
{
	u32 place = 0, used[64] = { 0 }, i, sum = 0;

	for (i = 0; i < FILES; i++) {
		if (i % 30 == 0)
			place = unit_below(64);
		len[i] = unit_below(15) ? 1 + unit_below(4) : 8 + unit_below(60);
		at[i] = FAR + place * 32768 + used[place];
		used[place] += len[i];
		sum += len[i];
	}
	return sum;
}

static void read_tree(const u64 at[FILES], const u32 len[FILES])
{
	u32 i, from;

	for (i = 0; i < FILES; i++)
		for (from = 0; from < len[i]; from += 32)
			read_blocks(at[i] + from, pure_min(32, len[i] - from));
}

/* A set of @set blocks; returns how many of them are missed in the second half, in thousandths. */
static u64 by_turns(const char *name, u32 set, bool slow)
{
	struct replay_config config = {
		.entries = ENTRIES, .sectors = 1ull << 31, .delay = slow ? 16 : 4,
		.latency_ns = slow ? 5000000 : 100000, .cost_ns = 1000,
	};
	u64 at[FILES], before, missed = 0;
	u32 len[FILES], round, i;

	unit_reseed(unit_seed);
	CHECK(!scheme_parse(&config.table, name));
	replay_init(&replay, &config);
	CHECK(make_tree(at, len) + set < ENTRIES);
	for (round = 0; round < ROUNDS; round++) {
		read_tree(at, len);
		before = replay.counts.misses;
		for (i = 0; i < SET_READS; i++)
			read_blocks(12 * (u64)unit_below(set / 4), 4);
		if (round >= ROUNDS / 2)
			missed += replay.counts.misses - before;
	}
	check_sums();
	replay_end(&replay);
	return missed * 1000 / (4 * SET_READS * (ROUNDS - ROUNDS / 2));
}

static void test_tree_by_turns(void)
{
	static const char *const names[] = { "default,readahead=auto", "default,readahead=auto,policy=s3fifo" };
	u32 i, set, slow;
	u64 missed;

	for (set = 2000; set <= 3000; set += 1000) {
		CHECK_EQ(by_turns("none", set, false), 0);
		for (i = 0; i < 2 * UNIT_COUNT(names); i++) {
			slow = i % 2;
			missed = by_turns(names[i / 2], set, slow);
			printf("# %s, %s: %llu thousandths of %u blocks missed by turns with a tree\n", names[i / 2],
			       slow ? "5 ms" : "100 us", (unsigned long long)missed, set);
			CHECK(missed <= 20);
		}
	}
}

/* --- a backup of all files, time and again, beside work with some of them --- */

#define BACKUP_FILES	6000u
#define BACKUPS		3u
#define WORK_FILES	1000u

/* A few blocks each, now and then more; directories of about twelve lie in some groups, as in ext4. */
static void make_files(u32 at[BACKUP_FILES], u32 len[BACKUP_FILES])
{
	u32 used[4] = { 0 }, group = 0, left = 0, i;

	for (i = 0; i < BACKUP_FILES; i++) {
		if (!left--) {
			left = unit_below(24);
			group = unit_below(3) ? group : unit_below(4);
		}
		len[i] = unit_below(12) ? 1 + unit_below(unit_below(3) ? 3 : 10) : 8 + unit_below(60);
		at[i] = group * 32768 + used[group];
		used[group] += len[i];
	}
}

/* As the page cache reads ahead. */
static void read_file(struct trace *t, u32 at, u32 len)
{
	u32 from;

	for (from = 0; from < len; from += 32)
		add_read(t, at + from, pure_min(32, len - from));
}

static u64 ios(const struct replay_counts *c)
{
	return c->origin_reads + c->origin_prefetches;
}

/* Passes of a backup; after each of its files one of those that are worked with, some of them far more often. */
static void add_backups(struct trace *t)
{
	static u32 at[BACKUP_FILES], len[BACKUP_FILES];
	u32 pass, i, file;

	make_files(at, len);
	for (pass = 0; pass < BACKUPS; pass++)
		for (i = 0; i < BACKUP_FILES; i++) {
			read_file(t, at[i], len[i]);
			file = unit_below(1 + unit_below(1 + unit_below(WORK_FILES)));
			file = file * 997 % WORK_FILES * (BACKUP_FILES / WORK_FILES);
			read_file(t, at[file], len[file]);
		}
}

/*
 * All that the backup reads is right for region, and prefetched by stream already; what region expects around the files
 * that are worked with is in vain, and is not to push these out.
 */
static void test_backup(void)
{
	struct replay_counts none, own;
	struct trace t = { 0 };
	u32 mib;

	add_backups(&t);
	for (mib = 16; mib <= 32; mib *= 2) {
		none = run_late(&t, "none", mib << 10, 4);
		own = run_late(&t, "default,readahead=auto", mib << 10, 4);
		printf("# work beside a backup in %u MiB: %llu blocks missed, %llu I/Os; without looking ahead %llu and %llu\n",
		       mib, (unsigned long long)own.misses, (unsigned long long)ios(&own),
		       (unsigned long long)none.misses, (unsigned long long)ios(&none));
		CHECK(4 * own.misses <= none.misses);
		CHECK(2 * ios(&own) <= ios(&none));
	}
	trace_free(&t);
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_arc),
		UNIT_CASE(test_s3fifo),
		UNIT_CASE(test_tree_by_turns),
		UNIT_CASE(test_backup),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
