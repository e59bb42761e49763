/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /sys/block/dm-N/w2r/: counters and knobs, a value a file; docs/w2r.md is the
 * manual. There while a table has the target, of use while it is live: from resume
 * to suspend.
 */
#ifndef W2R_SYSFS_H
#define W2R_SYSFS_H

#include "cache.h"

/*
 * For a table that is made, and one that goes. What cannot be had is tried again at
 * resume. Process context; not while the target is live.
 */
void w2r_sysfs_add(struct w2r *c);
void w2r_sysfs_remove(struct w2r *c);

/*
 * The files are about @c from one to the other. False: there are none. Neither
 * waits for kernfs, but the resume of a target that has no files yet: that of a new
 * disk, or one for which they could not be had. Process context.
 */
bool w2r_sysfs_resume(struct w2r *c);
void w2r_sysfs_suspend(struct w2r *c);

#endif
