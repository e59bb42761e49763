// SPDX-License-Identifier: GPL-2.0-only
/* Which slots a read covers. */
#include "read_op.h"

/* One in so many of a shard's frames may be in use for what reads pass over. */
#define PASSING_SHARE	4
/* A window ahead is as large as one of a miss only up to one in so many of them. */
#define MISS_SHARE	8

/* Cuts from @w what is in memory already, so that nothing is read twice. */
static struct window window_trim(struct pagein_shard *sh, u32 base,
				 struct window w, u32 at, u32 want)
{
	u64 wanted = want ? GENMASK_ULL(at + want - 1, at) : 0, held;
	u32 end = w.first + w.n;

	if (!w.n)
		return w;
	held = pagein_held(sh, base, GENMASK_ULL(end - 1, w.first) & ~wanted);
	if (held >> at)
		end = at + __ffs64(held >> at);
	held &= GENMASK_ULL(at, 0) >> 1;
	if (held)
		w.first = fls64(held);
	w.n = end - w.first;
	return w;
}

u32 pagein_limit(const struct pagein *pi)
{
	if (READ_ONCE(pi->knobs->readahead) == MSWAP_READAHEAD_OFF)
		return 1;
	return READ_ONCE(pi->knobs->readahead_pages);
}

static bool adapts(const struct pagein *pi)
{
	return READ_ONCE(pi->knobs->readahead) == MSWAP_READAHEAD_AUTO;
}

static u32 first_window_size(struct pagein *pi, struct pagein_shard *sh)
{
	u32 limit = pagein_limit(pi);

	return adapts(pi) ? window_tuner_size(&sh->run_tuner, limit) : limit;
}

/*
 * Pages that were evicted together are often wanted together, whomever they
 * belong to: beyond its run the window goes on over live neighbours as long as
 * that pays. By how many: it is not the size of the window, since one that ends with
 * its run tells nothing of them.
 */
static u32 strangers_size(struct pagein *pi, struct pagein_shard *sh)
{
	u32 size;

	if (!adapts(pi))
		return 0;
	size = window_tuner_size(&sh->strangers_tuner, pagein_limit(pi));
	return size > 1 ? size : 0;
}

/*
 * The window over a run that lies in pieces, the slots @bits of the granule, with the
 * @want wanted ones: what is between them is read too, for one I/O costs less than
 * many, and not kept. Each slot has a page of its own all the same: a device below that
 * checks what is in the pages, or mends it, as RAID over disks with checksums does,
 * would take two slots in one page for a broken disk. No hit starts another one, unless
 * the caller sees to it. False, and nothing is planned, where there is nothing or that
 * would take too many frames.
 */
static bool read_plan_pieces(struct read_op *op, struct pagein_shard *sh,
			     u32 slot, u32 want, u64 bits, u32 from)
{
	u32 at = slot % GRANULE_SLOTS, first, passed;
	u64 wanted = want ? GENMASK_ULL(at + want - 1, at) : 0, all, skip;

	bits &= ~wanted;
	bits &= ~pagein_held(sh, slot - at, bits);
	bits |= wanted;
	if (!bits)
		return false;
	first = __ffs64(bits);
	all = GENMASK_ULL(fls64(bits) - 1, first) >> first;
	skip = all & ~(bits >> first);
	passed = hweight64(skip);
	if (sh->passing + passed > sh->room.nr_frames / PASSING_SHARE)
		return false;
	if (!read_take_frames_of(op, sh, all & ~(wanted >> first), skip, from, !want))
		return false;
	sh->passing += passed;
	op->want = want ? at - first : 0;
	memset(&op->frames[op->want], 0, want * sizeof(op->frames[0]));
	op->nr_want = want;
	op->n = hweight64(all);
	op->skip = skip;
	op->slot = slot - at + first;
	op->trigger = WINDOW_MAX;
	list_add(&op->list, pagein_reads(sh, op->slot));
	return true;
}

/*
 * Slots that do not take a read are those that nobody wants, most likely, and may be
 * many. But a device that was away for a moment has none. Not exact: shards may count
 * at the same time.
 */
static bool whole_only(struct pagein *pi)
{
	u32 left = READ_ONCE(pi->whole_left);

	if (left)
		WRITE_ONCE(pi->whole_left, left - 1);
	return left;
}

/* The live slots of the group of the wanted ones that a window may hold. */
static u64 group_window(struct pagein *pi, struct pagein_shard *sh, u32 slot,
			u32 want, u32 size)
{
	u32 g = granule_of(slot), at = slot % GRANULE_SLOTS;
	u64 group = *slot_map_group(pi->map, g);

	if (!(group >> at & 1) || whole_only(pi))
		return 0;
	return window_group(group & pi->map->live[g], at, want, size,
			    pace_gap(&sh->pace, GRANULE_SLOTS));
}

/*
 * The run of the @want slots at @slot, as window_stretch() gives it; 0 as well if windows
 * are to be whole. It goes on behind what it has lost, whether its readers left that out,
 * or wrote to it, or had it freed by the read (vm_swap_full()).
 */
static u64 stretched_run(struct pagein *pi, u32 slot, u32 want)
{
	u32 g = granule_of(slot), at = slot % GRANULE_SLOTS;
	u64 run = window_stretch(pi->map->live[g], pi->map->cont[g], at, want);

	return run && !whole_only(pi) ? run : 0;
}

/* What a window of @size slots may hold in a run that has lost some; 0: it ends there. */
static u64 stretch_window(struct pagein *pi, struct pagein_shard *sh, u32 slot,
			  u32 want, u32 size)
{
	u64 run = stretched_run(pi, slot, want);

	return run ? window_group(run, slot % GRANULE_SLOTS, want, size,
				  pace_gap(&sh->pace, GRANULE_SLOTS)) : 0;
}

void read_plan_wanted(struct read_op *op, struct pagein_shard *sh, u32 slot,
		      u32 want)
{
	lockdep_assert_held(&sh->lock);
	read_take_no_frames(op, want);
	op->slot = slot;
	op->trigger = want;
	list_add(&op->list, pagein_reads(sh, op->slot));
}

/*
 * How many slots of his run to read ahead of a reader who goes on, if that is more than
 * the shard's first window, which others may have spoilt.
 */
static u32 onward_size(struct read_op *op, struct pagein_shard *sh,
		       struct steady_step step, u32 want)
{
	u32 limit = pagein_limit(op->pi), size = sh->run_tuner.size;
	u32 account, ahead;

	if (!step.length || size >= limit || want >= limit || !adapts(op->pi))
		return 0;
	account = steady_account(op->reader.payer, steady_step_class(step));
	ahead = min(steady_ahead(&sh->steady, account), limit - want);
	if (want + ahead <= size)
		return 0;
	op->steady = account;
	return ahead;
}

/* The slots from @at on, or, if @down, those before @at + @want. */
static u64 onward_bits(u32 at, u32 want, bool down)
{
	return down ? GENMASK_ULL(at + want - 1, 0) : GENMASK_ULL(63, at);
}

/* Hits before the middle of @op start the window below it. */
static void set_below(struct read_op *op)
{
	if (op->slot)
		op->below = max(op->n / 2, 1u);
}

/* Hits past the middle of @op start the window behind it, or below, if it was come to there. */
static void set_onward(struct read_op *op, u32 want)
{
	op->trigger = max(op->want + want, op->n / 2);
	if (op->want && 2 * op->want >= op->n)
		set_below(op);
}

/*
 * The window @run with strangers around it, or, if they are more, those slots @beyond
 * holes that the run goes on to.
 */
static void plan_window(struct read_op *op, struct pagein_shard *sh, u32 slot,
			u32 want, struct window run, u64 beyond)
{
	u32 at = slot % GRANULE_SLOTS, strangers = strangers_size(op->pi, sh);
	u64 live = op->pi->map->live[granule_of(slot)];
	struct window w;

	if (run.n + strangers == want && !beyond) {
		read_plan_wanted(op, sh, slot, want);
		return;
	}
	strangers = min(strangers, max(pagein_limit(op->pi), run.n) - run.n);
	w = op->down ? window_onward(live, ~0ull, run.first, run.n, strangers, true) :
		       window_around(live, ~0ull, run.first, run.n, run.n + strangers);
	w = window_trim(sh, slot - at, w, at, want);
	beyond &= ~pagein_held(sh, slot - at, beyond);
	if (hweight64(beyond) > w.n &&
	    read_plan_pieces(op, sh, slot, want, beyond, slot)) {
		set_onward(op, want);
		return;
	}
	read_take_frames(op, sh, w, run, at, want, slot);
	op->slot = slot - op->want;
	set_onward(op, want);
	list_add(&op->list, pagein_reads(sh, op->slot));
}

/* The window of @size slots for a reader who goes on, with those that he comes to first. */
static struct window steady_window(u64 live, u64 cont, u32 at, u32 want, u32 size,
				   struct steady_step step)
{
	u32 between = min(step.between, size - want), reach;
	struct window w;

	reach = window_onward(live, cont, at, want, between, false).n;
	w = window_onward(live, cont, at, want, size - reach, step.down);
	w.n += reach - want;
	return w;
}

static void plan_miss(struct read_op *op, struct pagein_shard *sh, u32 slot,
		      u32 want, struct steady_step step)
{
	u32 g = granule_of(slot), at = slot % GRANULE_SLOTS, size;
	u64 live = op->pi->map->live[g], cont = op->pi->map->cont[g];
	u32 ahead = onward_size(op, sh, step, want);
	struct window run = { .first = at, .n = want };
	u64 group, way, beyond = 0;

	/* What a steady reader is read is no try of the shard's own window. */
	size = ahead ? min(want + step.between + ahead, pagein_limit(op->pi)) :
		       first_window_size(op->pi, sh);
	if (size > want) {
		way = ahead ? onward_bits(at, want + step.between, step.down) : ~0ull;
		run = ahead || step.down ?
			      steady_window(live, cont, at, want, size, step) :
			      window_around(live, cont, at, want, size);
		group = way & group_window(op->pi, sh, slot, want, size);
		if (hweight64(group) > run.n &&
		    read_plan_pieces(op, sh, slot, want, group, slot))
			return;
		if (!group)
			beyond = way & stretch_window(op->pi, sh, slot, want,
						      size);
	}
	plan_window(op, sh, slot, want, run, beyond);
}

/* Are there pages in the @n slots from @slot on, all of one granule? */
static bool leaves_out(struct pagein *pi, u32 slot, u32 n)
{
	u64 after = GENMASK_ULL(63, slot % GRANULE_SLOTS);

	return n && pi->map->live[granule_of(slot)] & after & ~(after << n);
}

void read_plan(struct read_op *op, struct pagein_shard *sh, u32 slot, u32 want)
{
	struct steady_step step;

	lockdep_assert_held(&sh->lock);
	if (pagein_stays_alone(sh, granule_of(slot))) {
		read_plan_wanted(op, sh, slot, want);
		return;
	}
	step = steady_miss(&sh->steady, slot, want);
	op->down = step.down;
	plan_miss(op, sh, slot, want, step);
	/* He has had what lies above; who leaves out pages may be another one. */
	if (step.down && !leaves_out(op->pi, slot + want, step.between))
		op->trigger = WINDOW_MAX;
	if (op->n > want)
		steady_read(&sh->steady, op->slot, op->n);
}

/* How large a window may be that nobody asked for yet. */
struct ahead_size {
	u32 run;	/* slots of the run: a steady reader's are on his credit */
	u32 all;	/* and with strangers, who are on nobody's */
};

/*
 * Such a window has that size in all, with the @n slots of the run, if these are not cut off:
 * misses tell what pays. 0: no strangers.
 */
static u32 with_strangers(struct pagein *pi, struct pagein_shard *sh, u32 n,
			  struct ahead_size most)
{
	u32 size = min(most.all, sh->strangers_tuner.size);

	if (!adapts(pi) || n == most.run || size < WINDOW_FIRST_SIZE)
		return 0;
	return size > n ? size : 0;
}

/* What a run that has lost some slots goes on with at @slot, if that one was of it. */
static bool plan_ahead_stretch(struct read_op *op, struct pagein_shard *sh,
			       u32 slot, u32 size, u32 from)
{
	struct slot_map *map = op->pi->map;
	u32 g = granule_of(slot), at = slot % GRANULE_SLOTS;
	u64 live = map->live[g], cont = map->cont[g], bits;

	if (!(cont >> at & 1))
		return false;
	bits = stretched_run(op->pi, slot, 1);
	if (!bits)
		return false;
	bits = window_group(bits & onward_bits(at, 0, false), at, 0, size,
			    pace_gap(&sh->pace, GRANULE_SLOTS));
	if (hweight64(bits) <= window_ahead(live, cont, at, size).n)
		return false;
	return read_plan_pieces(op, sh, slot, 0, bits, from);
}

/* The same for one that has lost none, with strangers behind it. */
static bool plan_ahead_run(struct read_op *op, struct pagein_shard *sh,
			   u32 slot, struct ahead_size most, u32 from)
{
	struct slot_map *map = op->pi->map;
	u32 g = granule_of(slot), at = slot % GRANULE_SLOTS;
	u64 live = map->live[g];
	struct window run, w;
	u32 size;

	run = window_ahead(live, map->cont[g], at, most.run);
	size = with_strangers(op->pi, sh, run.n, most);
	w = size ? window_ahead(live, ~0ull, at, size) : run;
	w = window_trim(sh, slot - at, w, at, 0);
	read_take_frames(op, sh, w, run, at, 0, from);
	if (!op->n)
		return false;
	op->slot = slot;
	list_add(&op->list, pagein_reads(sh, op->slot));
	return true;
}

static bool plan_ahead(struct read_op *op, struct pagein_shard *sh, u32 slot,
		       struct ahead_size most, u32 from, bool steady)
{
	if (!(steady && plan_ahead_stretch(op, sh, slot, most.run, from)) &&
	    !plan_ahead_run(op, sh, slot, most, from))
		return false;
	op->trigger = op->n / 2;
	return true;
}

/* What a run that has lost some slots goes on with from @slot down. */
static bool plan_below_stretch(struct read_op *op, struct pagein_shard *sh,
			       u32 slot, u32 size, u32 from)
{
	u32 at = slot % GRANULE_SLOTS;
	u64 bits = stretched_run(op->pi, slot, 1);

	if (!bits)
		return false;
	bits = window_group(bits & onward_bits(at, 1, true), at + 1, 0, size,
			    pace_gap(&sh->pace, GRANULE_SLOTS));
	return read_plan_pieces(op, sh, slot, 0, bits, from);
}

/* The same for one that has lost none, with strangers below it, or, if @parted, these only. */
static bool plan_below_run(struct read_op *op, struct pagein_shard *sh,
			   u32 slot, struct ahead_size most, u32 from, bool parted)
{
	struct slot_map *map = op->pi->map;
	u32 g = granule_of(slot), at = slot % GRANULE_SLOTS;
	struct window run = { 0 }, w;
	u64 live = map->live[g];
	u32 size;

	if (!(live >> at & 1))
		return false;
	if (!parted)
		run = window_onward(live, map->cont[g], at, 1, most.run - 1, true);
	size = with_strangers(op->pi, sh, run.n, most);
	w = size ? window_onward(live, ~0ull, at, 1, size - 1, true) : run;
	w = window_trim(sh, slot - at, w, at, 0);
	read_take_frames(op, sh, w, run, w.first + w.n, 0, from);
	if (!op->n)
		return false;
	op->want = 0;
	op->slot = slot - at + w.first + w.n - op->n;
	list_add(&op->list, pagein_reads(sh, op->slot));
	return true;
}

static bool plan_below(struct read_op *op, struct pagein_shard *sh, u32 slot,
		       struct ahead_size most, u32 from, const struct onward *o)
{
	bool stretch = o->steady && !o->parted;

	if (!(stretch && plan_below_stretch(op, sh, slot, most.run, from)) &&
	    !plan_below_run(op, sh, slot, most, from, o->parted))
		return false;
	op->trigger = WINDOW_MAX;
	set_below(op);
	return true;
}

/* A window that a hit starts has that much at least: what one of a miss would have. */
static u32 size_ahead(struct pagein *pi, const struct pagein_shard *sh)
{
	u32 size = min(sh->run_tuner.size, pagein_limit(pi));

	return min(size, sh->room.nr_frames / MISS_SHARE);
}

bool read_plan_ahead(struct read_op *op, struct pagein_shard *sh,
		     const struct onward *onward, u32 from, u32 wanted)
{
	struct ahead_size most = { .run = onward->size, .all = onward->size };
	u32 slot = onward->slot, length = onward->length;
	bool planned;

	lockdep_assert_held(&sh->lock);
	if (pagein_find_failed(sh, granule_of(slot)))
		return false;
	if (onward->steady) {
		op->steady = steady_account(op->reader.payer, steady_class(length));
		most.run = min(most.run, steady_ahead(&sh->steady, op->steady));
	} else if (adapts(op->pi)) {
		most.run = max(most.run, size_ahead(op->pi, sh));
		most.all = most.run;
	}
	most.run = max(most.run, min(wanted, pagein_limit(op->pi)));
	most.all = max(most.all, most.run);
	if (!most.run)
		return false;
	op->meant = most.run;
	op->down = onward->below;
	planned = onward->below ?
			  plan_below(op, sh, slot, most, from, onward) :
			  plan_ahead(op, sh, slot, most, from, onward->steady);
	if (!planned)
		return false;
	if (onward->below)
		steady_read_on(&sh->steady, op->slot, op->n, 0);
	else
		steady_read_on(&sh->steady, slot, op->slot + op->n - slot, length);
	return true;
}
