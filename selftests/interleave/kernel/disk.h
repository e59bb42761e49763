/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A disk that takes its time: it ends I/O in any order, moves the sectors of one in two
 * parts at different times, fails some, and leaves of what has failed any part behind.
 * Neighbours in a task's plug become one request, and fail together.
 */
#ifndef INTERLEAVE_DISK_H
#define INTERLEAVE_DISK_H

#include "block.h"

/* Stamp of a sector of memory that a failed read has spoilt. */
#define DISK_SPOILT	(U64_MAX - 2)

#define DISK_BAD_READ	1u
#define DISK_BAD_WRITE	2u

struct disk_counts {
	u64 reads;		/* bios, that came */
	u64 read_pages;
	u64 writes;
	u64 written_pages;
	u64 probes;		/* writes of the zero page */
	u64 flushes;
	u64 failed_reads;	/* bios, that ended */
	u64 failed_alone;	/* of them with REQ_NOMERGE */
	u64 failed_writes;
	u64 failed_probes;
	u64 failed_flushes;
};

struct sim_disk {
	struct block_device bdev;
	struct gendisk disk;
	u64 *media;		/* a stamp a sector */
	u8 *bad;		/* DISK_BAD_ flags of a sector */
	u64 *late;		/* a stamp that its page cache holds for a sector, or 0 */
	u64 *stored_at;		/* when its last write ended; 0: it is there for good, ... */
	u64 clock;
	u64 flushed;		/* ... as it is if it was before this */

	/* May be changed at any time. */
	u32 slow;		/* scheduler's ticks that a part of an I/O takes at most */
	u32 fails_reads;	/* of 1024 requests */
	u32 fails_writes;
	u32 fails_flushes;
	bool gone;		/* all fail */
	u64 fates;		/* bit i: so does the i-th write from now on */

	/* May not. */
	u64 base;		/* it begins there: what lies before nobody asks for */
	u32 depth;		/* requests at a time; more wait to be sent */
	bool plugs;
	bool threaded;		/* its I/O ends in tasks, not in interrupts */
	bool consumes;		/* a bio that has ended is advanced to its end */

	u32 under_way;
	wait_queue_head_t room;
	struct list_head plugged;
	blk_opf_t opf;		/* of what came last, */
	u16 ioprio;		/* and its priority */
	struct disk_counts counts;
};

/* Its sectors, from @base on, have the stamp 0. What it is like follows from the seed. */
void disk_make(struct sim_disk *disk, u64 base, u64 sectors);
/* From now on nothing fails any more. */
void disk_heal(struct sim_disk *disk);
/* Its I/O has ended; who ends it may still be on his way. */
void disk_free(struct sim_disk *disk);
/* Are sectors as they are even if the power fails now? */
bool disk_is_stable(const struct sim_disk *disk, u64 sector, u32 n);

#endif
