// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of Lee and others, "An Efficient Management Scheme for Page Cache in Linux", with the index of
 * dm-w2r: 101 files, one of which has 8 pages and is what is looked for; 4 threads that open a file at random
 * 1,000 times and look up its pages one after the other. With few nodes one chain in five holds a page, with many
 * each some six; between them is what dm-w2r makes of so many blocks, one to two a chain. Printed are the mean searches
 * for a page of the wanted file and of any, and the mean time of a thread.
 *
 *	bench_lookup [SEED]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "index.h"

#define THREADS		4
#define FILES		101
#define ROUNDS		1000
#define WANTED_PAGES	8
#define PAGES_MOST	64
#define FILE_SHIFT	16

struct bench {
	pthread_mutex_t lock;
	pthread_barrier_t start;
	struct index index;
	u32 pages[FILES];
	u64 searches, lookups;		/* of the wanted file */
	u64 seed;
};

/* How many chains, as a part of what dm-w2r has. */
struct chains {
	const char *name;
	u32 times, part;
};

struct worker {
	pthread_t thread;
	struct bench *bench;
	u64 random;
	double ms;
};

static u64 next(u64 *x)
{
	*x ^= *x >> 12;
	*x ^= *x << 25;
	*x ^= *x >> 27;
	return *x * 0x2545f4914f6cdd1dull;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void look_up(struct bench *b, u32 file, u32 page)
{
	u64 before;

	pthread_mutex_lock(&b->lock);
	before = b->index.searches;
	if (index_find(&b->index, (u64)file << FILE_SHIFT | page) == ENTRY_NONE)
		abort();
	if (!file) {
		b->searches += b->index.searches - before;
		b->lookups++;
	}
	pthread_mutex_unlock(&b->lock);
}

/* The wanted file is used by all, as a shared library is: every other time. */
static void *work(void *arg)
{
	struct worker *w = arg;
	u32 round, file, page;
	double start;

	pthread_barrier_wait(&w->bench->start);
	start = now_ms();
	for (round = 0; round < ROUNDS; round++) {
		file = next(&w->random) >> 63 ? 0 : (u32)((next(&w->random) >> 32) % FILES);
		for (page = 0; page < w->bench->pages[file]; page++)
			look_up(w->bench, file, page);
	}
	w->ms = now_ms() - start;
	return NULL;
}

/* Returns the number of pages of all files. */
static u32 make_files(struct bench *b)
{
	u64 random = b->seed;
	u32 file, sum = 0;

	for (file = 0; file < FILES; file++) {
		b->pages[file] = file ? 1 + (u32)((next(&random) >> 32) % PAGES_MOST) : WANTED_PAGES;
		sum += b->pages[file];
	}
	return sum;
}

static void fill(struct bench *b, struct entry *entries)
{
	u32 file, page, e = 0;

	/* The wanted file comes last: to the tails of plain chains. */
	for (file = FILES; file-- > 0;)
		for (page = 0; page < b->pages[file]; page++) {
			entries[e].block = (u64)file << FILE_SHIFT | page;
			index_add(&b->index, e++);
		}
}

static void run(u64 seed, const struct chains *c, bool move_to_front)
{
	struct bench b = { .lock = PTHREAD_MUTEX_INITIALIZER, .seed = seed };
	struct worker workers[THREADS];
	u32 sum = make_files(&b), heads = index_heads(sum) * c->times / c->part;
	struct entry *entries = calloc(sum, sizeof(*entries));
	u32 *head = malloc(heads * sizeof(*head));
	struct arena arena = { entries, sum };
	double ms = 0;
	int i;

	if (!entries || !head)
		abort();
	pthread_barrier_init(&b.start, NULL, THREADS);
	index_init(&b.index, &arena, head, heads, move_to_front);
	fill(&b, entries);
	for (i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ .bench = &b, .random = seed * 977 + (u64)i + 1 };
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			abort();
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		ms += workers[i].ms / THREADS;
	}
	printf("%-5s %-5s %6.2f %6.2f %8.3f\n", c->name, move_to_front ? "mtf" : "plain",
	       (double)b.searches / (double)b.lookups,
	       (double)b.index.searches / (double)b.index.found, ms);
	free(head);
	free(entries);
}

int main(int argc, char **argv)
{
	static const struct chains chains[] = { { "few", 8, 1 }, { "own", 1, 1 }, { "many", 1, 4 } };
	u64 seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	size_t i;

	if (!seed)
		seed = 1;
	printf("nodes index wanted    all       ms\n");
	for (i = 0; i < sizeof(chains) / sizeof(chains[0]); i++) {
		run(seed, &chains[i], false);
		run(seed, &chains[i], true);
	}
	return 0;
}
