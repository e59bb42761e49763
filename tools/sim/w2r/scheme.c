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

static const char *set(struct scheme *s, const char *name, const char *value)
{
	enum table_option o;

	if (!strcmp(name, "rooms")) {
		s->one_room = !strcmp(value, "one");
		return s->one_room || !strcmp(value, "two") ? NULL : "rooms must be one or two";
	}
	for (o = 0; o < TABLE_OPTIONS; o++)
		if (!strcmp(name, table_name(o)))
			return table_set(&s->table, o, value);
	return "an option must be one of the table's, or rooms";
}

/* @text: "OPTION=VALUE,..."; it is cut into pieces. */
static const char *set_all(struct scheme *s, char *text)
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
		wrong = set(s, text, value);
		if (wrong)
			return wrong;
	}
	return NULL;
}

static const char *set_known(struct scheme *s, const char *name)
{
	char options[SCHEME_TEXT], mib[] = "1", *words[] = { mib };
	size_t i;

	s->one_room = false;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(name, known[i].name))
			continue;
		snprintf(options, sizeof(options), "%s", known[i].options);
		table_parse(&s->table, 1, words);
		return set_all(s, options);
	}
	return "a scheme must be default, none, sa-w2r, lru-obl or lru, and options after it";
}

const char *scheme_parse(struct scheme *s, const char *text)
{
	char copy[SCHEME_TEXT], *options;
	const char *wrong;

	if (strlen(text) >= sizeof(copy))
		return "it is too long";
	snprintf(copy, sizeof(copy), "%s", text);
	options = strchr(copy, ',');
	if (options)
		*options++ = 0;
	wrong = set_known(s, copy);
	if (!wrong && options)
		wrong = set_all(s, options);
	return wrong;
}
