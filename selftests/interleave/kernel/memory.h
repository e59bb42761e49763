/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory: fresh is not zero, freed is poisoned, and what is not given back fails the run.
 * sim.refused says how often there is none, sim.refused_next which one is refused in any
 * case.
 */
#ifndef INTERLEAVE_MEMORY_H
#define INTERLEAVE_MEMORY_H

#include "wait.h"

/* --- flags --- */

#define __GFP_DIRECT_RECLAIM	0x1u
#define __GFP_KSWAPD_RECLAIM	0x2u
#define __GFP_IO		0x4u
#define __GFP_FS		0x8u
#define __GFP_HIGH		0x10u
#define __GFP_NOWARN		0x20u
#define __GFP_COMP		0x40u
#define __GFP_NOMEMALLOC	0x80u

#define GFP_NOWAIT	__GFP_KSWAPD_RECLAIM
#define GFP_ATOMIC	(__GFP_HIGH | __GFP_KSWAPD_RECLAIM)
#define GFP_NOIO	(__GFP_DIRECT_RECLAIM | __GFP_KSWAPD_RECLAIM)
#define GFP_KERNEL	(GFP_NOIO | __GFP_IO | __GFP_FS)

/*
 * Called where an allocation may write pages out, in the context of whoever allocates;
 * NULL: nothing is.
 */
extern void (*sim_reclaim)(void);

/* --- bytes --- */

void *sim_alloc(size_t bytes, gfp_t gfp, bool zeroed);
void kfree(const void *ptr);

#define kmalloc(bytes, gfp)		sim_alloc(bytes, gfp, false)
#define kzalloc(bytes, gfp)		sim_alloc(bytes, gfp, true)
#define kcalloc(n, size, gfp)		sim_alloc((size_t)(n) * (size), gfp, true)
#define kvmalloc(bytes, gfp)		kmalloc(bytes, gfp)
#define kvcalloc(n, size, gfp)		kcalloc(n, size, gfp)
#define vmalloc(bytes)			kmalloc(bytes, GFP_KERNEL)
#define vzalloc(bytes)			kzalloc(bytes, GFP_KERNEL)
#define kvfree(ptr)			kfree(ptr)
#define vfree(ptr)			kfree(ptr)
char *kstrdup(const char *text, gfp_t gfp);

#define totalram_pages()		(1ul << 24)
#define si_mem_available()		(sim.short_of_memory ? 1l << 16 : 1l << 23)

/* --- each CPU's own --- */

#define SIM_PERCPU_BYTES	4096
#define alloc_percpu(type)	((type *)sim_alloc_percpu(sizeof(type)))
#define per_cpu_ptr(ptr, cpu)	((typeof(ptr))((char *)(ptr) + (cpu) * SIM_PERCPU_BYTES))
#define this_cpu_ptr(ptr)	per_cpu_ptr(ptr, raw_smp_processor_id())
#define get_cpu_ptr(ptr)	per_cpu_ptr(ptr, sim_get_cpu())
#define put_cpu_ptr(ptr)	((void)(ptr), sim_put_cpu())
#define this_cpu_add(x, n)	(*this_cpu_ptr(&(x)) += (n))
#define this_cpu_inc(x)		this_cpu_add(x, 1)
#define raw_cpu_read(x)		READ_ONCE(*this_cpu_ptr(&(x)))
#define this_cpu_xchg(x, value)	xchg(this_cpu_ptr(&(x)), value)

void *sim_alloc_percpu(size_t bytes);
void free_percpu(void *ptr);

/* --- caches and pools --- */

struct kmem_cache {
	size_t bytes;
	u32 nr_live;
};

#define SLAB_HWCACHE_ALIGN	1u

struct kmem_cache *kmem_cache_create(const char *name, u32 bytes, u32 align, u32 flags,
				     void (*ctor)(void *));
void kmem_cache_destroy(struct kmem_cache *cache);

/* As in the kernel, one that is all zero was never set up, and its exit does nothing. */
struct mempool {
	int min_nr;
	int curr_nr;
	void **elements;
	void *(*alloc)(gfp_t gfp, void *data);
	void (*free)(void *element, void *data);
	void *data;
	u32 nr_live;		/* given out */
	wait_queue_head_t wait;
};

#define mempool_t	struct mempool

int mempool_init_kmalloc_pool(mempool_t *pool, int min_nr, size_t bytes);
int mempool_init_slab_pool(mempool_t *pool, int min_nr, struct kmem_cache *cache);
int mempool_init_page_pool(mempool_t *pool, int min_nr, int order);
/* All elements are back. */
void mempool_exit(mempool_t *pool);
/*
 * With a @gfp that may wait: until there is one, and so not inside ->submit_bio, where
 * those that come back may be behind what is submitted.
 */
void *mempool_alloc(mempool_t *pool, gfp_t gfp);
void mempool_free(void *element, mempool_t *pool);

/* --- shrinkers --- */

struct shrink_control {
	unsigned long nr_to_scan;
};

struct shrinker {
	unsigned long (*count_objects)(struct shrinker *s, struct shrink_control *sc);
	unsigned long (*scan_objects)(struct shrinker *s, struct shrink_control *sc);
	void *private_data;
	u32 users;
	wait_queue_head_t idle;
};

#define SHRINK_STOP	(~0ul)

struct shrinker *shrinker_alloc(unsigned int flags, const char *format, ...);
void shrinker_register(struct shrinker *s);
void shrinker_free(struct shrinker *s);

enum sim_asker {
	SIM_DROP_CACHES,
	SIM_RECLAIM,		/* of a task that wants memory */
	SIM_KSWAPD,
	SIM_ASKERS,
};

/* Asks the one that is registered, if there is one, for @nr objects; how many it gave. */
unsigned long sim_shrink(unsigned long nr, enum sim_asker asker);
#define mm_account_reclaimed_pages(nr)	((void)(nr))
#define current_is_kswapd()		(!!(current->flags & PF_KSWAPD))

/* --- for the allocators --- */

/* Is there memory for whoever asks with @gfp? A point; may sleep if that may. */
bool sim_memory(gfp_t gfp);
/* Fails if something is not given back. */
void sim_check_leaks(void);
extern u32 sim_live_pages;

#endif
