/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What musterctl shows: for each kind of devices a table of columns. Options,
 * help and output all go by it. docs/musterctl.md is the manual.
 */
#ifndef MUSTERCTL_COLUMN_H
#define MUSTERCTL_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device;
struct devices;

enum kind {
	TEXT,		/* what a file says, or what text() finds */
	LEVEL,		/* an amount as it is now */
	COUNT,		/* an amount that grows; in an interval: a second */
	RATIO,		/* so many of a count for each of another */
	SHARE,		/* a percentage of a count */
	FILL,		/* a percentage of a level */
};

#define TERMS_MAX 4

struct column {
	const char *name;
	const char *help;
	enum kind kind;
	/* Files of the device. What a "-" begins is taken off. */
	const char *sum[TERMS_MAX];
	const char *over[TERMS_MAX];	/* what the sum is divided by */
	/* An amount of so many bytes each; 0: a plain number. */
	uint32_t unit;
	const char *times;		/* a file: so many units each */
	/* For TEXT without a file: an allocated string, or NULL. */
	char *(*text)(const struct device *dev);
	bool number;			/* a text that is a number */
	bool trunc;			/* may be cut to the terminal's width */
};

struct table {
	const char *name;
	const struct column *columns;
	size_t nr_columns;
	const char *defaults;		/* as --output takes them */
	const char *const *prefixes;	/* of a device's path; ends with NULL */
	/* Adds what is on a disk of sys/block, if anything is. */
	void (*add)(struct devices *all, const char *disk);
};

extern const struct table mswap_table;
extern const struct table w2r_table;

/* Columns that are what one file says. */
#define TEXT_COLUMN(_name, _file, _help) \
	{ .name = _name, .help = _help, .kind = TEXT, .sum = { _file } }
#define LEVEL_COLUMN(_name, _file, _unit, _help) \
	{ .name = _name, .help = _help, .kind = LEVEL, .sum = { _file }, .unit = _unit }
#define COUNT_COLUMN(_name, _file, _help) \
	{ .name = _name, .help = _help, .kind = COUNT, .sum = { _file } }

#endif
