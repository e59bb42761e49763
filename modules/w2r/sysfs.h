/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /sys/block/dm-N/w2r/: counters and knobs, a value a file; docs/w2r.md is the
 * manual. There while the target is live: from resume to suspend.
 */
#ifndef W2R_SYSFS_H
#define W2R_SYSFS_H

#include "cache.h"

/* Process context; an errno of kobjects: the target goes on without files. */
int w2r_sysfs_add(struct w2r *c);
void w2r_sysfs_remove(struct w2r *c);

#endif
