/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A target of dm-w2r over a simulated disk, and those that use it. The oracle's places are
 * the sectors of the target; a sector's stamp is its value.
 */
#ifndef INTERLEAVE_W2R_H
#define INTERLEAVE_W2R_H

#include "disk.h"
#include "dm.h"
#include "oracle.h"
#include "run.h"
#include "user_io.h"

#include "cache.h"

#define RIG_DISK_PATH	"/dev/disk"
#define KEPT_FRAMES	64	/* of a target, not worth asking for */
#define TICKS		3000000000ull	/* in which some of a target's have come, in ns */

enum fault {
	FAULT_MEMORY = 1,	/* allocations fail */
	FAULT_READS = 2,	/* the disk fails some reads, */
	FAULT_WRITES = 4,	/* or writes, */
	FAULT_SECTORS = 8,	/* has bad sectors, */
	FAULT_GONE = 16,	/* or takes nothing for a while */
};

struct rig {
	struct mapped_device md;
	struct sim_disk disk;
	u64 begin;			/* of the target on the device; */
	u64 base;			/* what lies before this one, on both, nobody asks for */
	u32 sectors;			/* of the target */
	u32 faults;
	bool outside;			/* something else writes to the disk, too */
	bool restless;			/* it is suspended again and again */
	unsigned long ra_pages;		/* what the device reads ahead while it is suspended */
	u32 hot;			/* where most is done */
	u32 left;			/* I/Os that are still to be done */

	u32 tasks;
	bool controlled;
	wait_queue_head_t gate;
	/* Nothing but bios may come to the target while it is suspended. */
	u32 inside;
	bool shut;

	u64 suspends;			/* how often it was suspended */
	bool cleared;			/* its counters were */
	struct disk_counts before;	/* when the table was loaded */
};

extern struct rig rig;

static inline struct w2r *rig_target(void)
{
	return rig.md.ti->private;
}

/* --- w2r_io.c --- */

void io_read(struct io_group *g, u32 sector, u32 n, blk_opf_t opf);
void io_write(struct io_group *g, u32 sector, u32 n, blk_opf_t opf);
/* Discard or write-zeroes: 0 is written. */
void io_clear(struct io_group *g, u32 sector, u32 n, enum req_op op);
void io_flush(struct io_group *g);
/* Another one writes to the disk, perhaps to its page cache, and tells the target. */
void io_outside(u32 sector, u32 n);
/* The same to its page cache, before a table is loaded that takes the place of the target's. */
void io_outside_before_load(u32 sector, u32 n);

/* --- w2r_tasks.c --- */

void task_work(void *unused);
/* While one is in there the target is live. */
void enter(void);
void leave(void);
void read_all(void);

/* --- w2r_control.c --- */

void control_start(void);
void control_work(void *unused);
void control_heal(void);
/* The target is suspended, and perhaps taken away, when this returns. */
void control_suspend(void);
/* The target is live when this returns. */
void control_resume(void);
/* What a write to the file of that name does. */
void control_set(struct w2r *c, enum table_option option, const char *value);
/* Its read-ahead is written to while the target has to do with it. */
void control_read_ahead(void);
void control_end(void);

/* --- w2r_memory.c: of a target that is suspended --- */

/* All memory can be had; it comes back when nobody wants it. */
void control_shrink(void);
/* It is read while memory is refused, which is not asked for again at once. */
void control_starve(void);
/* It reads ahead past what is cached while memory is refused. */
void control_holes(void);

/* --- w2r_others.c --- */

/* More targets, besides the rig's, which is suspended: they come, and give memory, and go. */
void others_begin(void);
/* Until then memory is asked for, also while the rig's goes. */
void others_end(void);

/* --- w2r_check.c: the target is suspended --- */

/* What must come to pass, beside all that the target counts. */
enum {
	EVENT_SUSPENDS = W2R_NR_STATS,
	EVENT_TABLES,
	EVENT_REFUSED,
	EVENT_PARTS,
	EVENT_OUTSIDE,
	EVENT_LATE,
	EVENT_WIDE,
	EVENT_WRITTEN_OVER,
	EVENT_HOLES,
	NR_EVENTS,
};

extern const struct run_event check_events[NR_EVENTS];
/* It is to be taken away: what has it counted? */
void count_events(void);

void check_at_rest(void);
/* It is live: who may wait for whom? */
void check_waiters(void);

#endif
