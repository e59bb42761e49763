// SPDX-License-Identifier: GPL-2.0-only
/*
 * Huge pages through swap: fills memory that may be huge, if the kernel has such, pages it out, reads it back,
 * collapses it into huge pages again and rewrites parts of it, round after round. With -P huge pages are never
 * asked for and what is left is a loop of MADV_PAGEOUT.
 */
#include <errno.h>

#include "procs.h"

#define HUGE_SIZE	(2UL << 20)
#define HUGE_PAGES	(HUGE_SIZE / PAGE_SIZE)

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif

static unsigned long mib = 64, rounds = 3;
static bool plain;

static void page_out(char *mem, size_t bytes)
{
	if (madvise(mem, bytes, MADV_PAGEOUT))
		die("MADV_PAGEOUT failed: %m");
}

/* Under memory pressure there may be no huge page to be had: that is no failure of the swap device. */
static unsigned long collapse(char *mem, size_t bytes)
{
	unsigned long done = 0;

	for (size_t at = 0; at < bytes; at += HUGE_SIZE) {
		if (!madvise(mem + at, HUGE_SIZE, MADV_COLLAPSE))
			done++;
		else if (errno != ENOMEM && errno != EAGAIN && errno != EBUSY && errno != EINVAL)
			die("MADV_COLLAPSE failed: %m");
	}
	return done;
}

static void check_all(const char *mem, const uint32_t *generation, size_t pages, uint32_t owner,
		      struct tally *tally)
{
	for (size_t page = 0; page < pages; page++)
		page_check(mem + page * PAGE_SIZE, owner, page, generation[page / HUGE_PAGES], tally);
}

static void fill_some(char *mem, uint32_t *generation, size_t pages, uint32_t owner, size_t step, uint32_t to)
{
	for (size_t huge = to % step; huge < pages / HUGE_PAGES; huge += step) {
		generation[huge] = to;
		for (size_t page = huge * HUGE_PAGES; page < (huge + 1) * HUGE_PAGES; page++)
			page_fill(mem + page * PAGE_SIZE, owner, page, to);
	}
}

static void huge_and_verify(uint32_t owner, struct tally *tally)
{
	size_t pages = mib * PAGES_PER_MIB, bytes = pages * PAGE_SIZE;
	char *mem = private_alloc(bytes, HUGE_SIZE);
	uint32_t *generation = calloc(pages / HUGE_PAGES, sizeof(*generation));
	unsigned long collapsed = 0;

	if (!generation)
		die("no memory");
	want_huge_pages(mem, bytes, !plain);
	fill_some(mem, generation, pages, owner, 1, 1);
	for (uint32_t round = 1; round <= rounds; round++) {
		page_out(mem, bytes);
		check_all(mem, generation, pages, owner, tally);
		if (!plain) {
			page_out(mem, bytes / 2);
			collapsed += collapse(mem, bytes);
		}
		fill_some(mem, generation, pages, owner, 2, 1 + round);
		page_out(mem, bytes);
		check_all(mem, generation, pages, owner, tally);
	}
	if (!plain)
		printf("owner=%u collapsed=%lu\n", owner, collapsed);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	unsigned long processes = 1;
	int opt;

	while ((opt = getopt(argc, argv, "n:s:r:P")) != -1) {
		if (opt == 'n')
			processes = number_arg(optarg, 1, 1024);
		else if (opt == 's')
			mib = number_arg(optarg, 2, 65536) & ~1UL;
		else if (opt == 'r')
			rounds = number_arg(optarg, 1, 1000);
		else if (opt == 'P')
			plain = true;
		else
			die("usage: hugecheck [-n PROCESSES] [-s MIB_EACH] [-r ROUNDS] [-P]");
	}
	return run_processes(processes, huge_and_verify);
}
