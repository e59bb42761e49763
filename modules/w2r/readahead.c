// SPDX-License-Identifier: GPL-2.0-only
#include <linux/atomic.h>

#include "compat/bdev.h"
#include "readahead.h"
#include "trace.h"

static bool auto_on(struct w2r *c, bool period)
{
	u32 used = (u32)c->rooms.used, wasted = (u32)c->rooms.wasted;

	/* Where a read ends before its submission returns, none can be early. */
	if (compat_bdev_synchronous(c->dev->bdev))
		return false;
	if (!period)
		return c->toggle.on;
	toggle_fates(&c->toggle, used - c->toggle_used,
		     wasted - c->toggle_wasted);
	c->toggle_used = used;
	c->toggle_wasted = wasted;
	return toggle_decide(&c->toggle);
}

static unsigned long *ra_pages(struct w2r *c)
{
	struct mapped_device *md = dm_table_get_md(c->ti->table);

	return compat_disk_ra_pages(dm_disk(md));
}

/*
 * What somebody wrote since it was switched off stays, until switching is asked
 * for again: the block layer of recent kernels (blk_apply_bdi_limits()) writes to
 * it too, with each limit of the queue that is changed. They may do so just now.
 */
static void ra_switch_off(struct w2r *c, bool period)
{
	unsigned long *ra = ra_pages(c);

	if (c->ra_off && (period || !READ_ONCE(*ra)))
		return;
	c->saved_ra = xchg(ra, 0);
	c->ra_off = true;
}

static void ra_switch_on(struct w2r *c)
{
	if (c->ra_off)
		cmpxchg(ra_pages(c), 0, c->saved_ra);
	c->ra_off = false;
}

void w2r_readahead_restore(struct w2r *c)
{
	mutex_lock(&c->ra_lock);
	ra_switch_on(c);
	mutex_unlock(&c->ra_lock);
}

void w2r_readahead_update(struct w2r *c, bool period)
{
	bool on;

	mutex_lock(&c->ra_lock);
	spin_lock_irq(&c->lock);
	on = c->table.readahead == READAHEAD_ON ||
	     (c->table.readahead == READAHEAD_AUTO && auto_on(c, period));
	if (c->lookahead_on != on)
		trace_w2r_toggle(c->devt, on, c->toggle.latency, c->toggle.cost);
	c->lookahead_on = on;
	spin_unlock_irq(&c->lock);
	if (on)
		ra_switch_on(c);
	else
		ra_switch_off(c, period);
	mutex_unlock(&c->ra_lock);
}
