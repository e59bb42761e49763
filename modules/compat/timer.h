/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MUSTER_COMPAT_TIMER_H
#define MUSTER_COMPAT_TIMER_H

#include <linux/hrtimer.h>

/* A timer of CLOCK_MONOTONIC, relative; @fn runs in interrupt context. */
static inline void
compat_hrtimer_init(struct hrtimer *timer,
		    enum hrtimer_restart (*fn)(struct hrtimer *))
{
#ifdef COMPAT_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	timer->function = fn;
#endif
}

#endif
