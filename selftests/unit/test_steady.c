// SPDX-License-Identifier: GPL-2.0-only
/* Readers that go on, against lists that are searched one by one, and what their credit promises. */
#include "steady.h"
#include "unit.h"

#define ROUNDS		100000
#define GRANULE		64
#define SLOTS		(4 * 8 * STEADY_SETS * GRANULE)
/* Places that the oracle has of each set, the latest last. */
#define PLACES_MAX	(2 * ROUNDS)

struct place {
	u32 first;
	u32 behind;
};

static struct place lists[STEADY_SETS][PLACES_MAX];
static u32 nr_places[STEADY_SETS];

static u32 set_of(u32 slot)
{
	return slot / GRANULE / 8 % STEADY_SETS;
}

/* The last STEADY_WAYS of a list are known, the latest of them first. */
static struct place *oracle_find(u32 slot, u32 want, bool *down)
{
	u32 set = set_of(slot), n = nr_places[set], i;

	for (i = 1; i <= STEADY_WAYS && i <= n; i++) {
		struct place *p = &lists[set][n - i];

		*down = p->first >= slot + want &&
			p->first - slot - want < (p->behind - p->first < 8 ? 2 : 8);
		if (*down || slot == p->behind || slot == p->behind + 1)
			return p;
	}
	return NULL;
}

/* Puts a place at the end of its list, of which @old, if any, is taken out. */
static void oracle_put(u32 set, struct place *old, struct place p)
{
	struct place *end = &lists[set][nr_places[set]];

	if (old) {
		memmove(old, old + 1, (size_t)(end - old - 1) * sizeof(*old));
		nr_places[set]--;
	}
	CHECK(nr_places[set] < PLACES_MAX);
	lists[set][nr_places[set]++] = p;
}

static void check_miss(struct steady *s, u32 slot, u32 want)
{
	struct steady_step step = steady_miss(s, slot, want);
	struct place p = { slot, slot + want };
	bool down = false;
	struct place *old = oracle_find(slot, want, &down);
	u32 left = GRANULE - slot % GRANULE - want, between;

	CHECK_EQ(step.length, old ? old->behind - old->first : 0);
	if (old) {
		CHECK_EQ(step.down, down);
		between = down ? old->first - slot - want : 0;
		CHECK_EQ(step.between, between < left ? between : left);
		p = *old;
		if (down)
			p.first = slot;
		else
			p.behind = slot + want;
	}
	oracle_put(set_of(slot), old, p);
}

/* The reader of the last miss gets more on both sides. */
static void check_read(struct steady *s, u32 slot, u32 want)
{
	u32 from = slot - unit_below(slot % GRANULE + 1);
	u32 n = slot + want - from + unit_below(GRANULE - (slot + want - from) % GRANULE);
	struct place *p = &lists[set_of(slot)][nr_places[set_of(slot)] - 1];

	steady_read(s, from, n);
	if (from < p->first)
		p->first = from;
	if (from + n > p->behind)
		p->behind = from + n;
}

/* What is read ahead goes on at its place, or is a place of its own. */
static void check_read_on(struct steady *s, u32 slot, u32 n, u32 length)
{
	u32 set = set_of(slot), i;
	struct place p = { slot > length ? slot - length : 0, slot + n };
	struct place *old = NULL;

	for (i = 1; i <= STEADY_WAYS && i <= nr_places[set] && !old; i++)
		if (lists[set][nr_places[set] - i].behind == slot)
			old = &lists[set][nr_places[set] - i];
	if (old)
		p.first = old->first;
	oracle_put(set, old, p);
	steady_read_on(s, slot, n, length);
}

/* Most misses are near each other, and many side by side. */
static u32 random_slot(u32 last)
{
	if (unit_below(3))
		return last % (SLOTS - 4) + unit_below(4);
	return unit_below(4) ? unit_below(8) * 512 + unit_below(GRANULE) : unit_below(SLOTS - GRANULE);
}

static void test_places_random(void)
{
	struct steady s;
	u32 i, slot = GRANULE, want = 1, most;

	memset(&s, 0x55, sizeof(s));
	steady_init(&s);
	for (i = 0; i < ROUNDS; i++) {
		slot = unit_below(4) ? random_slot(slot + want) : slot - want - unit_below(3) * unit_below(6);
		if (slot < GRANULE || slot >= SLOTS)
			slot = GRANULE + unit_below(GRANULE);
		most = GRANULE - slot % GRANULE;
		want = unit_below(3) ? 1 : 1 + unit_below(most < 8 ? most : 8);
		check_miss(&s, slot, want);
		if (!unit_below(4))
			check_read(&s, slot, want);
		if (!unit_below(8))
			check_read_on(&s, slot + want, 1 + unit_below(8), 1 + unit_below(GRANULE));
	}
}

/* A steady reader is known among so many others who come to granules of his set. */
static void test_among_others(void)
{
	struct steady s;
	u32 slot = 1000 * GRANULE, i, k;

	steady_init(&s);
	CHECK_EQ(steady_miss(&s, slot, 1).length, 0);
	for (i = 1; i < GRANULE; i++) {
		for (k = 1; k < STEADY_WAYS; k++)
			CHECK_EQ(steady_miss(&s, slot + k * GRANULE * 8 * STEADY_SETS + 2 * i % GRANULE * 3 % 61,
					     1).down, false);
		CHECK_EQ(steady_miss(&s, slot + i, 1).length, i);
	}
}

/* So is one who goes down by blocks, each from its lowest slot on, as soon as he has had one. */
static void test_blocks_down(void)
{
	struct steady s;
	struct steady_step step;
	u32 slot = 1000 * GRANULE + 48, i;

	steady_init(&s);
	for (i = 0; i < 8; i++)
		CHECK_EQ(steady_miss(&s, slot + i, 1).down, false);
	for (; slot % GRANULE; slot -= 8) {
		step = steady_miss(&s, slot - 8, 1);
		CHECK(step.down);
		CHECK_EQ(step.between, 7);
		CHECK_EQ(step.length, 1000 * GRANULE + 56 - slot);
		CHECK_EQ(steady_step_class(step), STEADY_BLOCKS);
	}
	/* Who has had fewer may be anybody. */
	slot += 3 * 8 * GRANULE * STEADY_SETS;
	steady_miss(&s, slot + 20, 7);
	CHECK_EQ(steady_miss(&s, slot + 12, 1).length, 0);
}

static void test_classes(void)
{
	static const u32 classes[][2] = {
		{ 1, 1 }, { 2, 2 }, { 3, 2 }, { 4, 3 }, { 7, 3 }, { 8, 4 }, { 15, 4 }, { 16, 5 }, { 100000, 5 },
	};
	u32 i;

	for (i = 0; i < UNIT_COUNT(classes); i++)
		CHECK_EQ(steady_class(classes[i][0]), classes[i][1]);
}

/* Reads ahead of one of @class once; returns how many pages, of which he uses @used. */
static u32 read_ahead(struct steady *s, u32 class, u32 used)
{
	u32 n = steady_ahead(s, class), i;

	for (i = 0; i < n; i++)
		steady_spend(s, class);
	for (i = 0; i < n && i < used; i++)
		steady_earn(s, class);
	return n;
}

/* Who uses nothing costs his credit and no more; one of another class does not pay for him. */
static void test_waste_is_bounded(void)
{
	struct steady s;
	u32 i, class, n, all, least;

	for (class = 1; class <= STEADY_CLASSES; class++) {
		steady_init(&s);
		for (all = 0, i = 0; (n = read_ahead(&s, class, 0)); i++)
			all += least = n;
		CHECK_EQ(least, STEADY_AHEAD_MIN);
		CHECK(all > 0 && all <= STEADY_CREDIT_FIRST);
		CHECK(i > 1);
		CHECK(read_ahead(&s, class % STEADY_CLASSES + 1, 0) > 1);
		/* What the tries earn. */
		for (all = 0, i = 0; i < 1000 * STEADY_TRIES; i++)
			all += read_ahead(&s, class, 0);
		CHECK(all > 0 && all <= 1000 + STEADY_CREDIT_FIRST);
	}
}

/* Who uses all soon has the most, however little there was. */
static void test_use_pays(void)
{
	struct steady s;
	u32 i, n;

	steady_init(&s);
	while (read_ahead(&s, 2, 0))
		;
	for (i = 0; i < 4 * STEADY_AHEAD_MIN * STEADY_TRIES; i++)
		read_ahead(&s, 2, ~0u);
	CHECK_EQ(read_ahead(&s, 2, ~0u), STEADY_CREDIT_MAX / 2);
	/* So he has if half is used; less does not do. */
	for (i = 0; i < 1000; i++) {
		n = steady_ahead(&s, 2);
		CHECK_EQ(read_ahead(&s, 2, (n + 1) / 2), STEADY_CREDIT_MAX / 2);
	}
	for (i = 0; i < 100; i++)
		n = read_ahead(&s, 2, steady_ahead(&s, 2) * 2 / 5);
	CHECK(n < STEADY_CREDIT_MAX / 8);
}

/* What is nobody's costs nobody. */
static void test_none(void)
{
	struct steady s, before;

	memset(&s, 0x55, sizeof(s));
	memset(&before, 0xaa, sizeof(before));
	steady_init(&s);
	steady_init(&before);
	CHECK(!memcmp(&s, &before, sizeof(s)));
	steady_spend(&s, STEADY_NONE);
	steady_earn(&s, STEADY_NONE);
	CHECK(!memcmp(&s, &before, sizeof(s)));
}

/* As many as are told apart share nothing, whatever the number of the first; the root with nobody. */
static void test_payers(void)
{
	bool taken[STEADY_ACCOUNTS] = { [STEADY_NONE] = true };
	u32 i, class, account;

	for (i = 0; i < STEADY_PAYERS; i++) {
		for (class = 1; class <= STEADY_CLASSES; class++) {
			account = steady_account(pure_one_of(i ? 1000 + i : 0, STEADY_OTHERS), class);
			CHECK(account < STEADY_ACCOUNTS);
			CHECK(!taken[account]);
			taken[account] = true;
		}
	}
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_places_random),
		UNIT_CASE(test_among_others),
		UNIT_CASE(test_blocks_down),
		UNIT_CASE(test_classes),
		UNIT_CASE(test_waste_is_bounded),
		UNIT_CASE(test_use_pays),
		UNIT_CASE(test_none),
		UNIT_CASE(test_payers),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
