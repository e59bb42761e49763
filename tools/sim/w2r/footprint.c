// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>

#include "trace_file.h"

struct range {
	u64 first, end;
};

static int by_first(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

u64 trace_footprint(const struct trace *t, u32 block_shift)
{
	struct range *ranges = malloc((t->nr + 1) * sizeof(*ranges));
	u64 sum = 0, upto = 0, first;
	size_t i, nr = 0;

	if (!ranges) {
		fprintf(stderr, "no memory for the footprint\n");
		exit(2);
	}
	for (i = 0; i < t->nr; i++) {
		const struct trace_op *op = &t->ops[i];

		if (op->what != TRACE_READ)
			continue;
		ranges[nr].first = op->sector >> block_shift;
		ranges[nr++].end = ((op->sector + op->sectors - 1) >> block_shift) + 1;
	}
	qsort(ranges, nr, sizeof(*ranges), by_first);
	for (i = 0; i < nr; i++) {
		first = ranges[i].first > upto ? ranges[i].first : upto;
		if (ranges[i].end > first) {
			sum += ranges[i].end - first;
			upto = ranges[i].end;
		}
	}
	free(ranges);
	return sum;
}
