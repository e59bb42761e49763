// SPDX-License-Identifier: GPL-2.0-only
/* Bios of a swap core and of others, and what came of them. */
#include "mswap.h"

struct io {
	struct user_io user;
	u32 slot;
	u32 n;
	u64 values[IO_PAGES_MAX];
	struct disk_counts disk;	/* when it began */
	u64 disk_clock;
};

static struct io *to_io(struct user_io *user)
{
	return container_of(user, struct io, user);
}

/* --- what is in memory --- */

static void fill(struct user_io *user, u32 i, char *mem)
{
	sim_stamp(mem, stamp_of(to_io(user)->values[i / PAGE_SECTORS], i % PAGE_SECTORS));
}

/* The first sector of a slot tells its value, with which the others must agree. */
static void look_at_sector(struct user_io *user, u32 i, char *mem)
{
	struct io *io = to_io(user);
	u32 slot = i / PAGE_SECTORS, sector = i % PAGE_SECTORS;
	u64 stamp = sim_stamp_of(mem);

	if (!sector)
		io->values[slot] = value_of(stamp);
	if (stamp != stamp_of(io->values[slot], sector))
		sim_fail("slot %u: sector %u has stamp %#llx, not that of value %llu",
			 io->slot + slot, sector, stamp, io->values[slot]);
}

static void look(struct user_io *user)
{
	struct io *io = to_io(user);
	u32 i;

	if (user_io_op(user) != REQ_OP_READ || user->bio.bi_status)
		return;
	user_io_for_sectors(user, look_at_sector);
	for (i = 0; i < io->n; i++)
		oracle_read(io->slot + i, io->values[i], user->begin, user->end);
}

/* --- what came of it --- */

/* A read may fail if the disk failed one of nothing but what is wanted. */
static void check_read_error(const struct io *io)
{
	if (rig.disk.counts.failed_alone == io->disk.failed_alone)
		sim_fail("a read of %u slots at %u failed, and the disk failed none that was alone",
			 io->n, io->slot);
}

/* The last slots are kept back, so that there is always one while the others are good. */
static void check_write_error(const struct io *io)
{
	const struct disk_counts *now = &rig.disk.counts;

	if (io->user.bio.bi_status == BLK_STS_NOSPC) {
		/* Those that were retired then may take writes again. */
		if (!rig_is_worn() && now->probes == io->disk.probes)
			sim_fail("no slot is left, and only %d are retired",
				 rig.engine->space.retired.value - rig.taken);
		return;
	}
	if (now->failed_writes == io->disk.failed_writes &&
	    now->failed_flushes == io->disk.failed_flushes)
		sim_fail("a write of %u slots at %u failed, and the disk failed none",
			 io->n, io->slot);
}

/* What lasts must be on the disk, or in what its cache was flushed of. */
static void check_lasting(const struct io *io)
{
	blk_opf_t opf = io->user.bio.bi_opf;
	u32 i, phys;
	u64 sector;

	if (opf & REQ_PREFLUSH && rig.disk.flushed <= io->disk_clock)
		sim_fail("a flush has ended, and the disk has flushed nothing since it came");
	if (!(opf & REQ_FUA))
		return;
	for (i = 0; i < io->n; i++) {
		phys = rig.engine->map.map[io->slot + i] - 1;
		sector = ((u64)phys + BACKING_FIRST_EDGE) * PAGE_SECTORS;
		if (phys != SLOT_UNMAPPED &&
		    rig.disk.media[sector] == stamp_of(io->values[i], 0) &&
		    !disk_is_stable(&rig.disk, sector, PAGE_SECTORS))
			sim_fail("slot %u was to be written for good, and is in the disk's cache",
				 io->slot + i);
	}
}

/* The old data stays unless all went well; with several slots some may have gone well. */
static void note_written(const struct io *io)
{
	enum oracle_outcome outcome = ORACLE_DONE;
	u32 i;

	if (io->user.bio.bi_status)
		outcome = io->n == 1 ? ORACLE_NOT_DONE : ORACLE_EITHER;
	for (i = 0; i < io->n; i++)
		oracle_written(io->slot + i, io->values[i], io->user.begin, io->user.end, outcome);
}

static void on_end(struct user_io *user)
{
	struct io *io = to_io(user);

	rig.ended++;
	if (user_io_writes(user))
		note_written(io);
	if (!user->bio.bi_status)
		check_lasting(io);
	else if (user_io_op(user) == REQ_OP_READ)
		check_read_error(io);
	else
		check_write_error(io);
}

/* --- sending --- */

static struct io *new_io(struct io_group *g, u32 slot, u32 n, blk_opf_t opf)
{
	struct io *io;

	SIM_CHECK(n <= IO_PAGES_MAX && slot + n <= rig.slots);
	io = user_io_new(sizeof(*io), g, &rig.front, (u64)slot * PAGE_SECTORS, opf);
	io->user.on_end = on_end;
	io->user.look = look;
	io->slot = slot;
	io->n = n;
	return io;
}

static void add_any_memory(struct io *io)
{
	if (io->n <= PIECES_PAGES_MAX && sim_once_in(3))
		user_io_add_pieces(&io->user, io->n * PAGE_SECTORS);
	else
		user_io_add_pages(&io->user, io->n);
}

/*
 * Who reads a slot while it is freed may find anything that it held: nobody is to, and
 * the copy goes before what lies beneath it does.
 */
static void send(struct io *io)
{
	bool clears = user_io_op(&io->user) != REQ_OP_WRITE;
	u32 i;

	user_io_begin(&io->user);
	io->disk = rig.disk.counts;
	io->disk_clock = rig.disk.clock;
	for (i = 0; i < io->n && user_io_writes(&io->user); i++)
		oracle_write(io->slot + i, io->values[i], io->user.begin, clears);
	run_note("op %#x slots %u+%u begin %llu", io->user.bio.bi_opf, io->slot, io->n,
		 io->user.begin);
	user_io_send(&io->user);
}

static void send_write(struct io *io)
{
	u32 i;

	for (i = 0; i < io->n; i++)
		io->values[i] = oracle_value(io->slot + i);
	io->user.iter = io->user.bio.bi_iter;
	user_io_for_sectors(&io->user, fill);
	rig.pages_out += io->n;
	send(io);
}

/* What the pages are called: neighbours of one object, of none, or in no order. */
static void name_pages(struct io *io)
{
	u64 object = 1 + sim_below(3);
	u32 i, at = io->slot;

	for (i = 0; i < io->user.nr_pages; i++) {
		struct page *page = io->user.pages[i];

		page->mapping = object << PAGE_SHIFT;
		page->index = sim_once_in(8) ? sim_below(100) : at;
		page->anon = !sim_once_in(10);
		page->ksm = sim_once_in(20);
		at += 1u << page->order;
	}
}

void io_swap_out(struct io_group *g, u32 slot, u32 n, blk_opf_t opf)
{
	struct io *io = new_io(g, slot, n, REQ_OP_WRITE | REQ_SWAP | opf);

	if (sim_once_in(32))
		add_any_memory(io);
	else
		user_io_add_pages(&io->user, n);
	name_pages(io);
	send_write(io);
}

void io_swap_out_of(struct io_group *g, u32 slot, u64 object, u64 index)
{
	struct io *io = new_io(g, slot, 1, REQ_OP_WRITE | REQ_SWAP);
	struct page *page;

	user_io_add_pages(&io->user, 1);
	page = io->user.pages[0];
	page->mapping = object << PAGE_SHIFT;
	page->index = index;
	page->anon = true;
	send_write(io);
}

void io_write(struct io_group *g, u32 slot, u32 n, blk_opf_t opf)
{
	struct io *io = new_io(g, slot, n, REQ_OP_WRITE | opf);

	add_any_memory(io);
	send_write(io);
}

void io_read(struct io_group *g, u32 slot, u32 n, blk_opf_t opf)
{
	struct io *io = new_io(g, slot, n, REQ_OP_READ | opf);

	add_any_memory(io);
	rig.pages_in += n;
	send(io);
}

void io_clear(struct io_group *g, u32 slot, u32 n, enum req_op op)
{
	struct io *io = new_io(g, slot, n, op);

	io->user.bio.bi_iter.bi_size = n * PAGE_SIZE;
	send(io);
}

void io_flush(struct io_group *g)
{
	send(new_io(g, 0, 0, REQ_OP_WRITE | REQ_PREFLUSH));
}

/* --- by hand --- */

void io_wrong(void)
{
	static const struct {
		u32 op;
		u64 sector;
		u32 sectors;
		int err;
	} wrong[] = {
		{ REQ_OP_DISCARD, 1, PAGE_SECTORS, -EINVAL },
		{ REQ_OP_WRITE_ZEROES, 0, 1, -EINVAL },
		{ REQ_OP_DISCARD, 1ull << 32, PAGE_SECTORS, -EIO },
		{ REQ_OP_SECURE_ERASE, 0, PAGE_SECTORS, -EOPNOTSUPP },
		{ REQ_OP_WRITE, 0, 0, 0 },
	};
	u32 i = sim_below(ARRAY_SIZE(wrong));
	struct bio bio;

	bio_init(&bio, &rig.front, NULL, 0, wrong[i].op);
	bio.bi_iter.bi_sector = wrong[i].sector;
	bio.bi_iter.bi_size = wrong[i].sectors * SECTOR_SIZE;
	engine_submit(rig.engine, &bio);
	SIM_CHECK(bio.ended && blk_status_to_errno(bio.bi_status) == wrong[i].err);
	bio_uninit(&bio);
}

void io_free_slot(u32 slot)
{
	u64 begin = oracle_now();
	unsigned long flags;

	run_note("free slot %u begin %llu", slot, begin);
	oracle_under_way(begin);
	oracle_write(slot, 0, begin, true);
	spin_lock_irqsave(&rig.swap_lock, flags);
	engine_free_slot(rig.engine, slot);
	spin_unlock_irqrestore(&rig.swap_lock, flags);
	oracle_written(slot, 0, begin, oracle_now(), ORACLE_DONE);
	oracle_over(begin);
}
