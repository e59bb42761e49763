// SPDX-License-Identifier: GPL-2.0-only
#include "disk.h"

/* Of a sector's stored_at: by a request that has not ended. */
#define STORING		(1ull << 63)

/* Parts of a request: data is taken from where it is, then put where it goes. */
enum part {
	TAKE_FIRST,
	TAKE_REST,
	PUT_FIRST,
	PUT_REST,
	END,
};

struct request {
	struct sim_event event;
	struct list_head list;		/* of those kept back by plugs */
	struct task_struct *plugger;
	struct sim_disk *disk;
	struct bio_list bios;
	enum req_op op;
	blk_opf_t flags;
	u64 sector;
	u32 n;
	u32 middle;			/* the first part ends here */
	enum part part;
	bool fails;
	u64 began;			/* on the disk's clock */
	u64 *stamps;
};

static bool moves_data(enum req_op op)
{
	return op == REQ_OP_READ || op == REQ_OP_WRITE;
}

/* --- moving data --- */

static void for_sectors(struct request *rq, u32 from, u32 to,
			void (*fn)(struct request *rq, u32 i, char *mem))
{
	struct bvec_iter iter;
	struct bio_vec bv;
	struct bio *bio;
	u32 at = 0;

	bio_list_for_each(bio, &rq->bios) {
		iter = bio->bi_iter;
		for (; iter.bi_size && at < to; at++) {
			bv = bio_iter_iovec(bio, iter);
			if (at >= from)
				fn(rq, at, bv.bv_page->mem + bv.bv_offset);
			bio_advance_iter(bio, &iter, SECTOR_SIZE);
		}
	}
}

static void take_from_memory(struct request *rq, u32 i, char *mem)
{
	rq->stamps[i] = sim_stamp_of(mem);
	if (rq->stamps[i] == SIM_TORN)
		sim_fail("a page changes while it is written");
}

static void put_in_memory(struct request *rq, u32 i, char *mem)
{
	if (!rq->fails)
		sim_stamp(mem, rq->stamps[i]);
	else if (sim_once_in(2))
		sim_stamp(mem, sim_once_in(2) ? DISK_SPOILT : rq->stamps[i]);
}

static void take(struct request *rq, u32 from, u32 to)
{
	if (rq->op == REQ_OP_WRITE)
		for_sectors(rq, from, to, take_from_memory);
	else if (rq->op == REQ_OP_READ)
		memcpy(rq->stamps + from, rq->disk->media + rq->sector + from,
		       (to - from) * sizeof(u64));
}

static void put_on_media(struct request *rq, u32 from, u32 to)
{
	struct sim_disk *disk = rq->disk;
	u64 sector;
	u32 i;

	for (i = from; i < to; i++) {
		if (rq->fails && sim_once_in(2))
			continue;
		sector = rq->sector + i;
		disk->media[sector] = rq->stamps[i];
		disk->stored_at[sector] = STORING | rq->began;
	}
}

static void put(struct request *rq, u32 from, u32 to)
{
	if (rq->op == REQ_OP_READ)
		for_sectors(rq, from, to, put_in_memory);
	else
		put_on_media(rq, from, to);
}

/* --- a request --- */

static bool is_bad(const struct request *rq)
{
	u8 flag = rq->op == REQ_OP_READ ? DISK_BAD_READ : DISK_BAD_WRITE;
	u32 i;

	for (i = 0; i < rq->n; i++)
		if (rq->disk->bad[rq->sector + i] & flag)
			return true;
	return false;
}

static bool next_fate(struct sim_disk *disk)
{
	bool fails = disk->fates & 1;

	disk->fates >>= 1;
	return fails;
}

static bool shall_fail(const struct request *rq)
{
	struct sim_disk *disk = rq->disk;
	u32 of_1024 = rq->op == REQ_OP_READ ? disk->fails_reads : disk->fails_writes;

	if (rq->op == REQ_OP_WRITE && next_fate(disk))
		return true;
	if (disk->gone || sim_below(1024) < of_1024)
		return true;
	if (rq->flags & REQ_PREFLUSH && sim_below(1024) < disk->fails_flushes)
		return true;
	return is_bad(rq);
}

static bool is_probe(const struct bio *bio)
{
	return bio->bi_vcnt && bio->bi_io_vec->bv_page == sim_zero_page();
}

static void count_failure(struct request *rq, const struct bio *bio)
{
	struct disk_counts *c = &rq->disk->counts;

	if (rq->op == REQ_OP_READ) {
		c->failed_reads++;
		c->failed_alone += !!(bio->bi_opf & REQ_NOMERGE);
	} else if (!rq->n) {
		c->failed_flushes++;
	} else if (is_probe(bio)) {
		c->failed_probes++;
	} else {
		c->failed_writes++;
	}
}

/* What another request has stored meanwhile is that one's to tell of. */
static void note_stored(struct request *rq)
{
	struct sim_disk *disk = rq->disk;
	u64 *stored_at = disk->stored_at + rq->sector, now = ++disk->clock;
	u32 i;

	if (!rq->fails && rq->flags & REQ_PREFLUSH)
		disk->flushed = max(disk->flushed, rq->began);
	for (i = 0; i < rq->n && rq->op == REQ_OP_WRITE; i++)
		if (stored_at[i] == (STORING | rq->began))
			stored_at[i] = rq->flags & REQ_FUA ? 0 : now;
}

static void end_request(void *arg)
{
	struct request *rq = arg;
	struct sim_disk *disk = rq->disk;
	struct bio *bio;

	while ((bio = bio_list_pop(&rq->bios))) {
		if (rq->fails) {
			bio->bi_status = BLK_STS_IOERR;
			count_failure(rq, bio);
		}
		if (disk->consumes && moves_data(rq->op))
			bio_advance(bio, bio->bi_iter.bi_size);
		bio_endio(bio);
	}
	free(rq->stamps);
	free(rq);
	disk->under_way--;
	sim_wake_all(&disk->room);
}

static void do_part(struct request *rq)
{
	switch (rq->part++) {
	case TAKE_FIRST:
		take(rq, 0, rq->middle);
		break;
	case TAKE_REST:
		take(rq, rq->middle, rq->n);
		break;
	case PUT_FIRST:
		put(rq, 0, rq->middle);
		break;
	case PUT_REST:
		put(rq, rq->middle, rq->n);
		break;
	case END:
		break;
	}
}

static void go_on(struct request *rq)
{
	u64 after;

	while (rq->part < END) {
		do_part(rq);
		if (sim_once_in(2))
			continue;
		after = (u64)sim.tick * sim_size(rq->disk->slow);
		sim_event_at(&rq->event, sim_now() + after);
		return;
	}
	note_stored(rq);
	if (rq->disk->threaded)
		sim_spawn("the disk's thread", end_request, rq);
	else
		sim_spawn_irq("the disk's interrupt", end_request, rq);
}

static void time_to_go_on(struct sim_event *event)
{
	go_on(container_of(event, struct request, event));
}

static void prepare(struct request *rq)
{
	rq->stamps = calloc(rq->n + 1, sizeof(u64));
	SIM_CHECK(rq->stamps);
	rq->fails = shall_fail(rq);
	rq->began = ++rq->disk->clock;
}

static void begin(struct request *rq)
{
	rq->middle = sim_below(rq->n + 1);
	prepare(rq);
	rq->event.fire = time_to_go_on;
	sim_event_at(&rq->event, sim_now() + (u64)sim.tick * sim_size(rq->disk->slow));
}

/* As a ramdisk does: in the context of whoever sends it. */
static void do_at_once(struct request *rq)
{
	prepare(rq);
	while (rq->part < END) {
		do_part(rq);
		sim_point(SIM_LOCK);
	}
	note_stored(rq);
	end_request(rq);
}

/* --- bios come --- */

static void count(struct sim_disk *disk, const struct bio *bio)
{
	struct disk_counts *c = &disk->counts;
	u32 pages = bio_sectors(bio) / PAGE_SECTORS;

	c->flushes += !!(bio->bi_opf & REQ_PREFLUSH);
	if (bio_op(bio) == REQ_OP_READ) {
		c->reads++;
		c->read_pages += pages;
	} else if (pages && bio_op(bio) == REQ_OP_WRITE) {
		if (is_probe(bio)) {
			c->probes++;
			return;
		}
		c->writes++;
		c->written_pages += pages;
	}
}

/* A flush may name any sector. */
static u64 place_of(const struct sim_disk *disk, const struct bio *bio)
{
	u64 sector = bio->bi_iter.bi_sector;

	if (!bio_sectors(bio))
		return 0;
	if (sector < disk->base)
		sim_fail("sector %llu is nobody's, as the disk begins at %llu", sector, disk->base);
	return sector - disk->base;
}

static struct request *new_request(struct sim_disk *disk, struct bio *bio)
{
	struct request *rq = calloc(1, sizeof(*rq));

	SIM_CHECK(rq);
	rq->disk = disk;
	rq->plugger = current;
	rq->op = bio_op(bio);
	rq->flags = bio->bi_opf;
	rq->sector = place_of(disk, bio);
	rq->n = bio_sectors(bio);
	bio_list_add(&rq->bios, bio);
	return rq;
}

/* To the request that the task has kept back last, if it goes on there. */
static bool merge(struct sim_disk *disk, struct bio *bio)
{
	const blk_opf_t alone = REQ_NOMERGE | REQ_PREFLUSH | REQ_FUA;
	struct request *rq, *last = NULL;

	list_for_each_entry(rq, &disk->plugged, list)
		if (rq->plugger == current)
			last = rq;
	if (!last || last->op != bio_op(bio) || (last->flags | bio->bi_opf) & alone ||
	    !moves_data(last->op) || last->sector + last->n != place_of(disk, bio))
		return false;
	bio_list_add(&last->bios, bio);
	last->n += bio_sectors(bio);
	return true;
}

static void disk_submit(struct block_device *bdev, struct bio *bio)
{
	struct sim_disk *disk = container_of(bdev, struct sim_disk, bdev);
	struct request *rq;

	sim_point(SIM_LOCK);
	if (bio->bi_opf & REQ_DRV)
		sim_fail("a bio has a mark of device-mapper's that is not for this disk");
	/* By io.cost, as blk-iocost does it: whose debt it is not sleeps for its cgroup. */
	if (current->flags & PF_WQ_WORKER && bio->bi_blkg != &sim_blkcg_root &&
	    !(bio->bi_opf & (REQ_META | REQ_SWAP)))
		sim_fail("a worker, which others wait for, sends what a cgroup may not yet do");
	count(disk, bio);
	disk->opf = bio->bi_opf;
	disk->ioprio = bio->bi_ioprio;
	if (!bdev->synchronous && disk->under_way >= disk->depth)
		wait_event(disk->room, disk->under_way < disk->depth);
	if (current->plug && disk->plugs && merge(disk, bio))
		return;
	rq = new_request(disk, bio);
	disk->under_way++;
	if (bdev->synchronous) {
		do_at_once(rq);
	} else if (current->plug && disk->plugs) {
		list_add_tail(&rq->list, &disk->plugged);
		sim_plug_device(current->plug, bdev);
	} else {
		begin(rq);
	}
}

static void disk_unplug(struct block_device *bdev)
{
	struct sim_disk *disk = container_of(bdev, struct sim_disk, bdev);
	struct request *rq, *next;

	list_for_each_entry_safe(rq, next, &disk->plugged, list) {
		if (rq->plugger != current)
			continue;
		list_del(&rq->list);
		begin(rq);
	}
}

static void disk_sync(struct block_device *bdev)
{
	struct sim_disk *disk = container_of(bdev, struct sim_disk, bdev);
	u64 sector;

	for (sector = 0; sector < bdev->nr_sectors - disk->base; sector++) {
		if (!disk->late[sector])
			continue;
		disk->media[sector] = disk->late[sector];
		disk->late[sector] = 0;
		sim_point(SIM_COPY);
	}
}

/* --- disks --- */

void disk_make(struct sim_disk *disk, u64 base, u64 sectors)
{
	static const u32 depths[] = { 1, 2, 8, 32, 256 };

	*disk = (struct sim_disk) {
		.bdev = {
			.submit = disk_submit,
			.bd_disk = &disk->disk,
			.unplug = disk_unplug,
			.sync = disk_sync,
			.nr_sectors = base + sectors,
			.block_size = SECTOR_SIZE,
			.synchronous = sim_once_in(8),
			.queue.max_sectors = sim_once_in(2) ? 2560 : 8 * sim_size(256),
			.queue.max_segments = sim_once_in(2) ? 128 : sim_size(256),
		},
		.media = calloc(sectors, sizeof(u64)),
		.bad = calloc(sectors, 1),
		.late = calloc(sectors, sizeof(u64)),
		.stored_at = calloc(sectors, sizeof(u64)),
		.slow = sim_size(3000),
		.base = base,
		.depth = depths[sim_below(ARRAY_SIZE(depths))],
		.plugs = sim_once_in(2),
		.threaded = sim_once_in(4),
		.consumes = !sim_once_in(3),
	};
	SIM_CHECK(disk->media && disk->bad && disk->late && disk->stored_at);
	init_waitqueue_head(&disk->room);
	INIT_LIST_HEAD(&disk->plugged);
}

void disk_heal(struct sim_disk *disk)
{
	disk->fails_reads = 0;
	disk->fails_writes = 0;
	disk->fails_flushes = 0;
	disk->gone = false;
	disk->fates = 0;
	memset(disk->bad, 0, disk->bdev.nr_sectors - disk->base);
}

void disk_free(struct sim_disk *disk)
{
	wait_event(disk->room, !disk->under_way);
	free(disk->media);
	free(disk->bad);
	free(disk->late);
	free(disk->stored_at);
}

bool disk_is_stable(const struct sim_disk *disk, u64 sector, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (disk->stored_at[sector + i] &&
		    disk->stored_at[sector + i] >= disk->flushed)
			return false;
	return true;
}
