// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include <libsmartcols.h>

#include "print.h"
#include "utf8.h"
#include "util.h"

static void is_good(int error)
{
	if (error)
		die("no memory");
}

/* In JSON these have no quotes. */
static bool is_number(const struct column *c, bool bytes)
{
	if (c->kind == TEXT)
		return c->number;
	return bytes || !c->unit;
}

static void add_column(struct libscols_table *out, const struct column *c, bool bytes)
{
	int flags = (c->kind != TEXT || c->number ? SCOLS_FL_RIGHT : 0) | (c->trunc ? SCOLS_FL_TRUNC : 0);
	struct libscols_column *column = no_less(scols_table_new_column(out, c->name, 0, flags));

	is_good(scols_column_set_json_type(column, is_number(c, bytes) ? SCOLS_JSON_NUMBER : SCOLS_JSON_STRING));
}

static struct libscols_table *new_table(const struct options *o)
{
	struct libscols_table *out = no_less(scols_new_table());

	is_good(scols_table_set_name(out, o->table->name));
	is_good(scols_table_enable_json(out, o->json));
	is_good(scols_table_enable_raw(out, o->raw));
	is_good(scols_table_enable_noheadings(out, o->noheadings));
	for (size_t i = 0; i < o->nr_columns; i++)
		add_column(out, o->columns[i], o->bytes);
	return out;
}

/* NULL if there is nothing to show. */
static const char *text_of(const struct column *c, const struct cell *now, const struct cell *before,
			   const struct view *v, char text[FIGURE_MAX])
{
	if (c->kind == TEXT)
		return now->text && *now->text ? now->text : NULL;
	return figure(text, c, now, before, v) ? text : NULL;
}

/* The library takes care of what a terminal would make of TEXT, but in JSON lets any byte through. */
static void set_text(struct libscols_line *line, size_t column, const char *text, bool json)
{
	char *clean = json ? utf8_of(text) : NULL;

	is_good(scols_line_set_data(line, column, clean ?: text));
	free(clean);
}

static void add_line(struct libscols_table *out, const struct options *o, const struct device *now,
		     const struct devices *before)
{
	const struct device *same = before ? devices_find(before, now) : NULL;
	struct libscols_line *line = no_less(scols_table_new_line(out, NULL));
	struct view v = { .bytes = o->bytes };
	char buffer[FIGURE_MAX];

	if (before)
		v.seconds = now->seconds - (same ? same->seconds : before->seconds);
	for (size_t i = 0; i < o->nr_columns; i++) {
		const char *text = text_of(o->columns[i], &now->cells[i], same ? &same->cells[i] : NULL,
					   &v, buffer);

		/* JSON has a null of its own for that. */
		if (!text && !o->json)
			text = "-";
		if (text)
			set_text(line, i, text, o->json);
	}
}

void print_devices(const struct options *o, const struct devices *now, const struct devices *before)
{
	struct libscols_table *out;

	if (!now->count && !o->json)
		return;
	out = new_table(o);
	for (size_t i = 0; i < now->count; i++)
		add_line(out, o, &now->each[i], before);
	if (before && !o->noheadings && !o->json)
		putchar('\n');
	is_good(scols_print_table(out));
	scols_unref_table(out);
}
