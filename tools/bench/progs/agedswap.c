// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a command while FULL percent of a swap device's PAGES are in use, and fragmented:
 * agedswap [-n TIMES] FULL PAGES LIMIT_MIB COMMAND...
 *
 * Fills nearly all of swap with pages of its own, gives pages back at random until a tenth less than FULL is in
 * use, and fills up to FULL again, in random order; that tenth TIMES times (1). The swap area itself does not count: mswap's is smaller than
 * stock swap's on the same device, and all shall have the same load. It keeps its cgroup to LIMIT_MIB meanwhile and
 * for the command, since what is left of swap may be less than the cgroup was given. Says "ready" a second before the
 * command begins, "begin" then, "end" when it has ended, then looks whether its own pages are still what they were, one
 * in SAMPLED; ends with the command's status, or 1.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "page.h"

#define FILLED	97	/* percent of PAGES, at first */
#define AGED	10	/* percent of PAGES, given back and filled again */
#define SAMPLED	61

struct filler {
	char *mem;
	uint32_t *order;	/* page numbers: those in use first */
	size_t pages;		/* as many as the device has */
	size_t used;
	uint8_t *filled;	/* how often, by page number */
	uint64_t random;
};

/* Of memory that is used for it outside the cgroup, and that it is to pay for. */
static unsigned long bytes_elsewhere(void)
{
	const char *text = getenv("BENCH_OWN");

	return text ? number_arg(text, 0, 1UL << 40) : 0;
}

static void keep_cgroup_to(const char *mib)
{
	unsigned long bytes = number_arg(mib, 1, 1UL << 20) << 20, elsewhere = bytes_elsewhere();
	char line[256], path[512];
	FILE *file = fopen("/proc/self/cgroup", "r");

	/* A limit below 0 would be none. */
	if (elsewhere >= bytes)
		die("%lu bytes for it elsewhere leave nothing of %s MiB", elsewhere, mib);
	do {
		if (!file || !fgets(line, sizeof(line), file))
			die("not in a cgroup");
	} while (strncmp(line, "0::", 3));
	fclose(file);
	line[strcspn(line, "\n")] = 0;
	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.high", line + 3);
	file = fopen(path, "w");
	if (!file || fprintf(file, "%lu", bytes - elsewhere) < 0 || fclose(file))
		die("%s: %s", path, strerror(errno));
}

static size_t percent(const struct filler *f, unsigned long of)
{
	return f->pages / 100 * of;
}

static size_t swap_pages(void)
{
	struct sysinfo info;

	if (sysinfo(&info))
		die("sysinfo: %s", strerror(errno));
	return info.totalswap * info.mem_unit / PAGE_SIZE;
}

static void make(struct filler *f, size_t pages)
{
	f->pages = pages;
	if (swap_pages() < percent(f, FILLED))
		die("swap has %zu pages, fewer than %zu", swap_pages(), percent(f, FILLED));
	f->mem = mmap(NULL, f->pages * PAGE_SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	f->order = malloc(f->pages * sizeof(*f->order));
	f->filled = calloc(f->pages, sizeof(*f->filled));
	if (f->mem == MAP_FAILED || !f->order || !f->filled)
		die("no memory");
	madvise(f->mem, f->pages * PAGE_SIZE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < f->pages; i++)
		f->order[i] = i;
}

static char *page(const struct filler *f, size_t i)
{
	return f->mem + f->order[i] * PAGE_SIZE;
}

/* Exchanges what is at @i for something at random from @from on. */
static void shuffle_in(struct filler *f, size_t i, size_t from, size_t n)
{
	size_t other = from + random_next(&f->random) % n;
	uint32_t number = f->order[i];

	f->order[i] = f->order[other];
	f->order[other] = number;
}

static void fill_to(struct filler *f, size_t used, bool shuffled)
{
	for (; f->used < used; f->used++) {
		if (shuffled)
			shuffle_in(f, f->used, f->used, f->pages - f->used);
		page_fill(page(f, f->used), 1, f->order[f->used], ++f->filled[f->order[f->used]]);
	}
}

static void free_to(struct filler *f, size_t used)
{
	while (f->used > used) {
		f->used--;
		shuffle_in(f, f->used, 0, f->used + 1);
		if (madvise(page(f, f->used), PAGE_SIZE, MADV_DONTNEED))
			die("MADV_DONTNEED: %s", strerror(errno));
	}
}

static void page_out(const struct filler *f)
{
	if (madvise(f->mem, f->pages * PAGE_SIZE, MADV_PAGEOUT))
		die("MADV_PAGEOUT: %s", strerror(errno));
}

static int check(const struct filler *f)
{
	struct tally tally = { 0 };

	for (size_t i = 0; i < f->used; i += SAMPLED)
		page_check(page(f, i), 1, f->order[i], f->filled[f->order[i]], &tally);
	return tally_report(&tally);
}

static int run_command(char **command)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execvp(command[0], command);
		die("%s: %s", command[0], strerror(errno));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("cannot run %s: %s", command[0], strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_CANNOT;
}

static void wrong_use(void)
{
	die("usage: agedswap [-n TIMES] FULL PAGES LIMIT_MIB COMMAND...   (1; percent of PAGES, at least %d)", AGED);
}

int main(int argc, char **argv)
{
	struct filler f = { .random = 88172645463325252ull };
	unsigned long full, times = 1;
	int opt, status;

	while ((opt = getopt(argc, argv, "+n:")) != -1) {
		if (opt != 'n')
			wrong_use();
		times = number_arg(optarg, 1, UINT8_MAX - 1);
	}
	argv += optind;
	if (argc - optind < 4)
		wrong_use();
	full = number_arg(argv[0], AGED, FILLED);
	keep_cgroup_to(argv[2]);
	make(&f, number_arg(argv[1], 100, UINT32_MAX));
	fill_to(&f, percent(&f, FILLED), false);
	page_out(&f);
	while (times--) {
		free_to(&f, percent(&f, full - AGED));
		fill_to(&f, percent(&f, full), true);
		page_out(&f);
	}
	/* Whoever reads this looks at the counters first. */
	printf("ready\n");
	fflush(stdout);
	sleep(1);
	printf("begin aged pages=%zu\n", f.used);
	fflush(stdout);
	status = run_command(argv + 3);
	/* What follows is no part of it: whoever reads this has the time to look at the counters. */
	printf("end\n");
	fflush(stdout);
	sleep(1);
	return check(&f) || status ? EXIT_BAD : 0;
}
