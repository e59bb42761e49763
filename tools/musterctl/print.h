/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MUSTERCTL_PRINT_H
#define MUSTERCTL_PRINT_H

#include "device.h"
#include "options.h"

/* @before: what was read when the interval began, or NULL: all so far. */
void print_devices(const struct options *o, const struct devices *now, const struct devices *before);

#endif
