/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The two rooms of a cache and the split between them, as in Jeon and Noh,
 * "Improving the Performance of the GNU/Linux File System using an Integrated
 * Prefetching Scheme" (SA-W2R).
 *
 * Referenced blocks are in the weighing room under some replacement policy,
 * prefetched ones in the waiting room, oldest out first, until their first
 * reference moves them over. The sizes wanted of the rooms add up to the limit.
 * Two observations move the split by a step:
 *
 *   interval  the last three waiting blocks that were referenced waited longer
 *             each: the waiting room grows; shorter each: it shrinks.
 *   fault     block i was missed, and the places of its neighbours say why
 *             (rooms_fault_move()).
 *
 * Both suppose that one block is prefetched after a reference. Of runs, each block
 * waits a little longer than the one before, and the waiting room grows to all of
 * the limit, full of what was prefetched in vain; or it ends with one entry, where
 * the rest of a read was prefetched and its begin was not. A bounded one is never
 * meant to hold less than a 16th of the limit, a fault shrinks it if the weighing room
 * has lost the block, so does one that was lost lately and has come back, and a
 * block gives way first when it has waited much longer than those did that were
 * asked for (waits.h). One that is asked for while it is on its way makes the room
 * grow, to half of the limit or some more of a small one; and it grows to half of it for
 * whom the caller says (rooms_grow_waiting()).
 *
 * Several blocks asked for at once count as one reference: their neighbours
 * are the blocks before the first and after the last.
 *
 * With one_room, what the paper compares with: prefetched blocks go among the
 * referenced ones, under the same policy, and nothing moves. ROOM_WAITING then
 * only says that nobody has asked for the block yet.
 *
 * Nothing allocates; all functions may be called in any context under the
 * caller's lock.
 */
#ifndef W2R_ALGO_ROOMS_H
#define W2R_ALGO_ROOMS_H

#include "arena.h"
#include "index.h"
#include "policy.h"
#include "waits.h"

#define ROOMS_INTERVALS		3
#define ROOMS_ENTRIES_MIN	4
#define ROOMS_ENTRIES_MAX	(1u << 28)

struct rooms_config {
	u32 entries;		/* ROOMS_ENTRIES_MIN to ROOMS_ENTRIES_MAX */
	u32 step;		/* entries by which the split moves, of all; paper: 1 */
	enum policy_kind policy;
	bool move_to_front;
	bool one_room;
	bool bounded;		/* the waiting room is, both ways; the paper's is not */
};

struct rooms {
	struct arena arena;
	struct index index;
	struct weighing weighing;
	struct elist waiting;	/* newest first; those with ENTRY_EXPECTED ... */
	struct elist expected;	/* ... are here */
	struct elist spare;
	u32 limit;		/* entries that may be in use */
	u32 in_use;
	u32 held[3];		/* entries of each enum room, being filled too */
	u32 waiting_target;
	u32 split_target;	/* what waiting_target was ... */
	u32 split_limit;	/* ... when the split last moved, of so many */
	u32 step;
	bool one_room;
	bool bounded;
	struct waits waits;
	u32 clock;		/* references so far */
	u32 interval_clock;	/* when the last interval was taken */
	u32 intervals[ROOMS_INTERVALS];
	u32 nr_intervals;
	/* Since the start: what became of prefetched blocks. */
	u64 used;
	u64 wasted;
};

/* How a miss moves the waiting room: 1 grows it, -1 shrinks it, 0 neither. */
int rooms_fault_move(enum room before, enum room after);

/* Bytes of memory that rooms_init() needs. */
size_t rooms_size(const struct rooms_config *c);
/* @mem has rooms_size() bytes, aligned to 8. May sleep. */
void rooms_init(struct rooms *r, void *mem, const struct rooms_config *c);

/* The same with another @step and @bounded from now on; struct rooms_config. */
void rooms_set_moves(struct rooms *r, u32 step, bool bounded);

/* A new reference begins; what follows up to the next one belongs to it. */
static inline void rooms_tick(struct rooms *r)
{
	r->clock++;
}

/* The entry of @block, counted as a lookup, or ENTRY_NONE. */
static inline u32 rooms_find(struct rooms *r, u64 block)
{
	return index_find(&r->index, block);
}

/* Where @block is, uncounted. */
enum room rooms_where(const struct rooms *r, u64 block);

/* @e is referenced, from its begin on: a waiting one becomes a weighing one. */
void rooms_use(struct rooms *r, u32 e);

/*
 * Of the @n blocks from @first on, those in the weighing room shall stay for a while:
 * to the policy it is as if they were asked for now.
 */
void rooms_keep(struct rooms *r, u64 first, u32 n);

/*
 * Of the @n blocks from @first on, those that are being filled for the waiting room were
 * asked for before, with each other: they may wait for long.
 */
void rooms_expect(struct rooms *r, u64 first, u32 n);

/* Can a read be answered by @e (ENTRY_NONE: no), now or when it is filled? */
static inline bool rooms_readable(const struct rooms *r, u32 e)
{
	return e != ENTRY_NONE && !(r->arena.entries[e].flags & ENTRY_STALE);
}

struct hits {
	u32 n;
	u32 waiting;		/* of them found in the waiting room */
	enum room room;		/* where the first block is or was: */
	bool goes_on;		/* in the weighing room, as a read ended in it; the next is not */
};

/*
 * Of the @n blocks from @first on, those up to the first that is not readable
 * are looked up and referenced, the first one from inside it on or from its begin.
 * Their entries go to @entries. A reference from inside a block that comes soon
 * after another one is no use of its own: a reader goes through the block in small
 * steps, and the policy is not to take that for a block that is used often.
 */
struct hits rooms_use_hits(struct rooms *r, u64 first, u32 n, bool inside,
			   u32 *entries);

/* Of @n blocks from @first on, which is not readable, those up to the last that is not. */
u32 rooms_missing(const struct rooms *r, u64 first, u32 n);

/*
 * The weighing room has no use for what it holds, and the waiting room too little place: it
 * shall be meant for @wanted entries, but for half of the limit at most, or for what it is.
 */
void rooms_grow_waiting(struct rooms *r, u32 wanted);

/* The @n blocks from @first on were asked for, and missed. */
void rooms_fault(struct rooms *r, u64 first, u32 n);

/*
 * An entry for @block, which has none, to be filled; ENTRY_NONE if no other
 * can leave: all are pinned or being filled, or, for the waiting room, it is
 * full of such. Until rooms_filled() its link entry.next is the caller's.
 */
u32 rooms_fill(struct rooms *r, u64 block, enum room room);

/*
 * The filling of @e ended. It stays if @good and if it was not dropped
 * meanwhile; returns whether it stays.
 */
bool rooms_filled(struct rooms *r, u32 e, bool good);
/* Takes back rooms_fill(), at once: nothing was sent for @e, so nothing counts. */
void rooms_unfill(struct rooms *r, u32 e);

/* @e is forgotten at once; its memory is reused after pins and filling. */
void rooms_drop(struct rooms *r, u32 e);

static inline void rooms_pin(struct rooms *r, u32 e)
{
	r->arena.entries[e].pins++;
}

/* Returns whether @e is still the entry of its block. */
bool rooms_unpin(struct rooms *r, u32 e);

/*
 * Takes an entry out of use, of the room that is over its size; ENTRY_NONE if
 * none can. It is the last to be used again.
 */
u32 rooms_reclaim(struct rooms *r);

/* @e, which is in no use, is the last to be used again. */
void rooms_retire_spare(struct rooms *r, u32 e);

/* Does what comes push out what is here? */
static inline bool rooms_full(const struct rooms *r)
{
	return r->in_use >= r->limit;
}

/*
 * At most @limit entries in use from now on (ROOMS_ENTRIES_MIN to what there
 * are); those above leave by rooms_reclaim() or as others come. The split keeps
 * its proportion.
 */
void rooms_set_limit(struct rooms *r, u32 limit);

#endif
