/* SPDX-License-Identifier: GPL-2.0-only */
/* Making bios, and walking over them slot by slot. */
#ifndef MUSTER_COMPAT_BIO_H
#define MUSTER_COMPAT_BIO_H

#include <linux/bio.h>
#include <linux/blk-cgroup.h>
#include <linux/blkdev.h>
#include <linux/cgroup.h>
#include <linux/highmem.h>
#include <linux/ioprio.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

/* Slots, frames and what is copied are pages of 4 KiB; the probe refuses others, if it can tell. */
static_assert(PAGE_SHIFT == 12);

/* The operation and the flags of a bio. */
#ifndef COMPAT_HAVE_BLK_OPF
#define blk_opf_t	unsigned int
#endif

/* Of an I/O for which its submitter polls; nobody else learns of its end. */
#ifndef REQ_POLLED
#define REQ_POLLED	REQ_HIPRI
#endif

/* A large variable on the stack that is set where it is used: a kernel may clear it, else. */
#ifndef __uninitialized
#define __uninitialized
#endif

/* Of an I/O that makes no sense. */
#ifndef BLK_STS_INVAL
#define BLK_STS_INVAL	BLK_STS_IOERR
#endif

/* The cgroup that pays for @cause pays for @bio; of one that names none it is the root. */
static inline void compat_bio_clone_cgroup(struct bio *bio, struct bio *cause)
{
#ifdef CONFIG_BLK_CGROUP
	if (cause->bi_blkg)
		bio_clone_blkg_association(bio, cause);
	else
		bio_associate_blkg_from_css(bio, blkcg_root_css);
#endif
}

/*
 * A bio, from the pool or in the caller's memory, or one that has ended made
 * new, for @bdev and with @opf. One in the caller's memory may have no device.
 * One for @cause has its cgroup, which @cause, if it names one, has had looked up
 * on @bdev: where the kernel has yet to make the two known to each other it may
 * turn interrupts on, or sleep. So this may be called with a lock held.
 */
#ifdef COMPAT_HAVE_BIO_OF_BDEV
static inline struct bio *compat_bio_alloc(struct block_device *bdev,
					   unsigned int nr, blk_opf_t opf,
					   gfp_t gfp, struct bio_set *set)
{
	return bio_alloc_bioset(bdev, nr, opf, gfp, set);
}

static inline struct bio *compat_bio_alloc_for(struct bio *cause,
					       struct block_device *bdev,
					       unsigned int nr, blk_opf_t opf,
					       gfp_t gfp, struct bio_set *set)
{
	struct bio *bio = bio_alloc_bioset(NULL, nr, opf, gfp, set);

	if (bio) {
		bio->bi_bdev = bdev;
		compat_bio_clone_cgroup(bio, cause);
	}
	return bio;
}

static inline void compat_bio_init(struct bio *bio, struct block_device *bdev,
				   struct bio_vec *vecs, unsigned int nr,
				   blk_opf_t opf)
{
	bio_init(bio, bdev, vecs, nr, opf);
}

static inline void compat_bio_reset(struct bio *bio, struct block_device *bdev,
				    blk_opf_t opf)
{
	bio_reset(bio, bdev, opf);
}

static inline void compat_bio_reset_for(struct bio *bio, struct bio *cause,
					struct block_device *bdev,
					blk_opf_t opf)
{
	bio_reset(bio, NULL, opf);
	bio->bi_bdev = bdev;
	compat_bio_clone_cgroup(bio, cause);
}
#else
static inline struct bio *compat_bio_alloc(struct block_device *bdev,
					   unsigned int nr, blk_opf_t opf,
					   gfp_t gfp, struct bio_set *set)
{
	struct bio *bio = bio_alloc_bioset(gfp, nr, set);

	if (bio) {
		bio_set_dev(bio, bdev);
		bio->bi_opf = opf;
	}
	return bio;
}

static inline struct bio *compat_bio_alloc_for(struct bio *cause,
					       struct block_device *bdev,
					       unsigned int nr, blk_opf_t opf,
					       gfp_t gfp, struct bio_set *set)
{
	struct bio *bio = compat_bio_alloc(bdev, nr, opf, gfp, set);

	if (bio)
		bio_clone_blkg_association(bio, cause);
	return bio;
}

static inline void compat_bio_init(struct bio *bio, struct block_device *bdev,
				   struct bio_vec *vecs, unsigned int nr,
				   blk_opf_t opf)
{
	bio_init(bio, vecs, nr);
	if (bdev)
		bio_set_dev(bio, bdev);
	bio->bi_opf = opf;
}

static inline void compat_bio_reset(struct bio *bio, struct block_device *bdev,
				    blk_opf_t opf)
{
	bio_reset(bio);
	bio_set_dev(bio, bdev);
	bio->bi_opf = opf;
}

static inline void compat_bio_reset_for(struct bio *bio, struct bio *cause,
					struct block_device *bdev,
					blk_opf_t opf)
{
	compat_bio_reset(bio, bdev, opf);
	bio_clone_blkg_association(bio, cause);
}
#endif

/*
 * In Linux 5.10 a task that submits to a request queue may be unplugged midway, and
 * what is submitted then goes to such a queue, too, whatever its device has: it is
 * to be left to a worker. From __submit_bio_noacct_mq(), which no header tells of.
 */
static inline bool compat_must_not_submit(void)
{
#ifdef COMPAT_HAVE_BIO_BDEV
	return false;
#else
	return current->bio_list;
#endif
}

/*
 * Whether the task, which is in ->submit_bio or outside of any, has a plug for more than
 * one bio. In Linux 6.12 who has none gets one for each, which ends when ->submit_bio has
 * returned: it lies deeper in the stack than the list where what that sends waits. From
 * __submit_bio(), which no header tells of.
 */
static inline bool compat_is_plugged(void)
{
	const void *plug = current->plug, *list = current->bio_list;

	return plug && !(object_is_on_stack(plug) && plug < list);
}

/*
 * The number of the cgroup that @bio names to pay for it, the lowest that was free when
 * that was made; 0 for the root, which nothing limits.
 */
static inline u32 compat_bio_payer(struct bio *bio)
{
#ifdef COMPAT_HAVE_BIO_BLKCG_CSS
	struct cgroup_subsys_state *css = bio_blkcg_css(bio);

	return css && css != blkcg_root_css ? css->id : 0;
#elif defined(CONFIG_BLK_CGROUP)
	struct blkcg *blkcg = bio_blkcg(bio);

	return blkcg && &blkcg->css != blkcg_root_css ? blkcg->css.id : 0;
#else
	return 0;
#endif
}

/* Whether another cgroup than the root may pay for the bios that this task makes. */
static inline bool compat_in_cgroup(void)
{
	bool is = false;

#ifdef CONFIG_BLK_CGROUP
	/* One that works for others may do so in their name, which no header tells. */
	if (current->flags & PF_KTHREAD)
		return true;
	rcu_read_lock();
	is = task_css(current, io_cgrp_id) != blkcg_root_css;
	rcu_read_unlock();
#endif
	return is;
}

/* Whether the same cgroup pays for both, which are of one disk. */
static inline bool compat_bio_same_cgroup(const struct bio *a,
					  const struct bio *b)
{
#ifdef CONFIG_BLK_CGROUP
	return a->bi_blkg == b->bi_blkg;
#else
	return true;
#endif
}

/*
 * The priority of what @bio asks for. Old kernels give bios none but those of direct
 * I/O: whoever sends one, as the caller is about to, has that of his own.
 */
static inline int compat_bio_ioprio(const struct bio *bio)
{
#ifndef COMPAT_HAVE_BIO_OF_BDEV
	if (IOPRIO_PRIO_CLASS(bio->bi_ioprio) == IOPRIO_CLASS_NONE)
		return get_current_ioprio();
#endif
	return bio->bi_ioprio;
}

/* Moves @iter on by @bytes, which do not reach beyond the piece it is in. */
#ifndef COMPAT_HAVE_BIO_ADVANCE_SINGLE
static inline void bio_advance_iter_single(const struct bio *bio,
					   struct bvec_iter *iter,
					   unsigned int bytes)
{
	bio_advance_iter(bio, iter, bytes);
}
#endif

#ifndef COMPAT_HAVE_BIO_LIST_MERGE_INIT
static inline void bio_list_merge_init(struct bio_list *list,
				       struct bio_list *more)
{
	bio_list_merge(list, more);
	bio_list_init(more);
}
#endif

/* Mappings of the caller's own came before memcpy_page(), or together with it. */
#ifndef COMPAT_HAVE_KMAP_LOCAL
#define kmap_local_page	kmap_atomic
#define kunmap_local	kunmap_atomic
#endif

#ifndef COMPAT_HAVE_MEMCPY_PAGE
static inline void memcpy_page(struct page *to, size_t to_at,
			       struct page *from, size_t from_at, size_t len)
{
	char *dst = kmap_local_page(to);
	char *src = kmap_local_page(from);

	memcpy(dst + to_at, src + from_at, len);
	kunmap_local(src);
	kunmap_local(dst);
}
#endif

/* Copies what is in a page, and no tags that a machine may keep with it. */
static inline void compat_copy_page(struct page *to, struct page *from)
{
	void *dst = kmap_local_page(to);
	void *src = kmap_local_page(from);

	copy_page(dst, src);
	kunmap_local(src);
	kunmap_local(dst);
}

#endif
