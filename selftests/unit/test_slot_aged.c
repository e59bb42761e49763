// SPDX-License-Identifier: GPL-2.0-only
/* What a slot tree still gives when it has been in use for long. */
#include "../../tools/sim/aged/aged.h"
#include "unit.h"

static void check_aged(u32 full, u32 times, bool both, double write, double read)
{
	struct aged_found found;

	CHECK(aged_run(&found, AGED_SLOTS, full, times, both));
	CHECK(found.write >= write);
	CHECK(found.read >= read);
}

/* As long as pairs last, they are taken. */
static void test_pairs_while_they_last(void)
{
	check_aged(50, 1, false, 3.4, 32);
	check_aged(75, 1, false, 2.4, 12);
	check_aged(75, 12, false, 2.4, 10.5);
	check_aged(80, 1, false, 2.1, 7.6);
}

/* To take nothing but pairs would come to 1.07 slots a write at 80 %, and 12 a read; 1.03 and 9 at 90 %. */
static void test_worn_words_are_filled_whole(void)
{
	check_aged(80, 12, false, 1.55, 19.5);
	check_aged(85, 12, false, 1.35, 15.5);
	check_aged(90, 12, false, 1.18, 12);
	check_aged(95, 12, false, 1.05, 6.2);
}

/* A small shard, and a large one, comes to that as others do. With pairs only: 1.07 and 12. */
static void test_words_wear_in_each_size(void)
{
	struct aged_found found;

	for (u32 mib = 64; mib <= 4096; mib *= 4) {
		CHECK(aged_run(&found, mib << 8, 80, 12, false));
		CHECK(found.write >= 1.45);
		CHECK(found.read >= 19.5);
	}
}

/* If one took the rest of another's word, or left his own half full, each would have a few slots in a granule. */
static void test_two_writers_stay_apart(void)
{
	check_aged(50, 1, true, 3.4, 32);
	check_aged(75, 1, true, 2.4, 11.5);
	check_aged(80, 12, true, 1.55, 19.5);
	check_aged(90, 12, true, 1.18, 12);
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_pairs_while_they_last),
		UNIT_CASE(test_worn_words_are_filled_whole),
		UNIT_CASE(test_words_wear_in_each_size),
		UNIT_CASE(test_two_writers_stay_apart),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
