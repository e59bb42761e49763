/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the waiting room prefetches: planners, chosen by kind. A planner
 * is told every reference, a run of blocks each, and says what comes next.
 * What it names may be in the cache already; the caller leaves that out.
 *
 * obl      the block after the reference: the paper's.
 * stream   many sequential readers at once, each with a degree of its own that
 *          doubles while it goes on and is halved when a prefetched block was
 *          gone before it was wanted (as in Gill and Bathen, "AMP: adaptive
 *          multi-stream prefetching in a shared cache", 2007). Those that went
 *          on lately share the waiting room. Single reads leave half of
 *          the streams to readers that have gone on.
 * pattern  jumps that repeat: a history of jumps with an index by where they
 *          lead (Nesbit and Smith, "Data cache prefetching using a global
 *          history buffer", 2004). Two jumps in a known order start it.
 * region   blocks asked for in any order, but near each other: once three of 16
 *          were, their rest; and when a region of 64 is asked for anew, all that
 *          was the last time (Somogyi and others, "Spatial memory streaming",
 *          2006). Of one that was asked for mostly, what is here shall stay until
 *          then, or it would come in pieces later; and what has left all the same
 *          comes at once, too, when one of its blocks is missed, or named by
 *          pattern.
 * near     the rest of the 32 aligned blocks around a missed one, which make one
 *          I/O with it.
 * auto     has each of the others predict, and those act of whose predictions
 *          of late two thirds came true before the waiting room would have lost
 *          them, until less than three fifths do. Those that may come true yet
 *          are left out of account, as many as did; half of that share must do of
 *          all that are older than some hundred references, and, where what comes
 *          pushes out what is used, of those of them that none had prefetched; and there
 *          more than others must have come as soon that were read lately, by chance. obl
 *          predicts and acts where none else acts and little is read, and where its
 *          block makes one I/O with a missed one. near predicts and acts only where it
 *          may pay. Where an I/O is dear a sixth is enough, until less than a ninth; else
 *          the usual share of what no other names, of 128 KiB around, once 128 blocks came
 *          true. How much auto names after one read doubles, twice at most, when a read
 *          waits for a prefetch; but it is not more than an eighth of the cache, or than
 *          was read. Where nothing is used again, a reader alone may have all of it,
 *          several share a half, and the waiting room shall have place for whole I/Os of
 *          each; and stream acts for who leaves out blocks if three
 *          tenths come true, until less than a quarter do: one I/O serves many reads all
 *          the same.
 *
 * The caller's lock protects it; nothing allocates.
 */
#ifndef W2R_ALGO_PLANNER_H
#define W2R_ALGO_PLANNER_H

#include "arena.h"

enum planner_kind {
	PLANNER_OBL,
	PLANNER_STREAM,
	PLANNER_PATTERN,
	PLANNER_REGION,
	PLANNER_NEAR,
	PLANNER_AUTO,
	PLANNER_KINDS,
};

#define PLAN_RUNS		16
#define PLAN_HOLE		8	/* blocks of 4 KiB worth reading past, for one I/O less */
#define LOOKAHEAD_MAX		1024	/* blocks */
#define PLAN_SECTORS		8192	/* that one plan takes at most, with what it reads past */
#define PLAN_UNUSED_FOR		256	/* references: nothing of the cache is used again */
#define SLOW_LATENCY		1000000	/* ns */
#define NEAR_BLOCKS		32	/* aligned, that near reads with a missed one, */
#define NEAR_SECTORS		256	/* or, for auto, in these where no I/O is dear: */
#define NEAR_LATENCY		30000	/* ns: they take hardly longer than one block */

struct run {
	u64 first;
	u32 n;
};

struct plan {
	struct run runs[PLAN_RUNS];
	bool keep[PLAN_RUNS];	/* of a run, what is here shall stay, what comes may wait long */
	u32 n;
	u32 waiting;		/* so many blocks the waiting room should be meant for; 0: any */
};

struct reference {
	u64 first;
	u32 n;			/* blocks; at least 1 */
	enum room room;		/* where the first one was found */
	u32 lookahead;		/* most blocks to prefetch; at least 1 */
	u32 waiting;		/* blocks that the waiting room is meant for */
	bool slow;		/* for auto: the origin is */
	bool late;		/* this waits for a prefetch */
	u32 left;		/* blocks for which there is place now, of what is under way */
	u32 entries;		/* for auto: blocks of the cache, */
	bool full;		/* and what comes pushes out others; */
	bool has_room;		/* of them few are those that nobody has asked for; */
	u32 around;		/* and near may name so many aligned blocks, or 0: none */
	bool goes_on;		/* struct hits */
};

#define STREAMS		128
#define STREAM_HEADS	256		/* a power of two */
#define STREAM_AREAS	1024		/* the same */
#define STREAM_NONE	0xff

struct stream {
	u64 next;		/* the block after its last reference; 0: none */
	u64 ahead;		/* the block after what was prefetched */
	u32 degree;		/* 0: seen once */
	u32 used;		/* when it last went on, by the planner's clock, */
	u32 used_then;		/* and by how many streams had begun; */
	u32 pause;		/* of these about the most between two times */
	u8 chain;		/* of those whose next blocks have one hash */
	u8 skips;		/* a bit each of the last times: blocks were left out before */
	u8 newer, older;	/* of its list, those used after and before it */
	bool goes_on;		/* has done so: which list that is */
};

struct stream_list {
	u8 newest, oldest;
	u8 count;
};

struct stream_planner {
	struct stream streams[STREAMS];
	u8 heads[STREAM_HEADS];	/* by hash of where they go on */
	u8 far[STREAM_AREAS];	/* by hash of the area: streams that look far ahead from there */
	struct stream_list lists[2];	/* seen once, and those that have gone on */
	u32 clock;		/* references */
	u32 begun;		/* streams */
};

#define PATTERN_HISTORY	8192		/* a power of two */
#define PATTERN_NONE	((u32)-1)

struct pattern_planner {
	struct run history[PATTERN_HISTORY];
	u32 heads[PATTERN_HISTORY];	/* by hash of where a jump leads */
	u32 now;			/* jumps so far; the last is now - 1 */
	u32 old;			/* the same jump last time, or none */
	u32 depth;			/* jumps to predict */
};

#define REGIONS		4096		/* a power of two */
#define REGION_SHIFT	6		/* a bit a block */

struct region {
	u64 number;
	u64 asked;		/* since it was last begun anew, */
	u64 before;		/* and the time before */
	u64 named;		/* to be prefetched, this time */
	u32 touched;		/* the planner's clock */
	u32 named_at;		/* the same */
};

struct region_planner {
	u32 clock;		/* references */
	struct region regions[REGIONS];
};

#define SCORES			5
#define PREDICTIONS		8192	/* a power of two */
#define CONTROLS		1024	/* the same, */
#define RECENT			64	/* and this */

struct prediction {
	u64 block;
	u32 stamps[SCORES];	/* each planner's total when it made it, */
	u8 stands_for[SCORES];	/* and for how many; 0: it did not */
	u8 alone;		/* a bit each: none had prefetched it */
	u32 made;		/* the chooser's clock */
};

/* A block that was read lately, in place of one that was predicted. */
struct control {
	u64 block;
	u32 stamp;		/* the planner's total then */
	u8 kind;		/* which planner's */
	bool open;		/* not decided yet; else the rest means nothing */
};

struct tally {
	u32 total;		/* predictions since the start, */
	u32 total_then;		/* until some hundred references ago, */
	u32 total_later;	/* and until some later */
	u32 made;		/* of late: predictions, */
	u32 used;		/* and those that came true in time */
};

struct score {
	struct tally all;
	struct tally alone;	/* of them: of blocks that none had prefetched */
	u32 patience;		/* after about so many more of all, the slow ones, */
	u32 takes;		/* in the mean after a 16th of this */
	u32 quick;		/* of late: used ones that took no longer; */
	u32 drawn;		/* controls that were decided, */
	u32 lucky;		/* and those of them that took no longer */
	u32 in_vain;		/* calls of chooser_predict() since one came true */
};

struct auto_planner {
	struct prediction predictions[PREDICTIONS];
	struct score scores[SCORES];
	struct control controls[CONTROLS];	/* by hash of the block */
	u64 recent[RECENT];	/* some of what was read lately, about as many as the cache holds */
	u32 nr_recent;		/* since the start; */
	u32 unsampled;		/* blocks that came after the last one */
	u32 draws;
	u32 clock;
	u32 acting;		/* a bit each */
	bool for_skippers;	/* stream is right often enough for readers who leave out blocks */
};

#define PARTS			16	/* a power of two */

struct planner {
	enum planner_kind kind;
	struct stream_planner stream;
	struct pattern_planner pattern;
	struct region_planner region;
	struct auto_planner chooser;
	struct reference parts[PARTS];	/* of those under way */
	u32 nr_parts;
	u32 lost;		/* parts that were forgotten */
	u32 doublings;		/* of what auto prefetches after a read */
	u32 unused_for;		/* references since one began in the weighing room, */
	u32 unused_blocks;	/* and blocks of these */
	struct plan each;	/* of planner_reference(): what one of auto's names */
};

void planner_init(struct planner *p, enum planner_kind kind);

/*
 * A read that is served in parts is one reference; parts of others may come in
 * between. Does a part that begins at @first go on with one that was kept?
 */
bool planner_goes_on(const struct planner *p, u64 first);

/*
 * @ref is such a part. It is kept if @more comes next; else the parts before it
 * are added to it, and true is returned. Of more reads under way than PARTS some
 * parts are forgotten, and so are parts that would be more than LOOKAHEAD_MAX
 * blocks with the next one.
 */
bool planner_gather(struct planner *p, struct reference *ref, bool more);

/*
 * What to prefetch after reference @ref: the sum of its runs is at most
 * @ref->lookahead. @where says for auto which blocks need no prefetch (those in
 * the weighing room); it gets @ctx.
 */
void planner_reference(struct planner *p, const struct reference *ref,
		       enum room (*where)(const void *ctx, u64 block),
		       const void *ctx, struct plan *plan);

/* Does an I/O take so long (@latency, ns) that its length hardly matters? */
static inline bool planner_is_slow(u32 latency)
{
	return latency >= SLOW_LATENCY;
}

/*
 * Is there memory for what may never be asked for? @unasked of @entries blocks are. It is
 * worth more where an I/O is dear.
 */
static inline bool planner_has_room(u32 unasked, u32 entries, bool slow)
{
	return unasked < entries / (slow ? 3 : 8);
}

/*
 * How many aligned blocks of 2^@block_shift sectors near may name for auto, where an I/O
 * takes @latency: 0 where they would take much longer than one.
 */
static inline u32 planner_around(u32 latency, u32 block_shift)
{
	if (planner_is_slow(latency))
		return NEAR_BLOCKS;
	return latency < NEAR_LATENCY ? 0 : NEAR_SECTORS >> block_shift;
}

/*
 * near may name what may never be asked for: as long as there is room, or what it pushes
 * out is not used.
 */
static inline bool planner_near_has_place(const struct reference *ref)
{
	return ref->around && (ref->has_room || !ref->full);
}

/* Where no I/O is dear it saves too few of them after a large read. */
static inline bool planner_near_saves(const struct reference *ref)
{
	return ref->slow || 4 * ref->n <= ref->around;
}

static inline bool planner_near_pays(const struct reference *ref)
{
	return planner_near_saves(ref) && planner_near_has_place(ref);
}

/* Nothing that is pushed out would be used. */
static inline bool planner_spares_nothing(const struct planner *p)
{
	return p->unused_for >= PLAN_UNUSED_FOR;
}

/* Which planners act, a bit for each kind: p->kind, or auto's choice. */
static inline u32 planner_acting(const struct planner *p)
{
	bool skippers = p->chooser.for_skippers && planner_spares_nothing(p);

	if (p->kind != PLANNER_AUTO)
		return 1u << p->kind;
	return p->chooser.acting | (u32)skippers << PLANNER_STREAM;
}

/* Adds up to @n blocks from @first on, if there is room for a run. */
static inline void plan_add_kept(struct plan *plan, u64 first, u32 n, bool keep)
{
	if (!n || plan->n == PLAN_RUNS)
		return;
	plan->keep[plan->n] = keep;
	plan->runs[plan->n++] = (struct run){ first, n };
}

static inline void plan_add(struct plan *plan, u64 first, u32 n)
{
	plan_add_kept(plan, first, n, false);
}

/* Blocks of 2^@block_shift sectors to read past: PLAN_HOLE of 4 KiB, fewer larger ones. */
static inline u32 plan_hole(u32 block_shift)
{
	return (PLAN_HOLE * 8) >> block_shift;
}

/* Most blocks of 2^@block_shift sectors that a plan takes. Not more is to be planned. */
static inline u32 plan_most(u32 block_shift)
{
	return PLAN_SECTORS >> block_shift;
}

/* Most blocks of prefetches under way: more than the waiting room holds would push itself out. */
static inline u32 plan_limit(u32 waiting, u32 block_shift)
{
	return pure_max(1, pure_min(waiting, plan_most(block_shift)));
}

/*
 * How many blocks a plan may still take: @under_way of at most @limit are on their
 * way, and it has @taken so many of @most, with those that it reads past.
 */
static inline u32 plan_left(u32 limit, u32 under_way, u32 most, u32 taken)
{
	if (under_way >= limit || taken >= most)
		return 0;
	return pure_min(limit - under_way, most - taken);
}

/* Who pays, one of so many others than the root, which nothing limits, */
#define PLAN_OTHERS		64
#define PLAN_PAYERS		(1 + PLAN_OTHERS)
/* has at most so many times as many blocks under way as there may still be. */
#define PLAN_SHARE		7

/*
 * As how many of at most @limit blocks that may be under way they count for who pays
 * for @own of @under_way. If those of whom his cgroup's limit keeps waiting were not
 * bounded, nothing would be prefetched for others (the dynamic threshold of A. K.
 * Choudhury and E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet
 * switches", 1998).
 */
static inline u32 plan_under_way(u32 limit, u32 under_way, u32 own)
{
	u32 most = PLAN_SHARE * (limit - pure_min(limit, under_way));
	u32 left = most - pure_min(most, own);

	/* Each one that he gets leaves fewer for all, too. Of few he may get the last one. */
	return limit - (left + PLAN_SHARE) / (1 + PLAN_SHARE);
}

/*
 * What @ref may plan: @lookahead is the table's, in blocks of 2^@block_shift sectors,
 * @entries the cache's, @waiting what the waiting room is meant for, @under_way
 * prefetches on their way.
 */
static inline void plan_bounds(struct reference *ref, u32 lookahead, u32 entries,
			       u32 waiting, u32 under_way, u32 block_shift)
{
	u32 most = plan_most(block_shift);

	ref->lookahead = pure_min(lookahead, most);
	ref->entries = entries;
	ref->waiting = waiting;
	ref->left = plan_left(plan_limit(waiting, block_shift), under_way, most, 0);
}

/* Blocks in one I/O that carries out @plan, with some to read past. */
static inline u32 plan_blocks(const struct plan *plan)
{
	u32 i, n = 0;

	for (i = 0; i < plan->n; i++)
		n += plan->runs[i].n;
	return n > 1 ? n + 2 * PLAN_HOLE : n;
}

/*
 * Takes from @run its next blocks that are @wanted, at most @most in a row:
 * returns how many, the first in *first; 0: there are none left.
 */
u32 plan_cut(struct run *run, u32 most,
	     bool (*wanted)(const void *ctx, u64 block), const void *ctx,
	     u64 *first);

/* The single planners; for planner.c and the tests. */
void obl_reference(const struct reference *ref, struct plan *plan);
/* Names the rest of @around aligned blocks, a power of two. */
void near_reference(const struct reference *ref, u32 around, struct plan *plan);
void stream_init(struct stream_planner *s);
void stream_reference(struct stream_planner *s, const struct reference *ref,
		      struct plan *plan);
/* How many streams went on in the last @lately references, or 256: 1 to @most. */
u32 stream_readers(const struct stream_planner *s, u32 lately, u32 most);
/* Has the reader of the one that went on last left out blocks, one of eight times? */
bool stream_skips(const struct stream_planner *s);
void pattern_init(struct pattern_planner *p);
void pattern_reference(struct pattern_planner *p, const struct reference *ref,
		       struct plan *plan);
void region_init(struct region_planner *r);
void region_reference(struct region_planner *r, const struct reference *ref,
		      struct plan *plan);
/*
 * @run is expected. If it lies in a region that was not asked for of late, most of
 * which was the last time, and @run with it, all of that is expected, too: up to
 * @most blocks of it are added to @plan. False: nothing is.
 */
bool region_around(struct region_planner *r, const struct run *run, u32 most,
		   struct plan *plan);
void chooser_init(struct auto_planner *a);
/*
 * @ref happened: whose predictions came true? Before its plans are noted. @ref->full:
 * what is prefetched pushes out what is used.
 */
void chooser_reference(struct auto_planner *a, const struct reference *ref);
/* Shall obl or near predict (@kind) after this reference? Now and then where nothing comes true. */
bool chooser_tries(const struct auto_planner *a, u32 kind);
/*
 * Planner @kind predicts @n blocks that would have to be prefetched, at most 255;
 * @block is one of them and stands for all. @alone: none has prefetched it yet.
 */
void chooser_predict(struct auto_planner *a, u32 kind, const struct reference *ref,
		     u64 block, u32 n, bool alone);

#endif
