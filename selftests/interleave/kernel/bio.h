/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bios. One that is sent twice, ended twice or never, or ended under a spinlock, fails
 * the run; so does a reference of a cgroup that is not given back.
 */
#ifndef INTERLEAVE_BIO_H
#define INTERLEAVE_BIO_H

#include "page.h"

typedef unsigned int __bitwise blk_opf_t;
typedef u8 __bitwise blk_status_t;

#define BLK_STS_OK		0
#define BLK_STS_NOTSUPP		1
#define BLK_STS_NOSPC		3
#define BLK_STS_TARGET		4
#define BLK_STS_IOERR		10
#define BLK_STS_INVAL		19

int blk_status_to_errno(blk_status_t status);
blk_status_t errno_to_blk_status(int err);

enum req_op {
	REQ_OP_READ,
	REQ_OP_WRITE,
	REQ_OP_DISCARD,
	REQ_OP_WRITE_ZEROES,
	REQ_OP_SECURE_ERASE,
};

#define REQ_OP_MASK		0xffu
#define REQ_SYNC		(1u << 8)
#define REQ_META		(1u << 9)
#define REQ_PRIO		(1u << 10)
#define REQ_NOMERGE		(1u << 11)
#define REQ_FUA			(1u << 12)
#define REQ_PREFLUSH		(1u << 13)
#define REQ_RAHEAD		(1u << 14)
#define REQ_POLLED		(1u << 15)
#define REQ_DRV			(1u << 16)
#define REQ_SWAP		(1u << 17)
#define REQ_FAILFAST_MASK	(7u << 18)

#define IOPRIO_CLASS_SHIFT		13
#define IOPRIO_CLASS_NONE		0
#define IOPRIO_CLASS_BE			2
#define IOPRIO_CLASS_IDLE		3
#define IOPRIO_PRIO_CLASS(prio)		((prio) >> IOPRIO_CLASS_SHIFT)
#define IOPRIO_PRIO_VALUE(class, data)	((class) << IOPRIO_CLASS_SHIFT | (data))
/* Tasks have none of their own. */
#define get_current_ioprio()		IOPRIO_PRIO_VALUE(IOPRIO_CLASS_NONE, 0)

struct bio_vec {
	struct page *bv_page;
	unsigned int bv_len;
	unsigned int bv_offset;
};

struct bvec_iter {
	sector_t bi_sector;
	unsigned int bi_size;
	unsigned int bi_idx;
	unsigned int bi_bvec_done;
};

struct block_device;
struct bio_set;
struct cgroup_subsys_state;

struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev;
	blk_opf_t bi_opf;
	u16 bi_ioprio;
	blk_status_t bi_status;
	struct bvec_iter bi_iter;
	void (*bi_end_io)(struct bio *bio);
	void *bi_private;
	struct cgroup_subsys_state *bi_blkg;	/* holds a reference of it */
	u16 bi_vcnt;
	u16 bi_max_vecs;
	struct bio_vec *bi_io_vec;
	struct bio_set *bi_pool;
	int remaining;			/* ends that it takes */
	bool cloned;			/* its bio_vecs are another's */
	bool sent;			/* and not ended */
	bool was_sent;
	bool ended;
};

#define bio_op(bio)		((enum req_op)((bio)->bi_opf & REQ_OP_MASK))
#define bio_sectors(bio)	((bio)->bi_iter.bi_size >> SECTOR_SHIFT)
#define bio_end_sector(bio)	((bio)->bi_iter.bi_sector + bio_sectors(bio))

/* --- making them --- */

struct bio_set {
	u32 front_pad;
	mempool_t bios;
	mempool_t vecs;
};

#define BIOSET_NEED_BVECS	1
#define BIO_INLINE_VECS		4
#define BIO_MAX_VECS		256

int bioset_init(struct bio_set *set, u32 reserve, u32 front_pad, int flags);
void bioset_exit(struct bio_set *set);
struct bio *bio_alloc_bioset(struct block_device *bdev, u16 nr, blk_opf_t opf, gfp_t gfp,
			     struct bio_set *set);
void bio_put(struct bio *bio);
/* The first sectors, not all: the rest outlives them. An ERR_PTR() if not, as from Linux 6.13 on. */
struct bio *bio_split(struct bio *bio, int sectors, gfp_t gfp, struct bio_set *set);
/* @parent ends when @bio has ended, too, with the error of either; @bio is put then. */
void bio_chain(struct bio *bio, struct bio *parent);
void bio_init(struct bio *bio, struct block_device *bdev, struct bio_vec *vecs, u16 nr,
	      blk_opf_t opf);
void bio_uninit(struct bio *bio);
void bio_reset(struct bio *bio, struct block_device *bdev, blk_opf_t opf);
void bio_set_dev(struct bio *bio, struct block_device *bdev);
int bio_add_page(struct bio *bio, struct page *page, u32 len, u32 offset);
void __bio_add_page(struct bio *bio, struct page *page, u32 len, u32 offset);

/* --- ending them --- */

void bio_endio(struct bio *bio);

static inline void bio_inc_remaining(struct bio *bio)
{
	sim_point(SIM_ATOMIC);
	bio->remaining++;
}

/* --- walking over them --- */

/* A piece that may be of several adjacent pages; and one of one page. */
static inline struct bio_vec bio_iter_pieces(const struct bio *bio, struct bvec_iter iter)
{
	struct bio_vec bv = bio->bi_io_vec[iter.bi_idx];

	bv.bv_offset += iter.bi_bvec_done;
	bv.bv_len = min(bv.bv_len - iter.bi_bvec_done, iter.bi_size);
	return bv;
}

static inline struct bio_vec bio_iter_iovec(const struct bio *bio, struct bvec_iter iter)
{
	struct bio_vec bv = bio_iter_pieces(bio, iter);

	bv.bv_page += bv.bv_offset >> PAGE_SHIFT;
	bv.bv_offset = offset_in_page(bv.bv_offset);
	bv.bv_len = min_t(u32, bv.bv_len, PAGE_SIZE - bv.bv_offset);
	return bv;
}

#define bio_iter_page(bio, iter)		(bio_iter_iovec(bio, iter).bv_page)
#define mp_bvec_iter_offset(vecs, iter)		((vecs)[(iter).bi_idx].bv_offset + (iter).bi_bvec_done)
#define mp_bvec_iter_len(vecs, iter) \
	min((vecs)[(iter).bi_idx].bv_len - (iter).bi_bvec_done, (iter).bi_size)

void bio_advance_iter(const struct bio *bio, struct bvec_iter *iter, u32 bytes);
/* Not beyond the piece it is in. */
void bio_advance_iter_single(const struct bio *bio, struct bvec_iter *iter, u32 bytes);

static inline void bio_advance(struct bio *bio, u32 bytes)
{
	bio_advance_iter(bio, &bio->bi_iter, bytes);
}

/* --- lists --- */

struct bio_list {
	struct bio *head;
	struct bio *tail;
};

#define BIO_EMPTY_LIST		{ NULL, NULL }
#define bio_list_empty(list)	(!(list)->head)
#define bio_list_for_each(bio, list) \
	for (bio = (list)->head; bio; bio = bio->bi_next)

static inline void bio_list_init(struct bio_list *list)
{
	*list = (struct bio_list)BIO_EMPTY_LIST;
}

void bio_list_add(struct bio_list *list, struct bio *bio);
void bio_list_add_head(struct bio_list *list, struct bio *bio);
struct bio *bio_list_peek(struct bio_list *list);
struct bio *bio_list_pop(struct bio_list *list);
void bio_list_merge(struct bio_list *list, struct bio_list *more);
void bio_list_merge_init(struct bio_list *list, struct bio_list *more);

/* --- cgroups --- */

struct cgroup_subsys_state {
	int id;
	int refs;
};

extern struct cgroup_subsys_state sim_blkcg_root, sim_blkcg_other, sim_blkcg_third;
#define blkcg_root_css		(&sim_blkcg_root)
#define bio_blkcg_css(bio)	((bio)->bi_blkg)
#define io_cgrp_id		0
#define task_css(task, subsys)	((void)(task), (void)(subsys), sim_own_blkcg())

/* That of whoever runs: the root's, of workers. */
struct cgroup_subsys_state *sim_own_blkcg(void);

void bio_associate_blkg_from_css(struct bio *bio, struct cgroup_subsys_state *css);
void bio_clone_blkg_association(struct bio *to, struct bio *from);

/* Fails if a reference of a cgroup is not given back. */
void sim_check_cgroups(void);

#endif
