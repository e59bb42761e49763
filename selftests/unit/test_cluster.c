// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packing of page-outs: the cases that the multi-object clustering paper gives,
 * its Fig. 9, and random pages against qsort().
 */
#include "../../tools/sim/fig9/pagedaemon.h"
#include "unit.h"

#define M 16
#define RANDOM_SEEDS 20
#define RANDOM_ROUNDS 5000

/* What the writes of a buffer looked like, first ones first. */
struct record {
	u32 writes;
	u32 size[CLUSTER_PAGES_MAX];
	u32 pages;
	struct cluster_page page[4 * CLUSTER_PAGES_MAX];
};

static void record_write(void *arg, const struct cluster_page *pages, u32 n)
{
	struct record *rec = arg;

	rec->size[rec->writes++] = n;
	memcpy(rec->page + rec->pages, pages, n * sizeof(*pages));
	rec->pages += n;
}

static struct record rec;
static struct sim_buffer buf;

static void start(enum cluster_policy policy)
{
	memset(&buf, 0, sizeof(buf));
	memset(&rec, 0, sizeof(rec));
	buf.policy = policy;
	buf.limit = M;
	buf.on_write = record_write;
	buf.on_write_arg = &rec;
}

/* A cluster of @n pages of @object, from @index on. */
static void pageout(u64 object, u64 index, u32 n)
{
	struct cluster_page cluster[CLUSTER_PAGES_MAX] = { 0 };
	u32 i;

	for (i = 0; i < n; i++) {
		cluster[i].object = object;
		cluster[i].index = index + i;
	}
	sim_pageout(&buf, cluster, n);
}

static void test_fits(void)
{
	CHECK(cluster_fits(16, 0, 1));
	CHECK(cluster_fits(16, 0, 16));
	CHECK(cluster_fits(16, 0, 256));
	CHECK(cluster_fits(16, 0, UINT32_MAX));
	CHECK(cluster_fits(16, 15, 1));
	CHECK(!cluster_fits(16, 15, 2));
	CHECK(!cluster_fits(16, 16, 1));
	CHECK(!cluster_fits(16, 256, 1));
	CHECK(!cluster_fits(16, 1, UINT32_MAX));
	CHECK(cluster_fits(1, 0, 1));
	CHECK(!cluster_fits(1, 1, 1));
}

static void fig4_pages(enum cluster_policy policy)
{
	start(policy);
	pageout(1, 100, 14);
	pageout(2, 7, 1);
	pageout(3, 9, 1);
	sim_flush(&buf);
}

static void test_fig4_14_1_1_make_one_write(void)
{
	fig4_pages(CLUSTER_MOC);
	CHECK_EQ(rec.writes, 1);
	CHECK_EQ(rec.size[0], 16);
	fig4_pages(CLUSTER_OBJECT);
	CHECK_EQ(rec.writes, 3);
	CHECK_EQ(rec.size[0], 14);
	CHECK_EQ(rec.size[1], 1);
	CHECK_EQ(rec.size[2], 1);
}

static void fig5_pages(enum cluster_policy policy)
{
	u32 i;

	start(policy);
	for (i = 0; i < 16; i++)
		pageout(1 + i % 4, 1000 - 10 * i, 1);
	sim_flush(&buf);
}

static void test_fig5_16_unrelated_make_one_write(void)
{
	fig5_pages(CLUSTER_MOC);
	CHECK_EQ(rec.writes, 1);
	CHECK_EQ(rec.size[0], 16);
	fig5_pages(CLUSTER_OBJECT);
	CHECK_EQ(rec.writes, 16);
	CHECK_EQ(rec.pages, 16);
	fig5_pages(CLUSTER_PAGE);
	CHECK_EQ(rec.writes, 16);
	CHECK_EQ(rec.pages, 16);
}

static void test_fig6_13_are_written_5_start_anew(void)
{
	start(CLUSTER_MOC);
	pageout(1, 0, 9);
	pageout(2, 0, 1);
	pageout(3, 0, 1);
	pageout(4, 0, 2);
	CHECK_EQ(rec.writes, 0);
	CHECK_EQ(buf.held, 13);
	pageout(5, 0, 5);
	CHECK_EQ(rec.writes, 1);
	CHECK_EQ(rec.size[0], 13);
	CHECK_EQ(buf.held, 5);
	CHECK_EQ(buf.pages[0].object, 5);
	sim_flush(&buf);
	CHECK_EQ(rec.writes, 2);
	CHECK_EQ(rec.size[1], 5);
	CHECK_EQ(buf.hist[13], 1);
	CHECK_EQ(buf.hist[5], 1);
}

/* Object 1 arrives in two parts, in either order, with others between. */
static void fig7_pages(u64 first, u32 n, u64 second, u32 m)
{
	u32 i, at = 0;

	start(CLUSTER_MOC);
	pageout(2, 48, 1);
	pageout(1, first, n);
	pageout(3, 3, 2);
	pageout(1, second, m);
	pageout(2, 12, 1);
	sim_flush(&buf);
	CHECK_EQ(rec.writes, 1);
	CHECK_EQ(rec.size[0], 9);
	while (at < rec.pages && rec.page[at].object != 1)
		at++;
	for (i = 0; i < 5; i++)
		CHECK(rec.page[at + i].object == 1 &&
		      rec.page[at + i].index == 48 + i);
	for (i = 1; i < 5; i++)
		CHECK(cluster_continues(&rec.page[at + i - 1],
					&rec.page[at + i]));
}

static void test_fig7_parts_of_an_object_come_together(void)
{
	fig7_pages(48, 2, 50, 3);
	fig7_pages(50, 3, 48, 2);
}

static u64 fig9_writes(enum cluster_policy policy, u32 c)
{
	start(policy);
	buf.on_write = NULL;
	CHECK(sim_stride(&buf, 96 * 1024, 32 * 1024, c));
	CHECK(buf.pages_written >= 16 * 1024);
	return buf.writes;
}

static void test_fig9_sweep(void)
{
	u64 object, moc, moc6 = 0;
	u32 c;

	for (c = 1; c <= 16; c++) {
		object = fig9_writes(CLUSTER_OBJECT, c);
		moc = fig9_writes(CLUSTER_MOC, c);
		if (c <= 8)
			CHECK(moc < object);
		else
			CHECK_EQ(moc, object);
		if (c == 6)
			moc6 = moc;
		if (c == 8)
			CHECK(moc6 > moc);
	}
}

static void test_next_write(void)
{
	struct cluster_page pages[6] = {
		{ .object = 0, .index = 7 }, { .object = 0, .index = 8 },
		{ .object = 1, .index = 9 }, { .object = 1, .index = 10 },
		{ .object = 1, .index = 10 }, { .object = 1, .index = 12 },
	};

	CHECK_EQ(cluster_next_write(CLUSTER_MOC, pages, 6, 0), 6);
	CHECK_EQ(cluster_next_write(CLUSTER_MOC, pages, 6, 4), 2);
	CHECK_EQ(cluster_next_write(CLUSTER_MOC, pages, 6, 6), 0);
	CHECK_EQ(cluster_next_write(CLUSTER_OBJECT, pages, 6, 0), 2);
	CHECK_EQ(cluster_next_write(CLUSTER_OBJECT, pages, 6, 2), 2);
	CHECK_EQ(cluster_next_write(CLUSTER_OBJECT, pages, 6, 4), 1);
	CHECK_EQ(cluster_next_write(CLUSTER_OBJECT, pages, 6, 5), 1);
	CHECK_EQ(cluster_next_write(CLUSTER_OBJECT, pages, 6, 6), 0);
	CHECK_EQ(cluster_next_write(CLUSTER_PAGE, pages, 6, 0), 1);
	CHECK_EQ(cluster_next_write(CLUSTER_PAGE, pages, 6, 6), 0);
}

static bool continues(u64 object, u64 index, u64 object2, u64 index2)
{
	struct cluster_page a = { .object = object, .index = index };
	struct cluster_page b = { .object = object2, .index = index2 };

	return cluster_continues(&a, &b);
}

static void test_continues(void)
{
	CHECK(continues(1, 5, 1, 6));
	CHECK(continues(1, 5, 1, 5 + CLUSTER_GAP_MAX));
	CHECK(!continues(1, 5, 1, 6 + CLUSTER_GAP_MAX));
	CHECK(!continues(1, 5, 1, 5));
	CHECK(continues(1, 5, 1, 4));
	CHECK(continues(1, 5 + CLUSTER_GAP_MAX, 1, 5));
	CHECK(!continues(1, 6 + CLUSTER_GAP_MAX, 1, 5));
	CHECK(!continues(1, 5, 1, 5 + (1ull << 32)));
	CHECK(!continues(1, 5, 1, 6 + (1ull << 32)));
	CHECK(!continues(1, 6 + (1ull << 32), 1, 5));
	CHECK(!continues(1, 5, 2, 6));
	CHECK(continues(0, 5, 0, 6));
	CHECK(!continues(1, 5, 2, 4));
	CHECK(!continues(1, UINT64_MAX - CLUSTER_GAP_MAX, 1, 1));
	CHECK(continues(1, UINT64_MAX - 1, 1, UINT64_MAX));
	CHECK(continues(1, UINT64_MAX, 1, UINT64_MAX - 1));
}

#define LAID_PAGES	16
#define LAID_BATCHES	3

/* Two programs, of which one goes down, are evicted by turns: each goes on where it was. */
static void lay_two(bool eights)
{
	struct cluster_page pages[2 * LAID_PAGES], last[2];
	u64 work[CLUSTER_WORK(2 * LAID_PAGES)];
	u32 batch, i, at;

	for (batch = 0; batch < LAID_BATCHES; batch++) {
		for (i = 0; i < LAID_PAGES; i++) {
			at = LAID_PAGES * batch + i;
			pages[2 * i] = (struct cluster_page) {
				.object = 1, .index = at,
			};
			pages[2 * i + 1] = (struct cluster_page) {
				.object = 2, .index = 1000 - (eights ? at ^ 7 : at),
			};
		}
		cluster_lay(pages, 2 * LAID_PAGES, work);
		for (i = 0; i < LAID_PAGES; i++) {
			at = LAID_PAGES * batch + i;
			CHECK_EQ(pages[i].index, at);
			CHECK_EQ(pages[LAID_PAGES + i].index, 1000 - (eights ? at ^ 7 : at));
		}
		CHECK(!batch || cluster_continues(&last[0], &pages[0]));
		CHECK(!batch || cluster_continues(&last[1], &pages[LAID_PAGES]));
		last[0] = pages[LAID_PAGES - 1];
		last[1] = pages[2 * LAID_PAGES - 1];
	}
}

static void test_lay(void)
{
	lay_two(false);
}

/* The swap core's read-ahead has him evicted upwards, by eights, in which he is read again. */
static void test_lay_eights(void)
{
	lay_two(true);
}

static void test_lay_few(void)
{
	struct cluster_page pages[3] = {
		{ .object = 1, .index = 5 }, { .object = 1, .index = 4 },
		{ .object = 2, .index = 1 },
	};
	u64 work[CLUSTER_WORK(3)];

	cluster_lay(pages, 0, work);
	cluster_lay(pages + 1, 2, work);
	CHECK_EQ(pages[1].index, 4);
	cluster_lay(pages, 3, work);
	CHECK_EQ(pages[0].index, 5);
	CHECK_EQ(pages[1].index, 4);
	CHECK_EQ(pages[2].index, 1);
}

/* The oracle's order: pos, given in order of arrival, makes qsort() stable. */
static int compare(const void *x, const void *y)
{
	const struct cluster_page *a = x, *b = y;

	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	return a->pos < b->pos ? -1 : a->pos > b->pos;
}

static void random_pages(struct cluster_page *pages, u32 n)
{
	u64 objects = 1 + unit_random() % 8, indexes = 1 + unit_random() % 512;
	u32 high = unit_random() % 56, far = unit_random() % 56;
	bool nearly = unit_random() & 1;
	u32 i;

	for (i = 0; i < n; i++) {
		pages[i].object = (unit_random() % objects) << high;
		pages[i].index = (unit_random() % indexes) << far;
		if (nearly && unit_random() % 16) {
			pages[i].object = objects;
			pages[i].index = i;
		}
		if (!(unit_random() % 64))
			pages[i].object = pages[i].index = UINT64_MAX;
		pages[i].owner = &pages[i];
		pages[i].page = (char *)pages + i;
		pages[i].vslot = (u32)unit_random();
		pages[i].pos = i;
	}
}

static u32 object_run(const struct cluster_page *pages, u32 n, u32 from)
{
	u32 len = 1;

	while (from + len < n &&
	       pages[from + len].object == pages[from].object &&
	       pages[from + len].index - len == pages[from].index)
		len++;
	return len;
}

/*
 * How far apart the two pages of each pair came, downwards less upwards, makes more than
 * half of what it would if all had come downwards and as far from each other.
 */
static bool came_down(const struct cluster_page *sorted, u32 n)
{
	long long down = 0, all = 0, span = 0;
	u32 i, j;

	for (i = 0; i < n; i++)
		for (j = i + 1; j < n; j++) {
			int step = sorted[i].pos - sorted[j].pos;

			down += step;
			all += j - i;
			span = span < abs(step) ? abs(step) : span;
		}
	return 2 * down * (n - 1) > all * span;
}

/* Next to each other, do both stay so, though their object is turned round? */
static bool stay(const struct cluster_page *below, const struct cluster_page *page)
{
	return below->index == page->index ||
	       (below->index + 1 == page->index && below->pos < page->pos);
}

/* Of one object, downwards, but equals as they were, and neighbours that came upwards. */
static void check_down(const struct cluster_page *sorted,
		       const struct cluster_page *laid, u32 n)
{
	u32 end, first, i;

	for (end = n; end; end = first) {
		for (first = end - 1; first && stay(&sorted[first - 1], &sorted[first]); first--)
			;
		for (i = first; i < end; i++)
			CHECK_EQ((laid++)->pos, sorted[i].pos);
	}
}

static void check_laid(const struct cluster_page *sorted,
		       const struct cluster_page *laid, u32 n)
{
	u32 from, end, i;

	for (from = 0; from < n; from = end) {
		for (end = from; end < n && sorted[end].object == sorted[from].object; end++)
			;
		if (came_down(sorted + from, end - from))
			check_down(sorted + from, laid + from, end - from);
		else
			for (i = from; i < end; i++)
				CHECK_EQ(laid[i].pos, sorted[i].pos);
	}
}

static void random_round(void)
{
	static struct cluster_page oracle[CLUSTER_PAGES_MAX];
	u32 n = unit_random() % (CLUSTER_PAGES_MAX + 1), from = 0;
	/* Exactly so many bytes: the address sanitizer guards the ends. */
	struct cluster_page *pages = malloc(n * sizeof(*pages));
	struct cluster_page *laid = malloc(n * sizeof(*laid));
	u64 *work = malloc(CLUSTER_WORK(n) * sizeof(*work));

	random_pages(pages, n);
	memcpy(oracle, pages, n * sizeof(*pages));
	memcpy(laid, pages, n * sizeof(*pages));
	qsort(oracle, n, sizeof(*oracle), compare);
	cluster_sort(pages, n, work);
	CHECK(!memcmp(oracle, pages, n * sizeof(*pages)));
	while (from < n) {
		u32 run = object_run(oracle, n, from);

		CHECK_EQ(cluster_next_write(CLUSTER_OBJECT, pages, n, from),
			 run);
		from += run;
	}
	cluster_lay(laid, n, work);
	check_laid(oracle, laid, n);
	free(work);
	free(laid);
	free(pages);
}

static void test_random_pages_against_qsort(void)
{
	u64 first = unit_seed, seed;
	u32 i;

	for (seed = first; seed < first + RANDOM_SEEDS; seed++) {
		unit_reseed(seed);
		for (i = 0; i < RANDOM_ROUNDS; i++)
			random_round();
	}
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_fits),
		UNIT_CASE(test_fig4_14_1_1_make_one_write),
		UNIT_CASE(test_fig5_16_unrelated_make_one_write),
		UNIT_CASE(test_fig6_13_are_written_5_start_anew),
		UNIT_CASE(test_fig7_parts_of_an_object_come_together),
		UNIT_CASE(test_fig9_sweep),
		UNIT_CASE(test_next_write),
		UNIT_CASE(test_continues),
		UNIT_CASE(test_lay),
		UNIT_CASE(test_lay_eights),
		UNIT_CASE(test_lay_few),
		UNIT_CASE(test_random_pages_against_qsort),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
