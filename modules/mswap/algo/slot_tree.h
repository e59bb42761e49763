/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Free physical slots: a 64-ary tree, one bit a slot, summary words above, and
 * beside them the exact longest free run of every 4096 slots and of every
 * subtree above, so that a search never enters a subtree in vain.
 *
 * Context: nothing here locks, allocates or sleeps. The caller serialises all
 * calls on one tree (reads included, but for slot_tree_nr_free()) and may do so
 * with interrupts off: apart from slot_tree_init() and from a free of more than
 * SLOT_RUN_MAX slots, a call touches at most a few hundred words, whatever the
 * size of the tree.
 */
#ifndef MSWAP_ALGO_SLOT_TREE_H
#define MSWAP_ALGO_SLOT_TREE_H

#include "pure.h"

#define SLOT_NONE ((u32)-1)

/* Longest run that can be asked for, in slots. */
#define SLOT_RUN_MAX 512

/* A run of so many slots is worth an I/O of its own. */
#define SLOT_RUN_LONG 16
/* A word with so many slots in runs of two or more is worth going to. */
#define SLOT_WORD_DENSE 6

/*
 * Each node that was gone to and had no dense word counts as so many that had one,
 * which count down. From so many on, or in a small area from so many for each of its
 * nodes, it is worn, until ...
 */
#define SLOT_WORN_STEP 8
#define SLOT_WORN 512
#define SLOT_WORN_NODE 8
/* ... so many eighths of it are free. */
#define SLOT_REST_EIGHTHS 3

/* Levels of words that 2^32-2 slots need: 64^6 > 2^32. */
#define SLOT_TREE_LEVELS 6

struct slot_tree {
	u64 *bits[SLOT_TREE_LEVELS];	/* [0]: 1 = slot free; above: 1 = child word is not 0 */
	u32 nr;
	u32 nr_free;			/* may be read while another changes the tree */
	u32 stale;			/* node whose longest run may be shorter, or SLOT_NONE */
	u32 last;			/* node of the last alloc from one word */
	u32 scraps;			/* word of which single slots are taken too, or SLOT_NONE */
	u32 worn;			/* lack of dense words; stays where the area became worn */
	u64 *whole;			/* a bit a leaf word: 1 = all its slots are free */
	u16 *longest[SLOT_TREE_LEVELS];	/* [l][i]: longest free run that starts below bits[l][i] */
	u32 words[SLOT_TREE_LEVELS];
	u32 top;			/* the level of one word; at least 1 */
};

/*
 * Bytes of arena for @nr slots (1 <= @nr <= 2^32-2), a multiple of 8: about
 * 1.04 bits a slot on large areas.
 */
size_t slot_tree_bytes(u32 nr);

/*
 * Makes a tree of @nr free slots (1 <= @nr <= 2^32-2) in @arena, which is 8-byte
 * aligned, of slot_tree_bytes(@nr) bytes, owned by the caller and outlives @t.
 * Takes time proportional to @nr.
 */
void slot_tree_init(struct slot_tree *t, void *arena, u32 nr);

/*
 * Takes @want (1 to SLOT_RUN_MAX) adjacent free slots and returns the first of
 * them; SLOT_NONE if no such run exists anywhere (or @want is out of range). A
 * fit at or after @hint is preferred, lowest first, then one from slot 0 on; a
 * @hint out of range counts as 0. A run may begin in the middle of a longer
 * one, but only when @hint itself lies there.
 */
u32 slot_tree_alloc(struct slot_tree *t, u32 want, u32 hint);

/*
 * As slot_tree_alloc(), but when no run of @want exists takes one of the
 * longest that do. *@got is the number taken, 1 to @want; it is 0 with
 * SLOT_NONE, which means that not one slot is free (or @want is out of range).
 *
 * When the longest is shorter than SLOT_RUN_LONG the area is in shreds, and
 * what a caller takes with the end of one run as the @hint for the next lies
 * close together instead, even where @want slots are free elsewhere, so that one
 * I/O can read it back: at or after @hint, unless @apart, the runs of two or more
 * slots of its word (all runs, if the area is worn), then those of the word that
 * has most of them in the next node with free slots, to which @apart goes at once;
 * where no word there has SLOT_WORD_DENSE of them, and in an area that is worn, all
 * runs of the word with most free slots. Of equal words the first; a run ends at
 * the end of its word.
 *
 * Worn: so much of it is in use that what is freed joins too seldom for words to
 * become dense again. To take their pairs only would leave single slots, until
 * hardly anything else is left; a word that was filled as a whole becomes free as a
 * whole.
 */
u32 slot_tree_alloc_upto(struct slot_tree *t, u32 want, u32 hint, bool apart, u32 *got);

/*
 * Gives back @n >= 1 slots from @start on; they may come from several allocs.
 * False, and nothing changes, if any of them is out of range or already free.
 * Takes time proportional to @n / 64.
 */
bool slot_tree_free(struct slot_tree *t, u32 start, u32 n);

/* A slot out of range counts as used. */
bool slot_tree_is_used(const struct slot_tree *t, u32 slot);

/* The one that may be called while another changes the tree. */
u32 slot_tree_nr_free(const struct slot_tree *t);

/* Length of the longest free run, in slots, counted up to SLOT_RUN_MAX. */
u32 slot_tree_longest(struct slot_tree *t);

#endif
