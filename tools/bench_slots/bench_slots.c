// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times alloc and free of 1, 8 and 32 slots in every structure, at several
 * occupancies, and prints JSON. A point is measured twice over the same requests:
 *
 * - each request alone between two time stamps, less the mean of an empty pair:
 *   median, p99, worst. The counter may advance in steps of 10 ns; the median is
 *   interpolated within a step, as the share of requests that fall into it tells;
 * - requests in groups of GROUP between two stamps (group: median over the groups
 *   of the mean time of a request), which shows what rare slow requests cost.
 *
 * The requests of a point are repeated several times from the same state (what was
 * taken is given back after each group). For all but the median the least time of
 * each request, or group, counts: what is common to all repetitions is the
 * structure's own cost, the rest is the machine's noise.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "occupancy.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define SLOTS_DEFAULT (16u << 20)
#define GROUP 16
#define REQUESTS_MAX (1024 * GROUP)
#define REPEATS 7
/* A repetition has as many requests as fit into this, and at least one group. */
#define REPEAT_NS 20e6
/* Requests that take longer than this are grouped and repeated less. */
#define SLOW_NS 100e3
#define GROUP_SLOW 4
#define REPEATS_SLOW 3

static const struct peer *const peers[] = {
	&peer_slot_tree, &peer_tree8, &peer_bytemap, &peer_bitmap, &peer_sharded
};

static const double free_shares[] = { 1, 0.5, 0.1, 0.01, 0.001 };
static const u32 sizes[] = { 1, 8, PEER_RUN_MAX };

/* One point's requests and the least times seen. */
struct series {
	u32 n;
	u32 requests;
	u32 group;
	u32 found;
	u32 hint[REQUESTS_MAX];
	u32 samples;
	uint64_t sample[REQUESTS_MAX * REPEATS];	/* every time of every request alone */
	uint64_t alloc_alone[REQUESTS_MAX];
	uint64_t alloc_group[REQUESTS_MAX];
	uint64_t free_group[REQUESTS_MAX];
};

struct held {
	bool ok[GROUP];
	u32 slots[GROUP][PEER_RUN_MAX];
};

static struct series series;

static void least(uint64_t *best, uint64_t now)
{
	if (now < *best)
		*best = now;
}

static void give_back(const struct area *a, u32 n, u32 count, const struct held *h)
{
	u32 i;

	for (i = count; i--; ) {
		if (h->ok[i])
			a->peer->free(a->p, n, h->slots[i]);
	}
}

/* Requests [first, first + count), each alone. */
static void run_alone(const struct area *a, struct series *s, u32 first, u32 count)
{
	struct held h;
	u32 i;

	for (i = 0; i < count; i++) {
		uint64_t from = clock_stamp(), took;

		h.ok[i] = a->peer->alloc(a->p, s->n, s->hint[first + i], h.slots[i]);
		took = clock_stamp() - from;
		least(&s->alloc_alone[first + i], took);
		s->sample[s->samples++] = took;
	}
	give_back(a, s->n, count, &h);
}

static void run_group(const struct area *a, struct series *s, u32 first, u32 count)
{
	u32 g = first / s->group, i;
	struct held h;
	uint64_t from = clock_stamp();

	for (i = 0; i < count; i++)
		h.ok[i] = a->peer->alloc(a->p, s->n, s->hint[first + i], h.slots[i]);
	least(&s->alloc_group[g], clock_stamp() - from);
	from = clock_stamp();
	give_back(a, s->n, count, &h);
	least(&s->free_group[g], clock_stamp() - from);
}

static u32 nth_slot(const struct area *a, const u32 *slots, u32 i)
{
	return a->peer->adjacent ? slots[0] + i : slots[i];
}

/* What the rest of the group gets must be other slots. */
static void check_answer(struct area *a, u32 n, const u32 *slots)
{
	u32 i;

	for (i = 0; i < n; i++) {
		u32 slot = nth_slot(a, slots, i);

		if (slot >= a->nr || a->used[slot]) {
			fprintf(stderr, "%s: gave a slot that was in use\n", a->peer->name);
			exit(2);
		}
		a->used[slot] = 1;
	}
}

static void forget_answers(struct area *a, u32 n, u32 count, const struct held *h)
{
	u32 i, k;

	for (i = 0; i < count; i++) {
		for (k = 0; h->ok[i] && k < n; k++)
			a->used[nth_slot(a, h->slots[i], k)] = 0;
	}
}

/* Runs one group untimed, verifies the answers, and remembers the hints. */
static void plan_group(struct area *a, enum pattern which, struct series *s)
{
	struct held h;
	u32 i;

	for (i = 0; i < s->group; i++) {
		u32 hint = a->cursor;

		if (which == PATTERN_JUMP)
			hint = area_random(a, a->nr);
		else if (which == PATTERN_FAR)
			hint = 1;
		s->hint[s->requests + i] = hint;
		h.ok[i] = a->peer->alloc(a->p, s->n, hint, h.slots[i]);
		if (!h.ok[i])
			continue;
		check_answer(a, s->n, h.slots[i]);
		s->found++;
		a->cursor = h.slots[i][a->peer->adjacent ? 0 : s->n - 1] + 1;
		if (a->peer->adjacent)
			a->cursor += s->n - 1;
		a->cursor %= a->nr;
	}
	give_back(a, s->n, s->group, &h);
	forget_answers(a, s->n, s->group, &h);
	s->requests += s->group;
}

/* How many requests, and which; also warms up. */
static void plan(struct area *a, enum pattern which, struct series *s)
{
	uint64_t from = clock_monotonic_ns();
	u32 cursor = a->cursor;

	s->requests = 0;
	s->group = 1;
	plan_group(a, which, s);
	s->group = clock_monotonic_ns() - from > SLOW_NS ? GROUP_SLOW : GROUP;

	a->cursor = cursor;
	s->requests = 0;
	s->found = 0;
	from = clock_monotonic_ns();
	do {
		plan_group(a, which, s);
	} while (clock_monotonic_ns() - from < REPEAT_NS &&
		 s->requests + s->group <= REQUESTS_MAX);
	a->cursor = cursor;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The time of one of @each requests at quantile @q of the sorted @times, less the clock's. */
static double quantile(const uint64_t *times, u32 count, double q, u32 each)
{
	double ns = clock_ns(times[(u32)(q * (count - 1))]) - clock_overhead_ns();

	return ns > 0 ? ns / each : 0;
}

/* Of sorted samples, each of which stands for a step of the clock around it. */
static double interpolated_median(const uint64_t *sample, u32 count)
{
	uint64_t middle = sample[count / 2];
	u32 below = 0, at = 0, i;
	double ns;

	for (i = 0; i < count; i++) {
		below += sample[i] < middle;
		at += sample[i] == middle;
	}
	ns = clock_ns(middle) - clock_overhead_ns() +
	     clock_step_ns() * ((count / 2.0 - below) / at - 0.5);
	return ns > 0 ? ns : 0;
}

static void measure(struct area *a, struct series *s)
{
	u32 repeats = s->group == GROUP ? REPEATS : REPEATS_SLOW, r, first;

	memset(s->alloc_alone, 0xff, sizeof(s->alloc_alone));
	memset(s->alloc_group, 0xff, sizeof(s->alloc_group));
	memset(s->free_group, 0xff, sizeof(s->free_group));
	s->samples = 0;
	for (r = 0; r < repeats; r++) {
		for (first = 0; first < s->requests; first += s->group)
			run_alone(a, s, first, s->group);
		for (first = 0; first < s->requests; first += s->group)
			run_group(a, s, first, s->group);
	}
	qsort(s->sample, s->samples, sizeof(uint64_t), compare);
	qsort(s->alloc_alone, s->requests, sizeof(uint64_t), compare);
	qsort(s->alloc_group, s->requests / s->group, sizeof(uint64_t), compare);
	qsort(s->free_group, s->requests / s->group, sizeof(uint64_t), compare);
}

static void print_point(const struct area *a, enum pattern which, double free_share,
			const struct series *s)
{
	static const char *comma = "";
	u32 groups = s->requests / s->group;

	printf("%s\n  {\"peer\": \"%s\", \"adjacent\": %s, \"pattern\": \"%s\", ",
	       comma, a->peer->name, a->peer->adjacent ? "true" : "false",
	       pattern_names[which]);
	printf("\"occupancy\": %.1f, \"slots\": %u, \"requests\": %u, \"found\": %u, ",
	       100 * (1 - free_share), s->n, s->requests, s->found);
	printf("\"group_ns\": %.2f, \"free_group_ns\": %.2f, ",
	       quantile(s->alloc_group, groups, 0.5, s->group),
	       quantile(s->free_group, groups, 0.5, s->group));
	printf("\"median_ns\": %.1f, \"p99_ns\": %.1f, \"worst_ns\": %.1f}",
	       interpolated_median(s->sample, s->samples),
	       quantile(s->alloc_alone, s->requests, 0.99, 1),
	       quantile(s->alloc_alone, s->requests, 1, 1));
	comma = ",";
}

static void run_points(const struct peer *peer, enum pattern which, u32 nr, double free_share)
{
	struct area a;
	size_t i;

	fprintf(stderr, "\r%-10s %-6s %5.1f %% used ", peer->name, pattern_names[which],
		100 * (1 - free_share));
	area_make(&a, peer, which, nr, (u32)(nr * free_share));
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		series.n = sizes[i];
		plan(&a, which, &series);
		measure(&a, &series);
		print_point(&a, which, free_share, &series);
	}
	area_drop(&a);
}

int main(int argc, char **argv)
{
	u32 nr = argc > 1 ? strtoul(argv[1], NULL, 0) : SLOTS_DEFAULT;
	size_t i, f;
	int pattern;

	if (argc > 2 || nr < (1u << 16)) {
		fprintf(stderr, "usage: %s [SLOTS, at least 65536] > JSON\n", argv[0]);
		return 2;
	}
	clock_calibrate();
	printf("{\"slots\": %u, \"clock_step_ns\": %.2f, \"clock_overhead_ns\": %.2f,\n",
	       nr, clock_step_ns(), clock_overhead_ns());
	printf("\"bits_per_slot\": {");
	for (i = 0; i < ARRAY_SIZE(peers); i++)
		printf("%s\"%s\": %.3f", i ? ", " : "", peers[i]->name,
		       8.0 * peers[i]->bytes(nr) / nr);
	printf("},\n\"points\": [");
	for (pattern = 0; pattern < PATTERNS; pattern++) {
		for (f = 0; f < ARRAY_SIZE(free_shares); f++) {
			for (i = 0; i < ARRAY_SIZE(peers); i++)
				run_points(peers[i], pattern, nr, free_shares[f]);
		}
	}
	printf("\n]}\n");
	fprintf(stderr, "\r%40s\r", "");
	return 0;
}
