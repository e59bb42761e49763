// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages given up while they are swapped out: fills memory, pages it out, then gives up stretches of it with
 * munmap, MADV_DONTNEED and MADV_FREE, rewrites others, and verifies that what was given up reads as zeros
 * (or, for MADV_FREE, as zeros or as before) and that nothing else has changed.
 */
#include "procs.h"

#define STRETCH	8	/* pages */

static struct rounds_args args = { .processes = 1, .mib = 64, .rounds = 3 };

enum fate { KEPT, UNMAPPED, DROPPED, FREED, REWRITTEN, FATES };

static enum fate fate_of(size_t stretch, uint32_t round)
{
	return mix64(stretch * 1000 + round) % FATES;
}

static void give_up(char *mem, enum fate fate)
{
	size_t bytes = STRETCH * PAGE_SIZE;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;

	if (fate == DROPPED && madvise(mem, bytes, MADV_DONTNEED))
		die("MADV_DONTNEED failed: %m");
	if (fate == FREED && madvise(mem, bytes, MADV_FREE))
		die("MADV_FREE failed: %m");
	if (fate != UNMAPPED)
		return;
	if (munmap(mem, bytes))
		die("munmap failed: %m");
	if (mmap(mem, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) != mem)
		die("mmap of the same place failed: %m");
}

static void check(const char *mem, uint32_t owner, size_t page, enum fate fate, uint32_t round,
		  struct tally *tally)
{
	bool may_be_zero = fate == UNMAPPED || fate == DROPPED || fate == FREED;

	if (may_be_zero && all_zero(mem, PAGE_SIZE)) {
		tally->verified++;
	} else if (fate == UNMAPPED || fate == DROPPED) {
		tally->verified++;
		if (tally->bad++ < 8)
			fprintf(stderr, "bad page: owner %u page %zu was given up and is not zeros\n",
				owner, page);
	} else {
		page_check(mem, owner, page, fate == REWRITTEN ? round + 1000 : round, tally);
	}
}

static void one_round(char *mem, size_t pages, uint32_t owner, uint32_t round, struct tally *tally)
{
	for (size_t page = 0; page < pages; page++)
		page_fill(mem + page * PAGE_SIZE, owner, page, round);
	if (madvise(mem, pages * PAGE_SIZE, MADV_PAGEOUT))
		die("MADV_PAGEOUT failed: %m");
	for (size_t stretch = 0; stretch < pages / STRETCH; stretch++) {
		enum fate fate = fate_of(stretch, round);
		size_t first = stretch * STRETCH;

		give_up(mem + first * PAGE_SIZE, fate);
		for (size_t page = first; fate == REWRITTEN && page < first + STRETCH; page++)
			page_fill(mem + page * PAGE_SIZE, owner, page, round + 1000);
	}
	if (madvise(mem, pages * PAGE_SIZE, MADV_PAGEOUT))
		die("MADV_PAGEOUT failed: %m");
	for (size_t page = 0; page < pages; page++)
		check(mem + page * PAGE_SIZE, owner, page, fate_of(page / STRETCH, round), round, tally);
}

static void drop_and_verify(uint32_t owner, struct tally *tally)
{
	size_t pages = args.mib * PAGES_PER_MIB;
	char *mem = private_alloc(pages * PAGE_SIZE, PAGE_SIZE);

	want_huge_pages(mem, pages * PAGE_SIZE, false);
	for (uint32_t round = 1; round <= args.rounds; round++)
		one_round(mem, pages, owner, round, tally);
}

int main(int argc, char **argv)
{
	rounds_options(&args, argc, argv, NULL);
	return run_processes(args.processes, drop_and_verify);
}
