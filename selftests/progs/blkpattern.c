// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes every 4 KiB block of a device (or of a part of it) with its own content, or reads them and counts
 * what is there; direct I/O.
 *
 *	blkpattern fill|scan [options] DEVICE
 *	pages=65536 match=65536 zero=0 other=0 errors=0 secs=0.123
 *
 * With -A all blocks of an I/O are read into one page, so that nothing can be said of them: not counted.
 * match: the content that "fill" with the same owner and generation writes. A failed I/O is told by
 * "errors", in blocks; a failed read of many blocks is tried again block by block.
 * Exit status: 0, or 2 when it could not do its work; what the counts mean is up to the caller.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "page.h"

#define ALIASES_MAX 1024	/* pieces in one read, UIO_MAXIOV */

struct job {
	int fd;
	bool fill;
	bool random;
	bool aliased;
	uint32_t owner, generation;
	size_t first, pages;	/* part of the device */
	size_t io_pages;	/* pages in one I/O */
	char *buffer;
	size_t match, zero, other, errors;
};

static void count_blocks(struct job *job, size_t first, size_t pages)
{
	for (size_t i = 0; i < pages; i++) {
		const char *block = job->buffer + i * PAGE_SIZE;

		if (seed_match(block, PAGE_SIZE, page_seed(job->owner, first + i, job->generation)))
			job->match++;
		else if (all_zero(block, PAGE_SIZE))
			job->zero++;
		else
			job->other++;
	}
}

static void scan_io(struct job *job, size_t first, size_t pages)
{
	size_t bytes = pages * PAGE_SIZE;

	if (pread(job->fd, job->buffer, bytes, (off_t)(first * PAGE_SIZE)) == (ssize_t)bytes) {
		count_blocks(job, first, pages);
	} else if (pages == 1) {
		job->errors++;
	} else {
		for (size_t i = 0; i < pages; i++)
			scan_io(job, first + i, 1);
	}
}

static void scan_aliased(struct job *job, size_t first, size_t pages)
{
	struct iovec pieces[ALIASES_MAX];

	for (size_t i = 0; i < pages; i++)
		pieces[i] = (struct iovec){ job->buffer, PAGE_SIZE };
	if (preadv(job->fd, pieces, (int)pages, (off_t)(first * PAGE_SIZE)) != (ssize_t)(pages * PAGE_SIZE))
		job->errors += pages;
}

static void fill_io(struct job *job, size_t first, size_t pages)
{
	size_t bytes = pages * PAGE_SIZE;

	for (size_t i = 0; i < pages; i++)
		page_fill(job->buffer + i * PAGE_SIZE, job->owner, first + i, job->generation);
	if (pwrite(job->fd, job->buffer, bytes, (off_t)(first * PAGE_SIZE)) == (ssize_t)bytes)
		job->match += pages;
	else
		job->errors += pages;
}

static void run(struct job *job)
{
	size_t count = (job->pages + job->io_pages - 1) / job->io_pages;
	uint32_t *order = malloc(count * sizeof(*order));
	uint64_t state = 88172645463325252ULL;

	if (!order)
		die("no memory");
	for (size_t i = 0; i < count; i++) {
		size_t j = job->random ? random_next(&state) % (i + 1) : i;

		order[i] = order[j];
		order[j] = (uint32_t)i;
	}
	for (size_t i = 0; i < count; i++) {
		size_t at = order[i] * job->io_pages;
		size_t left = job->pages - at;
		size_t pages = left < job->io_pages ? left : job->io_pages;

		if (job->fill)
			fill_io(job, job->first + at, pages);
		else if (job->aliased)
			scan_aliased(job, job->first + at, pages);
		else
			scan_io(job, job->first + at, pages);
	}
	free(order);
}

static void open_device(struct job *job, const char *path)
{
	uint64_t bytes;

	job->fd = open(path, (job->fill ? O_RDWR : O_RDONLY) | O_DIRECT);
	if (job->fd < 0)
		die("cannot open %s: %m", path);
	if (ioctl(job->fd, BLKGETSIZE64, &bytes))
		die("%s has no size: %m", path);
	if (job->first * PAGE_SIZE >= bytes)
		die("%s ends before block %zu", path, job->first);
	if (!job->pages || (job->first + job->pages) * PAGE_SIZE > bytes)
		job->pages = bytes / PAGE_SIZE - job->first;
}

int main(int argc, char **argv)
{
	struct job job = { .io_pages = 64 };
	double start = seconds_now();
	int opt;

	while ((opt = getopt(argc, argv, "o:g:f:n:b:RA")) != -1) {
		if (opt == 'o')
			job.owner = (uint32_t)number_arg(optarg, 0, UINT32_MAX);
		else if (opt == 'g')
			job.generation = (uint32_t)number_arg(optarg, 0, UINT32_MAX);
		else if (opt == 'f')
			job.first = number_arg(optarg, 0, UINT32_MAX);
		else if (opt == 'n')
			job.pages = number_arg(optarg, 1, UINT32_MAX);
		else if (opt == 'b')
			job.io_pages = number_arg(optarg, 1, 4096);
		else if (opt == 'R')
			job.random = true;
		else if (opt == 'A')
			job.aliased = true;
		else
			optind = argc;
	}
	if (optind != argc - 2 || (strcmp(argv[optind], "fill") && strcmp(argv[optind], "scan")))
		die("usage: blkpattern [-o OWNER] [-g GENERATION] [-f FIRST_BLOCK] [-n BLOCKS]\n"
		    "                  [-b BLOCKS_AN_IO] [-R (random order)] [-A (into one page)] fill|scan DEVICE");
	job.fill = !strcmp(argv[optind], "fill");
	if (job.aliased && (job.fill || job.io_pages > ALIASES_MAX))
		die("-A is for a scan, of up to %d blocks an I/O", ALIASES_MAX);
	open_device(&job, argv[optind + 1]);
	job.buffer = aligned_alloc(PAGE_SIZE, job.io_pages * PAGE_SIZE);
	if (!job.buffer)
		die("no memory");
	run(&job);
	if (job.fill && fsync(job.fd))
		job.errors++;
	printf("pages=%zu match=%zu zero=%zu other=%zu errors=%zu secs=%.3f\n", job.pages, job.match, job.zero,
	       job.other, job.errors, seconds_now() - start);
	return 0;
}
