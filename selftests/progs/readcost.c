// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a read of a block device costs: random reads past the page cache, one at a time, of each device in
 * turn for a short while, again and again, so that what disturbs the machine disturbs all of them. A line of
 * key=value for each device: nanoseconds a read, and their ratio to the first device's in the same round;
 * medians, lowest and highest.
 *	device=/dev/ram0 ns=1200 ns_low=1100 ns_high=1500 ratio=1.000 ratio_low=1.000 ratio_high=1.000
 */
#include <fcntl.h>
#include <getopt.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <linux/fs.h>

#include "page.h"

#define MAX_DEVICES	8
#define MAX_ROUNDS	1000
#define CLOCK_EVERY	16	/* reads between two looks at the clock */

struct device {
	const char *path;
	int fd;
	double ns[MAX_ROUNDS];
	double ratio[MAX_ROUNDS];
};

static const char usage[] =
	"usage: readcost [options] DEVICE...\n"
	"  -k KIB     of a read (4)\n"
	"  -m MIB     only the first so many of each device\n"
	"  -t MS      of a device in a round (200)\n"
	"  -r ROUNDS  (20)\n";

static struct device devices[MAX_DEVICES];
static int nr_devices;
static uint64_t kib = 4, mib, slice_ms = 200, rounds = 20;
static uint64_t span;		/* reads that fit in what is read of a device */

static void parse_args(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "k:m:t:r:")) != -1) {
		if (opt == 'k')
			kib = number_arg(optarg, 4, 4096);
		else if (opt == 'm')
			mib = number_arg(optarg, 1, 1UL << 20);
		else if (opt == 't')
			slice_ms = number_arg(optarg, 1, 60000);
		else if (opt == 'r')
			rounds = number_arg(optarg, 1, MAX_ROUNDS);
		else
			die("%s", usage);
	}
	if (optind == argc || argc - optind > MAX_DEVICES)
		die("%s", usage);
}

static void open_device(const char *path)
{
	struct device *d = &devices[nr_devices];
	uint64_t bytes, reads;

	d->path = path;
	d->fd = open(path, O_RDONLY | O_DIRECT);
	if (d->fd < 0 || ioctl(d->fd, BLKGETSIZE64, &bytes))
		die("%s: %m", path);
	reads = (mib && mib << 20 < bytes ? mib << 20 : bytes) / (kib << 10);
	if (!reads)
		die("%s: too small", path);
	if (!nr_devices++ || reads < span)
		span = reads;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Nanoseconds a read; the same blocks for each device of a round. */
static double measure(struct device *d, void *buffer, uint64_t round)
{
	uint64_t state = 0x9e3779b97f4a7c15ull * (round + 1);
	ssize_t bytes = kib << 10;
	double start = seconds_now(), seconds;
	uint64_t reads = 0;

	do {
		off_t at = next_random(&state) % span * bytes;

		if (pread(d->fd, buffer, bytes, at) != bytes)
			die("%s: cannot read: %m", d->path);
		reads++;
	} while (reads % CLOCK_EVERY || seconds_now() - start < slice_ms / 1e3);
	seconds = seconds_now() - start;
	return seconds * 1e9 / reads;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_spread(const char *name, double *values, int digits)
{
	double median;

	qsort(values, rounds, sizeof(*values), by_value);
	median = (values[(rounds - 1) / 2] + values[rounds / 2]) / 2;
	printf(" %s=%.*f %s_low=%.*f %s_high=%.*f", name, digits, median, name, digits, values[0], name, digits,
	       values[rounds - 1]);
}

int main(int argc, char **argv)
{
	void *buffer;
	uint64_t i;
	int d;

	parse_args(argc, argv);
	for (d = optind; d < argc; d++)
		open_device(argv[d]);
	if (posix_memalign(&buffer, 4096, kib << 10))
		die("no memory");
	for (i = 0; i < rounds; i++) {
		for (d = 0; d < nr_devices; d++)
			devices[d].ns[i] = measure(&devices[d], buffer, i);
		for (d = 0; d < nr_devices; d++)
			devices[d].ratio[i] = devices[d].ns[i] / devices[0].ns[i];
	}
	for (d = 0; d < nr_devices; d++) {
		printf("device=%s", devices[d].path);
		print_spread("ns", devices[d].ns, 0);
		print_spread("ratio", devices[d].ratio, 3);
		printf("\n");
	}
	return 0;
}
