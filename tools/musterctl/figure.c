// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "figure.h"

/* What @cell has grown by. Counts that have shrunk began anew meanwhile. */
static struct cell since(const struct cell *now, const struct cell *before)
{
	struct cell grown = *now;

	if (before && before->sum <= now->sum && before->over <= now->over) {
		grown.sum -= before->sum;
		grown.over -= before->over;
	}
	return grown;
}

static void size_text(char text[FIGURE_MAX], double bytes)
{
	static const char units[] = "BKMGTPE";
	const char *unit = units;
	int len;

	/* What rounds to 1024.0 is 1 of the next unit. */
	while (bytes >= 1023.95 && unit[1]) {
		bytes /= 1024;
		unit++;
	}
	len = snprintf(text, FIGURE_MAX - 1, "%.1f", bytes);
	if (!strcmp(text + len - 2, ".0"))
		len -= 2;
	text[len] = *unit;
	text[len + 1] = '\0';
}

static bool amount(char text[FIGURE_MAX], const struct column *c, const struct cell *cell, bool bytes)
{
	uint64_t total;

	if (__builtin_mul_overflow(cell->sum, cell->scale, &total))
		return false;
	if (c->unit && !bytes)
		size_text(text, (double)total);
	else
		snprintf(text, FIGURE_MAX, "%" PRIu64, total);
	return true;
}

static void rate(char text[FIGURE_MAX], const struct column *c, const struct cell *cell, const struct view *v)
{
	double each = (double)cell->sum * (double)cell->scale / v->seconds;

	if (c->unit && !v->bytes)
		size_text(text, each);
	else
		snprintf(text, FIGURE_MAX, c->unit ? "%.0f" : "%.1f", each);
}

static bool ratio(char text[FIGURE_MAX], const struct cell *cell)
{
	if (!cell->over)
		return false;
	snprintf(text, FIGURE_MAX, "%.1f", (double)cell->sum / (double)cell->over);
	return true;
}

/* Files are read one after the other, so that a part may have grown past the whole. */
static bool share(char text[FIGURE_MAX], const struct cell *cell)
{
	if (!cell->over)
		return false;
	snprintf(text, FIGURE_MAX, "%.1f",
		 cell->sum < cell->over ? 100.0 * (double)cell->sum / (double)cell->over : 100.0);
	return true;
}

bool figure(char text[FIGURE_MAX], const struct column *c, const struct cell *now,
	    const struct cell *before, const struct view *v)
{
	struct cell grown = *now;

	if (!now->known)
		return false;
	if (c->kind == LEVEL)
		return amount(text, c, now, v->bytes);
	if (c->kind == FILL)
		return share(text, now);
	if (v->seconds) {
		if (before && !before->known)
			return false;
		grown = since(now, before);
	}
	if (c->kind == RATIO)
		return ratio(text, &grown);
	if (c->kind == SHARE)
		return share(text, &grown);
	if (!v->seconds)
		return amount(text, c, now, v->bytes);
	rate(text, c, &grown, v);
	return true;
}
