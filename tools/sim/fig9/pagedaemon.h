/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User-space model of the page daemon of 4.4BSD and of its write buffer in
 * multi-object clustering, on top of algo/cluster. Counts writes; there is no
 * device. All state is in structures of the caller.
 */
#ifndef SIM_PAGEDAEMON_H
#define SIM_PAGEDAEMON_H

#include <stdlib.h>

#include "../../../modules/mswap/algo/cluster.h"

/* Largest cluster of one object: 4.4BSD's limit. */
#define SIM_CLUSTER_MAX 16

struct sim_buffer {
	enum cluster_policy policy;
	u32 limit;	/* pages a write should hold, at most CLUSTER_PAGES_MAX */
	u32 held;
	struct cluster_page pages[CLUSTER_PAGES_MAX];
	u64 work[CLUSTER_WORK(CLUSTER_PAGES_MAX)];
	u64 writes;
	u64 pages_written;
	u64 hist[CLUSTER_PAGES_MAX + 1];	/* [pages in a write] = writes */
	/* Told of each write before the buffer is reused; may be NULL. */
	void (*on_write)(void *arg, const struct cluster_page *pages, u32 n);
	void *on_write_arg;
};

/* Writes all that the buffer holds; at the end of a scan, or when full. */
static inline void sim_flush(struct sim_buffer *buf)
{
	u32 from = 0, n;

	cluster_sort(buf->pages, buf->held, buf->work);
	while (from < buf->held) {
		n = cluster_next_write(buf->policy, buf->pages, buf->held,
				       from);
		buf->writes++;
		buf->pages_written += n;
		buf->hist[n]++;
		if (buf->on_write)
			buf->on_write(buf->on_write_arg, buf->pages + from, n);
		from += n;
	}
	buf->held = 0;
}

/*
 * Page-out of one cluster, which stays whole. Without multi-object clustering
 * no cluster waits for another.
 */
static inline void sim_pageout(struct sim_buffer *buf,
			       const struct cluster_page *cluster, u32 n)
{
	if (!cluster_fits(buf->limit, buf->held, n))
		sim_flush(buf);
	memcpy(buf->pages + buf->held, cluster, n * sizeof(*cluster));
	buf->held += n;
	if (buf->policy != CLUSTER_MOC)
		sim_flush(buf);
}

/* One program with one anonymous object, in a memory of few frames. */
struct sim_vm {
	u32 pages;	/* in the object */
	u32 frames;	/* in memory */
	u32 reserve;	/* free frames that a scan restores */
	u32 free;
	u32 head, tail;	/* inactive list: oldest, youngest */
	u32 *prev, *next;
	u8 *state;	/* SIM_* */
	struct sim_buffer *buf;
};

enum { SIM_NONE, SIM_DIRTY, SIM_MARKED };

#define SIM_END UINT32_MAX

static inline bool sim_vm_init(struct sim_vm *vm, struct sim_buffer *buf,
			       u32 pages, u32 frames)
{
	memset(vm, 0, sizeof(*vm));
	vm->pages = pages;
	vm->frames = frames;
	vm->free = frames;
	vm->reserve = frames / 16;
	vm->head = SIM_END;
	vm->tail = SIM_END;
	vm->buf = buf;
	vm->prev = calloc(pages, sizeof(*vm->prev));
	vm->next = calloc(pages, sizeof(*vm->next));
	vm->state = calloc(pages, sizeof(*vm->state));
	return vm->prev && vm->next && vm->state;
}

static inline void sim_vm_free(struct sim_vm *vm)
{
	free(vm->prev);
	free(vm->next);
	free(vm->state);
}

static inline void sim_list_add(struct sim_vm *vm, u32 page)
{
	vm->prev[page] = vm->tail;
	vm->next[page] = SIM_END;
	if (vm->tail == SIM_END)
		vm->head = page;
	else
		vm->next[vm->tail] = page;
	vm->tail = page;
}

static inline void sim_list_del(struct sim_vm *vm, u32 page)
{
	if (vm->prev[page] == SIM_END)
		vm->head = vm->next[page];
	else
		vm->next[vm->prev[page]] = vm->next[page];
	if (vm->next[page] == SIM_END)
		vm->tail = vm->prev[page];
	else
		vm->prev[vm->next[page]] = vm->prev[page];
}

/* Pages out @page with its dirty neighbours, before and after it. */
static inline void sim_clean(struct sim_vm *vm, u32 page)
{
	struct cluster_page cluster[SIM_CLUSTER_MAX] = { 0 };
	u32 first = page, last = page, n = 1, i;

	while (n < SIM_CLUSTER_MAX && first && vm->state[first - 1]) {
		first--;
		n++;
	}
	while (n < SIM_CLUSTER_MAX && last + 1 < vm->pages &&
	       vm->state[last + 1]) {
		last++;
		n++;
	}
	for (i = 0; i < n; i++) {
		cluster[i].object = 1;
		cluster[i].index = first + i;
		sim_list_del(vm, first + i);
		vm->state[first + i] = SIM_NONE;
	}
	vm->free += n;
	sim_pageout(vm->buf, cluster, n);
}

/* A dirty page met first goes round once more; met again, it is written. */
static inline void sim_scan(struct sim_vm *vm)
{
	u32 page;

	while (vm->free < vm->reserve && vm->head != SIM_END) {
		page = vm->head;
		if (vm->state[page] == SIM_DIRTY) {
			vm->state[page] = SIM_MARKED;
			sim_list_del(vm, page);
			sim_list_add(vm, page);
		} else {
			sim_clean(vm, page);
		}
	}
	sim_flush(vm->buf);
}

/* The program changes a page that is not in memory. */
static inline void sim_touch(struct sim_vm *vm, u32 page)
{
	if (!vm->free)
		sim_scan(vm);
	vm->free--;
	vm->state[page] = SIM_DIRTY;
	sim_list_add(vm, page);
}

/*
 * The paper's micro-benchmark: change c pages, skip c, to the end. False when
 * there is no memory for the model.
 */
static inline bool sim_stride(struct sim_buffer *buf, u32 pages, u32 frames,
			      u32 c)
{
	struct sim_vm vm;
	bool ok = sim_vm_init(&vm, buf, pages, frames);
	u32 page;

	for (page = 0; ok && page < pages; page++)
		if (page / c % 2 == 0)
			sim_touch(&vm, page);
	sim_vm_free(&vm);
	return ok;
}

#endif
