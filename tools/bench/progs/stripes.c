// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that swap side by side: stripes [-p PROCESSES] [-s MIB]
 *
 * Each of them has its part of MIB and does what "pagestride -c 1" does: writes every other page, reads them back and
 * checks them. All wait for the last before they read back and before they end, so that as much memory is
 * wanted at any time, however unlike their progress is. When one fails, all end: nobody would come to where they wait.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "page.h"

#define MAX_PROCESSES	64

struct shared {
	pthread_barrier_t barrier;	/* of the processes and who started them */
	struct tally tally[MAX_PROCESSES];
};

static void *get(size_t bytes, int flags)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);

	if (mem == MAP_FAILED)
		die("no memory: %s", strerror(errno));
	return mem;
}

static void work(struct shared *shared, uint32_t owner, size_t pages)
{
	char *mem = get(pages * PAGE_SIZE, MAP_PRIVATE | MAP_NORESERVE);

	madvise(mem, pages * PAGE_SIZE, MADV_NOHUGEPAGE);
	pthread_barrier_wait(&shared->barrier);
	for (size_t page = 0; page < pages; page += 2)
		page_fill(mem + page * PAGE_SIZE, owner, page, 0);
	pthread_barrier_wait(&shared->barrier);
	pthread_barrier_wait(&shared->barrier);
	for (size_t page = 0; page < pages; page += 2)
		page_check(mem + page * PAGE_SIZE, owner, page, 0, &shared->tally[owner]);
	pthread_barrier_wait(&shared->barrier);
}

/* Lets the processes begin, and returns when all have ended: how long it took. */
static double phase(struct shared *shared)
{
	double begin = seconds_now();

	pthread_barrier_wait(&shared->barrier);
	pthread_barrier_wait(&shared->barrier);
	return seconds_now() - begin;
}

static void child_ended(int signal)
{
	static const char why[] = "a process failed\n";
	int status, before = errno;

	(void)signal;
	while (waitpid(-1, &status, WNOHANG) > 0) {
		if (status) {
			/* It ends, whether that can be told or not. */
			(void)!write(STDERR_FILENO, why, sizeof(why) - 1);
			_exit(EXIT_CANNOT);
		}
	}
	errno = before;
}

static struct shared *make_shared(unsigned long processes)
{
	struct shared *shared = get(sizeof(*shared), MAP_SHARED);
	pthread_barrierattr_t attributes;

	if (pthread_barrierattr_init(&attributes) ||
	    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) ||
	    pthread_barrier_init(&shared->barrier, &attributes, processes + 1))
		die("no barrier");
	return shared;
}

int main(int argc, char **argv)
{
	unsigned long processes = 1, mib = 512;
	struct tally tally = { 0 };
	struct shared *shared;
	pid_t parent = getpid();
	double seconds;
	int opt, status = 0;

	while ((opt = getopt(argc, argv, "p:s:")) != -1) {
		if (opt == 'p')
			processes = number_arg(optarg, 1, MAX_PROCESSES);
		else if (opt == 's')
			mib = number_arg(optarg, 1, 1UL << 20);
		else
			die("usage: stripes [-p PROCESSES] [-s MIB]   (1, 512)");
	}
	shared = make_shared(processes);
	signal(SIGCHLD, child_ended);
	for (uint32_t owner = 0; owner < processes; owner++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork: %s", strerror(errno));
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			/* Who ended before was not watched. */
			if (getppid() != parent)
				_exit(EXIT_CANNOT);
			work(shared, owner, mib * PAGES_PER_MIB / processes);
			_exit(0);
		}
	}
	printf("phase=write round=0 secs=%.3f\n", phase(shared));
	fflush(stdout);
	seconds = phase(shared);
	while (wait(&status) > 0 || errno == EINTR)
		if (status)
			die("a process failed");
	for (uint32_t owner = 0; owner < processes; owner++) {
		tally.verified += shared->tally[owner].verified;
		tally.bad += shared->tally[owner].bad;
	}
	printf("phase=read round=1 secs=%.3f bad=%lu\n", seconds, tally.bad);
	return tally_report(&tally);
}
