/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of the blocks: taken when a block is to be filled, never waited for,
 * and given back to the kernel when it asks.
 */
#ifndef W2R_FRAMES_H
#define W2R_FRAMES_H

#include "cache.h"

/* In the I/O path, perhaps that of reclaim: not out of its reserves. */
#define W2R_GFP	(GFP_NOWAIT | __GFP_NOWARN | __GFP_NOMEMALLOC)

/* Memory for one block, not waited for, or NULL. Any context. */
struct page *w2r_alloc_frame(struct w2r *c);

/*
 * An entry with memory for @block, which has none, to be filled; ENTRY_NONE if
 * there can be none now. Under ->lock.
 */
u32 w2r_take(struct w2r *c, u64 block, enum room room, struct w2r_filler *f);

/*
 * Copies between @bio's next @bytes from @iter on, which moves along, and as many
 * of @frame from byte @at on.
 */
void w2r_copy_frame(struct bio *bio, struct bvec_iter *iter,
		    struct page *frame, u32 at, u32 bytes, bool to_bio);

/*
 * Copies between the frames of entries[0..n-1] (ENTRY_NONE: left out) and
 * @bio, from @iter on, which moves along; the first frame is entered @offset
 * sectors deep. n is at least 1.
 */
void w2r_copy(struct w2r *c, struct bio *bio, struct bvec_iter *iter,
	      const u32 *entries, u32 n, u32 offset, bool to_bio);

/* -ENOMEM leaves nothing behind. Process context; may sleep. */
int w2r_frames_start(struct w2r *c);
/* No I/O may be under way. */
void w2r_frames_stop(struct w2r *c);
/* Called every second or so: lets the cache grow again after pressure. */
void w2r_frames_grow(struct w2r *c);

/* For the module: before the first target, and after the last. Process context; -ENOMEM. */
int w2r_frames_init(void);
void w2r_frames_exit(void);

#endif
