// SPDX-License-Identifier: GPL-2.0-only
#include <sanitizer/asan_interface.h>

#include "block.h"
#include "page.h"

/* What fresh memory is full of. */
#define JUNK	0xa5

void (*sim_reclaim)(void);

static u32 live_bytes_of, live_percpu, live_caches;

bool sim_memory(gfp_t gfp)
{
	bool waits = gfp & __GFP_DIRECT_RECLAIM;
	u32 refused = waits ? sim.refused_waiting : sim.refused;

	if (waits)
		sim_might_sleep("memory");
	else
		sim_point(SIM_LOCK);
	if (gfp & __GFP_IO && sim_reclaim && sim_once_in(16))
		sim_reclaim();
	if (sim_below(1024) >= refused && !(sim.refused_next && !--sim.refused_next))
		return true;
	sim.refusals++;
	return false;
}

/* --- bytes --- */

static void *get_bytes(size_t bytes, int fill)
{
	size_t size = round_up(bytes + !bytes, (size_t)64);
	char *ptr = aligned_alloc(64, size);

	SIM_CHECK(ptr);
	memset(ptr, fill, bytes);
	ASAN_POISON_MEMORY_REGION(ptr + bytes, size - bytes);
	return ptr;
}

void *sim_alloc(size_t bytes, gfp_t gfp, bool zeroed)
{
	if (!sim_memory(gfp))
		return NULL;
	live_bytes_of++;
	return get_bytes(bytes, zeroed ? 0 : JUNK);
}

void kfree(const void *ptr)
{
	if (!ptr)
		return;
	live_bytes_of--;
	free((void *)ptr);
}

char *kstrdup(const char *text, gfp_t gfp)
{
	size_t bytes = strlen(text) + 1;
	char *copy = kmalloc(bytes, gfp);

	return copy ? memcpy(copy, text, bytes) : NULL;
}

/* --- each CPU's own --- */

void *sim_alloc_percpu(size_t bytes)
{
	size_t own = round_up(bytes, (size_t)8);
	char *ptr;
	u32 cpu;

	SIM_CHECK(own <= SIM_PERCPU_BYTES && sim.cpus <= SIM_CPUS_MAX);
	if (!sim_memory(GFP_KERNEL))
		return NULL;
	live_percpu++;
	ptr = get_bytes(sim.cpus * SIM_PERCPU_BYTES, 0);
	for (cpu = 0; cpu < sim.cpus; cpu++)
		ASAN_POISON_MEMORY_REGION(ptr + cpu * SIM_PERCPU_BYTES + own,
					  SIM_PERCPU_BYTES - own);
	return ptr;
}

void free_percpu(void *ptr)
{
	if (!ptr)
		return;
	live_percpu--;
	free(ptr);
}

/* --- caches --- */

struct kmem_cache *kmem_cache_create(const char *name, u32 bytes, u32 align, u32 flags,
				     void (*ctor)(void *))
{
	struct kmem_cache *cache = get_bytes(sizeof(*cache), 0);

	cache->bytes = bytes;
	live_caches++;
	return cache;
}

void kmem_cache_destroy(struct kmem_cache *cache)
{
	SIM_CHECK(!cache->nr_live);
	live_caches--;
	free(cache);
}

/* --- pools --- */

static void *alloc_bytes(gfp_t gfp, void *data)
{
	return kmalloc((size_t)data, gfp);
}

static void free_bytes(void *element, void *data)
{
	kfree(element);
}

static void *alloc_of_cache(gfp_t gfp, void *data)
{
	struct kmem_cache *cache = data;
	void *element = kmalloc(cache->bytes, gfp);

	cache->nr_live += !!element;
	return element;
}

static void free_to_cache(void *element, void *data)
{
	struct kmem_cache *cache = data;

	cache->nr_live--;
	kfree(element);
}

static void *alloc_page_of_pool(gfp_t gfp, void *data)
{
	return alloc_pages(gfp, (size_t)data);
}

static void free_page_of_pool(void *element, void *data)
{
	__free_pages(element, (size_t)data);
}

void mempool_exit(mempool_t *pool)
{
	if (pool->nr_live)
		sim_fail("%u elements of a pool were not given back", pool->nr_live);
	while (pool->curr_nr)
		pool->free(pool->elements[--pool->curr_nr], pool->data);
	kfree(pool->elements);
	pool->elements = NULL;
}

static int init_pool(mempool_t *pool, int min_nr, void *(*alloc)(gfp_t gfp, void *data),
		     void (*give_back)(void *element, void *data), void *data)
{
	void *element;

	*pool = (mempool_t) { .min_nr = min_nr, .alloc = alloc, .free = give_back, .data = data };
	init_waitqueue_head(&pool->wait);
	pool->elements = kcalloc(min_nr, sizeof(void *), GFP_KERNEL);
	while (pool->elements && pool->curr_nr < min_nr) {
		element = alloc(GFP_KERNEL, data);
		if (!element)
			break;
		pool->elements[pool->curr_nr++] = element;
	}
	if (pool->elements && pool->curr_nr == min_nr)
		return 0;
	mempool_exit(pool);
	return -ENOMEM;
}

int mempool_init_kmalloc_pool(mempool_t *pool, int min_nr, size_t bytes)
{
	return init_pool(pool, min_nr, alloc_bytes, free_bytes, (void *)bytes);
}

int mempool_init_slab_pool(mempool_t *pool, int min_nr, struct kmem_cache *cache)
{
	return init_pool(pool, min_nr, alloc_of_cache, free_to_cache, cache);
}

int mempool_init_page_pool(mempool_t *pool, int min_nr, int order)
{
	return init_pool(pool, min_nr, alloc_page_of_pool, free_page_of_pool,
			 (void *)(size_t)order);
}

/* First as one who may not wait, so that what is kept is used before anybody waits. */
static void *try_pool(mempool_t *pool)
{
	void *element = pool->alloc(GFP_NOWAIT | __GFP_NOWARN, pool->data);

	if (!element && pool->curr_nr)
		element = pool->elements[--pool->curr_nr];
	return element;
}

void *mempool_alloc(mempool_t *pool, gfp_t gfp)
{
	void *element;

	if (gfp & __GFP_DIRECT_RECLAIM) {
		sim_might_sleep("one who waits for a pool");
		if (current->bio_list)
			sim_fail("a pool may be waited for inside ->submit_bio");
	}
	element = try_pool(pool);
	while (!element && gfp & __GFP_DIRECT_RECLAIM)
		wait_event_timeout(pool->wait, (element = try_pool(pool)), 5 * HZ);
	pool->nr_live += !!element;
	return element;
}

void mempool_free(void *element, mempool_t *pool)
{
	if (!element)
		return;
	sim_point(SIM_LOCK);
	SIM_CHECK(pool->nr_live);
	pool->nr_live--;
	if (pool->curr_nr == pool->min_nr) {
		pool->free(element, pool->data);
		return;
	}
	pool->elements[pool->curr_nr++] = element;
	sim_wake_all(&pool->wait);
}

/* --- shrinkers --- */

static struct shrinker *registered;

struct shrinker *shrinker_alloc(unsigned int flags, const char *format, ...)
{
	return kzalloc(sizeof(struct shrinker), GFP_KERNEL);
}

void shrinker_register(struct shrinker *s)
{
	init_waitqueue_head(&s->idle);
	registered = s;
}

void shrinker_free(struct shrinker *s)
{
	registered = NULL;
	wait_event(s->idle, !s->users);
	kfree(s);
}

unsigned long sim_shrink(unsigned long nr, enum sim_asker asker)
{
	static const unsigned int flags[] = {
		[SIM_DROP_CACHES] = 0,
		[SIM_RECLAIM] = PF_MEMALLOC,
		[SIM_KSWAPD] = PF_MEMALLOC | PF_KSWAPD,
	};
	struct shrink_control sc = { .nr_to_scan = nr };
	struct shrinker *s = registered;
	unsigned long freed = 0;

	if (!s)
		return 0;
	s->users++;
	current->flags |= flags[asker];
	if (s->count_objects(s, &sc))
		freed = s->scan_objects(s, &sc);
	current->flags &= ~flags[asker];
	s->users--;
	sim_wake_all(&s->idle);
	if (freed == SHRINK_STOP)
		return 0;
	SIM_CHECK(freed <= nr);
	return freed;
}

void sim_check_leaks(void)
{
	if (live_bytes_of || sim_live_pages || live_percpu || live_caches)
		sim_fail("not given back: %u pieces of memory, %u pages, %u of each CPU, %u caches",
			 live_bytes_of, sim_live_pages, live_percpu, live_caches);
}
