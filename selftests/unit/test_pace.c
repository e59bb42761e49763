// SPDX-License-Identifier: GPL-2.0-only
/* A device's pace: what is learnt of devices whose times are known, and what follows. */
#include "pace.h"
#include "unit.h"

/* @times reads of a device that takes @io for an I/O and @slot for each slot after the first. */
static void reads(struct pace *p, u32 io, u32 slot, u32 times)
{
	u32 n;

	while (times--) {
		n = unit_below(2) ? 1 : PACE_LONG + unit_below(57);
		pace_learn(p, n, io + (u64)slot * (n - 1));
	}
}

static void test_unknown(void)
{
	struct pace p;

	pace_init(&p);
	CHECK_EQ(pace_gap(&p, 64), 64);
	pace_learn(&p, 1, 1000);
	CHECK_EQ(pace_gap(&p, 64), 64);
	pace_init(&p);
	pace_learn(&p, 64, 100000);
	CHECK_EQ(pace_gap(&p, 64), 64);
	CHECK_EQ(pace_gap(&p, 7), 7);
}

static void test_fast_and_slow_devices(void)
{
	static const u32 devices[][3] = {
		/* ns an I/O, ns a slot, slots that may be passed over */
		{ 7000, 1400, 5 }, { 100000, 1400, 64 }, { 5000000, 30000, 64 }, { 1000, 2000, 0 }, { 10000, 1, 64 },
	};
	struct pace p;
	u32 i;

	for (i = 0; i < UNIT_COUNT(devices); i++) {
		pace_init(&p);
		reads(&p, devices[i][0], devices[i][1], 1000);
		CHECK_EQ(p.io_ns, devices[i][0]);
		CHECK_EQ(p.slot_ns, devices[i][1]);
		CHECK_EQ(pace_pays(&p, 64), devices[i][2]);
		CHECK_EQ(pace_gap(&p, 64), devices[i][2]);
	}
}

/* Up to PACE_SHORT slots tell of an I/O; PACE_LONG and more, once that is known, of a slot. */
static void test_lengths(void)
{
	struct pace p;

	memset(&p, 0x55, sizeof(p));
	pace_init(&p);
	pace_learn(&p, PACE_LONG, 9000);
	CHECK_EQ(p.io_ns, 0);
	CHECK_EQ(p.slot_ns, 0);
	pace_learn(&p, PACE_SHORT, 1000);
	CHECK_EQ(p.io_ns, 1000);
	pace_learn(&p, PACE_SHORT + 1, 500);
	pace_learn(&p, PACE_LONG - 1, 9000);
	CHECK_EQ(p.io_ns, 1000);
	CHECK_EQ(p.slot_ns, 0);
	pace_learn(&p, PACE_LONG, 1000 + 200 * (PACE_LONG - 1));
	CHECK_EQ(p.io_ns, 1000);
	CHECK_EQ(p.slot_ns, 200);
	/* Never 0, which says that it is not known; nor what is left of a time that is too long. */
	pace_learn(&p, PACE_LONG, 500);
	CHECK(p.slot_ns >= 1 && p.slot_ns < 200);
	pace_init(&p);
	pace_learn(&p, 1, 0);
	CHECK_EQ(p.io_ns, 1);
	pace_learn(&p, PACE_LONG, 0);
	CHECK_EQ(p.slot_ns, 1);
	pace_init(&p);
	pace_learn(&p, 1, 1ull << 32);
	CHECK(p.io_ns >= 1000000000);
	pace_init(&p);
	pace_learn(&p, 1, 1000);
	/* One faster read goes far, a slower one does not. */
	pace_learn(&p, 1, 500);
	CHECK(p.io_ns <= 750);
	pace_learn(&p, 1, 100000);
	CHECK(p.io_ns <= 10000);
}

/* One read in ten waits behind others. */
static void test_waits_are_not_the_device(void)
{
	struct pace p;
	u32 i, n;

	pace_init(&p);
	for (i = 0; i < 2000; i++) {
		n = unit_below(2) ? 1 : 32;
		pace_learn(&p, n, 80000 + 1000 * (n - 1) + (unit_below(10) ? 0 : unit_below(400000)));
	}
	CHECK(p.io_ns >= 80000 && p.io_ns < 120000);
	CHECK(p.slot_ns >= 500 && p.slot_ns < 2500);
}

static void test_follows_a_device_that_changes(void)
{
	struct pace p;

	pace_init(&p);
	reads(&p, 7000, 1400, 1000);
	reads(&p, 100000, 1400, 1000);
	CHECK_EQ(pace_gap(&p, 64), 64);
	reads(&p, 7000, 1400, 1000);
	CHECK_EQ(pace_gap(&p, 64), 5);
}

static void test_probes(void)
{
	struct pace p;
	u32 i, probes = 0;

	pace_init(&p);
	reads(&p, 7000, 1400, 1000);
	for (i = 0; i < 10 * PACE_PROBE_EVERY; i++)
		probes += pace_gap(&p, 64) == 64;
	CHECK_EQ(probes, 10);
}

static void test_any_time_is_taken(void)
{
	struct pace p;
	u32 i;

	pace_init(&p);
	for (i = 0; i < 100000; i++) {
		u64 ns = unit_random() >> unit_below(64);

		pace_learn(&p, 1 + unit_below(64), ns);
		CHECK(pace_gap(&p, 64) <= 64);
	}
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_unknown),
		UNIT_CASE(test_fast_and_slow_devices),
		UNIT_CASE(test_lengths),
		UNIT_CASE(test_waits_are_not_the_device),
		UNIT_CASE(test_follows_a_device_that_changes),
		UNIT_CASE(test_probes),
		UNIT_CASE(test_any_time_is_taken),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
