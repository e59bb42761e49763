// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/string.h>

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
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(s, cpu), 0, sizeof(*s));
}
