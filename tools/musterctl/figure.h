/* SPDX-License-Identifier: GPL-2.0-only */
/* From what files said to what is shown. Nothing here reads a file or a clock. */
#ifndef MUSTERCTL_FIGURE_H
#define MUSTERCTL_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "column.h"

#define FIGURE_MAX 64	/* 2^128 has 39 digits */

struct cell {
	bool known;		/* all of its files were read */
	uint64_t sum, over;	/* as in struct column */
	uint64_t scale;		/* bytes each, 1 for a plain number */
	char *text;		/* of TEXT only; allocated, or NULL */
};

struct view {
	bool bytes;		/* whole bytes, not 1.5M */
	double seconds;		/* the interval; 0: all so far */
};

/*
 * What column @c, which is no TEXT, shows; false if there is nothing to show.
 * @before: the cell when the interval began, or NULL if the device came since.
 */
bool figure(char text[FIGURE_MAX], const struct column *c, const struct cell *now,
	    const struct cell *before, const struct view *v);

#endif
