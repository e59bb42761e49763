// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "replay.h"

#define SCHEME_TEXT	256

static const struct {
	const char *name;
	const char *options;
} known[] = {
	{ "default", "readahead=on" },
	{ "none", "readahead=off" },
	{ "sa-w2r", "readahead=on,policy=lru,planner=obl,lookahead=1" },
	{ "lru-obl", "readahead=on,policy=lru,planner=obl,lookahead=1,rooms=one" },
	{ "lru", "readahead=off,policy=lru,planner=obl,lookahead=1" },
};

static const char *set(struct table *t, const char *name, const char *value)
{
	enum table_option o;

	for (o = 0; o < TABLE_OPTIONS; o++)
		if (!strcmp(name, table_name(o)))
			return table_set(t, o, value);
	return "an option must be one of the table's";
}

/* @text: "OPTION=VALUE,..."; it is cut into pieces. */
static const char *set_all(struct table *t, char *text)
{
	char *next, *value;
	const char *wrong;

	for (; text; text = next) {
		next = strchr(text, ',');
		if (next)
			*next++ = 0;
		value = strchr(text, '=');
		if (!value)
			return "an option must be OPTION=VALUE";
		*value++ = 0;
		wrong = set(t, text, value);
		if (wrong)
			return wrong;
	}
	return NULL;
}

static const char *set_known(struct table *t, const char *name)
{
	char options[SCHEME_TEXT], mib[] = "1", *words[] = { mib };
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(name, known[i].name))
			continue;
		snprintf(options, sizeof(options), "%s", known[i].options);
		table_parse(t, 1, words);
		return set_all(t, options);
	}
	return "a scheme must be default, none, sa-w2r, lru-obl or lru, and options after it";
}

const char *scheme_parse(struct table *t, const char *text)
{
	char copy[SCHEME_TEXT], *options;
	const char *wrong;

	if (strlen(text) >= sizeof(copy))
		return "it is too long";
	snprintf(copy, sizeof(copy), "%s", text);
	options = strchr(copy, ',');
	if (options)
		*options++ = 0;
	wrong = set_known(t, copy);
	if (!wrong && options)
		wrong = set_all(t, options);
	return wrong;
}
