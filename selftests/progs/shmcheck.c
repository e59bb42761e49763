// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared memory through swap: a shared anonymous mapping and a file on tmpfs are filled, paged out, verified
 * and partly rewritten by a child, and verified by the parent through the mapping and through read(2).
 */
#include <fcntl.h>

#include "procs.h"

static struct rounds_args args = { .processes = 1, .mib = 32, .rounds = 2 };
static const char *folder;

struct area {
	char *mem;
	uint32_t *generation;	/* of each page, shared with the child */
	size_t pages;
	uint32_t owner;
	int fd;			/* the file behind it, or -1 */
};

static void area_map(struct area *area, uint32_t owner, int fd)
{
	area->pages = args.mib * PAGES_PER_MIB;
	area->owner = owner;
	area->fd = fd;
	area->generation = shared_alloc(area->pages * sizeof(*area->generation));
	area->mem = mmap(NULL, area->pages * PAGE_SIZE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
	if (area->mem == MAP_FAILED)
		die("mmap of %lu MiB failed: %m", args.mib);
}

static void area_fill(struct area *area, size_t step, uint32_t to)
{
	for (size_t page = to % step; page < area->pages; page += step) {
		area->generation[page] = to;
		page_fill(area->mem + page * PAGE_SIZE, area->owner, page, to);
	}
}

static void area_check(const struct area *area, struct tally *tally)
{
	for (size_t page = 0; page < area->pages; page++)
		page_check(area->mem + page * PAGE_SIZE, area->owner, page, area->generation[page], tally);
}

static void area_check_read(const struct area *area, struct tally *tally)
{
	static uint64_t buffer[PAGE_WORDS];

	for (size_t page = 0; page < area->pages; page++) {
		if (pread(area->fd, buffer, PAGE_SIZE, (off_t)(page * PAGE_SIZE)) != (ssize_t)PAGE_SIZE)
			die("reading page %zu of the file failed: %m", page);
		page_check(buffer, area->owner, page, area->generation[page], tally);
	}
}

static void area_page_out(const struct area *area)
{
	if (madvise(area->mem, area->pages * PAGE_SIZE, MADV_PAGEOUT))
		die("MADV_PAGEOUT failed: %m");
}

static void share_and_verify(uint32_t owner, struct tally *tally)
{
	struct area areas[2];
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/shmcheck.%d", folder, getpid());
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)(args.mib << 20)))
		die("cannot make %s: %m", path);
	area_map(&areas[0], owner, -1);
	area_map(&areas[1], owner + 100000, fd);
	for (int i = 0; i < 2; i++)
		area_fill(&areas[i], 1, 1);
	for (uint32_t round = 1; round <= args.rounds; round++) {
		pid_t child;

		for (int i = 0; i < 2; i++)
			area_page_out(&areas[i]);
		child = fork();
		if (child < 0)
			die("fork failed: %m");
		if (!child) {
			for (int i = 0; i < 2; i++) {
				area_check(&areas[i], tally);
				area_fill(&areas[i], 3, 1 + round);
				area_page_out(&areas[i]);
			}
			_exit(0);
		}
		child_wait(child);
		area_check_read(&areas[1], tally);
		for (int i = 0; i < 2; i++)
			area_check(&areas[i], tally);
	}
	unlink(path);
}

int main(int argc, char **argv)
{
	rounds_options(&args, argc, argv, "TMPFS_FOLDER");
	folder = argv[optind];
	return run_processes(args.processes, share_and_verify);
}
