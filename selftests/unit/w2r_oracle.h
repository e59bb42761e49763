/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A slow and obvious two-room cache: rooms and ghosts are arrays of block
 * numbers, newest first, searched from end to end and moved to insert. With one
 * room, unasked names those of its blocks that nobody has asked for.
 */
#ifndef SELFTESTS_W2R_ORACLE_H
#define SELFTESTS_W2R_ORACLE_H

#include "rooms.h"

#define ORACLE_BLOCKS	512

struct pile {
	u64 block[ORACLE_BLOCKS];
	u32 aux[ORACLE_BLOCKS];		/* s3fifo: uses; waiting: stamp */
	u32 came[ORACLE_BLOCKS];	/* waiting: as which block of all */
	u32 n;
};

struct oracle {
	enum policy_kind policy;
	struct pile waiting, first, second, ghost1, ghost2, unasked;
	struct pile left;		/* in the sample: asked for, and evicted */
	struct pile unasked_for;	/* in the sample: evicted, and not */
	u32 waited[33];			/* in the sample: by the bits of how many steps */
	u32 wanted[33];			/* sixteenths, with those that were evicted before */
	u32 vain;			/* sixteenths of those that were evicted and are not wanted yet */
	u32 samples, judged, patience;
	u32 lost;			/* in the sample, since it was judged: missed, and left lately */
	bool one_room, bounded;
	u32 limit, total, target, clock, step, came;
	u32 moved_target, moved_limit;	/* when the split last moved */
	u32 arc_target, arc_limit;	/* as wanted when the limit was that */
	u32 intervals[3], nr_intervals;
};

static inline int pile_find(const struct pile *p, u64 block)
{
	u32 i;

	for (i = 0; i < p->n; i++)
		if (p->block[i] == block)
			return (int)i;
	return -1;
}

static inline void pile_take(struct pile *p, u32 at)
{
	p->n--;
	memmove(p->block + at, p->block + at + 1, (p->n - at) * sizeof(p->block[0]));
	memmove(p->aux + at, p->aux + at + 1, (p->n - at) * sizeof(p->aux[0]));
	memmove(p->came + at, p->came + at + 1, (p->n - at) * sizeof(p->came[0]));
}

static inline void pile_push(struct pile *p, u64 block, u32 aux)
{
	memmove(p->block + 1, p->block, p->n * sizeof(p->block[0]));
	memmove(p->aux + 1, p->aux, p->n * sizeof(p->aux[0]));
	memmove(p->came + 1, p->came, p->n * sizeof(p->came[0]));
	p->block[0] = block;
	p->aux[0] = aux;
	p->n++;
}

static inline bool pile_forget(struct pile *p, u64 block)
{
	int at = pile_find(p, block);

	if (at >= 0)
		pile_take(p, (u32)at);
	return at >= 0;
}

static inline u64 pile_pop(struct pile *p, u32 *aux)
{
	p->n--;
	*aux = p->aux[p->n];
	return p->block[p->n];
}

static inline void oracle_init(struct oracle *o, const struct rooms_config *c)
{
	memset(o, 0, sizeof(*o));
	o->policy = c->policy;
	o->limit = c->entries;
	o->total = c->entries;
	o->step = c->step;
	o->one_room = c->one_room;
	o->bounded = c->bounded;
	o->target = c->entries / 4 ? c->entries / 4 : 1;
	o->moved_target = o->target;
	o->moved_limit = o->limit;
	o->arc_limit = o->limit;
	o->patience = (u32)-1;
}

static inline u32 oracle_weighing(const struct oracle *o)
{
	return o->first.n + o->second.n;
}

/* Prefetched blocks that nobody has asked for. */
static inline u32 oracle_unasked(const struct oracle *o)
{
	return o->waiting.n + o->unasked.n;
}

/* Of the weighing room, with what the waiting room leaves it. */
static inline u32 oracle_capacity(const struct oracle *o)
{
	u32 meant = o->limit - o->target;

	if (o->one_room)
		return o->limit;
	return oracle_weighing(o) > meant ? oracle_weighing(o) : meant;
}

static inline enum room oracle_where(const struct oracle *o, u64 block)
{
	if (pile_find(&o->waiting, block) >= 0 || pile_find(&o->unasked, block) >= 0)
		return ROOM_WAITING;
	if (pile_find(&o->first, block) >= 0 || pile_find(&o->second, block) >= 0)
		return ROOM_WEIGHING;
	return ROOM_DISK;
}

static inline void oracle_aim(struct oracle *o, long target)
{
	if (o->bounded && target < (long)o->limit / 16)
		target = o->limit / 16;
	if (target > (long)o->limit - 1)
		target = o->limit - 1;
	o->target = target < 1 ? 1 : (u32)target;
}

static inline void oracle_move(struct oracle *o, int steps)
{
	long step;

	if (o->one_room || !steps)
		return;
	step = (long)((double)o->step * o->limit / o->total);
	oracle_aim(o, (long)o->target + steps * (step ? step : 1));
	o->moved_target = o->target;
	o->moved_limit = o->limit;
}

/* ARC's wanted number of recent blocks: the same share of more or less memory. */
static inline u32 oracle_recent(const struct oracle *o)
{
	return (u32)((u64)o->arc_target * o->limit / o->arc_limit);
}

static inline void oracle_want_recent(struct oracle *o, long wanted, u32 most)
{
	o->arc_target = wanted < 0 ? 0 : wanted > (long)most ? most : (u32)wanted;
	o->arc_limit = o->limit;
}

/* --- how long a prefetched block may wait; see waits.h --- */

/* In steps of 2 blocks where there are 257 to 512 entries. */
static inline u32 oracle_step(const struct oracle *o, u32 blocks)
{
	return blocks >> (o->total > 256);
}

static inline bool oracle_in_sample(u64 block)
{
	return index_hash(block, 32) % 4 == 0;
}

static inline void oracle_left(struct oracle *o, u64 block)
{
	if (!o->bounded || !oracle_in_sample(block))
		return;
	if (!pile_forget(&o->left, block) && o->left.n == o->total)
		o->left.n--;
	pile_push(&o->left, block, 0);
	o->left.came[0] = o->came;
}

static inline void oracle_judge(struct oracle *o)
{
	u32 i, all = 0, longer, wanted, bits = 33;

	for (i = 0; i < 33; i++)
		all += o->waited[i];
	/* So many bits that one in 64 has as many or more, or that more of such are wanted than are not. */
	do {
		bits--;
		for (i = bits, longer = 0, wanted = 0; i < 33; i++) {
			longer += o->waited[i];
			wanted += o->wanted[i];
		}
	} while (bits && 64 * longer < all && wanted <= o->vain);
	o->patience = 4u << bits;
	for (i = 0; i < 33; i++) {
		o->waited[i] /= 2;
		o->wanted[i] /= 2;
	}
	o->vain /= 2;
	o->samples = 0;
	o->lost = 0;
	o->judged = o->came;
}

static inline u32 oracle_bits_waited(const struct oracle *o, u32 came)
{
	u32 steps = oracle_step(o, o->came) - oracle_step(o, came);

	return steps ? pure_fls64(steps) + 1 : 0;
}

/* If it was evicted unasked for, that is forgotten. */
static inline void oracle_forgive(struct oracle *o, u64 block)
{
	if (pile_forget(&o->unasked_for, block))
		o->vain = o->vain < 16 ? 0 : o->vain - 16;
}

static inline void oracle_unasked_for(struct oracle *o, u64 block, u32 came)
{
	if (!o->bounded || !oracle_in_sample(block) || pile_find(&o->left, block) >= 0)
		return;
	oracle_forgive(o, block);
	if (o->unasked_for.n == o->total)
		o->unasked_for.n--;
	pile_push(&o->unasked_for, block, 0);
	o->unasked_for.came[0] = came;
	o->vain += 16;
}

/* The eighth one that left lately, with nothing judged for two caches: they wait half as long. */
static inline void oracle_lose(struct oracle *o)
{
	if (++o->lost < 8 || o->came - o->judged <= 2 * o->limit)
		return;
	o->patience = pure_min(o->patience, oracle_step(o, o->limit)) / 2;
	o->lost = 0;
	o->judged = o->came;
}

static inline void oracle_missed(struct oracle *o, u64 block)
{
	int at = pile_find(&o->unasked_for, block), left = pile_find(&o->left, block);

	if (left >= 0 && oracle_step(o, o->came) - oracle_step(o, o->left.came[left]) <= oracle_step(o, o->limit))
		oracle_lose(o);
	if (at < 0)
		return;
	o->wanted[oracle_bits_waited(o, o->unasked_for.came[at])] += 16;
	oracle_forgive(o, block);
}

static inline void oracle_waited(struct oracle *o, u64 block, u32 came)
{
	u32 bits = oracle_bits_waited(o, came);

	if (!o->bounded || !oracle_in_sample(block))
		return;
	oracle_forgive(o, block);
	if (pile_forget(&o->left, block))
		return;
	o->waited[bits]++;
	o->wanted[bits] += 16;
	if (++o->samples >= 16 && o->came - o->judged >= o->limit)
		oracle_judge(o);
}

/* --- policies: what is known of a block, entering, being used, leaving --- */

static inline u32 oracle_admit(struct oracle *o, u64 block)
{
	u32 n1 = o->ghost1.n, n2 = o->ghost2.n, step, c = oracle_capacity(o);

	if (o->policy == POLICY_S3FIFO)
		return pile_forget(&o->ghost1, block);
	if (o->policy != POLICY_ARC)
		return 0;
	if (pile_forget(&o->ghost1, block)) {
		step = n2 / n1 ? n2 / n1 : 1;
		oracle_want_recent(o, (long)oracle_recent(o) + step, c);
		return 1;
	}
	if (pile_forget(&o->ghost2, block)) {
		step = n1 / n2 ? n1 / n2 : 1;
		oracle_want_recent(o, (long)oracle_recent(o) - step, c);
		return 2;
	}
	return 0;
}

static inline void oracle_enter(struct oracle *o, u64 block, u32 known)
{
	if (o->policy == POLICY_LRU || !known)
		pile_push(&o->first, block, 0);
	else
		pile_push(&o->second, block, 0);
}

static inline void oracle_hit(struct oracle *o, u64 block)
{
	int at1 = pile_find(&o->first, block), at2 = pile_find(&o->second, block);

	if (o->policy == POLICY_S3FIFO) {
		u32 *uses = at1 >= 0 ? &o->first.aux[at1] : &o->second.aux[at2];

		if (*uses < 3)
			++*uses;
		return;
	}
	pile_forget(at1 >= 0 ? &o->first : &o->second, block);
	pile_push(o->policy == POLICY_LRU ? &o->first : &o->second, block, 0);
}

static inline bool oracle_s3_small(struct oracle *o, bool all)
{
	u32 uses, spared, c = oracle_capacity(o);
	u64 block;

	for (spared = 0; o->first.n && (all || o->first.n * 10 > c); spared++) {
		block = pile_pop(&o->first, &uses);
		if (!uses || spared == 32) {
			if (o->ghost1.n == o->total)
				o->ghost1.n--;
			pile_push(&o->ghost1, block, 0);
			oracle_left(o, block);
			return true;
		}
		pile_push(&o->second, block, 0);
		all = false;
	}
	return false;
}

static inline bool oracle_s3_main(struct oracle *o)
{
	u32 uses, spared;
	u64 block;

	for (spared = 0; o->second.n; spared++) {
		block = pile_pop(&o->second, &uses);
		if (!uses || spared == 32) {
			oracle_left(o, block);
			return true;
		}
		pile_push(&o->second, block, uses - 1);
	}
	return false;
}

/* Not all that is too much goes at once. */
static inline void oracle_trim(struct pile *ghost, u32 most)
{
	u32 i;

	for (i = 0; i < 4 && ghost->n > most; i++)
		ghost->n--;
}

static inline void oracle_arc_evict(struct oracle *o, u32 known)
{
	u32 t1 = o->first.n, c = oracle_capacity(o), aux, rest;
	u32 wanted = oracle_recent(o);
	bool recent = t1 && (t1 > wanted || (known == 2 && t1 == wanted));
	struct pile *from, *ghost;

	if (!recent && !o->second.n)
		recent = true;
	from = recent ? &o->first : &o->second;
	ghost = recent ? &o->ghost1 : &o->ghost2;
	if (ghost->n == o->total)
		ghost->n--;
	pile_push(ghost, pile_pop(from, &aux), 0);
	oracle_left(o, ghost->block[0]);
	rest = c > o->first.n ? c - o->first.n : 0;
	oracle_trim(&o->ghost1, rest);
	rest = o->first.n + o->second.n + o->ghost1.n;
	rest = 2 * c > rest ? 2 * c - rest : 0;
	oracle_trim(&o->ghost2, rest);
}

/* What has left is not waited for. */
static inline void oracle_tidy(struct oracle *o)
{
	u32 i = o->unasked.n;

	while (i--)
		if (pile_find(&o->first, o->unasked.block[i]) < 0 &&
		    pile_find(&o->second, o->unasked.block[i]) < 0)
			pile_take(&o->unasked, i);
}

static inline bool oracle_evict_weighing(struct oracle *o, u32 known)
{
	u32 aux;

	if (!oracle_weighing(o))
		return false;
	if (o->policy == POLICY_LRU)
		oracle_left(o, pile_pop(&o->first, &aux));
	else if (o->policy == POLICY_ARC)
		oracle_arc_evict(o, known);
	else if (!oracle_s3_small(o, false) && !oracle_s3_main(o) && !oracle_s3_small(o, true))
		oracle_s3_main(o);
	oracle_tidy(o);
	return true;
}

/* --- the rooms --- */

static inline bool oracle_evict_waiting(struct oracle *o)
{
	u64 block;
	u32 aux;

	if (!o->waiting.n)
		return false;
	block = pile_pop(&o->waiting, &aux);
	oracle_unasked_for(o, block, o->waiting.came[o->waiting.n]);
	return true;
}

static inline bool oracle_is_stale(const struct oracle *o)
{
	u32 most = oracle_step(o, 3 * o->limit), least = oracle_step(o, o->limit / 16);
	u32 patience = o->patience > least ? o->patience : least;
	u32 steps;

	if (!o->bounded || o->waiting.n <= o->limit / 16)
		return false;
	steps = oracle_step(o, o->came) - oracle_step(o, o->waiting.came[o->waiting.n - 1]);
	/* That it came in the step before tells nothing. */
	return steps > 1 && steps > (patience < most ? patience : most);
}

static inline bool oracle_place(struct oracle *o, enum room to, u32 known)
{
	if (oracle_weighing(o) + o->waiting.n < o->limit)
		return true;
	if (o->one_room)
		return oracle_evict_weighing(o, known);
	if (oracle_is_stale(o))
		return oracle_evict_waiting(o);
	if (to == ROOM_WAITING) {
		if (o->waiting.n >= o->target)
			return oracle_evict_waiting(o);
		return oracle_evict_weighing(o, 0);
	}
	if (oracle_weighing(o) >= o->limit - o->target)
		return oracle_evict_weighing(o, known) || oracle_evict_waiting(o);
	return oracle_evict_waiting(o) || oracle_evict_weighing(o, known);
}

static inline void oracle_interval(struct oracle *o, u32 interval)
{
	u32 *x = o->intervals;

	x[0] = x[1];
	x[1] = x[2];
	x[2] = interval;
	if (++o->nr_intervals < 3)
		return;
	if (x[0] < x[1] && x[1] < x[2])
		oracle_move(o, 1);
	if (x[0] > x[1] && x[1] > x[2])
		oracle_move(o, -1);
}

/* For one in four that the other room had, and lost, all four. */
static inline int oracle_lost(const struct oracle *o, u64 block)
{
	return oracle_in_sample(block) && pile_find(&o->left, block) >= 0 ? 4 : 0;
}

/* The same of what comes back, if half of what may wait has come since it left, at most. */
static inline void oracle_back(struct oracle *o, u64 block)
{
	int at = pile_find(&o->left, block);

	if (o->bounded && at >= 0 &&
	    oracle_step(o, o->came) - oracle_step(o, o->left.came[at]) <= oracle_step(o, o->target / 2))
		oracle_move(o, -oracle_lost(o, block));
}

static inline void oracle_fault(struct oracle *o, u64 block)
{
	enum room before = block ? oracle_where(o, block - 1) : ROOM_DISK;
	enum room after = oracle_where(o, block + 1);

	if (before == ROOM_WEIGHING && after != ROOM_WAITING)
		oracle_move(o, 1);		/* cases 1 and 3 */
	else if (after == ROOM_WAITING)		/* cases 2, 5 and 8 */
		oracle_move(o, o->bounded ? -oracle_lost(o, block) : -1);
}

/* One reference; returns where the block was. */
static inline enum room oracle_reference(struct oracle *o, u64 block)
{
	enum room room = oracle_where(o, block);
	u32 known, stamp;
	int at;

	o->clock++;
	if (pile_forget(&o->unasked, block) || room == ROOM_WEIGHING) {
		oracle_hit(o, block);
	} else if (room == ROOM_WAITING) {
		at = pile_find(&o->waiting, block);
		stamp = o->waiting.aux[at];
		known = oracle_admit(o, block);
		oracle_back(o, block);
		oracle_waited(o, block, o->waiting.came[at]);
		pile_take(&o->waiting, (u32)at);
		oracle_interval(o, o->clock - stamp);
		oracle_enter(o, block, known);
	} else {
		oracle_fault(o, block);
		known = oracle_admit(o, block);
		if (oracle_place(o, ROOM_WEIGHING, known)) {
			oracle_missed(o, block);
			oracle_enter(o, block, known);
			o->came++;
		}
	}
	return room;
}

/* Into the only room, as what is asked for, but marked. */
static inline void oracle_prefetch_among(struct oracle *o, u64 block)
{
	u32 known;

	if (oracle_where(o, block) != ROOM_DISK)
		return;
	known = oracle_admit(o, block);
	if (!oracle_place(o, ROOM_WAITING, known))
		return;
	oracle_enter(o, block, known);
	o->came++;
	pile_push(&o->unasked, block, 0);
}

static inline void oracle_prefetch(struct oracle *o, u64 block)
{
	if (o->one_room)
		oracle_prefetch_among(o, block);
	else if (oracle_where(o, block) == ROOM_DISK && oracle_place(o, ROOM_WAITING, 0)) {
		pile_push(&o->waiting, block, o->clock);
		o->waiting.came[0] = ++o->came;
	}
}

static inline void oracle_drop(struct oracle *o, u64 block)
{
	pile_forget(&o->waiting, block);
	pile_forget(&o->first, block);
	pile_forget(&o->second, block);
	pile_forget(&o->unasked, block);
}

static inline void oracle_reclaim(struct oracle *o)
{
	if (o->waiting.n > o->target || oracle_is_stale(o))
		oracle_evict_waiting(o);
	else if (!oracle_evict_weighing(o, 0))
		oracle_evict_waiting(o);
}

static inline void oracle_limit(struct oracle *o, u32 limit)
{
	o->limit = limit;
	oracle_aim(o, (long)((u64)o->moved_target * limit / o->moved_limit));
}

#endif
