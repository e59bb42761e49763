// SPDX-License-Identifier: GPL-2.0-only
/* Who goes through his pages in order is known, and so is what he leaves out. */
#include "order.h"
#include "unit.h"

#define GRANULE		64
#define GRANULES	1000

/* A reader of one page in about @every, up or down, through all granules: how many steps are proven? */
static u32 read_in_order(struct order *o, u32 every, bool down)
{
	u32 end = GRANULES * GRANULE, last = 0, at, slot, proven = 0;
	struct order_gap gap;

	for (at = unit_below(every); at < end; at += 1 + unit_below(2 * every - 1)) {
		slot = down ? end - 1 - at : at;
		gap = order_next(o, slot);
		if (gap.n) {
			CHECK_EQ(gap.first, (down ? slot : last) + 1);
			CHECK_EQ(gap.first + gap.n, down ? last : slot);
			CHECK_EQ(slot / GRANULE, last / GRANULE);
			proven++;
		}
		last = slot;
	}
	return proven;
}

static void test_in_order(void)
{
	struct order o;
	u32 every, down;

	for (every = 2; every <= 8; every++)
		for (down = 0; down < 2; down++) {
			memset(&o, 0x55, sizeof(o));
			order_init(&o);
			CHECK(read_in_order(&o, every, down) > GRANULES * GRANULE / every / 3);
		}
}

/* It takes ORDER_STEPS, one in a granule or more, and one back undoes them. */
static void test_steps(void)
{
	struct order o;
	u32 round, i, slot = GRANULE;

	order_init(&o);
	for (round = 0; round < 10; round++) {
		for (i = 1; i <= ORDER_STEPS; i++) {
			slot += GRANULE;
			CHECK_EQ(order_next(&o, slot + 5).n, 0);
			CHECK_EQ(order_next(&o, slot + 7).n, i == ORDER_STEPS);
		}
		CHECK_EQ(order_next(&o, slot + 3).n, 0);
	}
}

/* The same page again is no step, nor is one of another granule. */
static void test_no_steps(void)
{
	struct order o;
	u32 i;

	order_init(&o);
	for (i = 0; i < 2 * ORDER_STEPS; i++) {
		CHECK_EQ(order_next(&o, 7).n, 0);
		CHECK_EQ(order_next(&o, 7).n, 0);
		CHECK_EQ(order_next(&o, GRANULE + 7).n, 0);
	}
	CHECK_EQ(order_next(&o, GRANULE + 9).n, 0);
}

/* Nobody who reads at random goes in order, in however few granules. */
static void test_random(void)
{
	struct order o;
	u32 granules, i;

	for (granules = 1; granules <= 8; granules++) {
		order_init(&o);
		for (i = 0; i < 100000; i++)
			CHECK_EQ(order_next(&o, unit_below(granules * GRANULE)).n, 0);
	}
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_in_order),
		UNIT_CASE(test_steps),
		UNIT_CASE(test_no_steps),
		UNIT_CASE(test_random),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
