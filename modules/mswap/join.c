// SPDX-License-Identifier: GPL-2.0-only
/* Who asks for what a read under way will bring. */
#include "read_op.h"
#include "slot_bio.h"

/* A window of so many that is late has the next one begun as well. */
#define LATE_PAGES		16

u32 read_op_brings(const struct read_op *op, const struct bio *bio, u32 slot)
{
	u32 virt = slot_bio_virt(bio->bi_iter), at = slot - op->slot, i;
	u32 most = min_t(u32, op->n - at, bio->bi_iter.bi_size >> PAGE_SHIFT);

	lockdep_assert_held(&pagein_shard(op->pi, op->slot)->lock);
	if (op->closed || !op->frames[at])
		return 0;
	for (i = 1; i < most; i++)
		if (!op->frames[at + i] || op->skip >> (at + i) & 1 ||
		    !pagein_lies_at(op->pi, virt + i, slot + i))
			break;
	return i <= READ_OP_JOINED_MAX - op->joined_pages ? i : 0;
}

/*
 * Who comes to a window that was read ahead before it is there is faster than the device,
 * and will be so at the next one. Not where that would take what others wait for.
 */
static bool is_late(struct pagein_shard *sh, const struct read_op *op)
{
	return !op->nr_want && op->n >= LATE_PAGES &&
	       waiting_nr_free(&sh->room) + sh->room.nr_passed >= op->n;
}

/* The window that begins since somebody joins the @n pages from @at on. */
static struct onward joined_onward(struct pagein_shard *sh,
				   const struct read_op *op, u32 at, u32 n)
{
	struct onward onward;

	if (is_late(sh, op))
		return read_op_onward(op, op->down ? 0 : op->n - 1);
	onward = read_op_onward(op, at + n - 1);
	return onward.slot != SLOT_NONE ? onward : read_op_onward(op, at);
}

struct onward read_op_join(struct read_op *op, struct pagein_shard *sh,
			   struct bio *bio, u32 slot, u32 n)
{
	u32 at = slot - op->slot;
	struct onward onward;

	lockdep_assert_held(&sh->lock);
	onward = joined_onward(sh, op, at, n);
	op->joined[op->nr_joined++] = (struct read_joined) {
		.bio = bio,
		.at = at,
		.n = n,
	};
	op->joined_pages += n;
	if (onward.slot == SLOT_NONE)
		return onward;
	if (onward.below)
		op->below = 0;
	else
		op->trigger = WINDOW_MAX;
	return onward;
}

u32 pagein_wants_onward(struct pagein *pi, const struct bio *bio,
			const struct onward *onward, u32 from)
{
	u32 n = bio->bi_iter.bi_size >> PAGE_SHIFT, skipped = onward->slot - (from + 1);
	u32 virt = slot_bio_virt(bio->bi_iter) + skipped;

	lockdep_assert_held(&pagein_shard(pi, onward->slot)->lock);
	if (onward->below || skipped >= n || !pagein_lies_at(pi, virt, onward->slot))
		return 0;
	return n - skipped;
}
