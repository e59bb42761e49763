// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several threads make, load, resume, suspend, ask, clear and remove the same few devices of device-mapper, with
 * tables and messages that are right, nearly right, or nonsense of up to 70,000 bytes, while two threads read,
 * write and discard. Who survives that wins: what is checked is the kernel's log, and that the target still works
 * afterwards. In the end no device is left. All content of the origins is lost.
 *
 *	dmfuzz [-s SEED] [-t SECONDS] [-n THREADS] [-w WORD]... [-m MESSAGE]... -T "START SECTORS TARGET WORDS"...
 *
 *	seed=1 tables=123 loaded=45 live=40 messages=67 taken=8 removed=9 ios=10 failed=3
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <linux/fs.h>

#include "dm.h"
#include "fuzz.h"

#define DEVICES		3
#define MINOR		200	/* of the first one */
#define THREADS_MAX	16
#define IO_THREADS	2
#define TEMPLATES_MAX	32
#define IO_BYTES_MAX	(256 * PAGE_SIZE)

enum what { TABLES, TABLES_TAKEN, LIVE, MESSAGES, MESSAGES_TAKEN, REMOVED, IOS, IOS_FAILED, WHATS };

struct templates {
	const char *text[TEMPLATES_MAX];
	size_t n;
};

struct worker {
	pthread_t thread;
	struct fuzz fuzz;
	struct dm_call call;
	unsigned long count[WHATS];
	char text[DM_TEXT_MAX];
};

static struct templates tables, messages;
static struct fuzz_words words;
static double deadline;
static int control;
static atomic_int io_threads;

static const char *device_name(size_t number)
{
	static const char * const names[DEVICES] = { "muster-fuzz0", "muster-fuzz1", "muster-fuzz2" };

	return names[number];
}

/* Puts @len bytes of what the fuzzer composes before @at in the text of @length. */
static size_t insert(struct worker *worker, size_t at, size_t length)
{
	size_t len = fuzz_compose(&worker->fuzz);

	memmove(worker->text + at + len, worker->text + at, length - at);
	memcpy(worker->text + at, worker->fuzz.text, len);
	return length + len;
}

/* Puts in worker->text one of @templates, or something like it; its length. */
static size_t compose(struct worker *worker, const struct templates *templates)
{
	struct fuzz *fuzz = &worker->fuzz;
	const char *text = templates->text[fuzz_below(fuzz, templates->n)];
	size_t len = strlen(text);

	memcpy(worker->text, text, len);
	switch (fuzz_below(fuzz, 10)) {
	case 0:
		return fuzz_below(fuzz, len);
	case 1:
		for (size_t i = fuzz_below(fuzz, 4); i < 4; i++)
			worker->text[fuzz_below(fuzz, len)] = (char)random_next(&fuzz->random);
		return len;
	case 2:
		return insert(worker, fuzz_below(fuzz, len), len);
	case 3:
		worker->text[len++] = ' ';
		return insert(worker, len, len);
	case 4:
		return insert(worker, 0, 0);
	default:
		return len;
	}
}

static void load(struct worker *worker)
{
	size_t len = compose(worker, &tables);
	unsigned long long start = 0, sectors = 8;
	char type[DM_MAX_TYPE_NAME] = "";
	int skip = 0;

	worker->text[len] = '\0';
	if (sscanf(worker->text, "%llu %llu %15s %n", &start, &sectors, type, &skip) < 3)
		skip = 0;
	dm_put_target(&worker->call, start, sectors, type, worker->text + skip, len - (size_t)skip);
	worker->count[TABLES]++;
	worker->count[TABLES_TAKEN] += !ioctl(control, DM_TABLE_LOAD, &worker->call);
}

static void send_message(struct worker *worker)
{
	size_t len = compose(worker, &messages);
	uint64_t sector = fuzz_below(&worker->fuzz, 4) ? 0 : random_next(&worker->fuzz.random) >> fuzz_below(&worker->fuzz, 64);

	dm_put_message(&worker->call, sector, worker->text, len);
	worker->count[MESSAGES]++;
	worker->count[MESSAGES_TAKEN] += !ioctl(control, DM_TARGET_MSG, &worker->call);
}

static void ask(struct worker *worker)
{
	static const uint32_t flags[] = {
		0, DM_NOFLUSH_FLAG, DM_STATUS_TABLE_FLAG, DM_STATUS_TABLE_FLAG | DM_QUERY_INACTIVE_TABLE_FLAG,
		DM_IMA_MEASUREMENT_FLAG,
	};

	worker->call.io.flags = flags[fuzz_below(&worker->fuzz, 5)];
	worker->call.io.data_size = (uint32_t)(sizeof(worker->call.io) + fuzz_below(&worker->fuzz, 2000));
	ioctl(control, DM_TABLE_STATUS, &worker->call);
}

static void create(struct worker *worker, size_t number)
{
	worker->call.io.flags = DM_PERSISTENT_DEV_FLAG;
	worker->call.io.dev = MINOR + number;
	ioctl(control, DM_DEV_CREATE, &worker->call);
}

static void step(struct worker *worker)
{
	size_t number = fuzz_below(&worker->fuzz, DEVICES);

	dm_prepare(&worker->call, device_name(number), 0);
	switch (fuzz_below(&worker->fuzz, 16)) {
	case 0: case 1:
		create(worker, number);
		break;
	case 2: case 3: case 4: case 5: case 6:
		load(worker);
		break;
	case 7: case 8: case 9:
		worker->count[LIVE] += !ioctl(control, DM_DEV_SUSPEND, &worker->call);
		break;
	case 10:
		worker->call.io.flags = DM_SUSPEND_FLAG | (fuzz_below(&worker->fuzz, 2) ? DM_NOFLUSH_FLAG : 0);
		ioctl(control, DM_DEV_SUSPEND, &worker->call);
		break;
	case 11: case 12:
		send_message(worker);
		break;
	case 13:
		ask(worker);
		break;
	case 14:
		ioctl(control, DM_TABLE_CLEAR, &worker->call);
		break;
	default:
		worker->count[REMOVED] += !ioctl(control, DM_DEV_REMOVE, &worker->call);
	}
}

static void *work(void *data)
{
	while (seconds_now() < deadline)
		step(data);
	return NULL;
}

static bool do_io(struct worker *worker, int fd, char *memory)
{
	size_t bytes = PAGE_SIZE << fuzz_below(&worker->fuzz, 9);
	uint64_t range[2] = { fuzz_below(&worker->fuzz, 4096) * PAGE_SIZE, bytes };

	switch (fuzz_below(&worker->fuzz, 8)) {
	case 0:
		return !ioctl(fd, BLKDISCARD, range);
	case 1: case 2:
		return pwrite(fd, memory, bytes, (off_t)range[0]) == (ssize_t)bytes;
	default:
		return pread(fd, memory, bytes, (off_t)range[0]) == (ssize_t)bytes;
	}
}

static void *work_io(void *data)
{
	struct worker *worker = data;
	char *memory = aligned_alloc(PAGE_SIZE, IO_BYTES_MAX);
	char path[32];

	if (!memory)
		die("no memory");
	while (seconds_now() < deadline) {
		int fd;

		snprintf(path, sizeof(path), "/dev/dm-%zu", MINOR + fuzz_below(&worker->fuzz, DEVICES));
		fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
		if (fd < 0) {
			usleep(1000);
			continue;
		}
		for (size_t i = fuzz_below(&worker->fuzz, 32); i < 32; i++) {
			worker->count[IOS]++;
			worker->count[IOS_FAILED] += !do_io(worker, fd, memory);
		}
		close(fd);
	}
	free(memory);
	atomic_fetch_sub(&io_threads, 1);
	return NULL;
}

/* I/O may hang on a device that was left suspended. */
static void wake_all(struct worker *worker)
{
	while (atomic_load(&io_threads)) {
		for (size_t number = 0; number < DEVICES; number++) {
			dm_prepare(&worker->call, device_name(number), 0);
			ioctl(control, DM_DEV_SUSPEND, &worker->call);
		}
		usleep(50000);
	}
}

static void remove_all(struct worker *worker)
{
	for (size_t number = 0; number < DEVICES; number++) {
		for (int tries = 0; ; tries++) {
			dm_prepare(&worker->call, device_name(number), 0);
			if (!ioctl(control, DM_DEV_REMOVE, &worker->call) || errno == ENXIO)
				break;
			if (tries == 100)
				die("cannot remove %s: %m", device_name(number));
			usleep(50000);
		}
	}
}

static void run(unsigned long seed, unsigned long threads)
{
	static struct worker workers[THREADS_MAX + IO_THREADS];
	unsigned long count[WHATS] = { 0 };

	atomic_store(&io_threads, IO_THREADS);
	for (unsigned long i = 0; i < threads + IO_THREADS; i++) {
		fuzz_init(&workers[i].fuzz, &words, seed * (THREADS_MAX + IO_THREADS) + i);
		if (pthread_create(&workers[i].thread, NULL, i < threads ? work : work_io, &workers[i]))
			die("no thread");
	}
	for (unsigned long i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	wake_all(&workers[0]);
	for (unsigned long i = threads; i < threads + IO_THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	remove_all(&workers[0]);
	for (unsigned long i = 0; i < threads + IO_THREADS; i++)
		for (int what = 0; what < WHATS; what++)
			count[what] += workers[i].count[what];
	printf("seed=%lu tables=%lu loaded=%lu live=%lu messages=%lu taken=%lu removed=%lu ios=%lu failed=%lu\n", seed,
	       count[TABLES], count[TABLES_TAKEN], count[LIVE], count[MESSAGES], count[MESSAGES_TAKEN],
	       count[REMOVED], count[IOS], count[IOS_FAILED]);
}

static void add_template(struct templates *templates, const char *text)
{
	if (templates->n == TEMPLATES_MAX || !*text || strlen(text) > 4000)
		die("too many texts, or not a text to vary: '%s'", text);
	templates->text[templates->n++] = text;
}

static void refuse_arguments(void)
{
	die("usage: dmfuzz [-s SEED] [-t SECONDS] [-n THREADS] [-w WORD]... -m MESSAGE... -T TABLE...");
}

int main(int argc, char **argv)
{
	struct fuzz_options options = {
		.seed = 1, .seconds = 10, .threads = 3, .threads_max = THREADS_MAX, .words = &words,
	};
	int opt;

	while ((opt = getopt(argc, argv, FUZZ_OPTIONS "m:T:")) != -1) {
		if (fuzz_take_option(&options, opt))
			continue;
		if (opt == 'm')
			add_template(&messages, optarg);
		else if (opt == 'T')
			add_template(&tables, optarg);
		else
			refuse_arguments();
	}
	if (optind != argc || !tables.n || !messages.n)
		refuse_arguments();
	control = open(DM_CONTROL, O_RDWR | O_CLOEXEC);
	if (control < 0)
		die("cannot open %s: %m", DM_CONTROL);
	deadline = seconds_now() + (double)options.seconds;
	run(options.seed, options.threads);
	return 0;
}
