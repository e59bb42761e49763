/* SPDX-License-Identifier: GPL-2.0-only */
/* All that a module finds in <linux/...>, whatever it includes of it. */
#ifndef INTERLEAVE_SHIM_H
#define INTERLEAVE_SHIM_H

#include "block.h"
#include "dm.h"
#include "work.h"

#endif
