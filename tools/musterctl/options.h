/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MUSTERCTL_OPTIONS_H
#define MUSTERCTL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "column.h"

struct options {
	const struct table *table;
	const struct column **columns;	/* each once */
	size_t nr_columns;
	char **names;			/* of devices; ends with NULL */
	bool bytes;
	bool noheadings;
	bool raw;
	bool json;
	double interval;		/* in seconds; 0: print once */
	unsigned long count;		/* how many times to print; 0: without end */
};

/* Ends the program when it has printed the help or the version, or with status 1 at what it does not know. */
void options_parse(struct options *o, int argc, char **argv);
void options_free(struct options *o);

#endif
