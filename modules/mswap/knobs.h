/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The settings a user may change at any time (docs/sysfs.md).
 *
 * Written by sysfs under the device's control mutex with WRITE_ONCE(), read
 * by the I/O paths with READ_ONCE() and no lock: each field stands alone.
 */
#ifndef MSWAP_KNOBS_H
#define MSWAP_KNOBS_H

#include <linux/types.h>

enum mswap_readahead {
	MSWAP_READAHEAD_AUTO,
	MSWAP_READAHEAD_ON,
	MSWAP_READAHEAD_OFF,
};

#define MSWAP_CLUSTER_PAGES_DEFAULT	128
#define MSWAP_BATCH_USECS_MAX		10000
#define MSWAP_BATCH_USECS_DEFAULT	3000
#define MSWAP_READAHEAD_PAGES_MAX	64
#define MSWAP_READAHEAD_PAGES_DEFAULT	64
#define MSWAP_WAITING_PAGES_MIN		64
#define MSWAP_WAITING_PAGES_MAX		65536
#define MSWAP_WAITING_PAGES_DEFAULT	2048

struct mswap_knobs {
	u32 policy;		/* enum cluster_policy */
	u32 cluster_pages;	/* 1..CLUSTER_PAGES_MAX */
	u32 batch_usecs;	/* 0..MSWAP_BATCH_USECS_MAX */
	u32 readahead;		/* enum mswap_readahead */
	u32 readahead_pages;	/* 1..MSWAP_READAHEAD_PAGES_MAX */
	u32 waiting_pages;	/* the wish; the waiting room has its own count */
};

#endif
