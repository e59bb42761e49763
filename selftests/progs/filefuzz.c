// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes nonsense, and what is nearly sense, to control files from several threads at once: random bytes,
 * numbers at the edges, known words (whole, cut, joined), in one write of 0 to 70,000 bytes or in pieces at
 * an offset; reads them; opens them while they vanish. Who survives that wins: what is checked is the kernel's
 * log, and that the files still work afterwards.
 *
 *	filefuzz [-s SEED] [-t SECONDS] [-n THREADS] [-w WORD]... FILE|PATTERN...
 *
 *	seed=1 writes=12345 taken=678 refused=11667 reads=2345
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <glob.h>
#include <pthread.h>
#include <unistd.h>

#include "page.h"

#define THREADS_MAX	16
#define WORDS_MAX	64
#define LONGEST		70000

static const char * const numbers[] = {
	"0", "1", "-1", "2", "63", "64", "65", "255", "256", "257", "4095", "4096", "65536", "65537", "1048576",
	"2147483647", "2147483648", "4294967295", "4294967296", "18446744073709551615", "18446744073709551616",
	"0x40", "1K", "1M", "64M", "16777215T", "1e3", " 7 ", "+8", "0\n1", "%s%n", "\n", "",
};

static const char *words[WORDS_MAX];
static size_t nr_words;
static glob_t files;
static double deadline;

struct worker {
	pthread_t thread;
	uint64_t random;
	unsigned long writes, taken, reads;
	char text[LONGEST + 256];
};

static size_t below(struct worker *worker, size_t n)
{
	return (random_next(&worker->random) >> 11) % n;
}

static size_t put_word(struct worker *worker, size_t at)
{
	const char *word;
	size_t len;

	if (nr_words && below(worker, 3))
		word = words[below(worker, nr_words)];
	else
		word = numbers[below(worker, sizeof(numbers) / sizeof(*numbers))];
	len = strlen(word);
	memcpy(worker->text + at, word, len);
	return at + len;
}

static size_t put_bytes(struct worker *worker, size_t at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		worker->text[at + i] = (char)random_next(&worker->random);
	return at + len;
}

/* Puts what to write in worker->text; its length. */
static size_t compose(struct worker *worker)
{
	size_t len = 0;

	switch (below(worker, 8)) {
	case 0:
		return put_bytes(worker, 0, below(worker, 64));
	case 1:
		return put_bytes(worker, 0, below(worker, LONGEST));
	case 2:
		len = below(worker, LONGEST);
		memset(worker->text, "0 9/a\n"[below(worker, 6)], len);
		return len;
	case 3:
		len = put_word(worker, 0);
		return len ? below(worker, len + 1) : 0;
	case 4:
		len = put_word(worker, put_word(worker, 0));
		return put_bytes(worker, len, below(worker, 4));
	default:
		return put_word(worker, 0);
	}
}

static void do_write(struct worker *worker, int fd)
{
	size_t len = compose(worker), half = below(worker, len + 1);

	worker->writes++;
	if (below(worker, 8)) {
		worker->taken += write(fd, worker->text, len) >= 0;
		return;
	}
	worker->taken += pwrite(fd, worker->text, half, 0) >= 0;
	worker->writes++;
	worker->taken += pwrite(fd, worker->text + half, len - half, (off_t)half) >= 0;
}

static void do_read(struct worker *worker, int fd)
{
	static const size_t sizes[] = { 1, 7, 4095, 4096, LONGEST };

	worker->reads++;
	if (pread(fd, worker->text, sizes[below(worker, 5)], (off_t)below(worker, 3)) < 0)
		errno = 0;
}

static void *work(void *data)
{
	struct worker *worker = data;

	while (seconds_now() < deadline) {
		bool reading = !below(worker, 5);
		int fd = open(files.gl_pathv[below(worker, files.gl_pathc)],
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
	unsigned long seconds = 10, threads = 2, seed = 1, writes = 0, taken = 0, reads = 0;
	int opt;

	while ((opt = getopt(argc, argv, "s:t:n:w:")) != -1) {
		if (opt == 's')
			seed = number_arg(optarg, 1, UINT32_MAX);
		else if (opt == 't')
			seconds = number_arg(optarg, 1, 36000);
		else if (opt == 'n')
			threads = number_arg(optarg, 1, THREADS_MAX);
		else if (opt == 'w' && nr_words < WORDS_MAX && strlen(optarg) < 64)
			words[nr_words++] = optarg;
		else
			die("usage: filefuzz [-s SEED] [-t SECONDS] [-n THREADS] [-w WORD]... FILE|PATTERN...");
	}
	find_files(argc, argv);
	deadline = seconds_now() + (double)seconds;
	for (unsigned long i = 0; i < threads; i++) {
		workers[i].random = mix64(seed * THREADS_MAX + i + 1);
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			die("no thread");
	}
	for (unsigned long i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		writes += workers[i].writes;
		taken += workers[i].taken;
		reads += workers[i].reads;
	}
	printf("seed=%lu writes=%lu taken=%lu refused=%lu reads=%lu\n", seed, writes, taken, writes - taken, reads);
	return 0;
}
