/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the weighing room keeps: replacement policies as tables of functions.
 * The caller's lock protects it; no function allocates, and hits are O(1).
 *
 * lru     one list by time of use: the paper's.
 * s3fifo  two FIFOs and a ghost: blocks used once leave early, so that a scan
 *         does not push out what is used again (Yang and others, "FIFO queues
 *         are all you need for cache eviction", 2023).
 * arc     two LRU lists, recency and frequency, whose split follows the hits on
 *         two ghosts (Megiddo and Modha, "ARC: a self-tuning, low overhead
 *         replacement cache", 2003).
 */
#ifndef W2R_ALGO_POLICY_H
#define W2R_ALGO_POLICY_H

#include "arena.h"
#include "ghost.h"

enum policy_kind {
	POLICY_LRU,
	POLICY_S3FIFO,
	POLICY_ARC,
	POLICY_KINDS,
};

struct weighing;

struct policy {
	const char *name;
	/* Bytes of memory for ghosts, a multiple of 8; and what uses it: ->limit is set. */
	size_t (*size)(u32 capacity);
	void (*init)(struct weighing *w, void *mem, u32 capacity);
	/*
	 * @block is about to enter: what is known of it. Goes to the entry's
	 * mark and, if a victim must make place for it, to victim().
	 */
	u8 (*admit)(struct weighing *w, u64 block);
	/* @e enters, its mark as admit() said. */
	void (*insert)(struct weighing *w, u32 e);
	void (*hit)(struct weighing *w, u32 e);
	/*
	 * An entry that is not pinned, taken out and, where the policy has a ghost
	 * for it, remembered there; or ENTRY_NONE. @mark is the incoming block's, 0
	 * if there is none.
	 */
	u32 (*victim)(struct weighing *w, u8 mark);
	/* @e leaves for another reason. */
	void (*remove)(struct weighing *w, u32 e);
};

extern const struct policy policy_lru, policy_s3fifo, policy_arc;

const struct policy *policy_of(enum policy_kind kind);

struct weighing {
	const struct policy *policy;
	struct arena *arena;
	u32 capacity;		/* entries it is meant to hold; set before admit() and victim() */
	u32 limit;		/* entries of both rooms; less when memory is short */
	struct elist lists[2];
	struct ghost ghosts[2];
	u32 target;		/* arc: wanted length of lists[0] ... */
	u32 target_of;		/* ... when ->limit was this */
};

#endif
