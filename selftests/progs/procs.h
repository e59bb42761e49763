/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs the same check in several processes at once and adds up what they verified. */
#ifndef SELFTESTS_PROCS_H
#define SELFTESTS_PROCS_H

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "page.h"

/* Zeroed memory that stays shared over fork. */
static inline void *shared_alloc(size_t bytes)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		die("mmap of %zu shared bytes failed: %m", bytes);
	return mem;
}

/* Private memory, @bytes long, starting at a multiple of @align (a power of two). */
static inline char *private_alloc(size_t bytes, size_t align)
{
	char *mem = mmap(NULL, bytes + align, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mem == MAP_FAILED)
		die("mmap of %zu bytes failed: %m", bytes + align);
	return mem + (align - (uintptr_t)mem % align) % align;
}

/* A child that did not exit by itself, or that said it could not do its work, ends the program. */
static inline void child_wait(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		die("waitpid failed: %m");
	if (WIFSIGNALED(status))
		die("process %d was killed by signal %d", child, WTERMSIG(status));
	if (WEXITSTATUS(status))
		die("process %d exited with %d", child, WEXITSTATUS(status));
}

/* What a program that makes rounds is asked for. */
struct rounds_args {
	unsigned long processes;
	unsigned long mib;	/* of each process */
	unsigned long rounds;	/* up to 900, so that generations of 1000 and more are others */
};

/* Takes the options from @argv; what it does not name stays. After them comes @operand, or nothing if it is NULL. */
static inline void rounds_options(struct rounds_args *args, int argc, char **argv, const char *operand)
{
	int opt;

	while ((opt = getopt(argc, argv, "n:s:r:")) != -1) {
		if (opt == 'n')
			args->processes = number_arg(optarg, 1, 1024);
		else if (opt == 's')
			args->mib = number_arg(optarg, 1, 65536);
		else if (opt == 'r')
			args->rounds = number_arg(optarg, 1, 900);
		else
			break;
	}
	if (opt != -1 || optind + !!operand != argc)
		die("usage: %s [-n PROCESSES] [-s MIB_EACH] [-r ROUNDS] %s", argv[0], operand ? operand : "");
}

/*
 * Runs @work in @count processes, each with its own owner number (from 1) and tally, and reports the sum.
 * Returns the exit status of the program.
 */
static inline int run_processes(unsigned long count, void (*work)(uint32_t owner, struct tally *tally))
{
	struct tally *tallies = shared_alloc(count * sizeof(*tallies));
	struct tally total = { };
	pid_t *children = calloc(count, sizeof(*children));

	if (!children)
		die("no memory");
	for (unsigned long i = 0; i < count; i++) {
		children[i] = fork();
		if (children[i] < 0)
			die("fork failed: %m");
		if (!children[i]) {
			work((uint32_t)i + 1, &tallies[i]);
			_exit(0);
		}
	}
	for (unsigned long i = 0; i < count; i++)
		child_wait(children[i]);
	for (unsigned long i = 0; i < count; i++) {
		total.verified += tallies[i].verified;
		total.bad += tallies[i].bad;
	}
	return tally_report(&total);
}

#endif
