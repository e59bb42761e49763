// SPDX-License-Identifier: GPL-2.0-only
#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/swap.h>
#include <linux/vmalloc.h>

#include "compat/bio.h"
#include "frames.h"

/* Compound, since an origin may take references of pages within a frame. */
#define FRAME_GFP	(W2R_GFP | __GFP_COMP)
#define CALM		(5 * HZ)	/* after pressure, before growing again */
#define SHORT_SHARE	16		/* of all memory: less than that available is short */
#define RESIDENT_LEAST	64		/* frames not worth asking for */
#define FREED_AT_ONCE	1024

/*
 * All targets share a shrinker: up to Linux 6.4 to add one, or to take it away, is to
 * wait for all who reclaim memory, and one of them may wait for a device that is
 * suspended until a table of ours has come or gone.
 */
static struct compat_shrinker shrinker;
static LIST_HEAD(givers);		/* struct w2r.giver; read under RCU, */
static DEFINE_SPINLOCK(givers_lock);	/* changed under this one */

static unsigned int frame_order(const struct w2r *c)
{
	return get_order(c->block_sectors << SECTOR_SHIFT);
}

struct page *w2r_alloc_frame(struct w2r *c)
{
	return alloc_pages(FRAME_GFP, frame_order(c));
}

static bool give_memory(struct w2r *c, u32 e)
{
	struct page *page;

	if (c->slots[e].page)
		return true;
	page = w2r_alloc_frame(c);
	if (!page)
		return false;
	c->slots[e].page = page;
	c->resident++;
	return true;
}

static void set_limit(struct w2r *c, u32 limit)
{
	limit = clamp_t(u32, limit, ROOMS_ENTRIES_MIN, c->nr_entries);
	rooms_set_limit(&c->rooms, limit);
}

static void chain(struct w2r *c, struct w2r_filler *f, u32 e)
{
	struct entry *entries = c->rooms.arena.entries;

	c->slots[e].filler = f;
	entries[e].next = ENTRY_NONE;
	if (f->tail == ENTRY_NONE)
		f->head = e;
	else
		entries[f->tail].next = e;
	f->tail = e;
}

u32 w2r_take(struct w2r *c, u64 block, enum room room, struct w2r_filler *f)
{
	u32 e;

	lockdep_assert_held(&c->lock);
	e = rooms_fill(&c->rooms, block, room);
	if (e == ENTRY_NONE)
		return e;
	if (!give_memory(c, e)) {
		rooms_unfill(&c->rooms, e);
		/* From now on a block that comes takes the memory of another. */
		set_limit(c, c->rooms.in_use);
		c->dropped_from = 0;
		c->shrunk_at = jiffies;
		return ENTRY_NONE;
	}
	c->touched = max(c->touched, e + 1);
	chain(c, f, e);
	return e;
}

void w2r_copy_frame(struct bio *bio, struct bvec_iter *iter,
		    struct page *frame, u32 at, u32 bytes, bool to_bio)
{
	struct bio_vec bv;
	struct page *page;
	u32 len, in_page;

	while (bytes) {
		bv = bio_iter_iovec(bio, *iter);
		page = frame + (at >> PAGE_SHIFT);
		in_page = offset_in_page(at);
		len = min3(bytes, bv.bv_len, (u32)PAGE_SIZE - in_page);
		if (to_bio) {
			memcpy_page(bv.bv_page, bv.bv_offset, page, in_page,
				    len);
			flush_dcache_page(bv.bv_page);
		} else {
			memcpy_page(page, in_page, bv.bv_page, bv.bv_offset,
				    len);
		}
		bio_advance_iter_single(bio, iter, len);
		at += len;
		bytes -= len;
	}
}

void w2r_copy(struct w2r *c, struct bio *bio, struct bvec_iter *iter,
	      const u32 *entries, u32 n, u32 offset, bool to_bio)
{
	u32 skip = offset << SECTOR_SHIFT;
	u32 bytes, i;

	for (i = 0; i < n; i++) {
		bytes = (c->block_sectors << SECTOR_SHIFT) - skip;
		bytes = min(bytes, iter->bi_size);
		if (entries[i] == ENTRY_NONE)
			bio_advance_iter(bio, iter, bytes);
		else
			w2r_copy_frame(bio, iter, c->slots[entries[i]].page,
				       skip, bytes, to_bio);
		skip = 0;
	}
}

/* Takes the memory of one entry away; NULL if none can be spared. */
static struct page *take_memory(struct w2r *c)
{
	struct page *page;
	u32 e = c->rooms.spare.head;

	if (e != ENTRY_NONE && c->slots[e].page)
		rooms_retire_spare(&c->rooms, e);
	else
		e = rooms_reclaim(&c->rooms);
	if (e == ENTRY_NONE)
		return NULL;
	page = c->slots[e].page;
	c->slots[e].page = NULL;
	c->resident--;
	return page;
}

static bool memory_is_short(void)
{
	return si_mem_available() < (long)(totalram_pages() / SHORT_SHARE);
}

static u32 spare_of(const struct w2r *c)
{
	u32 resident = READ_ONCE(c->resident);

	return resident > RESIDENT_LEAST ? resident - RESIDENT_LEAST : 0;
}

static unsigned long spare_of_all(void)
{
	unsigned long spare = 0;
	struct w2r *c;

	rcu_read_lock();
	list_for_each_entry_rcu(c, &givers, giver)
		spare += spare_of(c);
	rcu_read_unlock();
	return spare;
}

/*
 * kswapd runs whenever what was read has filled the memory, which is no shortage:
 * it finds page cache to take. It has no share in the blocks then, or they would be
 * gone with each file that is read from end to end. Who reclaims for himself has.
 */
static unsigned long count(void *unused)
{
	if (current_is_kswapd() && !memory_is_short())
		return 0;
	return spare_of_all();
}

/*
 * Not to be taken again for a while: readers would have it before those who want it.
 * Who says drop_caches reclaims nothing, and wants none: that ends with the next tick,
 * and not at once, since Linux 5.10 asks on as long as it gets some.
 */
static void shrunk(struct w2r *c, bool wanted)
{
	if (wanted) {
		c->dropped_from -= !!c->dropped_from;
		c->shrunk_at = jiffies;
	} else if (!c->dropped_from) {
		c->dropped_from = c->rooms.limit;
	}
	/* Not less: the frames of spare entries are still there. */
	set_limit(c, c->resident);
	w2r_count(c, W2R_RECLAIMED, 1);
}

static unsigned long give_back(struct w2r *c, unsigned long nr)
{
	bool wanted = current->flags & PF_MEMALLOC;
	unsigned long freed, flags;
	struct page *page;

	for (freed = 0; freed < nr; freed++) {
		spin_lock_irqsave(&c->lock, flags);
		page = c->resident > RESIDENT_LEAST ? take_memory(c) : NULL;
		if (page)
			shrunk(c, wanted);
		spin_unlock_irqrestore(&c->lock, flags);
		if (!page)
			break;
		__free_pages(page, frame_order(c));
	}
	/* Not told of these, reclaim goes on as if it had got nothing. */
	mm_account_reclaimed_pages(freed << frame_order(c));
	return freed;
}

/* Each gives by what it has; those behind also what those before had no more. */
static unsigned long scan(void *unused, unsigned long nr)
{
	unsigned long all = spare_of_all(), seen = 0, freed = 0;
	struct w2r *c;

	if (!all)
		return 0;
	nr = min(nr, all);
	rcu_read_lock();
	list_for_each_entry_rcu(c, &givers, giver) {
		seen = min(seen + spare_of(c), all);
		freed += give_back(c, nr * seen / all - freed);
	}
	rcu_read_unlock();
	return freed;
}

void w2r_frames_grow(struct w2r *c)
{
	u32 limit;

	spin_lock_irq(&c->lock);
	limit = c->rooms.limit;
	if (c->dropped_from) {
		set_limit(c, max(limit, c->dropped_from));
		c->dropped_from = 0;
	} else if (limit < c->nr_entries &&
		   time_after(jiffies, c->shrunk_at + CALM)) {
		set_limit(c, limit + max(1u, c->nr_entries / 32));
	}
	spin_unlock_irq(&c->lock);
}

int w2r_frames_start(struct w2r *c)
{
	c->slots = vzalloc(array_size(c->nr_entries, sizeof(*c->slots)));
	if (!c->slots)
		return -ENOMEM;
	spin_lock(&givers_lock);
	list_add_tail_rcu(&c->giver, &givers);
	spin_unlock(&givers_lock);
	return 0;
}

void w2r_frames_stop(struct w2r *c)
{
	u32 e;

	spin_lock(&givers_lock);
	list_del_rcu(&c->giver);
	spin_unlock(&givers_lock);
	synchronize_rcu();
	for (e = 0; e < c->nr_entries; e++) {
		if (c->slots[e].page)
			__free_pages(c->slots[e].page, frame_order(c));
		if (!(e % FREED_AT_ONCE))
			cond_resched();
	}
	vfree(c->slots);
}

int w2r_frames_init(void)
{
	shrinker.count = count;
	shrinker.scan = scan;
	return compat_shrinker_register(&shrinker, "dm-w2r");
}

void w2r_frames_exit(void)
{
	compat_shrinker_unregister(&shrinker);
}
