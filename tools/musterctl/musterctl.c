// SPDX-License-Identifier: GPL-2.0-only
/* Shows what mswap and dm-w2r do, out of sysfs; docs/musterctl.md is the manual. */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <time.h>

#include "device.h"
#include "options.h"
#include "print.h"
#include "util.h"

static void check_names(const struct options *o, const struct devices *all)
{
	bool missing = false;

	for (char **name = o->names; *name; name++) {
		if (!devices_have(all, o->table, *name)) {
			fprintf(stderr, "musterctl: %s: no such device of %s\n", *name, o->table->name);
			missing = true;
		}
	}
	if (missing)
		exit(1);
}

static struct devices look(const struct options *o, bool first)
{
	struct devices all;

	devices_scan(&all, o->table);
	if (first)
		check_names(o, &all);
	if (*o->names)
		devices_restrict(&all, o->table, o->names);
	devices_read(&all, o->columns, o->nr_columns);
	return all;
}

static void wait_for(double seconds)
{
	struct timespec left = {
		.tv_sec = (time_t)seconds,
		.tv_nsec = (long)(fmod(seconds, 1) * 1e9),
	};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static void watch(const struct options *o, struct devices *before)
{
	for (unsigned long i = 1; !o->count || i < o->count; i++) {
		struct devices now;

		wait_for(o->interval);
		now = look(o, false);
		print_devices(o, &now, before);
		finish_output();
		devices_free(before, o->nr_columns);
		*before = now;
	}
}

int main(int argc, char **argv)
{
	struct options o;
	struct devices all;

	/* Before that: in Turkish a small letter of "IN" is another one. */
	options_parse(&o, argc, argv);
	/* Names may be of any letters; numbers are written the same everywhere, for scripts and JSON. */
	setlocale(LC_CTYPE, "");
	all = look(&o, true);
	print_devices(&o, &all, NULL);
	finish_output();
	if (o.interval)
		watch(&o, &all);
	devices_free(&all, o.nr_columns);
	options_free(&o);
	return 0;
}
