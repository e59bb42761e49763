/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of one device, per CPU; meanings and units in docs/sysfs.md.
 * Counting is allowed in every context; reading sums the CPUs up and may miss
 * what other CPUs count meanwhile.
 */
#ifndef MSWAP_STATS_H
#define MSWAP_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>

#include "algo/cluster.h"

enum mswap_stat {
	MSWAP_PAGES_OUT,
	MSWAP_PAGES_OUT_COPIED,
	MSWAP_PAGES_IN,
	MSWAP_PAGES_IN_WAITING,
	MSWAP_PAGES_IN_COPIED,
	MSWAP_PAGES_IN_ZERO,
	MSWAP_DEV_WRITES,
	MSWAP_DEV_PAGES_WRITTEN,
	MSWAP_DEV_READS,
	MSWAP_DEV_PAGES_READ,
	MSWAP_DEV_PAGES_PASSED,
	MSWAP_BATCHES,
	MSWAP_PREFETCHED,
	MSWAP_PREFETCH_USED,
	MSWAP_PREFETCH_WASTED,
	MSWAP_SLOT_FREES,
	MSWAP_DISCARDS,
	MSWAP_WRITE_ERRORS,
	MSWAP_WRITE_RETRIES,
	MSWAP_READ_ERRORS,
	MSWAP_NOSPACE,
	MSWAP_STORES_REFUSED,
	MSWAP_DEFERRED,
	MSWAP_NR_STATS,
};

struct mswap_stats {
	u64 count[MSWAP_NR_STATS];
	u64 hist[CLUSTER_PAGES_MAX + 1];	/* device writes of so many pages */
};

static inline void mswap_count(struct mswap_stats __percpu *s,
			       enum mswap_stat what, u64 n)
{
	this_cpu_add(s->count[what], n);
}

/* A write of @pages goes to the device; 1 <= @pages <= CLUSTER_PAGES_MAX. */
static inline void mswap_count_write(struct mswap_stats __percpu *s, u32 pages)
{
	this_cpu_inc(s->count[MSWAP_DEV_WRITES]);
	this_cpu_add(s->count[MSWAP_DEV_PAGES_WRITTEN], pages);
	this_cpu_inc(s->hist[pages]);
}

u64 mswap_stat_sum(struct mswap_stats __percpu *s, enum mswap_stat what);
u64 mswap_hist_sum(struct mswap_stats __percpu *s, u32 pages);
/* All to zero. No I/O may be under way. Process context. */
void mswap_stats_clear(struct mswap_stats __percpu *s);

#endif
