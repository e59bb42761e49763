// SPDX-License-Identifier: GPL-2.0-only
#include "order.h"
#include "window.h"

void order_init(struct order *o)
{
	memset(o, 0, sizeof(*o));
}

static void order_step(struct order *o, bool down)
{
	if (down != o->down)
		o->steps = 0;
	o->down = down;
	o->steps = pure_min(o->steps + 1, ORDER_STEPS);
}

struct order_gap order_next(struct order *o, u32 slot)
{
	struct order_gap gap = { .n = 0 };
	u32 last = o->last;

	o->last = slot;
	if (slot == last || slot / WINDOW_MAX != last / WINDOW_MAX)
		return gap;
	order_step(o, slot < last);
	if (o->steps < ORDER_STEPS)
		return gap;
	gap.first = pure_min(slot, last) + 1;
	gap.n = pure_max(slot, last) - gap.first;
	return gap;
}
