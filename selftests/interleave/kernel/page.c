// SPDX-License-Identifier: GPL-2.0-only
/* Blocks of pages: what is freed is poisoned, and used again as late as may be. */
#include <sanitizer/asan_interface.h>

#include "page.h"

#define JUNK		0x6b
/* Between two blocks, so that no page reaches into the next one. */
#define BORDER		64
/* Free blocks that rest before the oldest is used again, and the most there may be. */
#define RESTING		256
#define FREE_MAX	(1u << 16)

/* Free blocks, by their first pages. */
static struct ring {
	struct page *blocks[FREE_MAX];
	u32 first;
	u32 nr;
} rings[PAGE_ORDERS];

u32 sim_live_pages;

static size_t bytes_of(u32 order)
{
	return PAGE_SIZE << order;
}

/* It never goes back to the program. */
static struct page *new_block(u32 order)
{
	struct page *pages = calloc(1u << order, sizeof(*pages));
	char *mem = malloc(bytes_of(order) + BORDER);
	u32 i;

	SIM_CHECK(pages && mem);
	for (i = 0; i < 1u << order; i++) {
		pages[i].mem = mem + i * PAGE_SIZE;
		pages[i].head = pages;
	}
	ASAN_POISON_MEMORY_REGION(mem + bytes_of(order), BORDER);
	return pages;
}

static struct page *old_block(u32 order)
{
	struct ring *r = &rings[order];
	struct page *pages = r->blocks[r->first];

	r->first = (r->first + 1) % FREE_MAX;
	r->nr--;
	ASAN_UNPOISON_MEMORY_REGION(pages, sizeof(*pages) << order);
	ASAN_UNPOISON_MEMORY_REGION(pages->mem, bytes_of(order));
	return pages;
}

struct page *sim_page(u32 order)
{
	struct page *pages;

	SIM_CHECK(order < PAGE_ORDERS);
	pages = rings[order].nr > RESTING ? old_block(order) : new_block(order);
	pages->order = order;
	memset(pages->mem, JUNK, bytes_of(order));
	sim_live_pages += 1u << order;
	return pages;
}

struct page *alloc_pages(gfp_t gfp, u32 order)
{
	return sim_memory(gfp) ? sim_page(order) : NULL;
}

void __free_pages(struct page *pages, u32 order)
{
	struct ring *r = &rings[order];

	SIM_CHECK(pages->head == pages && pages->order == order && !pages->private);
	SIM_CHECK(r->nr < FREE_MAX);
	sim_live_pages -= 1u << order;
	r->blocks[(r->first + r->nr++) % FREE_MAX] = pages;
	ASAN_POISON_MEMORY_REGION(pages->mem, bytes_of(order));
	ASAN_POISON_MEMORY_REGION(pages, sizeof(*pages) << order);
}

struct page *sim_zero_page(void)
{
	static char mem[PAGE_SIZE];
	static struct page page = { .mem = mem, .head = &page };

	return &page;
}

void sim_copy(char *to, const char *from, size_t len)
{
	size_t done = 0, some;

	while (done < len) {
		some = SECTOR_SIZE * sim_below(2 * PAGE_SECTORS) + SECTOR_SIZE / 2;
		some = min(some, len - done);
		memcpy(to + done, from + done, some);
		done += some;
		sim_point(SIM_COPY);
	}
}
