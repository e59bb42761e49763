// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: whatever pages arrive, the sort only reorders them, in order and
 * stably, each policy's writes cover every page once, and an object's pages are turned
 * round as a whole or not at all.
 */
#include "cluster.h"

#define INPUT_BYTES 2	/* a page: object, index */

static void expect(bool ok)
{
	if (!ok)
		__builtin_trap();
}

static void check_sorted(const struct cluster_page *pages, u32 n)
{
	bool seen[CLUSTER_PAGES_MAX] = { false };
	u32 i;

	for (i = 0; i < n; i++) {
		expect(pages[i].pos < n && !seen[pages[i].pos]);
		seen[pages[i].pos] = true;
		expect(pages[i].vslot == (pages[i].pos ^ 0x5a5a));
		if (!i)
			continue;
		expect(pages[i - 1].object <= pages[i].object);
		if (pages[i - 1].object < pages[i].object)
			continue;
		expect(pages[i - 1].index <= pages[i].index);
		if (pages[i - 1].index == pages[i].index)
			expect(pages[i - 1].pos < pages[i].pos);
	}
}

static void check_writes(enum cluster_policy policy,
			 const struct cluster_page *pages, u32 n)
{
	u32 from, step, i;

	for (from = 0; from < n; from += step) {
		step = cluster_next_write(policy, pages, n, from);
		expect(step && step <= n - from);
		expect(policy != CLUSTER_PAGE || step == 1);
		expect(policy != CLUSTER_MOC || step == n);
		for (i = 1; policy == CLUSTER_OBJECT && i < step; i++)
			expect(pages[from + i].object == pages[from].object &&
			       pages[from + i].index == pages[from].index + i &&
			       cluster_continues(&pages[from + i - 1],
						 &pages[from + i]));
	}
	expect(!cluster_next_write(policy, pages, n, n));
}

/* Each object's pages are upwards or downwards, and equals as they came. */
static void check_laid(const struct cluster_page *laid,
		       const struct cluster_page *sorted, u32 n)
{
	bool down = false, first = true;
	u32 i;

	for (i = 0; i < n; i++) {
		expect(laid[i].object == sorted[i].object);
		if (!i || laid[i].object != laid[i - 1].object) {
			first = true;
			continue;
		}
		if (laid[i].index == laid[i - 1].index) {
			expect(laid[i].pos > laid[i - 1].pos);
			continue;
		}
		if (laid[i].index == laid[i - 1].index + 1 && laid[i].pos > laid[i - 1].pos)
			continue;
		expect(first || down == (laid[i].index < laid[i - 1].index));
		down = laid[i].index < laid[i - 1].index;
		first = false;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct cluster_page pages[CLUSTER_PAGES_MAX] = { 0 };
	struct cluster_page laid[CLUSTER_PAGES_MAX];
	u64 work[CLUSTER_WORK(CLUSTER_PAGES_MAX)];
	u32 n, i;

	n = (u32)(size / INPUT_BYTES);
	if (n > CLUSTER_PAGES_MAX)
		n = CLUSTER_PAGES_MAX;
	for (i = 0; i < n; i++) {
		u8 name = data[i * INPUT_BYTES];

		/* Near each other, or so far apart that a key does not tell. */
		pages[i].object = (u64)(name & 7) << (name & 8 ? 60 : 0);
		pages[i].index = (u64)data[i * INPUT_BYTES + 1]
				 << (name & 16 ? 56 : 0);
		pages[i].vslot = i ^ 0x5a5a;
		pages[i].pos = i;
	}
	memcpy(laid, pages, sizeof(laid));
	cluster_sort(pages, n, work);
	check_sorted(pages, n);
	check_writes(CLUSTER_MOC, pages, n);
	check_writes(CLUSTER_OBJECT, pages, n);
	check_writes(CLUSTER_PAGE, pages, n);
	cluster_lay(laid, n, work);
	check_laid(laid, pages, n);
	check_writes(CLUSTER_MOC, laid, n);
	return 0;
}
