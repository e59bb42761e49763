// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device.h"
#include "files.h"
#include "util.h"

void devices_add(struct devices *all, const char *name, const char *disk, const char *folder)
{
	all->each = no_less(reallocarray(all->each, all->count + 1, sizeof(*all->each)));
	all->each[all->count++] = (struct device){
		.name = no_less(strdup(name)),
		.disk = no_less(strdup(disk)),
		.folder = no_less(strdup(folder)),
	};
}

void devices_scan(struct devices *all, const struct table *t)
{
	struct dirent **disks;
	size_t count = folder_list(&disks, "sys/block");

	*all = (struct devices){ 0 };
	for (size_t i = 0; i < count; i++)
		t->add(all, disks[i]->d_name);
	folder_free(disks, count);
}

/* --- by name */

char *device_name(const struct device *dev)
{
	return no_less(strdup(dev->name));
}

static const char *without_prefix(const struct table *t, const char *name)
{
	for (const char *const *prefix = t->prefixes; *prefix; prefix++)
		if (!strncmp(name, *prefix, strlen(*prefix)))
			return name + strlen(*prefix);
	return name;
}

static bool is_called(const struct device *dev, const char *name)
{
	return !strcmp(dev->name, name) || !strcmp(dev->disk, name);
}

static void drop(struct device *dev, size_t columns)
{
	for (size_t i = 0; dev->cells && i < columns; i++)
		free(dev->cells[i].text);
	free(dev->cells);
	free(dev->name);
	free(dev->disk);
	free(dev->folder);
}

bool devices_have(const struct devices *all, const struct table *t, const char *name)
{
	for (size_t i = 0; i < all->count; i++)
		if (is_called(&all->each[i], without_prefix(t, name)))
			return true;
	return false;
}

static bool is_wanted(const struct device *dev, const struct table *t, char *const *names)
{
	for (; *names; names++)
		if (is_called(dev, without_prefix(t, *names)))
			return true;
	return false;
}

void devices_restrict(struct devices *all, const struct table *t, char *const *names)
{
	size_t kept = 0;

	for (size_t i = 0; i < all->count; i++) {
		if (is_wanted(&all->each[i], t, names))
			all->each[kept++] = all->each[i];
		else
			drop(&all->each[i], 0);
	}
	all->count = kept;
}

/* --- what their files say */

static char *read_text(const struct column *c, const struct device *dev)
{
	char text[TEXT_MAX];

	if (c->text)
		return c->text(dev);
	if (!file_text(text, sizeof(text), "sys/block/%s/%s", dev->folder, c->sum[0]))
		return NULL;
	return no_less(strdup(text));
}

/* False if one of them cannot be read, or all of them are no number of 64 bits. */
static bool add_up(const struct device *dev, const char *const terms[TERMS_MAX], uint64_t *sum)
{
	*sum = 0;
	for (int i = 0; i < TERMS_MAX && terms[i]; i++) {
		bool minus = terms[i][0] == '-';
		uint64_t term;

		if (!file_number(&term, "sys/block/%s/%s", dev->folder, terms[i] + minus))
			return false;
		if (minus ? __builtin_sub_overflow(*sum, term, sum) : __builtin_add_overflow(*sum, term, sum))
			return false;
	}
	return true;
}

static bool read_scale(const struct column *c, const struct device *dev, uint64_t *scale)
{
	uint64_t times = 1;

	if (c->times && !file_number(&times, "sys/block/%s/%s", dev->folder, c->times))
		return false;
	return !__builtin_mul_overflow(c->unit ? c->unit : 1, times, scale);
}

static struct cell read_cell(const struct column *c, const struct device *dev)
{
	struct cell cell = { 0 };

	if (c->kind == TEXT)
		cell.text = read_text(c, dev);
	else
		cell.known = add_up(dev, c->sum, &cell.sum) && add_up(dev, c->over, &cell.over) &&
			     read_scale(c, dev, &cell.scale);
	return cell;
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void devices_read(struct devices *all, const struct column *const *columns, size_t count)
{
	size_t kept = 0;

	all->seconds = seconds_now();
	for (size_t i = 0; i < all->count; i++) {
		struct device *dev = &all->each[i];

		/* The files of one may take their time, as while it is made ready. */
		dev->seconds = seconds_now();
		dev->cells = no_less(calloc(count, sizeof(*dev->cells)));
		for (size_t n = 0; n < count; n++)
			dev->cells[n] = read_cell(columns[n], dev);
		if (is_folder("sys/block/%s", dev->folder))
			all->each[kept++] = *dev;
		else
			drop(dev, count);
	}
	all->count = kept;
}

void devices_free(struct devices *all, size_t columns)
{
	for (size_t i = 0; i < all->count; i++)
		drop(&all->each[i], columns);
	free(all->each);
	*all = (struct devices){ 0 };
}

const struct device *devices_find(const struct devices *all, const struct device *dev)
{
	for (size_t i = 0; i < all->count; i++)
		if (!strcmp(all->each[i].folder, dev->folder) && !strcmp(all->each[i].name, dev->name))
			return &all->each[i];
	return NULL;
}
