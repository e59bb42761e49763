// SPDX-License-Identifier: GPL-2.0-only
#include "cluster.h"

/* Shortest stretch that is merged; below it insertion is cheaper. */
#define CLUSTER_STRETCH 8

/* A key: some bits of a page's name, which is its object and index, and its place. */
#define KEY_PLACE_BITS 8
#define KEY_NAME_BITS (64 - KEY_PLACE_BITS)

/* How many bits, from bit 0 on, it takes to tell pages apart. */
struct cluster_bits {
	u32 object;
	u32 index;
};

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

static void cluster_insert(u64 *keys, u64 *end)
{
	u64 *next, *hole, moving;

	for (next = keys + 1; next < end; next++) {
		moving = *next;
		for (hole = next; hole > keys && hole[-1] > moving; hole--)
			*hole = hole[-1];
		*hole = moving;
	}
}

/* Merges what is before @right with what is behind; @left has room for the former. */
static void cluster_merge(u64 *keys, u64 *right, u64 *end, u64 *left)
{
	u64 *left_end = left + (right - keys);

	if (right[-1] < right[0])
		return;
	memcpy(left, keys, (right - keys) * sizeof(*keys));
	while (right < end) {
		if (*left > *right) {
			*keys++ = *right++;
			continue;
		}
		*keys++ = *left++;
		if (left == left_end)
			return;
	}
	memcpy(keys, left, (left_end - left) * sizeof(*keys));
}

static void cluster_sort_keys(u64 *keys, u32 n, u64 *left)
{
	u32 i, width;

	for (i = 0; i < n; i += CLUSTER_STRETCH)
		cluster_insert(keys + i,
			       keys + pure_min(i + CLUSTER_STRETCH, n));
	for (width = CLUSTER_STRETCH; width < n; width *= 2)
		for (i = 0; i + width < n; i += 2 * width)
			cluster_merge(keys + i, keys + i + width,
				      keys + pure_min(i + 2 * width, n), left);
}

static struct cluster_bits cluster_differ(const struct cluster_page *pages,
					  u32 n)
{
	u64 object = 0, index = 0;
	u32 i;

	for (i = 1; i < n; i++) {
		object |= pages[i].object ^ pages[0].object;
		index |= pages[i].index ^ pages[0].index;
	}
	return (struct cluster_bits) {
		.object = object ? pure_fls64(object) + 1 : 0,
		.index = index ? pure_fls64(index) + 1 : 0,
	};
}

/*
 * The bits of an object with those of the index behind them are one number: the
 * KEY_NAME_BITS of it from bit @from on, and above these anything.
 */
static u64 cluster_name(const struct cluster_page *page,
			struct cluster_bits bits, u32 from)
{
	u64 name;

	if (from >= bits.index)
		return page->object >> (from - bits.index);
	name = (page->index & ~0ull >> (64 - bits.index)) >> from;
	if (bits.index - from < 64)
		name |= page->object << (bits.index - from);
	return name;
}

static u32 key_place(u64 key)
{
	return key & ((1u << KEY_PLACE_BITS) - 1);
}

/* Puts the page that keys[i] is of in place i, following each cycle once. */
static void cluster_permute(struct cluster_page *pages, u64 *keys, u32 n)
{
	struct cluster_page first;
	u32 start, to, from;

	for (start = 0; start < n; start++) {
		if (key_place(keys[start]) == start)
			continue;
		first = pages[start];
		for (to = start; key_place(keys[to]) != start; to = from) {
			from = key_place(keys[to]);
			pages[to] = pages[from];
			keys[to] = to;
		}
		pages[to] = first;
		keys[to] = to;
	}
}

/*
 * Keys of one word are compared in an instruction or two: as much of the name as
 * they hold, and the page's place, so that equals keep theirs. The names of most
 * batches differ in so few bits that they fit; else it takes another round or two,
 * from the lowest bits to the highest.
 */
static void cluster_order(struct cluster_page *pages, u32 n, u64 *work)
{
	struct cluster_bits bits = cluster_differ(pages, n);
	u32 i, from;

	for (from = 0; from < bits.object + bits.index; from += KEY_NAME_BITS) {
		for (i = 0; i < n; i++)
			work[i] = cluster_name(&pages[i], bits, from) <<
				  KEY_PLACE_BITS | i;
		cluster_sort_keys(work, n, work + n);
		cluster_permute(pages, work, n);
	}
}

void cluster_sort(struct cluster_page *pages, u32 n, u64 *work)
{
	if (!cluster_sorted(pages, n))
		cluster_order(pages, n, work);
}

static void cluster_reverse(struct cluster_page *first,
			    struct cluster_page *last)
{
	struct cluster_page moving;

	for (; first < last; first++, last--) {
		moving = *first;
		*first = *last;
		*last = moving;
	}
}

/*
 * Have the @n sorted pages of an object come downwards? The swap core's read-ahead has
 * them come upwards by eights, from whichever side a program comes, so the trend of all
 * tells, if it is half as strong at least as if each had come after the one above it.
 */
static bool cluster_came_down(const struct cluster_page *pages, u32 n)
{
	u32 sum = 0, weighed = 0, first = ~0u, last = 0, i;

	for (i = 0; i < n; i++) {
		sum += pages[i].came;
		weighed += i * pages[i].came;
		first = pure_min(first, pages[i].came);
		last = pure_max(last, pages[i].came);
	}
	return 2 * weighed + (last - first) * n * (n + 1) / 12 < (n - 1) * sum;
}

static u32 cluster_object(const struct cluster_page *pages, u32 n)
{
	u32 i = 1;

	while (i < n && pages[i].object == pages[0].object)
		i++;
	return i;
}

/*
 * Does @page, which is the next one downwards, lie before @above all the same? Equals keep
 * their order: they may be of one virtual slot, and the last one counts. What came upwards,
 * by the swap core's read-ahead or in a bio of several, is asked for so again: one bio may
 * want it all, which is one read only if it lies so.
 */
static bool cluster_keeps(const struct cluster_page *above,
			  const struct cluster_page *page)
{
	return page->index == above->index ||
	       (page->index + 1 == above->index && page->came < above->came);
}

static u32 cluster_kept(const struct cluster_page *pages, u32 n)
{
	u32 i = 1;

	while (i < n && cluster_keeps(&pages[i - 1], &pages[i]))
		i++;
	return i;
}

static void cluster_turn(struct cluster_page *pages, u32 n)
{
	u32 from, kept;

	cluster_reverse(pages, &pages[n - 1]);
	for (from = 0; from < n; from += kept) {
		kept = cluster_kept(pages + from, n - from);
		cluster_reverse(&pages[from], &pages[from + kept - 1]);
	}
}

void cluster_lay(struct cluster_page *pages, u32 n, u64 *work)
{
	u32 i, object;

	if (cluster_sorted(pages, n))
		return;
	for (i = 0; i < n; i++)
		pages[i].came = i;
	cluster_order(pages, n, work);
	for (i = 0; i < n; i += object) {
		object = cluster_object(pages + i, n - i);
		if (cluster_came_down(pages + i, object))
			cluster_turn(pages + i, object);
	}
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
