/* SPDX-License-Identifier: GPL-2.0-only */
/* What of the queue of events only the scheduler needs. */
#ifndef INTERLEAVE_EVENT_H
#define INTERLEAVE_EVENT_H

#include "sim.h"

/* The next one, or NULL. */
struct sim_event *event_first(void);

#endif
