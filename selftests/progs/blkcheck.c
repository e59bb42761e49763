// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random direct writes, reads, discards and write-zeroes on a block device, 4 KiB to 1 MiB each, from several
 * threads with a region each, while other threads read anywhere: a block must read as it was last written, or,
 * while it is being written, as before or after that write, and never as a third thing.
 *
 * Memory of the I/Os starts at any multiple of 512 bytes, where the device admits that. All content of the
 * device is lost. SIGTERM ends it early, as if the time were over. What each thread does follows from the
 * seed, which is another one each time unless it is told; when it does it does not.
 *
 *	seed=…
 *	writes=… reads=… discards=… zeroes=… racing_reads=… unaligned=yes|no io_errors=0 secs=… seed=…
 *	verified N pages, M bad
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "oracle.h"

#define MAX_BLOCKS	256		/* in one I/O */
#define MAX_THREADS	64
#define LEAST_OPERATIONS 50		/* of each thread */
#define SECTOR		512
#define ZERO_TRIES	50
#define SEED_MAX	999999999UL

enum operation { WRITE, READ, DISCARD, ZERO, RACE, OPERATIONS };

static struct oracle oracle;
static int device;
static double deadline;
static volatile sig_atomic_t told;	/* to end */
static size_t region_blocks;	/* of each writer */
static unsigned long writers = 4, readers = 2;
static unsigned long seed;
static bool with_discard = true, unaligned, aligned_only, errors_allowed;

struct worker {
	pthread_t thread;
	uint64_t random;
	size_t first, blocks;	/* its region; all of the device for a reader */
	char *memory;		/* MAX_BLOCKS and a page for starting anywhere in it */
	unsigned long count[OPERATIONS];
	unsigned long errors;
	struct tally tally;
};

struct extent {
	size_t first, blocks;
	char *mem;
};

/* Half of the I/Os are of one block, the others of any size that fits. */
static size_t pick_blocks(uint64_t dice, size_t room)
{
	return dice & 1 ? 1 + (dice >> 8) % (room < MAX_BLOCKS ? room : MAX_BLOCKS) : 1;
}

static struct extent pick(struct worker *worker)
{
	uint64_t dice = random_next(&worker->random);
	struct extent extent = { .blocks = pick_blocks(dice, worker->blocks), .mem = worker->memory };

	extent.first = worker->first + (dice >> 20) % (worker->blocks - extent.blocks + 1);
	if (unaligned && (dice & 6) == 6)
		extent.mem += SECTOR * (1 + (dice >> 4) % 7);
	return extent;
}

static bool io_failed(struct worker *worker, const char *what, const struct extent *extent)
{
	worker->errors++;
	if (!errors_allowed)
		die("%s of %zu blocks at %zu failed: %m", what, extent->blocks, extent->first);
	return false;
}

static bool read_extent(struct worker *worker, const struct extent *extent)
{
	size_t bytes = extent->blocks * PAGE_SIZE;

	errno = EIO;
	if (pread(device, extent->mem, bytes, (off_t)(extent->first * PAGE_SIZE)) == (ssize_t)bytes)
		return true;
	return io_failed(worker, "read", extent);
}

static void read_and_verify(struct worker *worker, const struct extent *extent)
{
	uint32_t since[MAX_BLOCKS];

	for (size_t i = 0; i < extent->blocks; i++)
		since[i] = atomic_load(&oracle.done[extent->first + i]);
	if (!read_extent(worker, extent))
		return;
	for (size_t i = 0; i < extent->blocks; i++) {
		size_t block = extent->first + i;
		const char *mem = extent->mem + i * PAGE_SIZE;

		worker->tally.verified++;
		if (oracle_allows(&oracle, mem, block, since[i]))
			continue;
		if (worker->tally.bad++ < 4)
			oracle_explain(&oracle, mem, block, since[i]);
	}
}

static bool change(enum operation operation, const struct extent *extent)
{
	uint64_t range[2] = { extent->first * PAGE_SIZE, extent->blocks * PAGE_SIZE };

	errno = EIO;
	if (operation == DISCARD)
		return !ioctl(device, BLKDISCARD, range);
	if (operation == ZERO)
		return !ioctl(device, BLKZEROOUT, range);
	return pwrite(device, extent->mem, range[1], (off_t)range[0]) == (ssize_t)range[1];
}

static void change_extent(struct worker *worker, enum operation operation, const struct extent *extent)
{
	static const char * const names[] = { [WRITE] = "write", [DISCARD] = "discard", [ZERO] = "write-zeroes" };

	for (size_t i = 0; i < extent->blocks; i++) {
		uint32_t version = oracle_begin(&oracle, extent->first + i, operation != WRITE);

		if (operation == WRITE)
			version_fill(&oracle, extent->mem + i * PAGE_SIZE, extent->first + i, version);
	}
	if (!change(operation, extent)) {
		io_failed(worker, names[operation], extent);
		return;
	}
	for (size_t i = 0; i < extent->blocks; i++)
		oracle_complete(&oracle, extent->first + i);
}

static enum operation pick_operation(struct worker *worker)
{
	uint64_t dice = random_next(&worker->random) % 100;

	if (dice < 50)
		return WRITE;
	if (dice < 85 || !with_discard)
		return READ;
	return dice < 95 ? DISCARD : ZERO;
}

static void tell(int number)
{
	told = number;
}

/* Nothing raced in a machine that stood still for all of the time: then it goes on for longer. */
static bool goes_on(const struct worker *worker)
{
	unsigned long done = 0;

	for (int operation = 0; operation < OPERATIONS; operation++)
		done += worker->count[operation];
	return !told && (done < LEAST_OPERATIONS || seconds_now() < deadline);
}

static void *writer_run(void *arg)
{
	struct worker *worker = arg;

	while (goes_on(worker)) {
		enum operation operation = pick_operation(worker);
		struct extent extent = pick(worker);

		worker->count[operation]++;
		if (operation == READ)
			read_and_verify(worker, &extent);
		else
			change_extent(worker, operation, &extent);
	}
	return NULL;
}

static void *reader_run(void *arg)
{
	struct worker *worker = arg;

	while (goes_on(worker)) {
		struct extent extent = pick(worker);

		worker->count[RACE]++;
		read_and_verify(worker, &extent);
	}
	return NULL;
}

static void worker_start(struct worker *worker, size_t number)
{
	bool writer = number < writers;
	int error;

	worker->random = mix64(mix64(seed) + number + 1) | 1;
	worker->first = writer ? number * region_blocks : 0;
	worker->blocks = writer ? region_blocks : region_blocks * writers;
	worker->memory = aligned_alloc(PAGE_SIZE, (MAX_BLOCKS + 1) * PAGE_SIZE);
	if (!worker->memory)
		die("no memory");
	error = pthread_create(&worker->thread, NULL, writer ? writer_run : reader_run, worker);
	if (error)
		die("cannot start a thread: %s", strerror(error));
}

/* Where I/Os may fail block by block: what fails is not verified. */
static void verify_all(struct worker *worker)
{
	size_t end = region_blocks * writers;
	struct extent extent = { .mem = worker->memory };

	for (; extent.first < end; extent.first += extent.blocks) {
		size_t room = errors_allowed ? 1 : end - extent.first;

		extent.blocks = pick_blocks(random_next(&worker->random), room);
		read_and_verify(worker, &extent);
	}
}

static void run(void)
{
	struct worker *workers = calloc(writers + readers, sizeof(*workers)), total = { };
	double start = seconds_now();

	if (!workers)
		die("no memory");
	for (size_t i = 0; i < writers + readers; i++)
		worker_start(&workers[i], i);
	for (size_t i = 0; i < writers + readers; i++)
		pthread_join(workers[i].thread, NULL);
	verify_all(&workers[0]);
	for (size_t i = 0; i < writers + readers; i++) {
		for (int operation = 0; operation < OPERATIONS; operation++)
			total.count[operation] += workers[i].count[operation];
		total.errors += workers[i].errors;
		total.tally.verified += workers[i].tally.verified;
		total.tally.bad += workers[i].tally.bad;
	}
	printf("writes=%lu reads=%lu discards=%lu zeroes=%lu racing_reads=%lu unaligned=%s io_errors=%lu secs=%.3f seed=%lu\n",
	       total.count[WRITE], total.count[READ], total.count[DISCARD], total.count[ZERO],
	       total.count[RACE], unaligned ? "yes" : "no", total.errors, seconds_now() - start, seed);
	exit(tally_report(&total.tally));
}

/* Where I/Os may fail, each MiB gets its zeros at last. */
static void zero_all(const char *path, uint64_t bytes)
{
	uint64_t range[2] = { 0, errors_allowed ? PAGES_PER_MIB * PAGE_SIZE : bytes };
	unsigned int tries = errors_allowed ? ZERO_TRIES : 1;

	for (; range[0] < bytes; range[0] += range[1]) {
		if (range[1] > bytes - range[0])
			range[1] = bytes - range[0];
		for (unsigned int failed = 0; ioctl(device, BLKZEROOUT, range); )
			if (++failed == tries)
				die("cannot zero %s: %m", path);
	}
}

/* Starts with zeros everywhere, and finds out which memory the device admits. */
static void prepare(const char *path, unsigned long mib)
{
	size_t most = mib * PAGES_PER_MIB;
	uint64_t bytes;
	char *memory;

	device = open(path, O_RDWR | O_DIRECT | O_EXCL);
	if (device < 0)
		die("cannot open %s: %m", path);
	if (ioctl(device, BLKGETSIZE64, &bytes))
		die("%s has no size: %m", path);
	region_blocks = bytes / PAGE_SIZE / writers;
	if (most && region_blocks > most / writers)
		region_blocks = most / writers;
	if (!region_blocks)
		die("%s is too small for %lu writers", path, writers);
	zero_all(path, region_blocks * writers * PAGE_SIZE);
	memory = aligned_alloc(PAGE_SIZE, 2 * PAGE_SIZE);
	if (!memory)
		die("no memory");
	unaligned = !aligned_only &&
		    pread(device, memory + SECTOR, PAGE_SIZE, 0) == (ssize_t)PAGE_SIZE;
	free(memory);
	oracle_init(&oracle, (uint32_t)getpid(), region_blocks * writers);
}

static unsigned long seed_of_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return mix64((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) % (SEED_MAX + 1);
}

int main(int argc, char **argv)
{
	unsigned long mib = 0, secs = 10;
	int opt;

	seed = seed_of_now();
	while ((opt = getopt(argc, argv, "t:r:s:S:x:DEA")) != -1) {
		if (opt == 't')
			writers = number_arg(optarg, 1, MAX_THREADS);
		else if (opt == 'r')
			readers = number_arg(optarg, 0, MAX_THREADS);
		else if (opt == 's')
			secs = number_arg(optarg, 1, 86400);
		else if (opt == 'S')
			mib = number_arg(optarg, 1, 1UL << 20);
		else if (opt == 'x')
			seed = number_arg(optarg, 0, SEED_MAX);
		else if (opt == 'D')
			with_discard = false;
		else if (opt == 'E')
			errors_allowed = true;
		else if (opt == 'A')
			aligned_only = true;
		else
			optind = argc;
	}
	if (optind != argc - 1)
		die("usage: blkcheck [-t WRITERS] [-r RACING_READERS] [-s SECONDS] [-S MIB_OF_THE_DEVICE]\n"
		    "                [-D (no discards)] [-E (failed I/Os are counted, not fatal)]\n"
		    "                [-A (memory in whole pages only)] [-x SEED] DEVICE");
	/* At once: a time-out may leave no more. */
	printf("seed=%lu\n", seed);
	fflush(stdout);
	signal(SIGTERM, tell);
	prepare(argv[optind], mib);
	deadline = seconds_now() + (double)secs;
	run();
}
