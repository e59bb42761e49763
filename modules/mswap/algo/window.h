/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which slots around a wanted one to read in the same I/O.
 *
 * Works on one granule: 64 slots, one bit each in two words. live: the slot
 * holds data; cont: it continues the run of the slot before it, or did before
 * its data went elsewhere. Pure functions: any context; a tuner is protected by
 * its owner's lock.
 */
#ifndef MSWAP_ALGO_WINDOW_H
#define MSWAP_ALGO_WINDOW_H

#include "pure.h"

#define WINDOW_MAX 64

/* Slots first..first + n - 1 of the granule; n == 0: nothing. */
struct window {
	u32 first;
	u32 n;
};

/*
 * The window of at most @size slots that holds the wanted slots @at..@at + @want
 * - 1 (all in the granule, want >= 1) and lies in their run. Three quarters of
 * what is added lie after the wanted slots, where the run allows it, since most
 * readers ascend.
 */
struct window window_around(u64 live, u64 cont, u32 at, u32 want, u32 size);

/* The window of at most @size slots that continues a run at @at. */
struct window window_ahead(u64 live, u64 cont, u32 at, u32 size);

/*
 * The window that holds the wanted slots and at most @ahead more of their run: after
 * them, or, if @down, before.
 */
struct window window_onward(u64 live, u64 cont, u32 at, u32 want, u32 ahead,
			    bool down);

/*
 * Where a run goes on behind what lies up to before slot @end, or below what lies down to slot
 * @first: there, or, if it has lost all slots from there on, at the end of the granule: at
 * WINDOW_MAX, or at 0.
 */
u32 window_end(u64 live, u64 cont, u32 end);
u32 window_begin(u64 live, u64 cont, u32 first);

/*
 * The slots of @group, a set of slots that were written together but not side by
 * side, nearest to the wanted ones @at..@at + @want - 1 (0: to @at): as bits,
 * with the wanted ones, at most @size and at least @want, and without those that
 * more than @gap slots lie before. Shared out before and after the wanted slots
 * as in window_around().
 */
u64 window_group(u64 group, u32 at, u32 want, u32 size, u32 gap);

/*
 * The live slots, as bits, of the run that the wanted ones (want >= 1) lie in, also those
 * behind slots that it has lost: these continue it, but are not live. 0: it has lost none.
 */
u64 window_stretch(u64 live, u64 cont, u32 at, u32 want);

/*
 * Fits the size of a first window to what became of prefetched pages: it
 * doubles while two thirds get used, and is halved when less than a third is.
 * At size 1 nothing is prefetched and nothing learnt, so every probe_every
 * misses a small window is tried. There probe_pages decide, and while all are used
 * the next try comes soon.
 */
#define WINDOW_FIRST_SIZE 8
#define WINDOW_LEARN_PAGES 32
#define WINDOW_PROBE_SIZE 4
#define WINDOW_PROBE_SOON 8	/* that much sooner */

struct window_tuner {
	u32 size;	/* may be read while another changes it */
	u32 used;
	u32 wasted;
	u32 misses;
	u32 probe_every;
	u32 probe_pages;
};

void window_tuner_init(struct window_tuner *t, u32 probe_every,
		       u32 probe_pages);
/* @used and @wasted more prefetched pages met their fate. */
void window_tuner_learn(struct window_tuner *t, u32 used, u32 wasted);
/* The size for the window of a miss, 1..@max. */
u32 window_tuner_size(struct window_tuner *t, u32 max);

#endif
