// SPDX-License-Identifier: GPL-2.0-only
#include "index.h"
#include "planner.h"

#define DECIDE_EVERY	8	/* references */
#define FORGET_EVERY	256	/* references after which the past counts half, */
#define PATIENCES	3	/* if it is so many times as long as patience; */
#define KEPT_FOR	8192	/* else after so many */
#define NEW_FOR		128	/* references, or up to twice as many */
#define WAYS		2	/* places that a prediction may have */
#define DRAWS		2	/* controls of one prediction */
#define DRAWN_ENOUGH	8
#define IN_VAIN		1024	/* predictions, none of which came true; after that they are made */
#define TRIED_SHIFT	5	/* after one reference in two to the power of so many */
#define NO_BLOCK	((u64)-1)

/* Of @of predictions @true_ones are enough: to begin, and to go on acting. */
struct share {
	u32 of;
	u32 true_ones;
};

struct terms {
	struct share shares[2];
	u32 samples;		/* predictions come true before a planner acts */
};

static const struct terms usual = { { { 3, 2 }, { 5, 3 } }, 8 };
static const struct terms skipper = { { { 10, 3 }, { 4, 1 } }, 8 };
static const struct terms near_slow = { { { 6, 1 }, { 9, 1 } }, 8 };
/* One block stands for half of a run: eight would be one that came true by luck. */
static const struct terms near_fast = { { { 3, 2 }, { 5, 3 } }, 128 };

/* To what comes true in less than the mean time, controls may, to begin and to go on acting. */
static const struct share chance[2] = { { 5, 2 }, { 5, 4 } };

void chooser_init(struct auto_planner *a)
{
	memset(a, 0, sizeof(*a));
	/* Until the first decision: most readers are sequential. */
	a->acting = 1u << PLANNER_OBL | 1u << PLANNER_STREAM;
}

/*
 * The first of the WAYS places that one of @block may have. By index_hash() alone what two
 * readers are to read would collide all along their files.
 */
static struct prediction *places_of(struct auto_planner *a, u64 block)
{
	u64 mixed = block ^ index_hash(block, 32);

	return &a->predictions[index_hash(mixed, 52) * WAYS];
}

/* The one of @block in its places @x, or NULL. */
static struct prediction *find(struct prediction *x, u64 block)
{
	u32 i;

	for (i = 0; i < WAYS; i++)
		if (x[i].block == block)
			return &x[i];
	return NULL;
}

/*
 * A free one of the places @x of @block, or the oldest one's: what is to be read yet does
 * not give way to what a planner that names much has named just now.
 */
static struct prediction *make_place(const struct auto_planner *a,
				     struct prediction *x, u64 block)
{
	struct prediction *oldest = x;
	u32 i;

	for (i = 0; i < WAYS && oldest->block != NO_BLOCK; i++)
		if (x[i].block == NO_BLOCK || a->clock - x[i].made > a->clock - oldest->made)
			oldest = &x[i];
	memset(oldest->stands_for, 0, sizeof(oldest->stands_for));
	oldest->block = block;
	return oldest;
}

/* How many predictions ago did @kind make this one? */
static u32 age(const struct auto_planner *a, const struct prediction *x,
	       u32 kind)
{
	return a->scores[kind].all.total - x->stamps[kind];
}

/*
 * Would it have left the waiting room by now? That is a FIFO; the planner shares
 * it with others, but blocks that were asked for leave it in between.
 */
static bool is_late(const struct auto_planner *a, const struct prediction *x,
		    u32 kind, const struct reference *ref)
{
	return age(a, x, kind) > ref->waiting;
}

/* After so many more predictions what comes true has done so, in the mean. */
static u32 mean_time(const struct score *s)
{
	return s->takes / 16;
}

static void note_success(struct score *s, u32 n, bool alone, u32 after)
{
	s->in_vain = 0;
	s->all.used += n;
	if (!s->takes)
		s->takes = 16 * after;
	if (after <= mean_time(s))
		s->quick += n;
	if (alone)
		s->alone.used += n;
	s->takes += after - mean_time(s);
	if (after > s->patience)
		s->patience += (after - s->patience + 3) / 4;
}

static void came_true(struct auto_planner *a, struct prediction *x,
		      const struct reference *ref)
{
	u32 kind;

	for (kind = 0; kind < SCORES; kind++)
		if (x->stands_for[kind] && !is_late(a, x, kind, ref))
			note_success(&a->scores[kind], x->stands_for[kind],
				     x->alone & 1u << kind, age(a, x, kind));
	x->block = NO_BLOCK;
}

static struct control *control_of(struct auto_planner *a, u64 block)
{
	return &a->controls[index_hash(block ^ index_hash(block, 32), 54)];
}

/* Has @c waited for longer than what its planner predicts, in the mean? */
static bool is_unlucky(const struct auto_planner *a, const struct control *c)
{
	const struct score *s = &a->scores[c->kind];

	return s->all.total - c->stamp > mean_time(s);
}

static void decide_control(struct auto_planner *a, struct control *c)
{
	struct score *s = &a->scores[c->kind];

	s->drawn++;
	s->lucky += !is_unlucky(a, c);
	c->open = false;
}

/*
 * One that is open keeps its place until it is decided: those asked for soon would be
 * left, else.
 */
static void draw_control(struct auto_planner *a, u32 kind)
{
	struct control *c;
	u64 block;

	if (a->nr_recent < RECENT)
		return;
	block = a->recent[index_hash(a->draws++, 58)];
	c = control_of(a, block);
	if (c->open && !is_unlucky(a, c))
		return;
	if (c->open)
		decide_control(a, c);
	*c = (struct control){ block, a->scores[kind].all.total, (u8)kind, true };
}

/*
 * What is used again and again is read most often, but nothing that comes pushes it out: a
 * block is sampled, if it is, when it comes.
 */
static void sample_recent(struct auto_planner *a, const struct reference *ref)
{
	if (ref->room == ROOM_WEIGHING)
		return;
	a->unsampled += ref->n;
	if (a->unsampled < ref->entries / RECENT)
		return;
	a->unsampled = 0;
	a->recent[a->nr_recent++ % RECENT] = ref->first + index_hash(ref->first, 40) % ref->n;
}

static void note_controls(struct auto_planner *a, const struct reference *ref)
{
	struct control *c;
	u32 i;

	for (i = 0; i < ref->n; i++) {
		c = control_of(a, ref->first + i);
		if (c->open && c->block == ref->first + i)
			decide_control(a, c);
	}
	sample_recent(a, ref);
}

/*
 * In a region hardly larger than the cache whatever is named is asked for before it leaves,
 * but so is what it pushes out. Blocks by chance are asked for within the mean time as often
 * as predicted ones, then; of a reader's next blocks he reads half by then, and of others few.
 */
static bool is_chance(const struct score *s, bool acts)
{
	u32 made = s->all.made, due = made - pure_min(made, mean_time(s));
	u64 lucky = (u64)chance[acts].of * s->lucky;

	if (s->drawn < DRAWN_ENOUGH)
		return false;
	return lucky * due > (u64)chance[acts].true_ones * s->drawn * s->quick;
}

/* Did half the share come true of what was predicted so many references ago? */
static bool old_ones_do(const struct tally *t, const struct share *share)
{
	u32 old = t->made - pure_min(t->made, t->total - t->total_then);

	return 2 * share->of * t->used >= share->true_ones * old;
}

/*
 * What was predicted last had no time to come true: the lookahead, or, of one
 * that names what is asked for much later, as many as came true. But who predicts
 * now and then has never more than that, as the past is halved; so what is old must
 * do. And beside readers whom stream serves region is right in all that is here, and
 * may be wrong in what it alone names: that must do, too, or it pushes out what is used.
 * Nor is it worth it there what would come true by chance.
 */
static bool is_worth(const struct score *s, const struct terms *terms,
		     bool acts, const struct reference *ref)
{
	const struct share *shares = terms->shares;
	const struct tally *all = &s->all;
	u32 early = pure_max(ref->lookahead, pure_min(s->patience, all->used));
	u32 due = all->made - pure_min(all->made, early);

	if (all->used < (acts ? 1 : terms->samples))
		return false;
	if (!old_ones_do(all, &shares[1]))
		return false;
	if (ref->full && !old_ones_do(&s->alone, &shares[1]))
		return false;
	if (ref->full && is_chance(s, acts))
		return false;
	return shares[acts].of * all->used >= shares[acts].true_ones * due;
}

static const struct terms *terms_of(u32 kind, const struct reference *ref)
{
	if (kind != PLANNER_NEAR)
		return &usual;
	return ref->slow ? &near_slow : &near_fast;
}

static void decide(struct auto_planner *a, const struct reference *ref)
{
	u32 kind, acting = 0;

	for (kind = 0; kind < SCORES; kind++) {
		/* Not whether this read is a small one: it says nothing of the next ones. */
		if (kind == PLANNER_NEAR && !planner_near_has_place(ref))
			continue;
		if (is_worth(&a->scores[kind], terms_of(kind, ref),
			     a->acting & (1u << kind), ref))
			acting |= 1u << kind;
	}
	a->acting = acting;
	a->for_skippers = is_worth(&a->scores[PLANNER_STREAM], &skipper,
				   a->for_skippers, ref);
}

static void halve(struct tally *t)
{
	t->used /= 2;
	t->made /= 2;
}

/* Not what is still undecided, but for very old. */
static void forget(struct score *s, u32 clock)
{
	if (s->all.made < PATIENCES * s->patience && clock & (KEPT_FOR - 1))
		return;
	halve(&s->all);
	halve(&s->alone);
	s->quick /= 2;
	s->drawn /= 2;
	s->lucky /= 2;
	s->patience -= s->patience / 8;
}

static void grow_old(struct tally *t)
{
	t->total_then = t->total_later;
	t->total_later = t->total;
}

void chooser_reference(struct auto_planner *a, const struct reference *ref)
{
	struct prediction *x;
	u32 i;

	for (i = 0; i < ref->n; i++) {
		x = find(places_of(a, ref->first + i), ref->first + i);
		if (x)
			came_true(a, x, ref);
	}
	note_controls(a, ref);
	a->clock++;
	if (!(a->clock & (DECIDE_EVERY - 1)))
		decide(a, ref);
	if (!(a->clock & (NEW_FOR - 1)))
		for (i = 0; i < SCORES; i++) {
			grow_old(&a->scores[i].all);
			grow_old(&a->scores[i].alone);
		}
	if (!(a->clock & (FORGET_EVERY - 1)))
		for (i = 0; i < SCORES; i++)
			forget(&a->scores[i], a->clock);
}

static void note_prediction(struct tally *t, u32 n)
{
	t->total += n;
	t->made += n;
}

/*
 * obl and near name blocks whatever was read, and each costs time. Where none comes true they
 * do so after one reference in so many, by chance: of readers in turn each has his share.
 */
static bool is_tried_seldom(const struct auto_planner *a, u32 kind)
{
	return a->scores[kind].in_vain >= IN_VAIN && !(a->acting & 1u << kind) &&
	       (kind == PLANNER_OBL || kind == PLANNER_NEAR);
}

bool chooser_tries(const struct auto_planner *a, u32 kind)
{
	return !is_tried_seldom(a, kind) || !index_hash(a->clock, 64 - TRIED_SHIFT);
}

/* How many @kind names with each that it predicts. */
static u32 weight(const struct auto_planner *a, u32 kind)
{
	return is_tried_seldom(a, kind) ? 1u << TRIED_SHIFT : 1;
}

void chooser_predict(struct auto_planner *a, u32 kind, const struct reference *ref,
		     u64 block, u32 n, bool alone)
{
	struct prediction *places = places_of(a, block);
	struct prediction *x = find(places, block);
	struct score *s = &a->scores[kind];
	u32 i;

	if (!x)
		x = make_place(a, places, block);
	x->made = a->clock;
	if (x->stands_for[kind] && !is_late(a, x, kind, ref))
		return;
	x->stands_for[kind] = (u8)n;
	x->alone &= (u8)~(1u << kind);
	x->alone |= (u8)(alone << kind);
	x->stamps[kind] = s->all.total;
	n *= weight(a, kind);
	s->in_vain++;
	note_prediction(&s->all, n);
	if (alone)
		note_prediction(&s->alone, n);
	for (i = 0; i < DRAWS; i++)
		draw_control(a, kind);
}
