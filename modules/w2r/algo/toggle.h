/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether to read ahead at all, from what reads of the origin cost and what
 * became of prefetched blocks (the papers: read-ahead pays on a disk, and only
 * costs on a device of a few microseconds).
 *
 * A prefetch that gets used saves the latency of a read; each one costs work,
 * used or not. Reading ahead goes off when what it saves is less than what it
 * costs; at each decision what was before counts half. While it is off nothing is
 * learnt about its use, so it is tried again after some periods, and stays on if
 * it saves as much as it costs; each trial that fails doubles them first, until
 * one saves twice that much.
 *
 * No sample counts more than eight times the mean: a few readers whom a limit of
 * their cgroup holds back do not make the device slow.
 *
 * Pure; the caller's lock protects it. Times in nanoseconds.
 */
#ifndef W2R_ALGO_TOGGLE_H
#define W2R_ALGO_TOGGLE_H

#include "pure.h"

#define TOGGLE_SAMPLES		16	/* fates of prefetches for a decision */
#define TOGGLE_TRIAL_FIRST	8	/* periods off, to be doubled */
#define TOGGLE_TRIAL_MOST	64

struct toggle {
	bool on;
	u32 latency;		/* moving mean of a read of the origin; 0: unknown */
	u32 cost;		/* moving mean of the work for a prefetched block */
	u32 used;		/* since it went on; halved at each decision */
	u32 wasted;
	u32 samples;		/* of both since the last decision */
	u32 periods_off;
	u32 trial_after;
};

/* Begins switched on. */
void toggle_init(struct toggle *t);
void toggle_latency(struct toggle *t, u64 ns);
void toggle_cost(struct toggle *t, u64 ns);
/* So many more prefetched blocks were used and wasted. */
void toggle_fates(struct toggle *t, u32 used, u32 wasted);
/* A period (a second or so) is over: is reading ahead on from now on? */
bool toggle_decide(struct toggle *t);

#endif
