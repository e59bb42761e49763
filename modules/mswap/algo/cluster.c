// SPDX-License-Identifier: GPL-2.0-only
#include "cluster.h"

/* Shortest stretch that is merged; below it insertion is cheaper. */
#define CLUSTER_STRETCH 16

bool cluster_fits(u32 limit, u32 held, u32 add)
{
	return !held || (held <= limit && add <= limit - held);
}

static bool cluster_after(const struct cluster_page *a,
			  const struct cluster_page *b)
{
	if (a->object != b->object)
		return a->object > b->object;
	return a->index > b->index;
}

static bool cluster_sorted(const struct cluster_page *pages, u32 n)
{
	u32 i;

	for (i = 1; i < n; i++)
		if (cluster_after(&pages[i - 1], &pages[i]))
			return false;
	return true;
}

static void cluster_insert(const struct cluster_page *pages, u8 *order,
			   u32 from, u32 to)
{
	u32 i, hole;
	u8 moving;

	for (i = from + 1; i < to; i++) {
		moving = order[i];
		for (hole = i; hole > from; hole--) {
			if (!cluster_after(&pages[order[hole - 1]],
					   &pages[moving]))
				break;
			order[hole] = order[hole - 1];
		}
		order[hole] = moving;
	}
}

/* Merges [from, mid) with [mid, to); @left has room for the former. */
static void cluster_merge(const struct cluster_page *pages, u8 *order,
			  u8 *left, u32 from, u32 mid, u32 to)
{
	u32 lefts = mid - from, l = 0, out = from;

	if (!cluster_after(&pages[order[mid - 1]], &pages[order[mid]]))
		return;
	memcpy(left, order + from, lefts);
	while (l < lefts && mid < to) {
		if (cluster_after(&pages[left[l]], &pages[order[mid]]))
			order[out++] = order[mid++];
		else
			order[out++] = left[l++];
	}
	memcpy(order + out, left + l, lefts - l);
}

/* Puts the page at order[i] in place i, following each cycle once. */
static void cluster_permute(struct cluster_page *pages, u8 *order, u32 n)
{
	struct cluster_page first;
	u32 start, to, from;

	for (start = 0; start < n; start++) {
		if (order[start] == start)
			continue;
		first = pages[start];
		for (to = start; order[to] != start; to = from) {
			from = order[to];
			pages[to] = pages[from];
			order[to] = (u8)to;
		}
		pages[to] = first;
		order[to] = (u8)to;
	}
}

/*
 * Sorts positions, one byte each, rather than pages of 40 bytes: the work space
 * fits the stack of a task deep in memory reclaim.
 */
void cluster_sort(struct cluster_page *pages, u32 n)
{
	u8 order[CLUSTER_PAGES_MAX], left[CLUSTER_PAGES_MAX / 2];
	u32 i, width;

	if (cluster_sorted(pages, n))
		return;
	for (i = 0; i < n; i++)
		order[i] = (u8)i;
	for (i = 0; i < n; i += CLUSTER_STRETCH)
		cluster_insert(pages, order, i,
			       pure_min(i + CLUSTER_STRETCH, n));
	for (width = CLUSTER_STRETCH; width < n; width *= 2)
		for (i = 0; i + width < n; i += 2 * width)
			cluster_merge(pages, order, left, i, i + width,
				      pure_min(i + 2 * width, n));
	cluster_permute(pages, order, n);
}

static u32 cluster_run(const struct cluster_page *pages, u32 n, u32 from)
{
	u32 i = from + 1;

	while (i < n && pages[i].object == pages[from].object &&
	       pages[i].index == pages[i - 1].index + 1)
		i++;
	return i - from;
}

u32 cluster_next_write(enum cluster_policy policy,
		       const struct cluster_page *pages, u32 n, u32 from)
{
	if (from >= n)
		return 0;
	switch (policy) {
	case CLUSTER_PAGE:
		return 1;
	case CLUSTER_OBJECT:
		return cluster_run(pages, n, from);
	case CLUSTER_MOC:
		break;
	}
	return n - from;
}

bool cluster_continues(const struct cluster_page *a,
		       const struct cluster_page *b)
{
	return a->object == b->object && b->index > a->index &&
	       b->index - a->index <= CLUSTER_GAP_MAX;
}
