// SPDX-License-Identifier: GPL-2.0-only
#include <sanitizer/asan_interface.h>

#include "block.h"

#define IRQS_OFF_PAGES	80

static const struct {
	blk_status_t status;
	int err;
} statuses[] = {
	{ BLK_STS_OK, 0 },
	{ BLK_STS_NOTSUPP, -EOPNOTSUPP },
	{ BLK_STS_NOSPC, -ENOSPC },
	{ BLK_STS_TARGET, -EREMOTEIO },
	{ BLK_STS_INVAL, -EINVAL },
	{ BLK_STS_IOERR, -EIO },
};

int blk_status_to_errno(blk_status_t status)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(statuses) - 1; i++)
		if (statuses[i].status == status)
			break;
	return statuses[i].err;
}

blk_status_t errno_to_blk_status(int err)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(statuses) - 1; i++)
		if (statuses[i].err == err)
			break;
	return statuses[i].status;
}

/* --- cgroups --- */

struct cgroup_subsys_state sim_blkcg_root = { .id = 1 }, sim_blkcg_other = { .id = 2 },
			   sim_blkcg_third = { .id = 3 };

struct cgroup_subsys_state *sim_own_blkcg(void)
{
	if (current->flags & PF_WQ_WORKER)
		return &sim_blkcg_root;
	return current->blkcg ?: &sim_blkcg_other;
}

static void drop_cgroup(struct bio *bio)
{
	if (bio->bi_blkg)
		bio->bi_blkg->refs--;
	bio->bi_blkg = NULL;
}

/* For want of memory it may fail. Linux 7.2 turns interrupts on in the end, and later ones may sleep. */
static void make_known(struct block_device *bdev, const struct cgroup_subsys_state *css)
{
	if (!bdev || css == &sim_blkcg_root || bdev->knows_cgroup)
		return;
	lock_check_sleep("a cgroup's first bio on a device");
	if (!sim_below(4))
		sim_sleep(1000);
	if (!bdev->knows_cgroup)
		bdev->knows_cgroup = !sim_below(4);
}

void bio_associate_blkg_from_css(struct bio *bio, struct cgroup_subsys_state *css)
{
	make_known(bio->bi_bdev, css);
	if (bio->bi_bdev && !bio->bi_bdev->knows_cgroup)
		css = &sim_blkcg_root;
	drop_cgroup(bio);
	bio->bi_blkg = css;
	css->refs++;
}

void bio_clone_blkg_association(struct bio *to, struct bio *from)
{
	if (from->bi_blkg)
		bio_associate_blkg_from_css(to, from->bi_blkg);
}

void sim_check_cgroups(void)
{
	if (sim_blkcg_root.refs || sim_blkcg_other.refs || sim_blkcg_third.refs)
		sim_fail("references of cgroups not given back: %d, %d and %d",
			 sim_blkcg_root.refs, sim_blkcg_other.refs, sim_blkcg_third.refs);
}

/* --- making them --- */

void bio_init(struct bio *bio, struct block_device *bdev, struct bio_vec *vecs, u16 nr,
	      blk_opf_t opf)
{
	*bio = (struct bio) {
		.bi_bdev = bdev,
		.bi_opf = opf,
		.bi_io_vec = vecs,
		.bi_max_vecs = nr,
		.remaining = 1,
	};
	if (bdev)
		bio_associate_blkg_from_css(bio, sim_own_blkcg());
}

void bio_uninit(struct bio *bio)
{
	SIM_CHECK(!bio->sent);
	drop_cgroup(bio);
}

void bio_reset(struct bio *bio, struct block_device *bdev, blk_opf_t opf)
{
	struct bio_set *set = bio->bi_pool;

	bio_uninit(bio);
	bio_init(bio, bdev, bio->bi_io_vec, bio->bi_max_vecs, opf);
	bio->bi_pool = set;
}

void bio_set_dev(struct bio *bio, struct block_device *bdev)
{
	bio->bi_bdev = bdev;
	bio_associate_blkg_from_css(bio, bio->bi_blkg ?: sim_own_blkcg());
}

static bool goes_on(const struct bio *bio, const struct page *page, u32 offset)
{
	const struct bio_vec *last;

	if (!bio->bi_vcnt)
		return false;
	last = &bio->bi_io_vec[bio->bi_vcnt - 1];
	return last->bv_page->mem + last->bv_offset + last->bv_len == page->mem + offset;
}

/* Some kernels refuse a page now and then, for what kind of memory it is. */
int bio_add_page(struct bio *bio, struct page *page, u32 len, u32 offset)
{
	if (bio->bi_vcnt == bio->bi_max_vecs || sim_once_in(64))
		return 0;
	if (goes_on(bio, page, offset)) {
		bio->bi_io_vec[bio->bi_vcnt - 1].bv_len += len;
		bio->bi_iter.bi_size += len;
	} else {
		__bio_add_page(bio, page, len, offset);
	}
	return len;
}

/* A page that is to be read may have been found, emptied and taken for that. */
static void check_irqs_off(void)
{
	if (current->irqs_off && ++current->pages_irqs_off > IRQS_OFF_PAGES)
		sim_fail("more than %u pages are added with interrupts off", IRQS_OFF_PAGES);
}

void __bio_add_page(struct bio *bio, struct page *page, u32 len, u32 offset)
{
	check_irqs_off();
	SIM_CHECK(bio->bi_vcnt < bio->bi_max_vecs && !bio->sent);
	bio->bi_io_vec[bio->bi_vcnt++] = (struct bio_vec) {
		.bv_page = page,
		.bv_len = len,
		.bv_offset = offset,
	};
	bio->bi_iter.bi_size += len;
}

int bioset_init(struct bio_set *set, u32 reserve, u32 front_pad, int flags)
{
	size_t bytes = front_pad + sizeof(struct bio) + BIO_INLINE_VECS * sizeof(struct bio_vec);
	int err;

	SIM_CHECK(!(flags & ~BIOSET_NEED_BVECS) && !(front_pad % 8));
	memset(set, 0, sizeof(*set));
	set->front_pad = front_pad;
	err = mempool_init_kmalloc_pool(&set->bios, reserve, bytes);
	if (err || !(flags & BIOSET_NEED_BVECS))
		return err;
	err = mempool_init_kmalloc_pool(&set->vecs, reserve, BIO_MAX_VECS * sizeof(struct bio_vec));
	if (err)
		mempool_exit(&set->bios);
	return err;
}

void bioset_exit(struct bio_set *set)
{
	mempool_exit(&set->bios);
	mempool_exit(&set->vecs);
}

/* One that may not wait gets nothing of what is kept, as in the kernel. */
static struct bio *alloc_bare(gfp_t gfp, struct bio_set *set)
{
	char *mem = NULL;

	if (gfp & __GFP_DIRECT_RECLAIM || sim_memory(gfp))
		mem = mempool_alloc(&set->bios, gfp);
	return mem ? (struct bio *)(mem + set->front_pad) : NULL;
}

static void free_bare(struct bio *bio, struct bio_set *set)
{
	mempool_free((char *)bio - set->front_pad, &set->bios);
}

struct bio *bio_alloc_bioset(struct block_device *bdev, u16 nr, blk_opf_t opf, gfp_t gfp,
			     struct bio_set *set)
{
	struct bio_vec *vecs = NULL;
	struct bio *bio;

	SIM_CHECK(nr && nr <= BIO_MAX_VECS);
	bio = alloc_bare(gfp, set);
	if (!bio)
		return NULL;
	if (nr > BIO_INLINE_VECS) {
		vecs = mempool_alloc(&set->vecs, gfp);
		if (!vecs) {
			free_bare(bio, set);
			return NULL;
		}
	}
	bio_init(bio, bdev, vecs ?: (struct bio_vec *)(bio + 1), nr, opf);
	bio->bi_pool = set;
	return bio;
}

void bio_put(struct bio *bio)
{
	struct bio_set *set = bio->bi_pool;

	bio_uninit(bio);
	if (!bio->cloned && bio->bi_io_vec != (struct bio_vec *)(bio + 1))
		mempool_free(bio->bi_io_vec, &set->vecs);
	bio->bi_io_vec = NULL;
	free_bare(bio, set);
}

struct bio *bio_split(struct bio *bio, int sectors, gfp_t gfp, struct bio_set *set)
{
	struct bio *split;

	SIM_CHECK(sectors > 0 && sectors < bio_sectors(bio) && !bio->ended);
	split = alloc_bare(gfp, set);
	if (!split)
		return ERR_PTR(-ENOMEM);
	bio_init(split, bio->bi_bdev, bio->bi_io_vec, 0, bio->bi_opf);
	split->bi_pool = set;
	split->cloned = true;
	split->bi_ioprio = bio->bi_ioprio;
	split->bi_iter = bio->bi_iter;
	bio_clone_blkg_association(split, bio);
	split->bi_iter.bi_size = sectors << SECTOR_SHIFT;
	bio_advance(bio, split->bi_iter.bi_size);
	return split;
}

static void end_chained(struct bio *bio)
{
	struct bio *parent = bio->bi_private;

	if (bio->bi_status && !parent->bi_status)
		parent->bi_status = bio->bi_status;
	bio_put(bio);
	bio_endio(parent);
}

void bio_chain(struct bio *bio, struct bio *parent)
{
	SIM_CHECK(!bio->bi_private && !bio->bi_end_io);
	bio->bi_private = parent;
	bio->bi_end_io = end_chained;
	bio_inc_remaining(parent);
}

/* --- ending them --- */

static void check_context(void)
{
	u32 i;

	for (i = 0; i < current->nr_held; i++)
		if (!current->held[i]->sleeps)
			sim_fail("a bio is ended under %s", current->held[i]->class->name);
}

void bio_endio(struct bio *bio)
{
	sim_point(SIM_ATOMIC);
	check_context();
	if (bio->ended)
		sim_fail("a bio is ended twice");
	SIM_CHECK(bio->remaining > 0);
	if (--bio->remaining)
		return;
	bio->sent = false;
	bio->ended = true;
	drop_cgroup(bio);
	if (bio->bi_end_io)
		bio->bi_end_io(bio);
}

/* --- walking over them --- */

void bio_advance_iter(const struct bio *bio, struct bvec_iter *iter, u32 bytes)
{
	SIM_CHECK(bytes <= iter->bi_size);
	iter->bi_sector += bytes >> SECTOR_SHIFT;
	iter->bi_size -= bytes;
	bytes += iter->bi_bvec_done;
	while (bytes && bytes >= bio->bi_io_vec[iter->bi_idx].bv_len)
		bytes -= bio->bi_io_vec[iter->bi_idx++].bv_len;
	iter->bi_bvec_done = bytes;
}

void bio_advance_iter_single(const struct bio *bio, struct bvec_iter *iter, u32 bytes)
{
	SIM_CHECK(iter->bi_bvec_done + bytes <= bio->bi_io_vec[iter->bi_idx].bv_len);
	bio_advance_iter(bio, iter, bytes);
}

/* --- lists --- */

void bio_list_add(struct bio_list *list, struct bio *bio)
{
	bio->bi_next = NULL;
	if (list->tail)
		list->tail->bi_next = bio;
	else
		list->head = bio;
	list->tail = bio;
}

void bio_list_add_head(struct bio_list *list, struct bio *bio)
{
	bio->bi_next = list->head;
	list->head = bio;
	if (!list->tail)
		list->tail = bio;
}

struct bio *bio_list_peek(struct bio_list *list)
{
	return list->head;
}

struct bio *bio_list_pop(struct bio_list *list)
{
	struct bio *bio = list->head;

	if (!bio)
		return NULL;
	list->head = bio->bi_next;
	if (!list->head)
		list->tail = NULL;
	bio->bi_next = NULL;
	return bio;
}

void bio_list_merge(struct bio_list *list, struct bio_list *more)
{
	if (bio_list_empty(more))
		return;
	if (list->tail)
		list->tail->bi_next = more->head;
	else
		list->head = more->head;
	list->tail = more->tail;
}

void bio_list_merge_init(struct bio_list *list, struct bio_list *more)
{
	bio_list_merge(list, more);
	bio_list_init(more);
}
