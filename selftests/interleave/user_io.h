/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * I/Os of tasks: a bio with memory of its own in any layout, sent with others, and waited
 * for with them. What holds it begins with it.
 */
#ifndef INTERLEAVE_USER_IO_H
#define INTERLEAVE_USER_IO_H

#include "block.h"

/* Those that one task waits for together. */
struct io_group {
	u32 under_way;
	struct user_io *ended;
	wait_queue_head_t wait;
	u16 ioprio;		/* of all that is sent from now on */
};

struct user_io {
	struct bio bio;
	struct bvec_iter iter;			/* as it was sent */
	struct bio_vec vecs[BIO_MAX_VECS];
	struct page *pages[BIO_MAX_VECS];	/* what they are of */
	u32 nr_pages;
	struct io_group *group;
	struct user_io *next;
	u64 begin;				/* on the oracle's clock */
	u64 end;
	/* Its bio ends: in any context, and without a switch. */
	void (*on_end)(struct user_io *io);
	/* All of the group have ended: what is in memory? In the task. */
	void (*look)(struct user_io *io);
};

static inline enum req_op user_io_op(const struct user_io *io)
{
	return bio_op(&io->bio);
}

/* Does it change any data? Once it has begun. */
static inline bool user_io_writes(const struct user_io *io)
{
	return user_io_op(io) != REQ_OP_READ && io->iter.bi_size;
}

void io_group_begin(struct io_group *g);
/* Waits for all, has them look, and frees them. */
void io_group_end(struct io_group *g);

/* Of @bytes, zeroed, which begin with a struct user_io; its bio has no memory yet. */
void *user_io_new(size_t bytes, struct io_group *g, struct block_device *bdev, u64 sector,
		  blk_opf_t opf);
/* Whole pages, some of them adjacent. */
void user_io_add_pages(struct user_io *io, u32 pages);
/* Pieces that begin and end at any sector of a page, as those of direct I/O may. */
void user_io_add_pieces(struct user_io *io, u32 sectors);
/* Calls @fn for each of the sectors in memory, from 0 on. */
void user_io_for_sectors(struct user_io *io, void (*fn)(struct user_io *io, u32 i, char *mem));
/* Notes when it begins; user_io_send() follows. */
void user_io_begin(struct user_io *io);
void user_io_send(struct user_io *io);

#endif
