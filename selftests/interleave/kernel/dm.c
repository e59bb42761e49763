// SPDX-License-Identifier: GPL-2.0-only
#include "dm.h"

static const struct target_type *registered;

int dm_register_target(struct target_type *type)
{
	registered = type;
	return 0;
}

void dm_unregister_target(struct target_type *type)
{
	registered = NULL;
}

int dm_get_device(struct dm_target *ti, const char *path, fmode_t mode, struct dm_dev **dev)
{
	struct block_device *bdev = sim_device_of(path);

	if (!bdev)
		return -ENOENT;
	*dev = kzalloc(sizeof(**dev), GFP_KERNEL);
	if (!*dev)
		return -ENOMEM;
	(*dev)->bdev = bdev;
	snprintf((*dev)->name, sizeof((*dev)->name), "8:0");
	return 0;
}

void dm_put_device(struct dm_target *ti, struct dm_dev *dev)
{
	kfree(dev);
}

struct gendisk *dm_disk(struct mapped_device *md)
{
	return &md->disk;
}

int dm_set_target_max_io_len(struct dm_target *ti, sector_t len)
{
	ti->max_io_len = len;
	return 0;
}

int kstrtou64(const char *text, unsigned int base, u64 *value)
{
	char *end;

	if (!isdigit(*text))
		return -EINVAL;
	*value = strtoull(text, &end, base);
	return *end ? -EINVAL : 0;
}

/* --- I/O --- */

/* A bio, or the rest of one, on its way through the target. */
struct dm_io {
	struct mapped_device *md;
	struct bio *orig;
	u32 pending;
	blk_status_t status;
};

/* Behind the target's data. */
struct dm_clone {
	struct dm_io *io;
	u32 *len;		/* while it is mapped: how many sectors it takes */
	struct bio bio;
};

static struct dm_clone *clone_of(struct bio *bio)
{
	return container_of(bio, struct dm_clone, bio);
}

void *dm_per_bio_data(struct bio *bio, size_t bytes)
{
	return (char *)clone_of(bio) - bytes;
}

struct bio *dm_bio_from_per_bio_data(void *data, size_t bytes)
{
	return &((struct dm_clone *)((char *)data + bytes))->bio;
}

void dm_accept_partial_bio(struct bio *bio, u32 n)
{
	struct dm_clone *clone = clone_of(bio);

	SIM_CHECK(clone->len && n && n <= bio_sectors(bio));
	SIM_CHECK(bio_op(bio) == REQ_OP_READ || bio_op(bio) == REQ_OP_WRITE);
	*clone->len = n;
	bio->bi_iter.bi_size = n << SECTOR_SHIFT;
}

static struct dm_io *new_io(struct mapped_device *md, struct bio *bio)
{
	struct dm_io *io = calloc(1, sizeof(*io));

	SIM_CHECK(io);
	io->md = md;
	io->orig = bio;
	io->pending = 1;
	md->ios++;
	return io;
}

/* As the last one ends, who suspends the device may go on before the bio has ended. */
static void dec_pending(struct dm_io *io, blk_status_t status)
{
	struct mapped_device *md = io->md;
	struct bio *orig = io->orig;

	if (status)
		io->status = status;
	sim_point(SIM_ATOMIC);
	if (--io->pending)
		return;
	if (io->status)
		orig->bi_status = io->status;
	free(io);
	md->ios--;
	wake_up(&md->wait);
	bio_endio(orig);
}

static void clone_ended(struct bio *bio)
{
	struct dm_clone *clone = clone_of(bio);
	struct dm_io *io = clone->io;
	struct dm_target *ti = io->md->ti;
	blk_status_t status = bio->bi_status;

	if (status && !bio->was_sent)
		sim_fail("a bio fails that was never sent by itself");
	if (status && bio_op(bio) == REQ_OP_READ && !(bio->bi_opf & REQ_RAHEAD))
		io->md->failed_reads++;
	SIM_CHECK(ti->type->end_io(ti, bio, &status) == DM_ENDIO_DONE);
	bio_uninit(bio);
	free((char *)clone - ti->per_io_data_size);
	dec_pending(io, status);
}

static struct dm_clone *new_clone(struct dm_io *io, u32 *len)
{
	u32 bytes = io->md->ti->per_io_data_size;
	struct bio *orig = io->orig;
	struct dm_clone *clone;
	char *mem = malloc(bytes + sizeof(*clone));

	SIM_CHECK(mem && !(bytes % 8));
	memset(mem, 0xa5, bytes + sizeof(*clone));
	clone = (struct dm_clone *)(mem + bytes);
	clone->io = io;
	clone->len = len;
	bio_init(&clone->bio, NULL, orig->bi_io_vec, orig->bi_max_vecs, orig->bi_opf);
	clone->bio.bi_vcnt = orig->bi_vcnt;
	clone->bio.bi_iter = orig->bi_iter;
	clone->bio.bi_iter.bi_size = *len << SECTOR_SHIFT;
	clone->bio.bi_ioprio = orig->bi_ioprio;
	clone->bio.bi_end_io = clone_ended;
	/* dm marks bios that are polled for, and what it leaves in a rest is its own. */
	if (orig->bi_opf & REQ_POLLED)
		clone->bio.bi_opf |= REQ_DRV;
	return clone;
}

static u32 cut(const struct mapped_device *md, const struct bio *bio)
{
	u32 len = bio_sectors(bio), most = md->ti->max_io_len;

	if (bio_op(bio) != REQ_OP_READ && bio_op(bio) != REQ_OP_WRITE)
		return len;
	most -= dm_target_offset(md->ti, bio->bi_iter.bi_sector) % most;
	return min3(len, most, md->most);
}

/* The clone may have ended before ->map returns. */
static void map(struct dm_io *io, u32 *len)
{
	struct dm_target *ti = io->md->ti;
	struct dm_clone *clone = new_clone(io, len);
	struct bio *bio = &clone->bio;
	int r;

	io->pending++;
	r = ti->type->map(ti, bio);
	if (r != DM_MAPIO_REMAPPED)
		return;
	clone->len = NULL;
	submit_bio_noacct(bio);
}

/*
 * Up to Linux 5.18 dm may wait here for memory to split a bio: not while what others wait for, who may have that memory,
 * waits for this task.
 */
static void check_sent(void)
{
	struct bio *bio;

	bio_list_for_each(bio, current->bio_list)
		if (bio->bi_end_io != clone_ended)
			sim_fail("dm splits a bio, and what the target reads by itself is not sent");
}

static void split_and_map(struct mapped_device *md, struct bio *bio)
{
	struct dm_io *io = new_io(md, bio);
	u32 len = cut(md, bio), all = bio_sectors(bio);

	map(io, &len);
	if (len < all) {
		check_sent();
		if (bio->bi_vcnt) {
			bio_advance(bio, len << SECTOR_SHIFT);
		} else {
			bio->bi_iter.bi_sector += len;
			bio->bi_iter.bi_size -= len << SECTOR_SHIFT;
		}
		bio_inc_remaining(bio);
		bio->sent = false;
		submit_bio_noacct(bio);
	}
	dec_pending(io, BLK_STS_OK);
}

static void dm_submit(struct block_device *bdev, struct bio *bio)
{
	struct mapped_device *md = container_of(bdev, struct mapped_device, bdev);

	md->submitters++;
	sim_point(SIM_LOCK);
	if (!md->blocked) {
		split_and_map(md, bio);
	} else if (bio->bi_opf & REQ_RAHEAD) {
		bio->bi_status = BLK_STS_IOERR;
		bio_endio(bio);
	} else {
		bio_list_add(&md->deferred, bio);
	}
	md->submitters--;
	sim_wake_all(&md->wait);
}

static void send_deferred(struct work_struct *work)
{
	struct mapped_device *md = container_of(work, struct mapped_device, work);
	struct bio *bio;

	while (!md->blocked && (bio = bio_list_pop(&md->deferred))) {
		bio->sent = false;
		submit_bio_noacct(bio);
	}
}

/* --- life --- */

int sim_dm_make(struct mapped_device *md)
{
	*md = (struct mapped_device) {
		.bdev.submit = dm_submit,
		.bdev.bd_disk = &md->disk,
		.bdi.ra_pages = VM_READAHEAD_PAGES,
		.disk.bdi = &md->bdi,
		.table.md = md,
		.blocked = true,
		.most = sim_once_in(2) ? U32_MAX : 1 + sim_size(300),
	};
	init_waitqueue_head(&md->wait);
	INIT_WORK(&md->work, send_deferred);
	md->wq = alloc_workqueue("kdmflush", WQ_MEM_RECLAIM, 0);
	return md->wq ? 0 : -ENOMEM;
}

void sim_dm_free(struct mapped_device *md)
{
	destroy_workqueue(md->wq);
}

int sim_dm_load(struct mapped_device *md, u64 begin, u64 len, unsigned int argc, char **argv)
{
	struct dm_target *ti = &md->targets[md->ti == md->targets];
	int err;

	SIM_CHECK(!md->loaded);
	*ti = (struct dm_target) {
		.table = &md->table, .type = registered, .begin = begin, .len = len,
	};
	err = ti->type->ctr(ti, argc, argv);
	if (!err)
		md->loaded = ti;
	return err;
}

void sim_dm_clear(struct mapped_device *md)
{
	struct dm_target *ti = md->loaded;

	md->loaded = NULL;
	if (ti)
		ti->type->dtr(ti);
}

void sim_dm_unload(struct mapped_device *md)
{
	sim_dm_clear(md);
	md->ti->type->dtr(md->ti);
	md->ti = NULL;
}

static void block(struct mapped_device *md)
{
	md->ti->type->presuspend(md->ti);
	sim_point(SIM_LOCK);
	md->blocked = true;
	flush_work(&md->work);
	wait_event(md->wait, !md->submitters);
}

static void unblock(struct mapped_device *md)
{
	md->blocked = false;
	queue_work(md->wq, &md->work);
}

void sim_dm_suspend(struct mapped_device *md)
{
	block(md);
	wait_event(md->wait, !md->ios);
	md->ti->type->postsuspend(md->ti);
}

void sim_dm_suspend_in_vain(struct mapped_device *md)
{
	block(md);
	sim_sleep((u64)sim.tick * sim_size(1000));
	unblock(md);
	md->ti->type->presuspend_undo(md->ti);
}

static struct dm_target *swap_tables(struct mapped_device *md)
{
	struct dm_target *old = md->ti;

	md->ti = md->loaded;
	md->loaded = NULL;
	md->bdev.nr_sectors = md->ti->begin + md->ti->len;
	md->failed_reads = 0;
	md->bdi.ra_pages = VM_READAHEAD_PAGES;
	return old;
}

void sim_dm_resume(struct mapped_device *md)
{
	struct dm_target *old = md->loaded ? swap_tables(md) : NULL;

	md->ti->type->resume(md->ti);
	unblock(md);
	if (old)
		old->type->dtr(old);
}
