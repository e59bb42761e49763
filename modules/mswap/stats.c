// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/kernel.h>

#include "stats.h"

u64 mswap_stat_sum(struct mswap_stats __percpu *s, enum mswap_stat what)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(s, cpu)->count[what]);
	return sum;
}

u64 mswap_hist_sum(struct mswap_stats __percpu *s, u32 pages)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(s, cpu)->hist[pages]);
	return sum;
}

void mswap_stats_clear(struct mswap_stats __percpu *s)
{
	struct mswap_stats *of;
	int cpu;
	u32 i;

	for_each_possible_cpu(cpu) {
		of = per_cpu_ptr(s, cpu);
		for (i = 0; i < ARRAY_SIZE(of->count); i++)
			WRITE_ONCE(of->count[i], 0);
		for (i = 0; i < ARRAY_SIZE(of->hist); i++)
			WRITE_ONCE(of->hist[i], 0);
	}
}
