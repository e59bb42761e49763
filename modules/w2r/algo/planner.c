// SPDX-License-Identifier: GPL-2.0-only
#include "index.h"
#include "planner.h"

#define WAITING_SHARE	16	/* of the waiting room auto fills one at a time, */
#define WAITING_LEAST	64	/* or so many blocks */
#define AUTO_BLOCKS	128	/* that auto prefetches after a read, */
#define AUTO_DOUBLINGS	2	/* so often twice as many, when they come late, */
#define AT_ONCE		8	/* but not more than this share of the cache, or was read */
#define USED_LATELY	32	/* references: so something is */
#define UNUSED_MOST	(1u << 31)	/* counted of them, and of their blocks */
#define PARTS_SCORED	8	/* of a run, or up to twice as many; */
#define NEAR_SCORED	2	/* of near's, where no I/O is dear */
#define OBL_ALONE	16	/* blocks: after reads of so many obl alone does nothing */

void obl_reference(const struct reference *ref, struct plan *plan)
{
	plan_add(plan, ref->first + ref->n, 1);
}

void near_reference(const struct reference *ref, u32 around, struct plan *plan)
{
	u64 end = ref->first + ref->n, after = -end & (around - 1);
	u64 before = ref->first & (around - 1);

	if (ref->room != ROOM_DISK)
		return;
	after = pure_min(after, (u64)ref->lookahead);
	before = pure_min(before, ref->lookahead - after);
	plan_add(plan, end, after);
	plan_add(plan, ref->first - before, before);
}

void planner_init(struct planner *p, enum planner_kind kind)
{
	p->kind = kind;
	stream_init(&p->stream);
	pattern_init(&p->pattern);
	region_init(&p->region);
	chooser_init(&p->chooser);
	p->nr_parts = 0;
	p->lost = 0;
	p->doublings = 0;
	p->unused_for = 0;
	p->unused_blocks = 0;
}

/* Which part @first goes on with; nr_parts: none. */
static u32 part_before(const struct planner *p, u64 first)
{
	u32 i;

	for (i = 0; i < p->nr_parts; i++)
		if (p->parts[i].first + p->parts[i].n == first)
			break;
	return i;
}

bool planner_goes_on(const struct planner *p, u64 first)
{
	return part_before(p, first) < p->nr_parts;
}

static void join_part(struct reference *ref, const struct reference *part)
{
	if (part->n + ref->n > LOOKAHEAD_MAX)
		return;
	ref->first = part->first;
	ref->n += part->n;
	ref->room = part->room;
	ref->goes_on = part->goes_on;
	ref->late |= part->late;
}

/* One whose rest never comes stays until others need its place. */
static void keep_part(struct planner *p, const struct reference *ref)
{
	u32 i = p->nr_parts < PARTS ? p->nr_parts++ : p->lost++ & (PARTS - 1);

	p->parts[i] = *ref;
}

bool planner_gather(struct planner *p, struct reference *ref, bool more)
{
	u32 i = part_before(p, ref->first);

	if (i < p->nr_parts) {
		join_part(ref, &p->parts[i]);
		p->parts[i] = p->parts[--p->nr_parts];
	}
	if (more)
		keep_part(p, ref);
	return !more;
}

static void reference_one(struct planner *p, u32 kind,
			  const struct reference *ref, struct plan *plan)
{
	plan->n = 0;
	plan->waiting = 0;
	if (kind == PLANNER_OBL)
		obl_reference(ref, plan);
	else if (kind == PLANNER_STREAM)
		stream_reference(&p->stream, ref, plan);
	else if (kind == PLANNER_PATTERN)
		pattern_reference(&p->pattern, ref, plan);
	else if (kind == PLANNER_REGION)
		region_reference(&p->region, ref, plan);
	else
		near_reference(ref, p->kind == PLANNER_AUTO ? ref->around : NEAR_BLOCKS,
			       plan);
}

/*
 * The one of @n blocks from @first on that stands for all of them. Always the last one
 * would be always the one that a reader leaves out, or never, where he does it as often.
 */
static u64 sample(u64 first, u32 n)
{
	return first + index_hash(first, 40) % n;
}

static bool names(const struct plan *plan, u64 block)
{
	u32 i;

	for (i = 0; i < plan->n; i++)
		if (block - plan->runs[i].first < plan->runs[i].n)
			return true;
	return false;
}

/*
 * Where no I/O is dear near is judged by what it adds to what others name; and it names too
 * much, at each miss, to push out their predictions by its own.
 */
static bool must_add(u32 kind, const struct reference *ref)
{
	return kind == PLANNER_NEAR && !ref->slow;
}

/*
 * What @planned names is scored, as far as it needs a prefetch; @others is what will be
 * prefetched anyway. Of a long run a few blocks stand for the others: many readers' runs
 * would push each other's predictions out before they come true.
 */
static void score(struct planner *p, u32 kind, const struct reference *ref,
		  const struct plan *planned, const struct plan *others,
		  enum room (*where)(const void *ctx, u64 block),
		  const void *ctx)
{
	bool adds = must_add(kind, ref);
	const struct run *run;
	u32 i, n, part, done;
	enum room room;
	u64 block;

	for (i = 0; i < planned->n; i++) {
		run = &planned->runs[i];
		part = pure_max(1, run->n / (adds ? NEAR_SCORED : PARTS_SCORED));
		for (done = 0; done < run->n; done += n) {
			n = pure_min(part, run->n - done);
			block = sample(run->first + done, n);
			if (adds && names(others, block))
				continue;
			room = where(ctx, block);
			if (room != ROOM_WEIGHING)
				chooser_predict(&p->chooser, kind, ref, block, n,
						room == ROOM_DISK);
		}
	}
}

/* Adds @more to @plan; @left is what may be prefetched yet. */
static void join(struct plan *plan, const struct plan *more, u32 *left)
{
	u32 i, n;

	for (i = 0; i < more->n; i++) {
		n = pure_min(more->runs[i].n, *left);
		plan_add_kept(plan, more->runs[i].first, n, more->keep[i]);
		*left -= n;
	}
}

/* Makes @run longer by @more, if that begins in it or right behind. */
static bool extend(struct run *run, const struct run *more)
{
	u64 from = more->first - run->first;

	if (from > run->n)
		return false;
	run->n = pure_max(run->n, (u32)from + more->n);
	return true;
}

/* Does @plan name blocks on both sides of @ref? It is one I/O past that, as it is. */
static bool names_past(const struct plan *plan, const struct reference *ref)
{
	bool before = false, behind = false;
	u32 i;

	for (i = 0; i < plan->n; i++)
		if (plan->runs[i].first < ref->first)
			before = true;
		else
			behind = true;
	return before && behind;
}

/*
 * What near names @around a missed read goes before what @plan has, and takes in what of
 * that lies there or goes on from there: all of it makes one I/O with the read.
 */
static void join_around(struct plan *plan, const struct plan *around, u32 left)
{
	struct plan others = *plan;
	bool taken;
	u32 i, k, n;

	plan->n = 0;
	join(plan, around, &left);
	n = plan->n;
	for (i = 0; i < others.n; i++) {
		taken = false;
		for (k = 0; k < n && !taken && !others.keep[i]; k++)
			taken = extend(&plan->runs[k], &others.runs[i]);
		if (!taken)
			plan_add_kept(plan, others.runs[i].first, others.runs[i].n,
				      others.keep[i]);
	}
}

/*
 * As join(), where a region is expected by a block of it: pattern names those ahead
 * one by one, of a tree that is read as before each would be an I/O.
 */
static void join_regions(struct planner *p, const struct reference *ref,
			 struct plan *plan, const struct plan *more, u32 *left,
			 enum room (*where)(const void *ctx, u64 block),
			 const void *ctx)
{
	struct plan each;
	u32 i;

	for (i = 0; i < more->n && *left; i++) {
		each.n = 0;
		if (region_around(&p->region, &more->runs[i], *left, &each))
			score(p, PLANNER_REGION, ref, &each, plan, where, ctx);
		else
			plan_add(&each, more->runs[i].first, more->runs[i].n);
		join(plan, &each, left);
	}
}

/*
 * A block by itself is an I/O by itself, if it does not go with a missed one. Of a large read
 * it saves next to nothing, but is right where stream, who names much, is too early yet; who
 * has near beside him for small reads is alone after a large one.
 */
static bool obl_may_act(const struct planner *p, const struct reference *ref)
{
	u32 others = p->chooser.acting & ~(1u << PLANNER_OBL);

	if (!planner_near_saves(ref))
		others &= ~(1u << PLANNER_NEAR);
	if (others)
		return ref->room == ROOM_DISK;
	return ref->n < OBL_ALONE;
}

/*
 * Need @kind, which remembers nothing, not be told @ref? Nor is it scored, then: where it may
 * not act, it may be wrong each time.
 */
static bool is_left_out(const struct planner *p, u32 kind, const struct reference *ref)
{
	bool may;

	if (kind == PLANNER_NEAR)
		may = planner_near_pays(ref);
	else if (kind == PLANNER_OBL)
		may = obl_may_act(p, ref);
	else
		return false;
	return !may || !chooser_tries(&p->chooser, kind);
}

static bool acts(const struct planner *p, u32 kind)
{
	u32 acting = stream_skips(&p->stream) ? planner_acting(p) : p->chooser.acting;

	return acting & 1u << kind;
}

/* How many blocks auto may name. */
static u32 auto_lookahead(struct planner *p, const struct reference *ref)
{
	u32 most = pure_max(WAITING_LEAST, ref->waiting / WAITING_SHARE);

	if (ref->late && p->doublings < AUTO_DOUBLINGS)
		p->doublings++;
	most = pure_max(ref->n, pure_min(most, AUTO_BLOCKS) << p->doublings);
	return pure_min(ref->lookahead, most);
}

/*
 * Has as much come as the cache holds, and nothing of it was used again? Who reads in strict
 * turn waits alike each time, so that no interval makes the waiting room grow for him.
 */
static bool has_no_use(const struct planner *p, const struct reference *ref)
{
	return planner_spares_nothing(p) && p->unused_blocks >= ref->entries;
}

/*
 * The waiting room of a small cache may be nearly all of it, and what a stream names at
 * once then pushes out what is used again and again. Where nothing is, a reader alone may
 * have all; several share a half, or each would push out what others are to read.
 */
static u32 share_at_once(const struct planner *p, const struct reference *ref)
{
	u32 readers;

	if (!planner_spares_nothing(p))
		return AT_ONCE;
	readers = stream_readers(&p->stream, ref->entries / ref->n, AT_ONCE / 2);
	return readers > 1 ? 2 * readers : 1;
}

/*
 * As much as was read it may, or half of each read of who reads much is missed. Not so for
 * what the chooser leaves out of account: of several readers as much is on its way.
 */
static u32 at_once(struct planner *p, const struct reference *ref)
{
	u32 most;

	most = pure_max(ref->n, ref->entries / share_at_once(p, ref));
	return pure_min(ref->lookahead, most);
}

void planner_reference(struct planner *p, const struct reference *ref,
		       enum room (*where)(const void *ctx, u64 block),
		       const void *ctx, struct plan *plan)
{
	/* Who names the longest runs comes first. */
	static const u8 order[SCORES] = {
		PLANNER_STREAM, PLANNER_PATTERN, PLANNER_REGION, PLANNER_OBL,
		PLANNER_NEAR,
	};
	struct reference few = *ref;
	struct plan *each = &p->each;
	u32 left, kind, i;

	if (p->kind != PLANNER_AUTO) {
		reference_one(p, p->kind, ref, plan);
		plan->waiting = 0;
		return;
	}
	p->unused_for = ref->room == ROOM_WEIGHING && !ref->goes_on ? 0 :
			pure_min(p->unused_for, UNUSED_MOST) + 1;
	p->unused_blocks = p->unused_for ? pure_min(p->unused_blocks, UNUSED_MOST) + ref->n : 0;
	few.lookahead = auto_lookahead(p, ref);
	few.full = ref->full && p->unused_for < USED_LATELY;
	chooser_reference(&p->chooser, &few);
	left = at_once(p, &few);
	few.lookahead = left;
	ref = &few;
	plan->n = 0;
	plan->waiting = 0;
	for (i = 0; i < SCORES; i++) {
		kind = order[i];
		if (is_left_out(p, kind, ref))
			continue;
		reference_one(p, kind, ref, each);
		if (!each->n)
			continue;
		score(p, kind, ref, each, plan, where, ctx);
		if (!acts(p, kind))
			continue;
		if (has_no_use(p, ref))
			plan->waiting = pure_max(plan->waiting, each->waiting);
		if (kind == PLANNER_PATTERN && acts(p, PLANNER_REGION))
			join_regions(p, ref, plan, each, &left, where, ctx);
		else if (kind == PLANNER_NEAR && !names_past(plan, ref))
			join_around(plan, each, left);
		else
			join(plan, each, &left);
	}
}

u32 plan_cut(struct run *run, u32 most,
	     bool (*wanted)(const void *ctx, u64 block), const void *ctx,
	     u64 *first)
{
	u32 n = 0;

	while (run->n && !wanted(ctx, run->first)) {
		run->first++;
		run->n--;
	}
	*first = run->first;
	while (n < most && run->n && wanted(ctx, run->first)) {
		run->first++;
		run->n--;
		n++;
	}
	return n;
}
