// SPDX-License-Identifier: GPL-2.0-only
/* Devices of mswap; docs/sysfs.md says what their files mean. */
#include <stdlib.h>
#include <string.h>

#include "column.h"
#include "device.h"
#include "files.h"
#include "util.h"

#define SLOT 4096	/* bytes of a slot, and of a page */

/* "/dev/mswap0 partition 1048572 0 90", with blanks or tabs between: the last word. */
static char *priority_of(char *line, const char *name)
{
	char *save, *word = strtok_r(line, " \t\n", &save);
	char *last = NULL;

	if (!word || strncmp(word, "/dev/", 5) || strcmp(word + 5, name))
		return NULL;
	while ((word = strtok_r(NULL, " \t\n", &save)))
		last = word;
	return last && all_digits(last + (*last == '-')) ? strdup(last) : NULL;
}

static char *priority_text(const struct device *dev)
{
	FILE *swaps = file_open("proc/swaps");
	char *line = NULL, *priority = NULL;
	size_t size = 0;

	if (!swaps)
		return NULL;
	while (!priority && getline(&line, &size, swaps) > 0)
		priority = priority_of(line, dev->disk);
	free(line);
	fclose(swaps);
	return priority;
}

static const struct column columns[] = {
	{ .name = "NAME", .help = "device", .kind = TEXT, .text = device_name },
	{ .name = "BACKING-DEV", .help = "what it lies over", .kind = TEXT, .sum = { "backing_dev" }, .trunc = true },
	LEVEL_COLUMN("DISKSIZE", "disksize", 1, "size of the device"),
	LEVEL_COLUMN("INITSTATE", "initstate", 0, "1: ready"),
	{ .name = "PRIO", .help = "priority as a swap area", .kind = TEXT, .text = priority_text, .number = true },
	LEVEL_COLUMN("USED", "slots_used", SLOT, "what is stored on the backing device"),
	{ .name = "USED%", .help = "share of the slots that is in use", .kind = FILL,
	  .sum = { "slots_used" }, .over = { "slots_total" } },
	{ .name = "OUT", .help = "written to it", .kind = COUNT, .sum = { "pages_out" }, .unit = SLOT },
	{ .name = "IN", .help = "read from it", .kind = COUNT, .sum = { "pages_in" }, .unit = SLOT },
	{ .name = "PG/WRITE", .help = "pages out for each write of the backing device", .kind = RATIO,
	  .sum = { "pages_out" }, .over = { "dev_writes" } },
	{ .name = "PG/READ", .help = "pages in for each read of the backing device", .kind = RATIO,
	  .sum = { "pages_in" }, .over = { "dev_reads" } },
	{ .name = "HIT%", .help = "share of what was read that no read of the backing device had to be made for",
	  .kind = SHARE, .sum = { "pages_in_waiting", "pages_in_copied" }, .over = { "pages_in", "-pages_in_zero" } },
	{ .name = "WASTED%", .help = "share of prefetched pages that nobody asked for", .kind = SHARE,
	  .sum = { "prefetch_wasted" }, .over = { "prefetch_used", "prefetch_wasted" } },
	{ .name = "ERRORS", .help = "failed I/Os of the backing device, and page-outs refused for lack of slots",
	  .kind = COUNT, .sum = { "write_errors", "read_errors", "nospace" } },
	TEXT_COLUMN("POLICY", "policy", "how page-outs are gathered"),
	LEVEL_COLUMN("CLUSTER-PAGES", "cluster_pages", 0, "pages in a full batch"),
	LEVEL_COLUMN("BATCH-USECS", "batch_usecs", 0, "how long copies wait for others, in microseconds"),
	TEXT_COLUMN("READAHEAD", "readahead", "whether page-in reads more than it has to"),
	LEVEL_COLUMN("READAHEAD-PAGES", "readahead_pages", 0, "the largest window, in pages"),
	LEVEL_COLUMN("WAITING-PAGES", "waiting_pages", 0, "size of the waiting room, in pages"),
	LEVEL_COLUMN("WINDOW", "window", 0, "the read window just now, in pages"),
	COUNT_COLUMN("PAGES-OUT", "pages_out", "pages written to the device"),
	COUNT_COLUMN("PAGES-OUT-COPIED", "pages_out_copied", "of these: taken over by copy"),
	COUNT_COLUMN("PAGES-IN", "pages_in", "pages read from the device"),
	COUNT_COLUMN("PAGES-IN-WAITING", "pages_in_waiting", "of these: from the waiting room, or a read under way"),
	COUNT_COLUMN("PAGES-IN-COPIED", "pages_in_copied", "of these: from a copy before it was written"),
	COUNT_COLUMN("PAGES-IN-ZERO", "pages_in_zero", "of these: never written, or freed"),
	COUNT_COLUMN("DEV-WRITES", "dev_writes", "writes of the backing device"),
	COUNT_COLUMN("DEV-PAGES-WRITTEN", "dev_pages_written", "pages in them"),
	COUNT_COLUMN("DEV-READS", "dev_reads", "reads of the backing device"),
	COUNT_COLUMN("DEV-PAGES-READ", "dev_pages_read", "pages in them"),
	COUNT_COLUMN("DEV-PAGES-PASSED", "dev_pages_passed", "of these: not kept"),
	COUNT_COLUMN("BATCHES", "batches", "batches of page-outs closed"),
	COUNT_COLUMN("PREFETCHED", "prefetched", "pages read into the waiting room"),
	COUNT_COLUMN("PREFETCH-USED", "prefetch_used", "of these: asked for later"),
	COUNT_COLUMN("PREFETCH-WASTED", "prefetch_wasted", "of these: dropped unasked"),
	COUNT_COLUMN("SLOT-FREES", "slot_frees", "slots freed by swap"),
	COUNT_COLUMN("DISCARDS", "discards", "slots freed by discard or write-zeroes"),
	COUNT_COLUMN("WRITE-ERRORS", "write_errors", "writes that the backing device failed"),
	COUNT_COLUMN("WRITE-RETRIES", "write_retries", "of these: tried again elsewhere"),
	COUNT_COLUMN("READ-ERRORS", "read_errors", "reads that the backing device failed"),
	COUNT_COLUMN("NOSPACE", "nospace", "page-outs refused for lack of slots"),
	COUNT_COLUMN("STORES-REFUSED", "stores_refused", "pages of frontswap left to the ordinary swap area"),
	COUNT_COLUMN("DEFERRED", "deferred", "I/Os and batches handed to a worker"),
	LEVEL_COLUMN("SLOTS-TOTAL", "slots_total", 0, "physical slots"),
	LEVEL_COLUMN("SLOTS-USED", "slots_used", 0, "of these: in use"),
	LEVEL_COLUMN("SLOTS-RESERVED", "slots_reserved", 0, "of these: beyond the size of the device"),
	LEVEL_COLUMN("SLOTS-RETIRED", "slots_retired", 0, "of these: out of use after a failed write"),
	LEVEL_COLUMN("COPIES-HELD", "copies_held", 0, "copies that are not on the backing device"),
	LEVEL_COLUMN("FOOTPRINT-BYTES", "footprint_bytes", 1, "memory for what tells where pages lie"),
	LEVEL_COLUMN("WAITING-BYTES", "waiting_bytes", 1, "memory of the waiting room"),
};

static void mswap_add(struct devices *all, const char *disk)
{
	const char *number = disk + strlen("mswap");

	if (!strncmp(disk, "mswap", strlen("mswap")) && all_digits(number))
		devices_add(all, disk, disk, disk);
}

static const char *const prefixes[] = { "/dev/", NULL };

const struct table mswap_table = {
	.name = "mswap",
	.columns = columns,
	.nr_columns = sizeof(columns) / sizeof(columns[0]),
	.defaults = "NAME,BACKING-DEV,DISKSIZE,USED,PRIO,OUT,IN,PG/WRITE,PG/READ,HIT%,WASTED%,ERRORS",
	.prefixes = prefixes,
	.add = mswap_add,
};
