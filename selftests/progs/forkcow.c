// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fork and copy-on-write over swapped pages: each process fills its memory, then forks again and again;
 * parent and child rewrite different pages at the same time, and both must see their own pages and, where
 * they did not write, those from before the fork.
 */
#include "procs.h"

static struct rounds_args args = { .processes = 1, .mib = 64, .rounds = 3 };

static void verify(const char *mem, const uint32_t *generation, size_t pages, uint32_t owner,
		   struct tally *tally)
{
	for (size_t page = 0; page < pages; page++)
		page_check(mem + page * PAGE_SIZE, owner, page, generation[page], tally);
}

static void rewrite(char *mem, uint32_t *generation, size_t pages, uint32_t owner, size_t step, uint32_t to)
{
	for (size_t page = to % step; page < pages; page += step) {
		generation[page] = to;
		page_fill(mem + page * PAGE_SIZE, owner, page, to);
	}
}

static void fork_and_verify(uint32_t owner, struct tally *tally)
{
	size_t pages = args.mib * PAGES_PER_MIB;
	char *mem = private_alloc(pages * PAGE_SIZE, PAGE_SIZE);
	uint32_t *generation = calloc(pages, sizeof(*generation));
	struct tally *childs = shared_alloc(sizeof(*childs));

	if (!generation)
		die("no memory");
	rewrite(mem, generation, pages, owner, 1, 1);
	for (uint32_t round = 1; round <= args.rounds; round++) {
		pid_t child = fork();

		if (child < 0)
			die("fork failed: %m");
		/* The generations of the two sides never meet, so neither can pass with a page of the other. */
		if (!child) {
			rewrite(mem, generation, pages, owner, 3, 1000 + round);
			verify(mem, generation, pages, owner, childs);
			_exit(0);
		}
		rewrite(mem, generation, pages, owner, 2, 1 + round);
		verify(mem, generation, pages, owner, tally);
		child_wait(child);
		verify(mem, generation, pages, owner, tally);
	}
	tally->verified += childs->verified;
	tally->bad += childs->bad;
}

int main(int argc, char **argv)
{
	rounds_options(&args, argc, argv, NULL);
	return run_processes(args.processes, fork_and_verify);
}
