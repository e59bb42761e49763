/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slots that took no write while the device took others: the bad places of a disk,
 * but also a part of the device that was away for a while, or a pool that was full.
 * They are not given out any more. Where no slot is free they are asked again, and
 * those that take a write are free from then on.
 *
 * One worker, that of retry.c, does all but retired_want(): there is no lock.
 */
#ifndef MSWAP_RETIRED_H
#define MSWAP_RETIRED_H

#include <linux/list.h>
#include <linux/types.h>

#include "backing.h"
#include "space.h"

struct retired {
	struct list_head runs;	/* asked longest ago first */
	u32 nr_runs;
	unsigned long after;	/* jiffies: when they may be asked again */
	bool wanted;
};

/* Cannot fail. */
void retired_init(struct retired *r);
/* With no worker at work: forgets them. */
void retired_exit(struct retired *r);
/*
 * Retires @n slots from @slot, the caller's, side by side. Never sleeps: where memory
 * is short they stay so for good.
 */
void retired_add(struct retired *r, struct space *s, u32 slot, u32 n);
/* Any context: slots have run out. The caller has the worker look. */
static inline void retired_want(struct retired *r)
{
	WRITE_ONCE(r->wanted, true);
}
/*
 * If that was told: asks the device for them, run by run, and frees those that it
 * takes zeros for, in whose place others may write. Ends after some, for others want
 * the worker. May sleep.
 */
void retired_look(struct retired *r, struct space *s, struct backing *b,
		  const char *name);

#endif
