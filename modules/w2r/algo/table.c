// SPDX-License-Identifier: GPL-2.0-only
#include "table.h"

#define WORDS_MAX	6

struct option {
	const char *name;
	const char *words[WORDS_MAX];	/* its values; none: a number */
	const char *wrong;
	const char *twice;
};

static const struct option options[TABLE_OPTIONS] = {
	[TABLE_READAHEAD] = {
		"readahead", { "auto", "on", "off" },
		"readahead must be auto, on or off",
		"readahead is given twice",
	},
	[TABLE_LOOKAHEAD] = {
		"lookahead", { NULL },
		"lookahead must be a number of blocks from 1 to 1024",
		"lookahead is given twice",
	},
	[TABLE_POLICY] = {
		"policy", { "lru", "s3fifo", "arc" },
		"policy must be lru, s3fifo or arc",
		"policy is given twice",
	},
	[TABLE_PLANNER] = {
		"planner", { "obl", "stream", "pattern", "region", "near", "auto" },
		"planner must be obl, stream, pattern, region, near or auto",
		"planner is given twice",
	},
	[TABLE_ROOMS] = {
		"rooms", { "two", "one" },
		"rooms must be two or one",
		"rooms is given twice",
	},
	[TABLE_INDEX] = {
		"index", { "mtf", "plain" },
		"index must be mtf or plain",
		"index is given twice",
	},
	[TABLE_BLOCK_KIB] = {
		"block_kib", { NULL },
		"block_kib must be 4, 8, 16, 32 or 64",
		"block_kib is given twice",
	},
};

static const char unknown[] =
	"option must be readahead, lookahead, policy, planner, rooms, index or block_kib";

static const struct table defaults = {
	.lookahead = TABLE_LOOKAHEAD_DEFAULT,
	.block_kib = TABLE_BLOCK_KIB_MIN,
	.readahead = READAHEAD_AUTO,
	.policy = POLICY_ARC,
	.planner = PLANNER_AUTO,
	.move_to_front = true,
};

/* Decimal digits only, and no more than fit. */
static bool parse_number(const char *s, u32 min, u32 max, u32 *value)
{
	u64 n = 0;

	if (!*s)
		return false;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return false;
		n = n * 10 + (u32)(*s - '0');
		if (n > max)
			return false;
	}
	*value = (u32)n;
	return n >= min;
}

static int word_number(const struct option *o, const char *value)
{
	int i;

	for (i = 0; i < WORDS_MAX && o->words[i]; i++)
		if (!strcmp(o->words[i], value))
			return i;
	return -1;
}

static bool set_number(struct table *t, enum table_option o, const char *value)
{
	u32 n;

	if (o == TABLE_LOOKAHEAD) {
		if (!parse_number(value, 1, LOOKAHEAD_MAX, &n))
			return false;
		t->lookahead = n;
		return true;
	}
	if (!parse_number(value, TABLE_BLOCK_KIB_MIN, TABLE_BLOCK_KIB_MAX, &n))
		return false;
	if (n & (n - 1))
		return false;
	t->block_kib = n;
	return true;
}

const char *table_set(struct table *t, enum table_option o, const char *value)
{
	int word = word_number(&options[o], value);

	if (!options[o].words[0])
		return set_number(t, o, value) ? NULL : options[o].wrong;
	if (word < 0)
		return options[o].wrong;
	if (o == TABLE_READAHEAD)
		t->readahead = word;
	else if (o == TABLE_POLICY)
		t->policy = word;
	else if (o == TABLE_PLANNER)
		t->planner = word;
	else if (o == TABLE_ROOMS)
		t->one_room = word;
	else
		t->move_to_front = !word;
	return NULL;
}

const char *table_name(enum table_option o)
{
	return options[o].name;
}

const char *table_word(const struct table *t, enum table_option o)
{
	if (o == TABLE_READAHEAD)
		return options[o].words[t->readahead];
	if (o == TABLE_POLICY)
		return options[o].words[t->policy];
	if (o == TABLE_PLANNER)
		return options[o].words[t->planner];
	if (o == TABLE_ROOMS)
		return options[o].words[t->one_room];
	if (o == TABLE_INDEX)
		return options[o].words[!t->move_to_front];
	return NULL;
}

u32 table_number(const struct table *t, enum table_option o)
{
	return o == TABLE_LOOKAHEAD ? t->lookahead : t->block_kib;
}

static const char *parse_options(struct table *t, u32 argc, char **argv)
{
	const char *wrong;
	u32 given = 0, i;
	int o;

	for (i = 0; i < argc; i += 2) {
		for (o = 0; o < TABLE_OPTIONS; o++)
			if (!strcmp(options[o].name, argv[i]))
				break;
		if (o == TABLE_OPTIONS)
			return unknown;
		if (given & (1u << o))
			return options[o].twice;
		given |= 1u << o;
		wrong = table_set(t, o, argv[i + 1]);
		if (wrong)
			return wrong;
	}
	return NULL;
}

const char *table_parse(struct table *t, u32 argc, char **argv)
{
	u32 words = 0;

	*t = defaults;
	if (argc < 1 || !parse_number(argv[0], 1, TABLE_CACHE_MIB_MAX,
				      &t->cache_mib))
		return "cache MiB must be a number from 1 to 1048576";
	if (argc == 1)
		return NULL;
	if (!parse_number(argv[1], 0, 2 * TABLE_OPTIONS, &words) || words & 1)
		return "number of option words must be an even number from 0 to 14";
	if (words != argc - 2)
		return "number of option words must be how many words follow it";
	return parse_options(t, words, argv + 2);
}

bool table_bounded(const struct table *t)
{
	return t->policy != POLICY_LRU || t->planner != PLANNER_OBL;
}

/* The paper moves it by one block; large rooms would take for ever. */
u32 table_split_step(const struct table *t, u32 entries)
{
	if (t->policy == POLICY_LRU && t->planner == PLANNER_OBL)
		return 1;
	return pure_max(1, entries / 1024);
}

char *table_planners(u32 planners, char text[TABLE_PLANNERS_TEXT])
{
	char *end = text;
	const char *name;
	u32 kind;

	for (kind = 0; kind < PLANNER_KINDS; kind++) {
		if (!(planners & (1u << kind)))
			continue;
		if (end != text)
			*end++ = '+';
		for (name = options[TABLE_PLANNER].words[kind]; *name; name++)
			*end++ = *name;
	}
	*end = 0;
	if (end == text)
		memcpy(text, "none", sizeof("none"));
	return text;
}
