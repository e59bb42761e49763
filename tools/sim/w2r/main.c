// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replays block traces through dm-w2r's rooms, policies and planners: w2r-sim --help.
 *
 * Prints a line of column names, then one line for each scheme and size.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "replay.h"
#include "synth.h"

#define SCHEMES		16
#define SIZES		32
#define SYNTH		"synth:"

struct options {
	const char *names[SCHEMES];
	struct table schemes[SCHEMES];
	u32 nr_schemes;
	u64 kib[SIZES];
	u32 nr_sizes;
	enum trace_format format;
	u64 unit;
	u64 records;
	u64 seed;
	u64 delay;
	u64 latency_us;
	u64 cost_ns;
	bool print;
};

static const char usage[] =
"w2r-sim [OPTION...] TRACE...\n"
"\n"
"TRACE: a file, .csv, .blkparse, .bin or .oracleGeneral, also packed (.xz); or synth:KIND with KIND random,\n"
"zipf, streams, patterns or mixed. Several are replayed one after the other as one trace.\n"
"\n"
"  -S, --scheme NAME[,OPTION=VALUE...]  may be repeated; lru, lru-obl, sa-w2r, none (the default target without\n"
"                          looking ahead) or default; options of the table (policy=s3fifo).\n"
"                          Without it: all five\n"
"  -s, --sizes LIST        of the cache: 512K,4M,1G; without it from 1/64 of what the trace reads up to all of it\n"
"  -f, --format FORMAT     csv, blkparse or oracle, whatever the file's name\n"
"  -u, --unit BYTES        of an object of an oracle trace: where object i begins is i times that (4096)\n"
"  -n, --records N         of a synthetic trace (100000)\n"
"  -r, --seed N            of a synthetic trace (1)\n"
"  -d, --delay N           references until what is prefetched is there (0)\n"
"  -l, --latency-us N      of a read of the origin, for readahead=auto (5000)\n"
"  -c, --cost-ns N         of a prefetched block, for readahead=auto (1000)\n"
"  -p, --print             print the trace as csv instead\n";

static _Noreturn void refuse(const char *what, const char *why)
{
	fprintf(stderr, "w2r-sim: %s: %s\n", what, why);
	exit(2);
}

static u64 number(const char *name, const char *text, u64 least, u64 most)
{
	u64 value = 0;
	char why[80];
	const char *c;

	for (c = text; *c >= '0' && *c <= '9' && value <= most; c++)
		value = 10 * value + (u64)(*c - '0');
	if (!*text || *c || value < least || value > most) {
		snprintf(why, sizeof(why), "it must be %llu to %llu", (unsigned long long)least,
			 (unsigned long long)most);
		refuse(name, why);
	}
	return value;
}

static u64 size_kib(char *text)
{
	static const char units[] = "KMG";
	size_t n = strlen(text);
	const char *unit = n ? strchr(units, text[n - 1]) : NULL;
	u32 shift;

	if (!unit)
		refuse("--sizes", "a size must be a number and K, M or G");
	shift = 10 * (u32)(unit - units);
	text[n - 1] = 0;
	return number("--sizes", text, 1, ((u64)1 << 40) >> shift) << shift;
}

static void add_sizes(struct options *o, const char *list)
{
	char *copy = strdup(list), *word;

	if (!copy)
		abort();
	for (word = strtok(copy, ","); word; word = strtok(NULL, ",")) {
		if (o->nr_sizes == SIZES)
			refuse("--sizes", "there are too many");
		o->kib[o->nr_sizes++] = size_kib(word);
	}
	free(copy);
}

static void add_scheme(struct options *o, const char *text)
{
	const char *wrong;

	if (o->nr_schemes == SCHEMES)
		refuse(text, "there are too many schemes");
	wrong = scheme_parse(&o->schemes[o->nr_schemes], text);
	if (wrong)
		refuse(text, wrong);
	o->names[o->nr_schemes++] = text;
}

static void take_option(struct options *o, int which, const char *value)
{
	switch (which) {
	case 'S':
		add_scheme(o, value);
		break;
	case 's':
		add_sizes(o, value);
		break;
	case 'f':
		o->format = trace_format_named(value);
		if (o->format == FORMATS)
			refuse("--format", "it must be csv, blkparse or oracle");
		break;
	case 'u':
		o->unit = number("--unit", value, 1, 1u << 30);
		break;
	case 'n':
		o->records = number("--records", value, 1, 1u << 30);
		break;
	case 'r':
		o->seed = number("--seed", value, 0, (u64)1 << 62);
		break;
	case 'd':
		o->delay = number("--delay", value, 0, 1000000);
		break;
	case 'l':
		o->latency_us = number("--latency-us", value, 1, 1000000);
		break;
	case 'c':
		o->cost_ns = number("--cost-ns", value, 1, 1000000000);
		break;
	case 'p':
		o->print = true;
		break;
	case 'h':
		fputs(usage, stdout);
		exit(0);
	default:
		fputs(usage, stderr);
		exit(2);
	}
}

static void parse(struct options *o, int argc, char **argv)
{
	static const char *const all[] = { "lru", "lru-obl", "sa-w2r", "none", "default" };
	static const struct option words[] = {
		{ "scheme", required_argument, NULL, 'S' },
		{ "sizes", required_argument, NULL, 's' },
		{ "format", required_argument, NULL, 'f' },
		{ "unit", required_argument, NULL, 'u' },
		{ "records", required_argument, NULL, 'n' },
		{ "seed", required_argument, NULL, 'r' },
		{ "delay", required_argument, NULL, 'd' },
		{ "latency-us", required_argument, NULL, 'l' },
		{ "cost-ns", required_argument, NULL, 'c' },
		{ "print", no_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	size_t i;
	int which;

	while ((which = getopt_long(argc, argv, "S:s:f:u:n:r:d:l:c:ph", words, NULL)) != -1)
		take_option(o, which, optarg);
	if (optind == argc) {
		fputs(usage, stderr);
		exit(2);
	}
	if (o->nr_schemes)
		return;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		add_scheme(o, all[i]);
}

static void load(struct trace *t, const struct options *o, const char *name)
{
	char error[TRACE_ERROR];

	if (strncmp(name, SYNTH, strlen(SYNTH))) {
		if (trace_load(t, name, o->format, (u32)o->unit, error))
			return;
		fprintf(stderr, "w2r-sim: %s\n", error);
		exit(2);
	}
	if (!synth_add(t, name + strlen(SYNTH), o->seed, o->records))
		refuse(name, "it must be synth: and random, zipf, streams, patterns or mixed");
}

static void print_trace(const struct trace *t)
{
	size_t i;

	puts("time,op,offset,size");
	for (i = 0; i < t->nr; i++) {
		const struct trace_op *op = &t->ops[i];

		printf("%llu.%09llu,%c,%llu,%llu\n", (unsigned long long)(op->ns / 1000000000),
		       (unsigned long long)(op->ns % 1000000000), "RWD"[op->what],
		       (unsigned long long)op->sector * 512, (unsigned long long)op->sectors * 512);
	}
}

static double ratio(u64 part, u64 all)
{
	return all ? (double)part / (double)all : 0;
}

static void print_counts(const char *name, u64 kib, const struct replay *r)
{
	const struct replay_counts *c = &r->counts;
	char planners[TABLE_PLANNERS_TEXT];
	const u32 *held = r->rooms.held;

	printf("%-8s %9llu %9llu %9llu %9llu %9llu %9llu %10.4f %10llu %9llu %9llu ", name, (unsigned long long)kib,
	       (unsigned long long)c->read_blocks, (unsigned long long)c->hits_weighing,
	       (unsigned long long)c->hits_waiting, (unsigned long long)c->waited,
	       (unsigned long long)c->misses,
	       ratio(c->misses + c->bypassed, c->read_blocks), (unsigned long long)c->prefetched,
	       (unsigned long long)c->used, (unsigned long long)c->wasted);
	if (c->prefetched)
		printf("%9.4f", ratio(c->used, c->prefetched));
	else
		printf("%9s", "-");
	printf(" %9u %9u %9u %9llu %9llu %s\n", held[ROOM_WEIGHING], held[ROOM_WAITING], r->rooms.waiting_target,
	       (unsigned long long)c->origin_reads, (unsigned long long)c->origin_prefetches,
	       table_planners(r->lookahead_on ? planner_acting(&r->planner) : 0, planners));
}

static void print_columns(void)
{
	static const char *const names[] = {
		"size_kib", "blocks", "weighing", "waiting", "waited", "misses", "miss_ratio", "prefetched", "used",
		"wasted", "accuracy", "held_wgh", "held_wtg", "target", "o_reads", "o_prefs",
	};
	size_t i;

	printf("%-8s ", "scheme");
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		printf("%*s ", i == 6 || i == 7 ? 10 : 9, names[i]);
	puts("planner");
}

static void run(const struct options *o, const struct trace *t, u32 scheme, u64 kib)
{
	const struct table *table = &o->schemes[scheme];
	struct replay_config config = {
		.table = *table,
		.sectors = t->sectors,
		.delay = (u32)o->delay,
		.latency_ns = (u32)o->latency_us * 1000,
		.cost_ns = (u32)o->cost_ns,
	};
	u64 entries = kib / table->block_kib;
	static struct replay r;

	if (entries > ROOMS_ENTRIES_MAX)
		refuse("--sizes", "a cache of so many blocks is too large");
	config.entries = pure_max((u32)entries, ROOMS_ENTRIES_MIN);
	replay_init(&r, &config);
	replay_trace(&r, t);
	print_counts(o->names[scheme], kib, &r);
	replay_end(&r);
	fflush(stdout);
}

/* Powers of two from 1/64 of what is read upwards. */
static void default_sizes(struct options *o, const struct trace *t)
{
	u64 all = trace_footprint(t, 3) * 4, kib;

	for (kib = pure_max((u32)(all / 64), 64); o->nr_sizes < 7; kib *= 2)
		o->kib[o->nr_sizes++] = kib;
}

int main(int argc, char **argv)
{
	struct options o = {
		.unit = 4096, .records = 100000, .seed = 1, .latency_us = 5000, .cost_ns = 1000,
	};
	struct trace t = { 0 };
	u32 scheme, size;
	int i;

	parse(&o, argc, argv);
	for (i = optind; i < argc; i++)
		load(&t, &o, argv[i]);
	if (o.print) {
		print_trace(&t);
		return 0;
	}
	if (!o.nr_sizes)
		default_sizes(&o, &t);
	print_columns();
	for (scheme = 0; scheme < o.nr_schemes; scheme++)
		for (size = 0; size < o.nr_sizes; size++)
			run(&o, &t, scheme, o.kib[size]);
	trace_free(&t);
	return 0;
}
