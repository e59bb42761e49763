/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An engine of mswap on a simulated disk, and those that use it. What the engine holds
 * for a virtual slot is checked against the oracle's place of that number.
 */
#ifndef INTERLEAVE_MSWAP_H
#define INTERLEAVE_MSWAP_H

#include "disk.h"
#include "engine.h"
#include "oracle.h"
#include "run.h"
#include "user_io.h"

#define TASKS_MAX	8
#define RIG_DISK_PATH	"/dev/disk"

/* What a task wants of the engine at a time. */
#define IO_PAGES_MAX	256
/* Bios of up to so many slots may be in pieces of a sector. */
#define PIECES_PAGES_MAX	24

/* What may go wrong in a run. */
enum fault {
	FAULT_MEMORY = 1,	/* allocations fail */
	FAULT_READS = 2,	/* the disk fails some reads, */
	FAULT_WRITES = 4,	/* or writes, */
	FAULT_SLOTS = 8,	/* has bad sectors, */
	FAULT_GONE = 16,	/* or takes nothing for a while */
};

struct rig {
	struct engine *engine;		/* memory of its own, to see who is too late */
	struct sim_disk disk;
	struct block_device front;	/* what it looks like from above */
	u32 slots;			/* virtual ones, */
	u32 slots_max;			/* and the most there may be */
	u32 spare;			/* physical ones beyond these, */
	u32 taken;			/* and those that nobody gets, so that it is full soon */
	struct store_chain copies;	/* that nobody gets, likewise */
	u32 nr_copies;
	u32 faults;
	bool lent;			/* used as frontswap does, not by bios */
	bool keeps;			/* what is written is never freed */
	bool restless;			/* it is reset again and again */
	u32 hot;			/* where most is done, */
	u32 hot_slots;			/* in so many slots */
	u32 left;			/* I/Os that are still to be done */
	u64 ended;			/* those that have ended */
	u64 storm_until;		/* so many have: before that there is no memory */

	/* Who uses it, and whether somebody has it for himself. */
	u32 users;
	u32 tasks;
	bool controlled;
	bool shut;
	u32 submitters;			/* those in ->submit_bio */
	wait_queue_head_t gate;
	spinlock_t swap_lock;		/* slots are freed under it */

	/* What the counters are to say; since they were cleared. */
	u64 pages_out;
	u64 pages_in;
	struct disk_counts before;
	bool trimmed;			/* the waiting room has given pages up unasked */
};

extern struct rig rig;

/*
 * Are so many slots retired that there may be none for a write? Whoever frees one has
 * it for a moment.
 */
static inline bool rig_is_worn(void)
{
	const struct space *s = &rig.engine->space;
	u32 freed = rig.keeps ? 0 : TASKS_MAX;

	return s->retired.value + freed + rig.slots >= s->nr_slots;
}

/* The most virtual slots that the device may be given, or 0: 64 others are kept. */
static inline u32 rig_fit(void)
{
	const struct space *s = &rig.engine->space;
	u32 good = s->nr_slots - s->retired.value;

	return good > ENGINE_RESERVE_MIN ? good - ENGINE_RESERVE_MIN : 0;
}

/* Makes the engine, and takes it away. */
void rig_make_engine(void);
void rig_drop_engine(void);
/* The same on a disk of @phys slots, for the caller alone: nothing goes wrong by itself. */
void rig_start_alone(u32 slots, u32 waiting_pages, u32 phys);
/* The engine stops, and all of it goes, the disk, too. */
void rig_end(void);

/* --- mswap_io.c: bios --- */

/* Pages of one object, to be swapped out to @n slots from @slot on. */
void io_swap_out(struct io_group *g, u32 slot, u32 n, blk_opf_t opf);
/* One page, of which is known what it is. */
void io_swap_out_of(struct io_group *g, u32 slot, u64 object, u64 index);
/* Others may have memory of any layout. */
void io_write(struct io_group *g, u32 slot, u32 n, blk_opf_t opf);
void io_read(struct io_group *g, u32 slot, u32 n, blk_opf_t opf);
/* Discard or write-zeroes: 0 is written. */
void io_clear(struct io_group *g, u32 slot, u32 n, enum req_op op);
void io_flush(struct io_group *g);
/* One that is refused, whatever the engine does. */
void io_wrong(void);
/* As the swap core does when a slot is not needed any more. */
void io_free_slot(u32 slot);

/* The stamp of a sector of a slot that has @value, and back. */
static inline u64 stamp_of(u64 value, u32 sector)
{
	return value ? value * PAGE_SECTORS + sector : 0;
}

static inline u64 value_of(u64 stamp)
{
	return stamp / PAGE_SECTORS;
}

/* --- mswap_lent.c: as frontswap uses it, each slot by one at a time --- */

void lent_store(u32 slot);
void lent_load(u32 slot);
void lent_free(u32 slot);

/* --- mswap_tasks.c --- */

/* Which jobs there are, and how often, in this run. */
void tasks_begin(void);
/* Works until rig.left is used up. */
void task_work(void *number);
/* While one is in there nobody has the engine for himself. */
void gate_enter(void);
void gate_leave(void);
/* Waits until nobody is in there, and lets nobody in. */
void gate_shut(void);
void gate_open(void);
/* Reads slots @from to @to - 1, all of them at a time. */
void read_slots(u32 from, u32 to);

/* --- mswap_control.c: what happens to the engine and its disk meanwhile --- */

void control_start(void);
void control_work(void *unused);
/* Nobody is in ->submit_bio any more, and the engine stops. */
void control_stop(void);
/* The disk is well again and there is memory: waits until all that is held is written. */
void control_heal(void);

/* --- mswap_reads.c --- */

/* Of the seeds, one in so many; none that is for scenes. */
#define READS_ONCE_IN	10
#define READS_SEED	5
/* One run, instead of tasks, of each check in turn: what readers have read is counted. */
void reads_run(void);

/* --- mswap_scenes.c --- */

#define SCENES_ONCE_IN	8
/* One run, instead of tasks, all in turn: steps of which it is known what they must bring about. */
void scenes_run(void);

/* --- mswap_check.c --- */

/* What must come to pass, beside all that the engine counts. */
enum {
	EVENT_RETIRED = MSWAP_NR_STATS,	/* slots, */
	EVENT_HELD,			/* and copies that could not be written, as it stops */
	EVENT_RESETS,
	EVENT_RESIZES,
	EVENT_READERS,			/* steady ones, */
	EVENT_BESIDE,			/* one beside a random reader, */
	EVENT_SIDES,			/* some side by side after one, */
	EVENT_PARTED,			/* down to others' pages, */
	EVENT_AMONG,			/* beside what is in memory, */
	EVENT_REWRITES,			/* one that writes to some of its pages, */
	EVENT_SKIPPING,			/* and leaves some out, */
	EVENT_FEW,			/* or most, */
	EVENT_SMALL,			/* and has small windows, */
	EVENT_LATE,			/* or is faster than the disk, */
	EVENT_BEGUN,			/* several pages at once, */
	EVENT_ACROSS,			/* in part on their way, */
	EVENT_UNSPLIT,			/* without memory for that, */
	EVENT_UNJOINED,			/* or in vain, */
	EVENT_BIOS,			/* many bios of them, */
	EVENT_BEYOND,			/* and beyond small windows, */
	EVENT_COPIED,			/* as they come, */
	EVENT_PAIRS,			/* of two programs, */
	EVENT_BURST,			/* all at once, */
	EVENT_DOWN,			/* from the last one to the first, */
	EVENT_MIRRORED,			/* both ways, */
	EVENT_ON_CREDIT,		/* with little credit among others, */
	EVENT_UNPAID,			/* in a room that gets smaller, */
	EVENT_CUT,			/* through runs that end in granules, */
	EVENT_LOST,			/* or have lost pages there, */
	EVENT_SCATTERED,		/* and with others' between, */
	EVENT_TURNED,			/* evicted so, */
	EVENT_BLOCKS,			/* and down by blocks, */
	EVENT_EIGHTS,			/* of one bio each, */
	EVENT_HOLES,			/* beside a hole that one left, */
	EVENT_FILLED,			/* and in one that was filled, */
	EVENT_SCENES,			/* and what is done step by step */
	NR_EVENTS,
};

extern const struct run_event check_events[NR_EVENTS];
/* The engine has stopped: what has it counted? */
void count_events(void);

/* The gate is shut: waits until the engine has come to rest, and looks whether all adds up. */
void check_at_rest(void);

#endif
