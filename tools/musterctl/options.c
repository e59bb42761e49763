// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "files.h"
#include "options.h"
#include "util.h"

#define INTERVAL_MIN 0.1
#define INTERVAL_MAX 86400

/* What can be looked at only when it is known which table is meant. */
struct later {
	const char *output;
	bool all;
	bool help;
	bool version;
};

static const struct table *const tables[] = { &mswap_table, &w2r_table };

/* --- columns */

/* NULL if there is none; capital letters or small ones. */
static const struct column *find_column(const struct table *t, const char *name, size_t len)
{
	for (size_t i = 0; i < t->nr_columns; i++)
		if (strlen(t->columns[i].name) == len && !strncasecmp(t->columns[i].name, name, len))
			return &t->columns[i];
	return NULL;
}

static void add_column(struct options *o, const struct column *c)
{
	for (size_t i = 0; i < o->nr_columns; i++)
		if (o->columns[i] == c)
			return;
	o->columns[o->nr_columns++] = c;
}

static void add_columns(struct options *o, const char *list)
{
	size_t len;

	do {
		const struct column *c;

		len = strcspn(list, ",");
		c = find_column(o->table, list, len);
		if (!c)
			die("unknown column '%.*s' (musterctl %s --help lists them)", (int)len, list,
			    o->table->name);
		add_column(o, c);
		list += len + 1;
	} while (list[-1]);
}

static void choose_columns(struct options *o, const struct later *later)
{
	const char *list = later->output;
	bool more = list && *list == '+';

	o->columns = no_less(calloc(o->table->nr_columns, sizeof(*o->columns)));
	if (later->all && (!list || more)) {
		for (size_t i = 0; i < o->table->nr_columns; i++)
			add_column(o, &o->table->columns[i]);
	} else if (!list || more) {
		add_columns(o, o->table->defaults);
	}
	if (list)
		add_columns(o, list + more);
}

/* --- help */

static void print_help(const struct table *t)
{
	puts("Usage: musterctl [mswap|w2r] [OPTION]... [DEVICE]...\n"
	     "\n"
	     "Shows what devices of mswap, or targets of dm-w2r, do.\n"
	     "\n"
	     "  -b, --bytes             sizes in bytes\n"
	     "  -c, --count N           with --interval: print N times\n"
	     "  -h, --help              this text; musterctl w2r --help lists the columns of w2r\n"
	     "  -i, --interval SECONDS  print again and again: first all so far, then what came in the interval,\n"
	     "                          amounts by the second\n"
	     "  -J, --json              as JSON\n"
	     "  -n, --noheadings        without headings\n"
	     "  -o, --output LIST       these columns; +LIST: these too\n"
	     "      --output-all        all columns\n"
	     "  -r, --raw               without alignment\n"
	     "      --sysroot DIR       read DIR/sys and DIR/proc\n"
	     "  -V, --version           the version\n");
	printf("Columns of %s:\n", t->name);
	for (size_t i = 0; i < t->nr_columns; i++)
		printf("  %-18s %s\n", t->columns[i].name, t->columns[i].help);
	printf("Without --output: %s\n", t->defaults);
}

/* --- options */

static double interval_arg(const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	/* strtod() also takes 0x10, 1e1, and blanks before. */
	if (text[strspn(text, "0123456789.")] || !*text || *end || seconds < INTERVAL_MIN || seconds > INTERVAL_MAX)
		die("--interval takes seconds, from %g to %d: not '%s'", INTERVAL_MIN, INTERVAL_MAX, text);
	return seconds;
}

static unsigned long count_arg(const char *text)
{
	unsigned long count;

	errno = 0;
	count = all_digits(text) ? strtoul(text, NULL, 10) : 0;
	if (!count || errno)
		die("--count takes a number from 1 on: not '%s'", text);
	return count;
}

enum { OUTPUT_ALL = 256, SYSROOT };

static const struct option long_options[] = {
	{ "bytes", no_argument, NULL, 'b' },
	{ "count", required_argument, NULL, 'c' },
	{ "help", no_argument, NULL, 'h' },
	{ "interval", required_argument, NULL, 'i' },
	{ "json", no_argument, NULL, 'J' },
	{ "noheadings", no_argument, NULL, 'n' },
	{ "output", required_argument, NULL, 'o' },
	{ "output-all", no_argument, NULL, OUTPUT_ALL },
	{ "raw", no_argument, NULL, 'r' },
	{ "sysroot", required_argument, NULL, SYSROOT },
	{ "version", no_argument, NULL, 'V' },
	{ 0 }
};

static void take(struct options *o, struct later *later, int option)
{
	switch (option) {
	case 'b':
		o->bytes = true;
		break;
	case 'c':
		o->count = count_arg(optarg);
		break;
	case 'h':
		later->help = true;
		break;
	case 'i':
		o->interval = interval_arg(optarg);
		break;
	case 'J':
		o->json = true;
		break;
	case 'n':
		o->noheadings = true;
		break;
	case 'o':
		later->output = optarg;
		break;
	case OUTPUT_ALL:
		later->all = true;
		break;
	case 'r':
		o->raw = true;
		break;
	case SYSROOT:
		files_set_root(optarg);
		break;
	case 'V':
		later->version = true;
		break;
	default: /* getopt has said what is wrong */
		exit(1);
	}
}

/* The first word may say what to list. */
static void take_names(struct options *o, char **words)
{
	o->table = tables[0];
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (*words && !strcmp(*words, tables[i]->name)) {
			o->table = tables[i];
			words++;
			break;
		}
	}
	o->names = words;
}

static void check(const struct options *o)
{
	if (o->json && o->raw)
		die("--json and --raw exclude each other");
	if (o->count && !o->interval)
		die("--count goes with --interval");
}

void options_parse(struct options *o, int argc, char **argv)
{
	struct later later = { 0 };
	int option;

	*o = (struct options){ 0 };
	while ((option = getopt_long(argc, argv, "bc:hi:Jno:rV", long_options, NULL)) != -1)
		take(o, &later, option);
	take_names(o, argv + optind);
	check(o);
	choose_columns(o, &later);
	if (later.help)
		print_help(o->table);
	else if (later.version)
		puts("musterctl " VERSION);
	else
		return;
	finish_output();
	options_free(o);
	exit(0);
}

void options_free(struct options *o)
{
	free(o->columns);
}
