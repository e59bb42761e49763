// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) "mswap: " fmt

#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "backing.h"
#include "slot_bio.h"

/* Writes that go on when no memory at all is left. */
#define BACKING_WRITES_MIN	16

/* So many to a write of zeros, whose vectors lie on the stack. */
#define BACKING_PROBE_PAGES	32

/*
 * How much of a path a refusal shows: it may be any bytes, and a line of some
 * thousand of them, escaped, is more than dmesg reads past.
 */
#define BACKING_PATH_SHOWN	128

static int backing_refuse(const char *name, const char *path, const char *why,
			  int err)
{
	int len = strnlen(path, BACKING_PATH_SHOWN);

	pr_err_ratelimited("%s: cannot use %*pE as backing device: %s (error %d)\n",
			   name, len, path, why, err);
	return err;
}

static const char *backing_open_error(int err)
{
	switch (err) {
	case -EBUSY:
		return "it is mounted, swap, or held by somebody else";
	case -EROFS:
		return "it is read-only, or may not be opened where its file lies (nodev)";
	case -ENOTBLK:
		return "it is not a block device";
	case -ENOENT:
		return "there is no such file";
	default:
		return "it cannot be opened";
	}
}

static int backing_check(struct backing *b, const char *path, const char *name)
{
	u64 slots = bdev_nr_bytes(b->bdev) >> PAGE_SHIFT;
	u64 edges = BACKING_FIRST_EDGE + BACKING_LAST_EDGE;

	slots -= min(slots, edges);
	if (bdev_read_only(b->bdev))
		return backing_refuse(name, path, "it is read-only", -EROFS);
	if (bdev_is_zoned(b->bdev))
		return backing_refuse(name, path, "it is zoned", -EINVAL);
	if (bdev_logical_block_size(b->bdev) > PAGE_SIZE)
		return backing_refuse(name, path,
				      "its logical blocks are larger than 4 KiB",
				      -EINVAL);
	if (slots < BACKING_SLOTS_MIN)
		return backing_refuse(name, path, "it is smaller than 8 MiB",
				      -ENOSPC);
	if (slots > BACKING_SLOTS_MAX)
		return backing_refuse(name, path, "it has more than 2^32-2 slots",
				      -EFBIG);
	b->nr_slots = slots;
	return 0;
}

/* What others have left in a page cache would be written later, over our slots. */
static int backing_settle(struct backing *b, const char *path, const char *name)
{
	int err = compat_bdev_sync(b->bdev);

	if (err)
		return backing_refuse(name, path,
				      "what others wrote to it cannot be written",
				      err);
	invalidate_bdev(b->bdev);
	return 0;
}

int backing_open(struct backing *b, const char *path, const char *name,
		 size_t front_pad)
{
	int err;

	b->path = kstrdup(path, GFP_KERNEL);
	if (!b->path)
		return -ENOMEM;
	err = compat_bdev_open(&b->handle, path, b);
	if (err == -EACCES)
		err = -EROFS;
	if (err) {
		backing_refuse(name, path, backing_open_error(err), err);
		goto err_path;
	}
	b->bdev = compat_bdev(&b->handle);
	err = backing_check(b, path, name) ?: backing_settle(b, path, name);
	if (err)
		goto err_bdev;
	err = bioset_init(&b->writes, BACKING_WRITES_MIN, front_pad,
			  BIOSET_NEED_BVECS);
	if (err)
		goto err_bdev;
	return 0;

err_bdev:
	compat_bdev_close(&b->handle);
err_path:
	kfree(b->path);
	b->path = NULL;
	b->bdev = NULL;
	return err;
}

void backing_close(struct backing *b)
{
	bioset_exit(&b->writes);
	compat_bdev_close(&b->handle);
	kfree(b->path);
	b->path = NULL;
	b->bdev = NULL;
	b->nr_slots = 0;
}

struct bio *backing_alloc_write(struct backing *b, u32 nr, blk_opf_t opf,
				gfp_t gfp)
{
	return compat_bio_alloc(b->bdev, nr, REQ_OP_WRITE | opf, gfp,
				&b->writes);
}

void backing_aim(struct bio *bio, u32 slot)
{
	bio->bi_iter.bi_sector = ((sector_t)slot + BACKING_FIRST_EDGE) *
				 SLOT_SECTORS;
}

void backing_reuse_write(struct backing *b, struct bio *bio, u32 slot,
			 blk_opf_t opf)
{
	compat_bio_reset(bio, b->bdev, REQ_OP_WRITE | REQ_NOMERGE | opf);
	backing_aim(bio, slot);
}

void backing_init_read(struct backing *b, struct bio *bio, struct bio_vec *vecs,
		       u32 nr, u32 slot, blk_opf_t opf)
{
	compat_bio_init(bio, b->bdev, vecs, nr, REQ_OP_READ | opf);
	backing_aim(bio, slot);
}

u32 backing_fit_pages(const struct backing *b, u32 pages)
{
	struct request_queue *q = bdev_get_queue(b->bdev);
	u32 most = min_t(u32, queue_max_sectors(q) / SLOT_SECTORS,
			 queue_max_segments(q));

	if (!most || pages <= most)
		return pages;
	return rounddown(pages, most);
}

static int backing_probe_part(struct backing *b, u32 slot, u32 n)
{
	struct bio_vec vecs[BACKING_PROBE_PAGES];
	struct bio bio;
	int err;
	u32 i;

	compat_bio_init(&bio, b->bdev, vecs, n,
			REQ_OP_WRITE | REQ_SYNC | REQ_NOMERGE);
	backing_aim(&bio, slot);
	for (i = 0; i < n; i++)
		backing_add_lone_page(&bio, ZERO_PAGE(0));
	err = submit_bio_wait(&bio);
	bio_uninit(&bio);
	return err;
}

int backing_probe(struct backing *b, u32 slot, u32 n)
{
	u32 part;
	int err = 0;

	for (; n && !err; slot += part, n -= part) {
		part = min_t(u32, n, BACKING_PROBE_PAGES);
		err = backing_probe_part(b, slot, part);
	}
	return err;
}

int backing_flush(struct backing *b)
{
	return compat_bdev_flush(b->bdev);
}
