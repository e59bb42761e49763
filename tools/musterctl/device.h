/* SPDX-License-Identifier: GPL-2.0-only */
/* The devices of one kind, and what their files say, at one time. */
#ifndef MUSTERCTL_DEVICE_H
#define MUSTERCTL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "column.h"
#include "figure.h"

struct device {
	char *name;		/* for people */
	char *disk;		/* in sys/block */
	char *folder;		/* of its files, below sys/block */
	struct cell *cells;	/* one a column that is shown */
	double seconds;		/* when they were read, by a clock that never goes back */
};

struct devices {
	struct device *each;
	size_t count;
	double seconds;		/* when reading them began, by the same clock */
};

/* For columns, as their text(). */
char *device_name(const struct device *dev);

/* For the table's add(). */
void devices_add(struct devices *all, const char *name, const char *disk, const char *folder);
/* All of the table that are there, in the order of their numbers; no cell is read yet. */
void devices_scan(struct devices *all, const struct table *t);
/* One of them is called @name, which may be a path. */
bool devices_have(const struct devices *all, const struct table *t, const char *name);
/* Leaves those that are called one of @names, which ends with NULL. */
void devices_restrict(struct devices *all, const struct table *t, char *const *names);
/* Reads the cells, and leaves out devices that go meanwhile. */
void devices_read(struct devices *all, const struct column *const *columns, size_t count);
void devices_free(struct devices *all, size_t columns);
/* The same device at another time, or NULL. */
const struct device *devices_find(const struct devices *all, const struct device *dev);

#endif
