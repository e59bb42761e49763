// SPDX-License-Identifier: GPL-2.0-only
#include "pace.h"

/* Shares of a difference that are taken over: of a shorter time, and of a longer one. */
#define FASTER 2
#define SLOWER 16

#define NS_MAX 1000000000u

static u32 follow(u32 known, u32 seen)
{
	if (!known)
		return seen;
	if (seen < known)
		return known - (known - seen) / FASTER;
	return known + (seen - known) / SLOWER;
}

void pace_init(struct pace *p)
{
	p->io_ns = 0;
	p->slot_ns = 0;
	p->asked = 0;
}

void pace_learn(struct pace *p, u32 n, u64 ns)
{
	u32 took = ns < NS_MAX ? (u32)ns : NS_MAX;
	u32 io = p->io_ns;

	if (n <= PACE_SHORT)
		p->io_ns = follow(io, pure_max(took, 1));
	else if (n >= PACE_LONG && io)
		p->slot_ns = follow(p->slot_ns, pure_max(took > io ? (took - io) / (n - 1) : 0, 1));
}

u32 pace_pays(const struct pace *p, u32 most)
{
	u32 io = p->io_ns, slot = p->slot_ns;

	return io && slot ? pure_min(io / slot, most) : most;
}

u32 pace_gap(struct pace *p, u32 most)
{
	u32 pays = pace_pays(p, most);

	if (p->io_ns && p->slot_ns && ++p->asked % PACE_PROBE_EVERY == 0)
		return most;
	return pays;
}
