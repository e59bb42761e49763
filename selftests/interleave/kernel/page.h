/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages and folios. What is in a page is copied in pieces: others may run in between.
 * For the tests a page holds a stamp for each sector, in its first and last word.
 */
#ifndef INTERLEAVE_PAGE_H
#define INTERLEAVE_PAGE_H

#include "memory.h"

struct page {
	char *mem;
	struct page *head;
	unsigned long private;
	u32 order;		/* of the head */
	u64 mapping;		/* of the head: the name of its owner, */
	u64 index;		/* and where in that it begins */
	bool anon;
	bool ksm;
};

/* Of the head; what the modules look at is named as there. */
struct folio {
	u64 mapping;
	u64 index;
	struct page *page;
};

#define PAGE_ORDERS	6

struct page *alloc_pages(gfp_t gfp, u32 order);
void __free_pages(struct page *page, u32 order);
#define alloc_page(gfp)		alloc_pages(gfp, 0)
#define __free_page(page)	__free_pages(page, 0)
/* For the tests: memory that is always there. */
struct page *sim_page(u32 order);

#define page_private(page)		((page)->private)
#define set_page_private(page, value)	((page)->private = (value))

static inline u32 get_order(size_t bytes)
{
	u32 order = 0;

	while (PAGE_SIZE << order < bytes)
		order++;
	return order;
}

/* All zeros, and nobody's to write to. */
struct page *sim_zero_page(void);
#define ZERO_PAGE(at)		((void)(at), sim_zero_page())

/* --- folios --- */

#define page_folio(p)			(&(struct folio) {		\
	.mapping = (p)->head->mapping, .index = (p)->head->index, .page = (p)->head })
#define folio_page_idx(folio, p)	((p) - (folio)->page)
#define folio_test_anon(folio)		((folio)->page->anon)
#define folio_test_ksm(folio)		((folio)->page->ksm)

/* --- content --- */

#define kmap_local_page(page)	((void *)(page)->mem)
#define kunmap_local(ptr)	((void)(ptr))
#define flush_dcache_page(page)	((void)(page))

void sim_copy(char *to, const char *from, size_t len);
#define copy_page(to, from)	sim_copy(to, from, PAGE_SIZE)

static inline void memcpy_page(struct page *to, size_t to_at, struct page *from, size_t from_at,
			       size_t len)
{
	SIM_CHECK(to_at + len <= PAGE_SIZE && from_at + len <= PAGE_SIZE);
	sim_copy(to->mem + to_at, from->mem + from_at, len);
}

static inline void sim_stamp(char *sector, u64 stamp)
{
	u64 *words = (u64 *)sector;

	words[0] = stamp;
	words[SECTOR_SIZE / sizeof(*words) - 1] = stamp;
}

/* The stamp in a sector; SIM_TORN: in two halves that do not belong together. */
#define SIM_TORN	(U64_MAX - 1)

static inline u64 sim_stamp_of(const char *sector)
{
	const u64 *words = (const u64 *)sector;

	if (words[0] != words[SECTOR_SIZE / sizeof(*words) - 1])
		return SIM_TORN;
	return words[0];
}

#endif
