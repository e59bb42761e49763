// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fig. 9 of the multi-object clustering paper, in writes instead of seconds:
 * c pages changed, c skipped, over 1.5 GiB in 512 MiB of memory.
 *
 * fig9 [M]: M is the size of the write buffer in pages, 1-256, default 16.
 */
#include <stdio.h>

#include "pagedaemon.h"

#define OBJECT_PAGES (1536u << 8)
#define MEMORY_FRAMES (512u << 8)

static bool run(struct sim_buffer *buf, enum cluster_policy policy, u32 limit,
		u32 c)
{
	memset(buf, 0, sizeof(*buf));
	buf->policy = policy;
	buf->limit = limit;
	return sim_stride(buf, OBJECT_PAGES, MEMORY_FRAMES, c);
}

int main(int argc, char **argv)
{
	static const u32 sweep[] = { 1, 2, 4, 6, 8, 10, 12, 14, 16 };
	static struct sim_buffer object, moc;
	char *end = "";
	unsigned long limit = argc > 1 ? strtoul(argv[1], &end, 10) : 16;

	if (argc > 2 || *end || !limit || limit > CLUSTER_PAGES_MAX) {
		fprintf(stderr, "usage: fig9 [M]   (M = 1-%u pages)\n",
			CLUSTER_PAGES_MAX);
		return 2;
	}
	printf("%4s %14s %14s %10s %10s %8s\n", "c", "object writes",
	       "moc writes", "pages/w", "pages/w", "moc/obj");
	for (size_t i = 0; i < sizeof(sweep) / sizeof(*sweep); i++) {
		if (!run(&object, CLUSTER_OBJECT, (u32)limit, sweep[i]) ||
		    !run(&moc, CLUSTER_MOC, (u32)limit, sweep[i])) {
			perror("fig9");
			return 1;
		}
		printf("%4u %14llu %14llu %10.2f %10.2f %8.3f\n", sweep[i],
		       (unsigned long long)object.writes,
		       (unsigned long long)moc.writes,
		       (double)object.pages_written / object.writes,
		       (double)moc.pages_written / moc.writes,
		       (double)moc.writes / object.writes);
	}
	return 0;
}
