// SPDX-License-Identifier: GPL-2.0-only
/*
 * Touches c pages, skips as many, over a range of memory, then reads the touched pages back and verifies
 * each one. Run it in a memory cgroup smaller than the touched pages to make it swap.
 *
 * Prints a line of key=value for each phase:
 *	phase=write round=0 secs=1.234 pages=65536
 *	phase=read round=1 secs=2.345 pages=65536 bad=0
 * With --until-term also the longest time from one page to the next:
 *	phase=all longest_pause=0.123
 */
#include <getopt.h>
#include <signal.h>
#include <sys/mman.h>

#include "page.h"

struct plan {
	unsigned long touch;	/* pages touched in a row */
	unsigned long skip;	/* pages skipped between them */
	unsigned long mib;	/* size of the range */
	unsigned long rounds;	/* read-backs */
	uint32_t owner;
	bool random_write;
	bool random_read;
	bool descending;
	unsigned long one_in;	/* so many pages is read back; 0: all are */
	unsigned long willneed;	/* pages asked for at once; 0: none are */
	unsigned long rewrite;	/* one page in so many; 0: none */
	bool huge;
	bool until_term;
};

static volatile sig_atomic_t terminated;
static double last_page, longest_pause;

static const char usage[] =
	"usage: pagestride [options]\n"
	"  -c PAGES              pages touched in a row (1)\n"
	"  -k, --skip PAGES      pages skipped between them (as many as touched)\n"
	"  -s MIB                range of memory (512)\n"
	"  -r, --rounds N        read back N times (1)\n"
	"      --until-term      and go on with that until SIGTERM; tell the longest pause\n"
	"  -o, --owner N         makes the content differ from another process's (0)\n"
	"      --random-singles  both phases visit the touched pages in random order\n"
	"      --random-reads    only the read-backs do\n"
	"      --descending      read back from the last page to the first\n"
	"      --one-in N        read back one page in N, by chance\n"
	"      --willneed PAGES  before so many are read back, MADV_WILLNEED for all of them\n"
	"      --write-on-readback[=N]  rewrite one page in N (1), by chance, after it was verified\n"
	"      --thp             ask for huge pages (without it: never)\n";

static void parse_args(int argc, char **argv, struct plan *plan)
{
	static const struct option options[] = {
		{ "skip", required_argument, NULL, 'k' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "owner", required_argument, NULL, 'o' },
		{ "random-singles", no_argument, NULL, 'R' },
		{ "random-reads", no_argument, NULL, 'A' },
		{ "descending", no_argument, NULL, 'D' },
		{ "one-in", required_argument, NULL, 'N' },
		{ "willneed", required_argument, NULL, 'M' },
		{ "write-on-readback", optional_argument, NULL, 'W' },
		{ "until-term", no_argument, NULL, 'U' },
		{ "thp", no_argument, NULL, 'T' },
		{ }
	};
	bool skip_given = false;
	int opt;

	while ((opt = getopt_long(argc, argv, "c:k:s:r:o:", options, NULL)) != -1) {
		switch (opt) {
		case 'c':
			plan->touch = number_arg(optarg, 1, 1UL << 20);
			break;
		case 'k':
			plan->skip = number_arg(optarg, 0, 1UL << 20);
			skip_given = true;
			break;
		case 's':
			plan->mib = number_arg(optarg, 1, 1UL << 20);
			break;
		case 'r':
			plan->rounds = number_arg(optarg, 1, 1UL << 20);
			break;
		case 'o':
			plan->owner = (uint32_t)number_arg(optarg, 0, UINT32_MAX);
			break;
		case 'R':
			plan->random_write = true;
			plan->random_read = true;
			break;
		case 'A':
			plan->random_read = true;
			break;
		case 'D':
			plan->descending = true;
			break;
		case 'N':
			plan->one_in = number_arg(optarg, 1, 1UL << 20);
			break;
		case 'M':
			plan->willneed = number_arg(optarg, 1, 1UL << 20);
			break;
		case 'W':
			plan->rewrite = optarg ? number_arg(optarg, 1, 1UL << 20) : 1;
			break;
		case 'U':
			plan->until_term = true;
			break;
		case 'T':
			plan->huge = true;
			break;
		default:
			die("%s", usage);
		}
	}
	if (optind != argc || (plan->random_read && plan->descending) ||
	    (plan->willneed && (plan->random_read || plan->descending)))
		die("%s", usage);
	if (!skip_given)
		plan->skip = plan->touch;
}

/* The page numbers to touch, ascending. */
static uint32_t *touched_pages(const struct plan *plan, size_t *count)
{
	size_t pages = plan->mib * PAGES_PER_MIB;
	uint32_t *list = malloc(pages * sizeof(*list));
	size_t n = 0;

	if (!list)
		die("no memory for the list of pages");
	for (size_t page = 0; page < pages; page++)
		if (page % (plan->touch + plan->skip) < plan->touch)
			list[n++] = (uint32_t)page;
	*count = n;
	return list;
}

static void shuffle(uint32_t *list, size_t count, uint64_t *state)
{
	for (size_t i = count; i > 1; i--) {
		size_t j = random_next(state) % i;
		uint32_t swap = list[i - 1];

		list[i - 1] = list[j];
		list[j] = swap;
	}
}

static void reverse(uint32_t *list, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t swap = list[i];

		list[i] = list[count - 1 - i];
		list[count - 1 - i] = swap;
	}
}

static void on_term(int signal)
{
	(void)signal;
	terminated = 1;
}

static void note_pause(const struct plan *plan)
{
	double now;

	if (!plan->until_term)
		return;
	now = seconds_now();
	if (last_page && now - last_page > longest_pause)
		longest_pause = now - last_page;
	last_page = now;
}

/* The read-backs asked for are made in any case. */
static bool another(const struct plan *plan, uint32_t round)
{
	return round <= plan->rounds || (plan->until_term && !terminated);
}

static void write_phase(char *mem, const struct plan *plan, const uint32_t *list, size_t count)
{
	double start = seconds_now();

	for (size_t i = 0; i < count; i++) {
		note_pause(plan);
		page_fill(mem + list[i] * PAGE_SIZE, plan->owner, list[i], 0);
	}
	printf("phase=write round=0 secs=%.3f pages=%zu\n", seconds_now() - start, count);
	fflush(stdout);
}

/* How often each page of the range was written anew; nobody's where none is. */
static uint32_t *no_generations(const struct plan *plan)
{
	uint32_t *generations;

	if (!plan->rewrite)
		return NULL;
	generations = calloc(plan->mib * PAGES_PER_MIB, sizeof(*generations));
	if (!generations)
		die("no memory for the generations of pages");
	return generations;
}

/* At the first page of a part: asks for all of that. */
static void ask_for_part(char *mem, const struct plan *plan, const uint32_t *list, size_t at)
{
	size_t first = list[at] - list[at] % plan->willneed, pages = plan->mib * PAGES_PER_MIB;
	size_t n = pages - first < plan->willneed ? pages - first : plan->willneed;

	if (at && list[at - 1] >= first)
		return;
	if (madvise(mem + first * PAGE_SIZE, n * PAGE_SIZE, MADV_WILLNEED))
		die("madvise for pages %zu+%zu failed: %m", first, n);
}

static void read_phase(char *mem, const struct plan *plan, const uint32_t *list, size_t count,
		       uint32_t round, uint32_t *generations, uint64_t *state, struct tally *total)
{
	double start = seconds_now();
	struct tally tally = { };

	for (size_t i = 0; i < count && another(plan, round); i++) {
		char *page = mem + list[i] * PAGE_SIZE;

		note_pause(plan);
		if (plan->willneed)
			ask_for_part(mem, plan, list, i);
		if (plan->one_in && random_next(state) % plan->one_in)
			continue;
		page_check(page, plan->owner, list[i], generations ? generations[list[i]] : 0, &tally);
		if (plan->rewrite && random_next(state) % plan->rewrite == 0)
			page_fill(page, plan->owner, list[i], ++generations[list[i]]);
	}
	printf("phase=read round=%u secs=%.3f pages=%lu bad=%lu\n", round, seconds_now() - start,
	       tally.verified, tally.bad);
	fflush(stdout);
	total->verified += tally.verified;
	total->bad += tally.bad;
}

int main(int argc, char **argv)
{
	struct plan plan = { .touch = 1, .mib = 512, .rounds = 1 };
	uint64_t state = 0x2545f4914f6cdd1dULL;
	struct tally tally = { };
	uint32_t *list, *generations;
	size_t count, bytes;
	char *mem;

	parse_args(argc, argv, &plan);
	list = touched_pages(&plan, &count);
	generations = no_generations(&plan);
	bytes = plan.mib * PAGES_PER_MIB * PAGE_SIZE;
	mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mem == MAP_FAILED)
		die("mmap of %zu bytes failed: %m", bytes);
	want_huge_pages(mem, bytes, plan.huge);

	if (plan.until_term)
		signal(SIGTERM, on_term);
	state += plan.owner * 2;
	if (plan.random_write)
		shuffle(list, count, &state);
	write_phase(mem, &plan, list, count);
	if (plan.descending)
		reverse(list, count);
	for (uint32_t round = 1; another(&plan, round); round++) {
		if (plan.random_read)
			shuffle(list, count, &state);
		read_phase(mem, &plan, list, count, round, generations, &state, &tally);
	}
	if (plan.until_term)
		printf("phase=all longest_pause=%.3f\n", longest_pause);
	return tally_report(&tally);
}
