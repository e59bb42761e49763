// SPDX-License-Identifier: GPL-2.0-only
/* Bios to the target, and what came of them. */
#include "w2r.h"

struct io {
	struct user_io user;
	u32 sector;
	u32 n;
	u64 *values;			/* of each sector */
	struct disk_counts disk;	/* when it began */
	u64 disk_clock;
	bool blocked;
	u64 suspends;
};

static struct io *to_io(struct user_io *user)
{
	return container_of(user, struct io, user);
}

static void fill(struct user_io *user, u32 i, char *mem)
{
	sim_stamp(mem, to_io(user)->values[i]);
}

static void look_at_sector(struct user_io *user, u32 i, char *mem)
{
	struct io *io = to_io(user);

	oracle_read(io->sector + i, sim_stamp_of(mem), user->begin, user->end);
}

static void look(struct user_io *user)
{
	struct io *io = to_io(user);

	if (user_io_op(user) == REQ_OP_READ && !user->bio.bi_status)
		user_io_for_sectors(user, look_at_sector);
	free(io->values);
}

/* A read fails for nothing that it was merged with; one ahead is refused while the target is suspended. */
static void check_error(const struct io *io)
{
	const struct disk_counts *now = &rig.disk.counts, *then = &io->disk;

	if (user_io_op(&io->user) == REQ_OP_READ && now->failed_alone != then->failed_alone)
		return;
	if (io->user.bio.bi_opf & REQ_RAHEAD &&
	    (io->blocked || rig.md.blocked || io->suspends != rig.suspends))
		return;
	if (user_io_op(&io->user) != REQ_OP_READ && (now->failed_writes != then->failed_writes ||
					 now->failed_flushes != then->failed_flushes))
		return;
	sim_fail("op %#x of %u sectors at %u failed, and the disk failed none of its own",
		 io->user.bio.bi_opf, io->n, io->sector);
}

/* Of a write that failed any sector may have been written. */
static void note_written(const struct io *io)
{
	enum oracle_outcome outcome = io->user.bio.bi_status ? ORACLE_EITHER : ORACLE_DONE;
	u32 i;

	for (i = 0; i < io->n; i++)
		oracle_written(io->sector + i, io->values[i], io->user.begin, io->user.end,
			       outcome);
}

static void check_lasting(const struct io *io)
{
	u32 i;

	if (io->user.bio.bi_opf & REQ_PREFLUSH && rig.disk.flushed <= io->disk_clock)
		sim_fail("a flush has ended, and the disk has flushed nothing since it came");
	if (!(io->user.bio.bi_opf & REQ_FUA))
		return;
	for (i = 0; i < io->n; i++)
		if (rig.disk.media[io->sector + i] == io->values[i] &&
		    !disk_is_stable(&rig.disk, io->sector + i, 1))
			sim_fail("sector %u was to be written for good", io->sector + i);
}

static void on_end(struct user_io *user)
{
	struct io *io = to_io(user);

	if (user_io_writes(user))
		note_written(io);
	if (user->bio.bi_status)
		check_error(io);
	else
		check_lasting(io);
}

static struct io *new_io(struct io_group *g, u32 sector, u32 n, blk_opf_t opf)
{
	struct io *io = user_io_new(sizeof(*io), g, &rig.md.bdev, rig.begin + rig.base + sector, opf);

	SIM_CHECK(sector + n <= rig.sectors);
	io->user.on_end = on_end;
	io->user.look = look;
	io->sector = sector;
	io->n = n;
	io->values = calloc(n + 1, sizeof(u64));
	SIM_CHECK(io->values);
	return io;
}

static void add_memory(struct io *io)
{
	if (io->n <= 128 && sim_once_in(2))
		user_io_add_pieces(&io->user, io->n);
	else
		user_io_add_pages(&io->user, DIV_ROUND_UP(io->n, PAGE_SECTORS));
	/* The last page may be used in part. */
	io->user.bio.bi_iter.bi_size = io->n * SECTOR_SIZE;
}

static void send(struct io *io)
{
	blk_opf_t opf = io->user.bio.bi_opf;
	u32 i;

	user_io_begin(&io->user);
	io->disk = rig.disk.counts;
	io->disk_clock = rig.disk.clock;
	io->blocked = rig.md.blocked;
	io->suspends = rig.suspends;
	for (i = 0; i < io->n && user_io_writes(&io->user); i++)
		oracle_write(io->sector + i, io->values[i], io->user.begin, false);
	run_note("op %#x sectors %u+%u begin %llu", io->user.bio.bi_opf, io->sector, io->n,
		 io->user.begin);
	user_io_send(&io->user);
	if (opf & REQ_META && !rig.md.blocked)
		check_waiters();
}

void io_read(struct io_group *g, u32 sector, u32 n, blk_opf_t opf)
{
	struct io *io = new_io(g, sector, n, REQ_OP_READ | opf);

	add_memory(io);
	if (sim_once_in(8))
		io->user.bio.bi_ioprio = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0);
	send(io);
}

void io_write(struct io_group *g, u32 sector, u32 n, blk_opf_t opf)
{
	struct io *io = new_io(g, sector, n, REQ_OP_WRITE | opf);
	u32 i;

	add_memory(io);
	for (i = 0; i < n; i++)
		io->values[i] = oracle_value(sector + i);
	io->user.iter = io->user.bio.bi_iter;
	user_io_for_sectors(&io->user, fill);
	send(io);
}

void io_clear(struct io_group *g, u32 sector, u32 n, enum req_op op)
{
	struct io *io = new_io(g, sector, n, op);

	io->user.bio.bi_iter.bi_size = n * SECTOR_SIZE;
	send(io);
}

void io_flush(struct io_group *g)
{
	send(new_io(g, 0, 0, REQ_OP_WRITE | REQ_PREFLUSH));
}

/* Writes to the disk that do not go by the target. */
struct outside {
	u32 sector;
	u32 n;
	u64 begin;
	u64 *values;
};

static void outside_begin(struct outside *o, u32 sector, u32 n, bool late)
{
	u64 *to = (late ? rig.disk.late : rig.disk.media) + sector;
	u32 i;

	*o = (struct outside) {
		.sector = sector, .n = n, .begin = oracle_now(), .values = calloc(n, sizeof(u64)),
	};
	SIM_CHECK(o->values);
	oracle_under_way(o->begin);
	for (i = 0; i < n; i++) {
		o->values[i] = oracle_value(sector + i);
		oracle_write(sector + i, o->values[i], o->begin, true);
		to[i] = o->values[i];
	}
	run_count(EVENT_OUTSIDE, 1);
	run_count(EVENT_LATE, late);
	run_note("outside write of sectors %u+%u begin %llu", sector, n, o->begin);
}

static void outside_end(struct outside *o)
{
	u64 end = oracle_now();
	u32 i;

	for (i = 0; i < o->n; i++)
		oracle_written(o->sector + i, o->values[i], o->begin, end, ORACLE_DONE);
	oracle_over(o->begin);
	free(o->values);
}

void io_outside(u32 sector, u32 n)
{
	struct dm_target *ti = rig.md.ti;
	char invalidate[] = "invalidate", range[48], result[1] = "";
	char *words[2] = { invalidate, range };
	struct outside o;

	outside_begin(&o, sector, n, sim_once_in(2));
	sim_point(SIM_LOCK);
	snprintf(range, sizeof(range), "%llu-%llu", rig.base + sector,
		 rig.base + sector + n - 1);
	SIM_CHECK(!ti->type->message(ti, 2, words, result, sizeof(result)));
	outside_end(&o);
}

void io_outside_before_load(u32 sector, u32 n)
{
	struct outside o;

	outside_begin(&o, sector, n, true);
	outside_end(&o);
}
