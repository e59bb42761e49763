// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fills memory and pages it out, waits for a line on standard input (the device beneath changes meanwhile),
 * then reads every page and tells how many were right, wrong, or answered with SIGBUS. Waits for another
 * line and reads all again, as often as lines come.
 *
 *	phase=written pages=16384
 *	phase=read pages=16384 bad=0 sigbus=12
 *
 * With --vfork a child that has the same memory reads a byte of each, and its end alone is told.
 *
 *	phase=read status=0
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>

#include "procs.h"

static sigjmp_buf after_fault;

static void on_sigbus(int signal)
{
	(void)signal;
	siglongjmp(after_fault, 1);
}

static bool readable(const volatile char *mem)
{
	if (sigsetjmp(after_fault, 1))
		return false;
	(void)*mem;
	return true;
}

static void read_all(const char *mem, size_t pages, struct tally *total)
{
	struct tally tally = { };
	size_t faults = 0;

	for (size_t page = 0; page < pages; page++) {
		if (readable(mem + page * PAGE_SIZE))
			page_check(mem + page * PAGE_SIZE, 1, page, 1, &tally);
		else
			faults++;
	}
	printf("phase=read pages=%zu bad=%lu sigbus=%zu\n", pages, tally.bad, faults);
	fflush(stdout);
	total->verified += tally.verified;
	total->bad += tally.bad;
}

static void read_by_child(const volatile char *mem, size_t pages)
{
	pid_t child = vfork();
	int status = -1;

	if (!child) {
		for (size_t page = 0; page < pages; page++)
			(void)mem[page * PAGE_SIZE];
		_exit(0);
	}
	waitpid(child, &status, 0);
	printf("phase=read status=%d\n", status);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static char input[BUFSIZ], output[BUFSIZ];
	struct sigaction action = { .sa_handler = on_sigbus };
	bool by_child = argc == 3 && !strcmp(argv[1], "--vfork");
	size_t pages = number_arg(argc == 2 + by_child ? argv[argc - 1] : "", 1, 65536) * PAGES_PER_MIB;
	struct tally tally = { };
	char line[64];
	char *mem;

	setvbuf(stdin, input, _IOFBF, sizeof(input));
	setvbuf(stdout, output, _IOFBF, sizeof(output));
	/* The program itself must not be in swap when swap fails. */
	if (mlockall(MCL_CURRENT))
		die("mlockall failed: %m");
	mem = private_alloc(pages * PAGE_SIZE, PAGE_SIZE);
	if (sigaction(SIGBUS, &action, NULL))
		die("cannot prepare: %m");
	want_huge_pages(mem, pages * PAGE_SIZE, false);
	for (size_t page = 0; page < pages; page++)
		page_fill(mem + page * PAGE_SIZE, 1, page, 1);
	if (madvise(mem, pages * PAGE_SIZE, MADV_PAGEOUT))
		die("MADV_PAGEOUT failed: %m");
	printf("phase=written pages=%zu\n", pages);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (by_child)
			read_by_child(mem, pages);
		else
			read_all(mem, pages, &tally);
	}
	return tally_report(&tally);
}
