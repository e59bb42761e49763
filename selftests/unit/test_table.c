// SPDX-License-Identifier: GPL-2.0-only
/* Table lines: what is taken, what is refused and with which words, and that what is printed is taken again. */
#include <stdio.h>

#include "unit.h"
#include "table.h"

#define WORDS_MAX 32

/* Parses a line; its words are cut at blanks. */
static const char *parse(struct table *t, const char *line)
{
	static char text[256];
	char *words[WORDS_MAX];
	u32 n = 0;
	char *word;

	snprintf(text, sizeof(text), "%s", line);
	for (word = strtok(text, " "); word; word = strtok(NULL, " "))
		words[n++] = word;
	return table_parse(t, n, words);
}

static void check_refused(const char *line, const char *why)
{
	struct table t;
	const char *said = parse(&t, line);

	if (!said || strcmp(said, why))
		printf("# '%s': %s\n", line, said ? said : "taken");
	CHECK(said && !strcmp(said, why));
}

static void test_defaults(void)
{
	struct table t;

	CHECK(!parse(&t, "256"));
	CHECK_EQ(t.cache_mib, 256);
	CHECK_EQ(t.block_kib, 4);
	CHECK_EQ(t.lookahead, TABLE_LOOKAHEAD_DEFAULT);
	CHECK_EQ(t.readahead, READAHEAD_AUTO);
	CHECK_EQ(t.policy, POLICY_ARC);
	CHECK_EQ(t.planner, PLANNER_AUTO);
	CHECK(t.move_to_front && !t.one_room);
	CHECK(!parse(&t, "1 0"));
	CHECK(!parse(&t, "1048576 0"));
}

static void test_options(void)
{
	struct table t;

	CHECK(!parse(&t, "8 14 readahead off lookahead 1 policy lru planner obl rooms one index plain block_kib 64"));
	CHECK_EQ(t.cache_mib, 8);
	CHECK_EQ(t.readahead, READAHEAD_OFF);
	CHECK_EQ(t.lookahead, 1);
	CHECK_EQ(t.policy, POLICY_LRU);
	CHECK_EQ(t.planner, PLANNER_OBL);
	CHECK(t.one_room);
	CHECK(!t.move_to_front);
	CHECK_EQ(t.block_kib, 64);
	CHECK(!parse(&t, "8 2 lookahead 1024"));
	CHECK_EQ(t.lookahead, 1024);
	CHECK(!parse(&t, "8 2 policy s3fifo"));
	CHECK_EQ(t.policy, POLICY_S3FIFO);
	CHECK(!parse(&t, "8 2 policy arc"));
	CHECK_EQ(t.policy, POLICY_ARC);
}

static void test_refusals(void)
{
	static const char mib[] = "cache MiB must be a number from 1 to 1048576";
	static const char even[] = "number of option words must be an even number from 0 to 14";
	static const char count[] = "number of option words must be how many words follow it";
	static const char ahead[] = "lookahead must be a number of blocks from 1 to 1024";
	static const char kib[] = "block_kib must be 4, 8, 16, 32 or 64";
	struct table t;

	check_refused("", mib);
	check_refused("0", mib);
	check_refused("1048577", mib);
	check_refused("-1", mib);
	check_refused("1M", mib);
	check_refused("1:", mib);
	check_refused("99999999999999999999999", mib);
	/* 2^64 + 4 */
	check_refused("18446744073709551620", mib);
	check_refused("1 x", even);
	CHECK(table_parse(&t, 2, (char *[]){ "1", "" }) != NULL);
	check_refused("1 1 policy", even);
	check_refused("1 16", even);
	check_refused("1 2", count);
	check_refused("1 2 policy", count);
	check_refused("1 0 policy lru", count);
	check_refused("1 2 policy lru index mtf", count);
	check_refused("1 2 colour red",
		      "option must be readahead, lookahead, policy, planner, rooms, index or block_kib");
	check_refused("1 4 policy lru policy lru", "policy is given twice");
	check_refused("1 4 block_kib 4 block_kib 8", "block_kib is given twice");
	check_refused("1 2 readahead maybe", "readahead must be auto, on or off");
	check_refused("1 2 lookahead 0", ahead);
	check_refused("1 2 lookahead 1025", ahead);
	check_refused("1 2 policy fifo", "policy must be lru, s3fifo or arc");
	check_refused("1 2 planner none", "planner must be obl, stream, pattern, region, near or auto");
	check_refused("1 2 rooms three", "rooms must be two or one");
	check_refused("1 2 index hash", "index must be mtf or plain");
	check_refused("1 2 block_kib 12", kib);
	check_refused("1 2 block_kib 2", kib);
	check_refused("1 2 block_kib 128", kib);
}

static void random_option(char *line, u32 *length, enum table_option o)
{
	static const char * const values[TABLE_OPTIONS][4] = {
		{ "auto", "on", "off", "auto" }, { "1", "7", "64", "1024" },
		{ "lru", "s3fifo", "arc", "lru" }, { "obl", "stream", "region", "auto" },
		{ "two", "one", "two", "one" },
		{ "mtf", "plain", "mtf", "plain" }, { "4", "8", "32", "64" },
	};

	*length += (u32)sprintf(line + *length, " %s %s", table_name(o), values[o][unit_below(4)]);
}

static void print(char *line, const struct table *t)
{
	int n = sprintf(line, "%u %u", t->cache_mib, 2 * TABLE_OPTIONS), o;

	for (o = 0; o < TABLE_OPTIONS; o++) {
		n += sprintf(line + n, " %s ", table_name(o));
		if (table_word(t, o))
			n += sprintf(line + n, "%s", table_word(t, o));
		else
			n += sprintf(line + n, "%u", table_number(t, o));
	}
}

static void test_round_trip(void)
{
	char line[256], options[200];
	struct table t, again;
	u32 i, length, given;
	int o;

	for (i = 0; i < 200000; i++) {
		length = 0;
		given = 0;
		options[0] = 0;
		for (o = 0; o < TABLE_OPTIONS; o++) {
			if (unit_below(2))
				continue;
			random_option(options, &length, o);
			given += 2;
		}
		memset(&t, 0, sizeof(t));
		memset(&again, 0, sizeof(again));
		snprintf(line, sizeof(line), "%u %u%s", 1 + unit_below(TABLE_CACHE_MIB_MAX), given, options);
		CHECK(!parse(&t, line));
		print(line, &t);
		CHECK(!parse(&again, line));
		CHECK(!memcmp(&t, &again, sizeof(t)));
	}
}

/* The paper's pair moves the split by one, without bounds. */
static void test_paper_pair(void)
{
	struct table t;

	CHECK(!parse(&t, "256 4 policy lru planner obl"));
	CHECK_EQ(table_split_step(&t, 65536), 1);
	CHECK(!table_bounded(&t));
	CHECK(!parse(&t, "256 2 policy lru"));
	CHECK_EQ(table_split_step(&t, 65536), 64);
	CHECK_EQ(table_split_step(&t, 4), 1);
	CHECK(table_bounded(&t));
	CHECK(!parse(&t, "256 2 planner obl"));
	CHECK_EQ(table_split_step(&t, 65536), 64);
	CHECK(table_bounded(&t));
}

static void test_planners(void)
{
	char text[TABLE_PLANNERS_TEXT];

	CHECK(!strcmp(table_planners(0, text), "none"));
	memset(text, 'x', sizeof(text));
	CHECK(!strcmp(table_planners(1u << PLANNER_STREAM, text), "stream"));
	CHECK(!strcmp(table_planners((1u << PLANNER_KINDS) - 1, text),
		      "obl+stream+pattern+region+near+auto"));
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_defaults),
		UNIT_CASE(test_options),
		UNIT_CASE(test_refusals),
		UNIT_CASE(test_round_trip),
		UNIT_CASE(test_paper_pair),
		UNIT_CASE(test_planners),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
