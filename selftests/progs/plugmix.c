// SPDX-License-Identifier: GPL-2.0-only
/*
 * Direct writes to a device, and a read from another one into memory that is not there yet, by one io_submit(), again
 * and again: the writes lie in the task's plug while the kernel finds memory to read to, and if that is short, in a
 * memory cgroup, what is evicted for it comes to the same plug. All that was read stays in memory, and is verified when
 * all of SOURCE was, and then all that was written to TARGET, of which each process has a part.
 *
 *	blkpattern -g 1 fill SOURCE; plugmix [-n PROCESSES] [-r ROUNDS] [-w WRITES] [-b PAGES_EACH] SOURCE TARGET
 */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "procs.h"

#define READ_PAGES	128
#define WRITES_MAX	64

static unsigned long processes = 1, rounds = 1, writes = 3, write_pages = 16;
static int source, target;
static size_t source_pages, part_pages;

struct part {
	uint32_t owner;
	aio_context_t context;
	char *out;		/* what goes to TARGET by one io_submit() */
	uint32_t *generations;	/* of each write's place, 0: none yet */
	size_t places;
	uint64_t random;
	uint32_t generation;	/* of the last write */
};

static size_t pages_of(int device, const char *path)
{
	uint64_t bytes;

	if (ioctl(device, BLKGETSIZE64, &bytes))
		die("%s has no size: %m", path);
	return bytes / PAGE_SIZE;
}

static off_t place_at(const struct part *part, size_t place)
{
	return (off_t)(((part->owner - 1) * part_pages + place * write_pages) * PAGE_SIZE);
}

static void fill_place(char *at, const struct part *part, size_t place)
{
	for (size_t i = 0; i < write_pages; i++)
		page_fill(at + i * PAGE_SIZE, part->owner, place * write_pages + i, part->generation);
}

/* The next ones in a row, from anywhere on. */
static void prepare_writes(struct part *part, struct iocb *iocbs)
{
	size_t first = random_next(&part->random) % (part->places - writes + 1);

	part->generation++;
	for (size_t i = 0; i < writes; i++) {
		char *at = part->out + i * write_pages * PAGE_SIZE;

		fill_place(at, part, first + i);
		part->generations[first + i] = part->generation;
		iocbs[i] = (struct iocb){
			.aio_lio_opcode = IOCB_CMD_PWRITE,
			.aio_fildes = (uint32_t)target,
			.aio_buf = (uintptr_t)at,
			.aio_nbytes = write_pages * PAGE_SIZE,
			.aio_offset = place_at(part, first + i),
		};
	}
}

static void submit_all(struct part *part, struct iocb *iocbs, long n)
{
	struct iocb *list[WRITES_MAX + 1];
	struct io_event events[WRITES_MAX + 1];

	for (long i = 0; i < n; i++)
		list[i] = &iocbs[i];
	if (syscall(SYS_io_submit, part->context, n, list) != n)
		die("io_submit failed: %m");
	if (syscall(SYS_io_getevents, part->context, n, n, events, NULL) != n)
		die("io_getevents failed: %m");
	for (long i = 0; i < n; i++)
		if (events[i].res != (long long)((struct iocb *)(uintptr_t)events[i].obj)->aio_nbytes)
			die("an I/O ended with %lld", (long long)events[i].res);
}

/* What @page of the memory is read from: no two processes have the same content in the same place. */
static size_t source_of(const struct part *part, size_t page)
{
	return (page + part->owner * READ_PAGES) % source_pages;
}

static void write_and_read(struct part *part, char *mem, size_t page)
{
	struct iocb iocbs[WRITES_MAX + 1];

	prepare_writes(part, iocbs);
	iocbs[writes] = (struct iocb){
		.aio_lio_opcode = IOCB_CMD_PREAD,
		.aio_fildes = (uint32_t)source,
		.aio_buf = (uintptr_t)(mem + page * PAGE_SIZE),
		.aio_nbytes = READ_PAGES * PAGE_SIZE,
		.aio_offset = (off_t)(source_of(part, page) * PAGE_SIZE),
	};
	submit_all(part, iocbs, (long)writes + 1);
}

static void verify_places(const struct part *part, struct tally *tally)
{
	size_t bytes = write_pages * PAGE_SIZE;

	for (size_t place = 0; place < part->places; place++) {
		if (!part->generations[place])
			continue;
		if (pread(target, part->out, bytes, place_at(part, place)) != (ssize_t)bytes)
			die("cannot read what was written: %m");
		for (size_t i = 0; i < write_pages; i++)
			page_check(part->out + i * PAGE_SIZE, part->owner, place * write_pages + i,
				   part->generations[place], tally);
	}
}

static void part_init(struct part *part, uint32_t owner)
{
	size_t bytes = writes * write_pages * PAGE_SIZE;

	*part = (struct part){ .owner = owner, .random = owner, .places = part_pages / write_pages };
	part->generations = calloc(part->places, sizeof(*part->generations));
	part->out = private_alloc(bytes, PAGE_SIZE);
	if (!part->generations || part->places < writes)
		die("no room for a process");
	/* What is to be written is there: to wait for it would be to end the plug. */
	if (mlock(part->out, bytes) || syscall(SYS_io_setup, writes + 1, &part->context))
		die("cannot prepare: %m");
}

static void one_process(uint32_t owner, struct tally *tally)
{
	size_t bytes = source_pages * PAGE_SIZE;
	char *mem = private_alloc(bytes, PAGE_SIZE);
	struct part part;

	part_init(&part, owner);
	want_huge_pages(mem, bytes, false);
	for (unsigned long round = 0; round < rounds; round++) {
		for (size_t page = 0; page < source_pages; page += READ_PAGES)
			write_and_read(&part, mem, page);
		for (size_t page = 0; page < source_pages; page++)
			page_check(mem + page * PAGE_SIZE, 0, source_of(&part, page), 1, tally);
		verify_places(&part, tally);
		if (madvise(mem, bytes, MADV_DONTNEED))
			die("MADV_DONTNEED failed: %m");
	}
}

static int open_direct(const char *path, int flags)
{
	int device = open(path, flags | O_DIRECT);

	if (device < 0)
		die("cannot open %s: %m", path);
	return device;
}

int main(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "n:r:w:b:")) != -1) {
		if (opt == 'n')
			processes = number_arg(optarg, 1, 64);
		else if (opt == 'r')
			rounds = number_arg(optarg, 1, 1000);
		else if (opt == 'w')
			writes = number_arg(optarg, 2, WRITES_MAX);
		else if (opt == 'b')
			write_pages = number_arg(optarg, 1, 256);
		else
			break;
	}
	if (opt != -1 || optind + 2 != argc)
		die("usage: %s [-n PROCESSES] [-r ROUNDS] [-w WRITES] [-b PAGES_EACH] SOURCE TARGET", argv[0]);
	source = open_direct(argv[optind], O_RDONLY);
	target = open_direct(argv[optind + 1], O_RDWR);
	source_pages = pages_of(source, argv[optind]) / READ_PAGES * READ_PAGES;
	part_pages = pages_of(target, argv[optind + 1]) / processes;
	return run_processes(processes, one_process);
}
