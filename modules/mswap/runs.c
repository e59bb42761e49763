// SPDX-License-Identifier: GPL-2.0-only
/* What page-in knows of each slot: live, in a run, waiting, being read, or bad. */
#include "read_op.h"

const struct waiting_fate waiting_no_fate;

void pagein_learn(struct pagein *pi, struct pagein_shard *sh,
		  const struct waiting_fate *used,
		  const struct waiting_fate *wasted)
{
	lockdep_assert_held(&sh->lock);
	if (!(used->run | used->strangers | used->steady |
	      wasted->run | wasted->strangers | wasted->steady))
		return;
	window_tuner_learn(&sh->run_tuner, used->run, wasted->run);
	window_tuner_learn(&sh->strangers_tuner, used->strangers,
			   wasted->strangers);
	mswap_count(pi->stats, MSWAP_PREFETCH_USED,
		    used->run + used->strangers + used->steady);
	mswap_count(pi->stats, MSWAP_PREFETCH_WASTED,
		    wasted->run + wasted->strangers + wasted->steady);
}

/*
 * Who goes through his pages in order and leaves some out is to have windows all the
 * same, as long as to read what he leaves out takes no longer than another I/O.
 */
void pagein_note_order(struct pagein_shard *sh, u32 slot)
{
	struct order_gap gap = order_next(&sh->order, slot);
	struct waiting_frame *f;

	lockdep_assert_held(&sh->lock);
	if (!gap.n || gap.n > pace_pays(&sh->pace, GRANULE_SLOTS))
		return;
	for (; gap.n; gap.n--) {
		f = waiting_find(&sh->room, gap.first++);
		if (f)
			waiting_pass(&sh->room, f);
	}
}

/* The copy before the map, which a write's end updates before it drops the copy. */
bool pagein_lies_at(struct pagein *pi, u32 virt, u32 slot)
{
	return !store_holds(pi->store, virt) &&
	       slot_map_get(pi->map, virt) == slot;
}

struct read_op *pagein_find_read(struct pagein_shard *sh, u32 slot)
{
	struct read_op *op;

	lockdep_assert_held(&sh->lock);
	list_for_each_entry(op, pagein_reads(sh, slot), list)
		if (read_op_covers(op, slot))
			return op;
	return NULL;
}

u64 pagein_being_read(struct pagein_shard *sh, u32 base)
{
	struct read_op *op;
	u64 read = 0;

	lockdep_assert_held(&sh->lock);
	list_for_each_entry(op, pagein_reads(sh, base), list)
		if (granule_of(op->slot) == granule_of(base))
			read |= (GENMASK_ULL(op->n - 1, 0) & ~op->skip) <<
				(op->slot - base);
	return read;
}

u64 pagein_waiting(struct pagein_shard *sh, u32 base, u64 slots)
{
	u64 waiting = 0;

	lockdep_assert_held(&sh->lock);
	if (!sh->room.nr_ready)
		return 0;
	for (; slots; slots &= slots - 1)
		if (waiting_find(&sh->room, base + __ffs64(slots)))
			waiting |= slots & -slots;
	return waiting;
}

u64 pagein_held(struct pagein_shard *sh, u32 base, u64 slots)
{
	u64 read = pagein_being_read(sh, base) & slots;

	return read | pagein_waiting(sh, base, slots & ~read);
}

struct pagein_failed *pagein_find_failed(struct pagein_shard *sh, u32 g)
{
	u32 i, n = min_t(u32, sh->nr_failed, PAGEIN_FAILED);

	lockdep_assert_held(&sh->lock);
	for (i = 0; i < n; i++)
		if (sh->failed[i].granule == g && sh->failed[i].alone)
			return &sh->failed[i];
	return NULL;
}

static struct pagein_failed *spent_failed(struct pagein_shard *sh)
{
	u32 i, n = min_t(u32, sh->nr_failed, PAGEIN_FAILED);

	for (i = 0; i < n; i++)
		if (!sh->failed[i].alone)
			return &sh->failed[i];
	return NULL;
}

/*
 * A slot that cannot be read, and that nobody wants, would fail each window around
 * its neighbours, and a disk may take long to say so. Whether it is still so is
 * tried once in as many reads as a granule has slots.
 */
void pagein_note_failed(struct pagein_shard *sh, u32 slot)
{
	struct pagein_failed *f = pagein_find_failed(sh, granule_of(slot));

	if (!f)
		f = spent_failed(sh);
	if (!f)
		f = &sh->failed[sh->nr_failed++ % PAGEIN_FAILED];
	f->granule = granule_of(slot);
	f->alone = GRANULE_SLOTS;
}

bool pagein_stays_alone(struct pagein_shard *sh, u32 g)
{
	struct pagein_failed *f = pagein_find_failed(sh, g);

	if (f)
		f->alone--;
	return f;
}

void pagein_part(struct pagein *pi, u32 slot)
{
	struct pagein_shard *sh;
	unsigned long flags;

	if (slot >= pi->map->nr_phys)
		return;
	sh = pagein_shard(pi, slot);
	spin_lock_irqsave(&sh->lock, flags);
	pi->map->cont[granule_of(slot)] &= ~granule_bit(slot);
	spin_unlock_irqrestore(&sh->lock, flags);
}

/* Publishes the slots of one granule: bits @mask, of which @cont continue. */
static void publish_granule(struct pagein *pi, u32 slot, u64 mask, u64 cont)
{
	struct pagein_shard *sh = pagein_shard(pi, slot);
	u32 g = granule_of(slot);
	unsigned long flags;

	spin_lock_irqsave(&sh->lock, flags);
	WARN_ON_ONCE(pi->map->live[g] & mask);
	pi->map->live[g] |= mask;
	pi->map->cont[g] &= ~mask;
	pi->map->cont[g] |= cont & mask;
	spin_unlock_irqrestore(&sh->lock, flags);
}

/* @n (1 to 64) bits of @bits from bit @i on; above them anything. */
static u64 bits_at(const u64 *bits, u32 i, u32 n)
{
	u64 word = bits[i / 64] >> (i % 64);

	if (i % 64 + n > 64)
		word |= bits[i / 64 + 1] << (64 - i % 64);
	return word;
}

void pagein_publish(struct pagein *pi, u32 slot, u32 n, const u64 *cont)
{
	u32 i, at, step;

	for (i = 0; i < n; i += step) {
		at = (slot + i) % GRANULE_SLOTS;
		step = min(n - i, GRANULE_SLOTS - at);
		publish_granule(pi, slot + i, GENMASK_ULL(at + step - 1, at),
				bits_at(cont, i, step) << at);
	}
}

void pagein_group(struct pagein *pi, u32 slot, u32 n, bool joins)
{
	struct pagein_shard *sh = pagein_shard(pi, slot);
	u64 mask = GENMASK_ULL(n - 1, 0) << (slot % GRANULE_SLOTS);
	u64 *group = slot_map_group(pi->map, granule_of(slot));
	unsigned long flags;

	spin_lock_irqsave(&sh->lock, flags);
	*group = joins ? *group | mask : mask;
	spin_unlock_irqrestore(&sh->lock, flags);
}

/*
 * Tells every read of @slot that its copy is not to be kept; the last of them
 * to end frees the slot. False if there is none.
 */
static bool note_freed(struct pagein_shard *sh, u32 slot)
{
	struct read_op *op;
	bool any = false;

	lockdep_assert_held(&sh->lock);
	list_for_each_entry(op, pagein_reads(sh, slot), list) {
		if (!read_op_covers(op, slot))
			continue;
		op->freed |= 1ull << (slot - op->slot);
		if (!op->giver)
			flight_begin(op->pi->givers);
		op->giver = true;
		any = true;
	}
	return any;
}

void pagein_release(struct pagein *pi, u32 slot)
{
	struct pagein_shard *sh = pagein_shard(pi, slot);
	u64 bit = granule_bit(slot);
	u32 g = granule_of(slot);
	struct waiting_fate wasted = { 0 };
	struct waiting_frame *f;
	unsigned long flags;
	bool read;

	spin_lock_irqsave(&sh->lock, flags);
	WARN_ON_ONCE(!(pi->map->live[g] & bit));
	pi->map->live[g] &= ~bit;
	/*
	 * Of cont nothing is taken: a run goes on behind a slot that it lost, since the
	 * rest of a program's pages keep theirs when he writes to one.
	 */
	*slot_map_group(pi->map, g) &= ~bit;
	read = note_freed(sh, slot);
	f = waiting_find(&sh->room, slot);
	if (f) {
		waiting_take(&sh->room, f);
		waiting_note(&wasted, f);
		waiting_put(&sh->room, f);
		pagein_learn(pi, sh, &waiting_no_fate, &wasted);
	}
	spin_unlock_irqrestore(&sh->lock, flags);
	if (!read)
		space_free(pi->space, slot, 1);
}
