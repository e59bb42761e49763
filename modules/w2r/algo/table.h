/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The words of a table line after the origin:
 *
 *	<cache MiB> [<number of words> <option> <value> ...]
 *
 * with the options readahead, lookahead, policy, planner, rooms, index and
 * block_kib, each at most once.
 */
#ifndef W2R_ALGO_TABLE_H
#define W2R_ALGO_TABLE_H

#include "planner.h"
#include "policy.h"

enum readahead {
	READAHEAD_AUTO,
	READAHEAD_ON,
	READAHEAD_OFF,
	READAHEAD_KINDS,
};

#define TABLE_CACHE_MIB_MAX	(1u << 20)
#define TABLE_BLOCK_KIB_MIN	4
#define TABLE_BLOCK_KIB_MAX	64
#define TABLE_LOOKAHEAD_DEFAULT	512

struct table {
	u32 cache_mib;		/* 1 to TABLE_CACHE_MIB_MAX */
	u32 lookahead;		/* blocks, 1 to LOOKAHEAD_MAX */
	u32 block_kib;		/* a power of two, 4 to 64 */
	enum readahead readahead;
	enum policy_kind policy;
	enum planner_kind planner;
	bool move_to_front;
	bool one_room;		/* struct rooms_config */
};

enum table_option {
	TABLE_READAHEAD,
	TABLE_LOOKAHEAD,
	TABLE_POLICY,
	TABLE_PLANNER,
	TABLE_ROOMS,
	TABLE_INDEX,
	TABLE_BLOCK_KIB,
	TABLE_OPTIONS,
};

/*
 * Fills @t from @argc words, or says what is wrong: a text with the name of the
 * word and what it may be. NULL: all is well. @t is changed in either case.
 */
const char *table_parse(struct table *t, u32 argc, char **argv);

/* Sets one option; NULL or what is wrong, and then @t is unchanged. */
const char *table_set(struct table *t, enum table_option o, const char *value);

/* By how much the split of @entries moves at a time (struct rooms_config). */
u32 table_split_step(const struct table *t, u32 entries);

/* Is the waiting room bounded (struct rooms_config)? Not that of the paper's pair. */
bool table_bounded(const struct table *t);

const char *table_name(enum table_option o);
/*
 * The names of planners, a bit of @planners for each kind, joined by "+", or
 * "none"; returns @text.
 */
#define TABLE_PLANNERS_TEXT	48
char *table_planners(u32 planners, char text[TABLE_PLANNERS_TEXT]);
/* The value of an option that is a word, NULL for one that is a number. */
const char *table_word(const struct table *t, enum table_option o);
/* The value of an option that is a number. */
u32 table_number(const struct table *t, enum table_option o);

#endif
