// SPDX-License-Identifier: GPL-2.0-only
#include "oracle.h"
#include "user_io.h"

/* --- groups --- */

void io_group_begin(struct io_group *g)
{
	*g = (struct io_group) { .under_way = 0 };
	init_waitqueue_head(&g->wait);
}

static void free_io(struct user_io *io)
{
	u32 i;

	for (i = 0; i < io->nr_pages; i++)
		__free_pages(io->pages[i], io->pages[i]->order);
	bio_uninit(&io->bio);
	free(io);
}

void io_group_end(struct io_group *g)
{
	struct user_io *io;

	wait_event(g->wait, !g->under_way);
	while ((io = g->ended)) {
		g->ended = io->next;
		io->look(io);
		oracle_over(io->begin);
		free_io(io);
	}
}

/* From here on its memory is nobody's but the task's, which looks at it later. */
static void end(struct bio *bio)
{
	struct user_io *io = container_of(bio, struct user_io, bio);
	struct io_group *g = io->group;

	io->end = oracle_now();
	sim_progress();
	io->on_end(io);
	io->next = g->ended;
	g->ended = io;
	if (!--g->under_way)
		sim_wake_all(&g->wait);
	/* Whoever waited may be done with the device before the one who ended it is. */
	sim_lag();
}

void *user_io_new(size_t bytes, struct io_group *g, struct block_device *bdev, u64 sector,
		  blk_opf_t opf)
{
	struct user_io *io = calloc(1, bytes);

	SIM_CHECK(io);
	bio_init(&io->bio, bdev, io->vecs, BIO_MAX_VECS, opf);
	io->bio.bi_iter.bi_sector = sector;
	io->bio.bi_end_io = end;
	io->group = g;
	io->bio.bi_ioprio = g->ioprio;
	return io;
}

void user_io_begin(struct user_io *io)
{
	io->iter = io->bio.bi_iter;
	io->begin = oracle_now();
	oracle_under_way(io->begin);
}

void user_io_send(struct user_io *io)
{
	io->group->under_way++;
	submit_bio(&io->bio);
}

/* --- memory --- */

static void add(struct user_io *io, u32 order, u32 offset, u32 bytes)
{
	struct page *page = sim_page(order);

	SIM_CHECK(io->nr_pages < BIO_MAX_VECS);
	io->pages[io->nr_pages++] = page;
	__bio_add_page(&io->bio, page, bytes, offset);
	page->anon = false;
	page->ksm = false;
}

void user_io_add_pages(struct user_io *io, u32 pages)
{
	u32 order;

	for (; pages; pages -= 1u << order) {
		order = sim_below(4) ? 0 : sim_below(PAGE_ORDERS);
		while (1u << order > pages)
			order--;
		add(io, order, 0, PAGE_SIZE << order);
	}
}

void user_io_add_pieces(struct user_io *io, u32 sectors)
{
	u32 order, all, offset, n;

	for (; sectors; sectors -= n) {
		order = sim_below(3);
		all = PAGE_SECTORS << order;
		offset = sim_once_in(2) ? 0 : sim_below(all);
		n = sim_once_in(2) ? all - offset : 1 + sim_below(all - offset);
		n = min(n, sectors);
		add(io, order, offset * SECTOR_SIZE, n * SECTOR_SIZE);
	}
}

void user_io_for_sectors(struct user_io *io, void (*fn)(struct user_io *io, u32 i, char *mem))
{
	struct bvec_iter iter = io->iter;
	struct bio_vec bv;
	u32 i;

	for (i = 0; iter.bi_size; i++) {
		bv = bio_iter_iovec(&io->bio, iter);
		fn(io, i, bv.bv_page->mem + bv.bv_offset);
		bio_advance_iter(&io->bio, &iter, SECTOR_SIZE);
	}
}
