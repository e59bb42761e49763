// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) "mswap: " fmt

#include <linux/jiffies.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include "retired.h"

/*
 * A disk may take seconds to refuse a write: so many a look, and a look that brings
 * nothing so seldom.
 */
#define RETIRED_REFUSALS	8
#define RETIRED_PAUSE		(10 * HZ)
/* Enough for a while; the next who finds none asks for more. */
#define RETIRED_ENOUGH		4096

struct retired_run {
	struct list_head list;
	u32 slot;
	u32 n;
};

void retired_init(struct retired *r)
{
	INIT_LIST_HEAD(&r->runs);
	r->nr_runs = 0;
	r->after = jiffies;
	r->wanted = false;
}

void retired_exit(struct retired *r)
{
	struct retired_run *run, *next;

	list_for_each_entry_safe(run, next, &r->runs, list)
		kfree(run);
}

void retired_add(struct retired *r, struct space *s, u32 slot, u32 n)
{
	struct retired_run *run;

	space_retire(s, n);
	run = kmalloc(sizeof(*run), GFP_NOWAIT | __GFP_NOWARN);
	if (!run)
		return;
	run->slot = slot;
	run->n = n;
	list_add_tail(&run->list, &r->runs);
	r->nr_runs++;
}

/* Each run at most once. How many slots take writes again. */
static u32 retired_ask(struct retired *r, struct space *s, struct backing *b)
{
	u32 left = r->nr_runs, refusals = 0, freed = 0;
	struct retired_run *run;

	for (; left && refusals < RETIRED_REFUSALS && freed < RETIRED_ENOUGH;
	     left--) {
		run = list_first_entry(&r->runs, struct retired_run, list);
		if (backing_probe(b, run->slot, run->n)) {
			list_move_tail(&run->list, &r->runs);
			refusals++;
			continue;
		}
		list_del(&run->list);
		r->nr_runs--;
		freed += run->n;
		space_return(s, run->slot, run->n);
		kfree(run);
		cond_resched();
	}
	return freed;
}

void retired_look(struct retired *r, struct space *s, struct backing *b,
		  const char *name)
{
	u32 freed;

	if (!READ_ONCE(r->wanted))
		return;
	WRITE_ONCE(r->wanted, false);
	if (!r->nr_runs || time_after(r->after, jiffies))
		return;
	freed = retired_ask(r, s, b);
	if (!freed)
		r->after = jiffies + RETIRED_PAUSE;
	else
		pr_info_ratelimited("%s: %u retired slots take writes again\n",
				    name, freed);
}
