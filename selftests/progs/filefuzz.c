// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes nonsense, and what is nearly sense, to control files from several threads at once, in one write of 0 to
 * 70,000 bytes or in pieces at an offset; reads them; opens them while they vanish. Who survives that wins: what is
 * checked is the kernel's log, and that the files still work afterwards.
 *
 *	filefuzz [-s SEED] [-t SECONDS] [-m WRITES] [-n THREADS] [-w WORD]... FILE|PATTERN...
 *
 * for so many seconds, and until each thread has made so many writes, prints
 *
 *	seed=1 writes=12345 taken=678 refused=11667 reads=2345
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <unistd.h>

#include "fuzz.h"

#define THREADS_MAX	16

static struct fuzz_words words;
static glob_t files;
static double deadline;
static unsigned long least;	/* writes of a thread */

struct worker {
	pthread_t thread;
	struct fuzz fuzz;
	unsigned long writes, taken, reads;
};

static void do_write(struct worker *worker, int fd)
{
	size_t len = fuzz_compose(&worker->fuzz), half = fuzz_below(&worker->fuzz, len + 1);

	worker->writes++;
	if (fuzz_below(&worker->fuzz, 8)) {
		worker->taken += write(fd, worker->fuzz.text, len) >= 0;
		return;
	}
	worker->taken += pwrite(fd, worker->fuzz.text, half, 0) >= 0;
	worker->writes++;
	worker->taken += pwrite(fd, worker->fuzz.text + half, len - half, (off_t)half) >= 0;
}

static void do_read(struct worker *worker, int fd)
{
	static const size_t sizes[] = { 1, 7, 4095, 4096, FUZZ_LONGEST };

	worker->reads++;
	if (pread(fd, worker->fuzz.text, sizes[fuzz_below(&worker->fuzz, 5)], (off_t)fuzz_below(&worker->fuzz, 3)) < 0)
		errno = 0;
}

static void *work(void *data)
{
	struct worker *worker = data;

	while (seconds_now() < deadline || worker->writes < least) {
		bool reading = !fuzz_below(&worker->fuzz, 5);
		int fd = open(files.gl_pathv[fuzz_below(&worker->fuzz, files.gl_pathc)],
			      (reading ? O_RDONLY : O_WRONLY) | O_CLOEXEC | O_NONBLOCK);

		if (fd < 0)
			continue;
		if (reading)
			do_read(worker, fd);
		else
			do_write(worker, fd);
		close(fd);
	}
	return NULL;
}

static void find_files(int argc, char **argv)
{
	for (int i = optind; i < argc; i++)
		if (glob(argv[i], GLOB_NOCHECK | (i > optind ? GLOB_APPEND : 0), NULL, &files))
			die("no file %s", argv[i]);
	if (!files.gl_pathc)
		die("no files");
}

int main(int argc, char **argv)
{
	static struct worker workers[THREADS_MAX];
	struct fuzz_options options = {
		.seed = 1, .seconds = 10, .threads = 2, .threads_max = THREADS_MAX, .words = &words,
	};
	unsigned long writes = 0, taken = 0, reads = 0;
	int opt;

	while ((opt = getopt(argc, argv, FUZZ_OPTIONS "m:")) != -1)
		if (opt == 'm')
			least = number_arg(optarg, 1, UINT32_MAX);
		else if (!fuzz_take_option(&options, opt))
			die("usage: filefuzz [-s SEED] [-t SECONDS] [-m WRITES] [-n THREADS] [-w WORD]... FILE|PATTERN...");
	find_files(argc, argv);
	deadline = seconds_now() + (double)options.seconds;
	for (unsigned long i = 0; i < options.threads; i++) {
		fuzz_init(&workers[i].fuzz, &words, options.seed * THREADS_MAX + i);
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			die("no thread");
	}
	for (unsigned long i = 0; i < options.threads; i++) {
		pthread_join(workers[i].thread, NULL);
		writes += workers[i].writes;
		taken += workers[i].taken;
		reads += workers[i].reads;
	}
	printf("seed=%lu writes=%lu taken=%lu refused=%lu reads=%lu\n", options.seed,
	       writes, taken, writes - taken, reads);
	return 0;
}
