/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether to read ahead: readahead=on and off say it, auto asks the toggle
 * every second. Off means no lookahead and no read-ahead of the page cache on
 * our disk; what was changed of that is given back, unless somebody else
 * changed it since. Process context.
 */
#ifndef W2R_READAHEAD_H
#define W2R_READAHEAD_H

#include "cache.h"

/* Decides anew; @period: a second has passed. */
void w2r_readahead_update(struct w2r *c, bool period);
/* Gives the disk's read-ahead back. */
void w2r_readahead_restore(struct w2r *c);

#endif
