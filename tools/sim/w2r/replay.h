/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A cache that is driven by a trace as dm-w2r is by bios: by the same files of algo/, in the same order. What is
 * read is there at the end of the operation, what is prefetched some references later; a write is over before the
 * next operation begins.
 */
#ifndef SIM_W2R_REPLAY_H
#define SIM_W2R_REPLAY_H

#include "planner.h"
#include "rooms.h"
#include "table.h"
#include "toggle.h"
#include "trace_file.h"

struct replay_config {
	struct table table;	/* cache_mib is not looked at */
	u32 entries;		/* blocks in the cache, ROOMS_ENTRIES_MIN or more */
	u64 sectors;		/* of the device */
	u32 delay;		/* references until what is prefetched is there */
	u32 latency_ns;		/* for readahead=auto: a read of the origin, */
	u32 cost_ns;		/* and the work for a prefetched block */
};

/* Blocks, unless said otherwise; as the files of the same names in sysfs. */
struct replay_counts {
	u64 read_blocks;	/* = hits, misses and bypassed */
	u64 hits_weighing;
	u64 hits_waiting;	/* prefetched, and asked for the first time */
	u64 waited;		/* of both kinds of hits: still on their way */
	u64 misses;
	u64 bypassed;
	u64 written_blocks;
	u64 prefetched;		/* = used + wasted + what nobody has asked for yet */
	u64 used;
	u64 wasted;
	u64 origin_reads;	/* I/Os */
	u64 origin_prefetches;	/* I/Os */
};

struct flight {
	u64 due;		/* clock of references */
	u32 e;
};

struct replay {
	struct replay_config config;
	struct replay_counts counts;
	struct rooms rooms;
	struct planner planner;
	struct toggle toggle;
	bool lookahead_on;
	u64 next_tick;		/* ns */
	u32 toggle_used, toggle_wasted;
	u64 nr_blocks;
	u32 block_shift;	/* log2 of sectors a block */
	u32 *filling;		/* entries filled by this operation */
	u32 nr_filling;
	struct flight *flights;	/* entries prefetched and not there: a ring */
	u32 first_flight;
	u32 prefetching;	/* their number */
	u64 clock;		/* references */
	void *mem;
};

/*
 * Reads "NAME[,OPTION=VALUE...]": NAME is default (as the target's defaults, readahead on), none (the same without
 * looking ahead), sa-w2r (the paper's pair), lru-obl (the paper's rival: one room) or lru; the options are those of
 * the table. NULL, or what is wrong with it.
 */
const char *scheme_parse(struct table *t, const char *text);

/* Both end the program when there is no memory; a replay must not be moved in memory. */
void replay_init(struct replay *r, const struct replay_config *c);
void replay_op(struct replay *r, const struct trace_op *op);
void replay_trace(struct replay *r, const struct trace *t);
void replay_end(struct replay *r);

#endif
