// SPDX-License-Identifier: GPL-2.0-only
#include "planner.h"

void obl_reference(const struct reference *ref, struct plan *plan)
{
	plan_add(plan, ref->first + ref->n, 1);
}

void planner_init(struct planner *p, enum planner_kind kind)
{
	p->kind = kind;
	stream_init(&p->stream);
	pattern_init(&p->pattern);
	chooser_init(&p->chooser);
	p->part.n = 0;
}

bool planner_gather(struct planner *p, struct reference *ref, bool more)
{
	const struct reference *part = &p->part;

	if (planner_goes_on(p, ref->first) &&
	    part->n + ref->n <= LOOKAHEAD_MAX) {
		ref->first = part->first;
		ref->n += part->n;
		ref->room = part->room;
	}
	p->part.n = 0;
	if (more)
		p->part = *ref;
	return !more;
}

static void reference_one(struct planner *p, u32 kind,
			  const struct reference *ref, struct plan *plan)
{
	plan->n = 0;
	if (kind == PLANNER_OBL)
		obl_reference(ref, plan);
	else if (kind == PLANNER_STREAM)
		stream_reference(&p->stream, ref, plan);
	else
		pattern_reference(&p->pattern, ref, plan);
}

void planner_reference(struct planner *p, const struct reference *ref,
		       enum room (*where)(const void *ctx, u64 block),
		       const void *ctx, struct plan *plan)
{
	u32 acting = p->chooser.acting;
	struct plan each;
	u32 kind, i, k;

	if (p->kind != PLANNER_AUTO) {
		reference_one(p, p->kind, ref, plan);
		return;
	}
	chooser_reference(&p->chooser, ref);
	plan->n = 0;
	for (kind = 0; kind < SCORES; kind++) {
		reference_one(p, kind, ref, &each);
		for (i = 0; i < each.n; i++)
			for (k = 0; k < each.runs[i].n; k++)
				if (where(ctx, each.runs[i].first + k) !=
				    ROOM_WEIGHING)
					chooser_predict(&p->chooser, kind,
							each.runs[i].first + k);
		if (kind == acting)
			*plan = each;
	}
}

u32 plan_cut(struct run *run, u32 most,
	     bool (*wanted)(const void *ctx, u64 block), const void *ctx,
	     u64 *first)
{
	u32 n = 0;

	while (run->n && !wanted(ctx, run->first)) {
		run->first++;
		run->n--;
	}
	*first = run->first;
	while (n < most && run->n && wanted(ctx, run->first)) {
		run->first++;
		run->n--;
		n++;
	}
	return n;
}
