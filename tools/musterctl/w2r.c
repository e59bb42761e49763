// SPDX-License-Identifier: GPL-2.0-only
/* Targets of dm-w2r; docs/w2r.md says what their files mean. */
#include <stdlib.h>
#include <string.h>

#include "column.h"
#include "device.h"
#include "files.h"
#include "util.h"

#define FOLDER "w2r"

/* What the device lies over; of device-mapper's by the name that people gave it. */
static char *origin_text(const struct device *dev)
{
	char name[TEXT_MAX], *all = NULL;
	struct dirent **disks;
	size_t count = folder_list(&disks, "sys/block/%s/slaves", dev->disk), size;
	FILE *out = open_memstream(&all, &size);

	for (size_t i = 0; out && i < count; i++) {
		bool named = file_text(name, sizeof(name), "sys/block/%s/dm/name", disks[i]->d_name);

		fprintf(out, "%s%s", i ? "," : "", named ? name : disks[i]->d_name);
	}
	if (out)
		fclose(out);
	folder_free(disks, count);
	return all;
}

/* The sector that the target begins at, which is in the name of its folder, but for 0. */
static char *start_text(const struct device *dev)
{
	const char *start = strchr(dev->folder, '/') + strlen("/" FOLDER);

	return strdup(*start ? start + 1 : "0");
}

static char *ahead_text(const struct device *dev)
{
	uint64_t on;

	if (!file_number(&on, "sys/block/%s/lookahead_active", dev->folder))
		return NULL;
	return strdup(on ? "on" : "off");
}

/* Blocks, as an amount of memory or of data. */
#define BLOCKS .unit = 1024, .times = "block_kib"

static const struct column columns[] = {
	{ .name = "NAME", .help = "device of device-mapper", .kind = TEXT, .text = device_name },
	{ .name = "ORIGIN", .help = "what it lies over", .kind = TEXT, .text = origin_text },
	{ .name = "START", .help = "the sector that the target begins at", .kind = TEXT, .text = start_text,
	  .number = true },
	LEVEL_COLUMN("SUSPENDED", "../dm/suspended", 0, "1: the device is suspended, and tells nothing"),
	{ .name = "CACHE", .help = "most that the cache holds now", .kind = LEVEL, .sum = { "capacity_blocks" }, BLOCKS },
	LEVEL_COLUMN("RESIDENT", "cache_bytes", 1, "what it holds"),
	{ .name = "READ", .help = "read from the device", .kind = COUNT, .sum = { "read_blocks" }, BLOCKS },
	{ .name = "HIT%", .help = "share of it that was found in the cache, or on its way", .kind = SHARE,
	  .sum = { "hits_weighing", "hits_waiting" }, .over = { "read_blocks" } },
	{ .name = "PF-USED%", .help = "share of prefetched blocks that were asked for before they were dropped",
	  .kind = SHARE, .sum = { "prefetch_used" }, .over = { "prefetch_used", "prefetch_wasted" } },
	{ .name = "AHEAD", .help = "whether it looks ahead just now", .kind = TEXT, .text = ahead_text },
	{ .name = "ERRORS", .help = "reads and writes that failed", .kind = COUNT,
	  .sum = { "read_errors", "write_errors" } },
	{ .name = "SEARCHES/LOOKUP", .help = "entries looked at for each block that was found", .kind = RATIO,
	  .sum = { "searches" }, .over = { "lookups_found" } },
	TEXT_COLUMN("READAHEAD", "readahead", "whether it may look ahead"),
	LEVEL_COLUMN("LOOKAHEAD", "lookahead", 0, "most blocks prefetched after a read"),
	TEXT_COLUMN("PLANNER", "planner", "what is prefetched"),
	TEXT_COLUMN("POLICY", "policy", "what the weighing room keeps"),
	TEXT_COLUMN("ROOMS", "rooms", "two, or one"),
	TEXT_COLUMN("INDEX", "index", "whether a block found moves to the front"),
	LEVEL_COLUMN("BLOCK-KIB", "block_kib", 0, "size of a block, in KiB"),
	COUNT_COLUMN("READ-BLOCKS", "read_blocks", "blocks read"),
	COUNT_COLUMN("HITS-WEIGHING", "hits_weighing", "of these: found among what was asked for before"),
	COUNT_COLUMN("HITS-WAITING", "hits_waiting", "of these: found among what was prefetched"),
	COUNT_COLUMN("MISSES", "misses", "of these: read from the device below"),
	COUNT_COLUMN("BYPASSED", "bypassed", "of these: read from below without being kept"),
	COUNT_COLUMN("WAITED", "waited", "reads that waited for a block on its way"),
	COUNT_COLUMN("WRITTEN-BLOCKS", "written_blocks", "blocks touched by writes and discards"),
	COUNT_COLUMN("PREFETCHED", "prefetched", "blocks prefetched"),
	COUNT_COLUMN("PREFETCH-USED", "prefetch_used", "of these: asked for later"),
	COUNT_COLUMN("PREFETCH-WASTED", "prefetch_wasted", "of these: dropped unasked"),
	COUNT_COLUMN("ORIGIN-READS", "origin_reads", "I/Os sent down for reads"),
	COUNT_COLUMN("ORIGIN-PREFETCHES", "origin_prefetches", "I/Os sent down for prefetches"),
	COUNT_COLUMN("READ-ERRORS", "read_errors", "reads that failed for who wanted them"),
	COUNT_COLUMN("WRITE-ERRORS", "write_errors", "writes that the device below failed"),
	COUNT_COLUMN("LOOKUPS", "lookups", "look-ups of blocks"),
	COUNT_COLUMN("LOOKUPS-FOUND", "lookups_found", "of these: those that found one"),
	COUNT_COLUMN("SEARCHES", "searches", "entries that these looked at"),
	LEVEL_COLUMN("WEIGHING-BLOCKS", "weighing_blocks", 0, "blocks that were asked for"),
	LEVEL_COLUMN("WAITING-BLOCKS", "waiting_blocks", 0, "blocks that were prefetched and not asked for yet"),
	LEVEL_COLUMN("WAITING-TARGET", "waiting_target", 0, "wanted size of the waiting room, in blocks"),
	LEVEL_COLUMN("CAPACITY-BLOCKS", "capacity_blocks", 0, "most blocks in both rooms now"),
	LEVEL_COLUMN("CACHE-BYTES", "cache_bytes", 1, "memory of blocks"),
	LEVEL_COLUMN("FOOTPRINT-BYTES", "footprint_bytes", 1, "memory of everything else"),
	COUNT_COLUMN("RECLAIMED", "reclaimed", "blocks given back because memory was short"),
	LEVEL_COLUMN("LATENCY-NS", "latency_ns", 0, "mean time of a read of the device below, in nanoseconds"),
	LEVEL_COLUMN("PREFETCH-COST-NS", "prefetch_cost_ns", 0, "mean work for a prefetched block, in nanoseconds"),
	LEVEL_COLUMN("LOOKAHEAD-ACTIVE", "lookahead_active", 0, "1: it looks ahead just now"),
	TEXT_COLUMN("PLANNER-ACTIVE", "planner_active", "which planners act"),
};

/* "w2r", or "w2r-2048" of a target that does not begin at sector 0. */
static bool is_target(const char *folder)
{
	const char *start = folder + strlen(FOLDER);

	if (strncmp(folder, FOLDER, strlen(FOLDER)))
		return false;
	return !*start || (*start == '-' && all_digits(start + 1));
}

static void w2r_add(struct devices *all, const char *disk)
{
	char name[TEXT_MAX], folder[TEXT_MAX];
	struct dirent **found;
	size_t count;

	if (!file_text(name, sizeof(name), "sys/block/%s/dm/name", disk))
		return;
	count = folder_list(&found, "sys/block/%s", disk);
	for (size_t i = 0; i < count; i++) {
		if (!is_target(found[i]->d_name))
			continue;
		snprintf(folder, sizeof(folder), "%s/%s", disk, found[i]->d_name);
		devices_add(all, name, disk, folder);
	}
	folder_free(found, count);
}

static const char *const prefixes[] = { "/dev/mapper/", "/dev/", NULL };

const struct table w2r_table = {
	.name = "w2r",
	.columns = columns,
	.nr_columns = sizeof(columns) / sizeof(columns[0]),
	.defaults = "NAME,ORIGIN,CACHE,RESIDENT,POLICY,READ,HIT%,PF-USED%,ORIGIN-READS,AHEAD,PLANNER-ACTIVE,ERRORS",
	.prefixes = prefixes,
	.add = w2r_add,
};
