// SPDX-License-Identifier: GPL-2.0-only
/* When reading ahead goes off and on. */
#include "unit.h"
#include "toggle.h"

static void measure(struct toggle *t, u64 latency, u64 cost)
{
	u32 i;

	for (i = 0; i < 200; i++) {
		toggle_latency(t, latency);
		toggle_cost(t, cost);
	}
}

static void test_slow_device_stays_on(void)
{
	struct toggle t;
	u32 i;

	toggle_init(&t);
	measure(&t, 5000000, 3000);
	for (i = 0; i < 100; i++) {
		toggle_fates(&t, 20, 80);
		CHECK(toggle_decide(&t));
	}
}

static void test_fast_device_goes_off(void)
{
	struct toggle t;

	toggle_init(&t);
	measure(&t, 2000, 3000);
	toggle_fates(&t, 100, 0);
	CHECK(!toggle_decide(&t));
}

static void test_useless_goes_off(void)
{
	struct toggle t;

	toggle_init(&t);
	measure(&t, 100000, 5000);
	toggle_fates(&t, 0, 100);
	CHECK(!toggle_decide(&t));
}

/* With too few to judge by, or nothing measured, nothing changes. */
static void test_waits_for_samples(void)
{
	struct toggle t;

	toggle_init(&t);
	toggle_fates(&t, 0, 1000);
	CHECK(toggle_decide(&t));
	toggle_cost(&t, 3000);
	toggle_fates(&t, 0, 1000);
	CHECK(toggle_decide(&t));
	toggle_init(&t);
	measure(&t, 2000, 3000);
	toggle_fates(&t, TOGGLE_SAMPLES - 1, 0);
	toggle_fates(&t, 1, 0);
	CHECK(!toggle_decide(&t));
	toggle_init(&t);
	measure(&t, 2000, 3000);
	toggle_fates(&t, 0, TOGGLE_SAMPLES - 1);
	CHECK(toggle_decide(&t));
	toggle_fates(&t, 0, 1);
	CHECK(!toggle_decide(&t));
}

/* Off at less than even only; what is saved and spent may be more than 32 bits hold. */
static void test_even(void)
{
	struct toggle t;

	toggle_init(&t);
	measure(&t, 3000, 3000);
	toggle_fates(&t, 90, 0);
	toggle_fates(&t, 10, 0);
	CHECK(toggle_decide(&t));
	toggle_fates(&t, 99, 0);
	toggle_fates(&t, 0, 1);
	CHECK(!toggle_decide(&t));
	toggle_init(&t);
	measure(&t, 100000000, 1000000);
	toggle_fates(&t, 43, 57);
	CHECK(toggle_decide(&t));
}

/* Waste that comes by itself is set off against what was used before: half of that each time. */
static void test_late_waste(void)
{
	struct toggle t;
	u32 periods;

	toggle_init(&t);
	measure(&t, 100000, 1000);
	toggle_fates(&t, 100, 0);
	CHECK(toggle_decide(&t));
	for (periods = 0; periods < 100; periods++) {
		toggle_fates(&t, 0, TOGGLE_SAMPLES - 1);
		CHECK(toggle_decide(&t));
		toggle_fates(&t, 0, 1000);
		if (!toggle_decide(&t))
			break;
	}
	/* 50 and 25 of 1,016 and 1,524 pay with 100 times their cost; 12 of 1,778 do not. */
	CHECK_EQ(periods, 2);
}

/* Periods off until the next trial, all of whose prefetches are wasted. */
static u32 off_for(struct toggle *t)
{
	u32 periods = 1;

	do {
		toggle_fates(t, 0, 100);
	} while (toggle_decide(t));
	while (!toggle_decide(t))
		periods++;
	return periods;
}

static void test_trials_get_rare(void)
{
	struct toggle t;
	u32 last, now, i;

	toggle_init(&t);
	measure(&t, 100000, 5000);
	last = off_for(&t);
	CHECK_EQ(last, 2 * TOGGLE_TRIAL_FIRST);
	for (i = 0; i < 12; i++) {
		now = off_for(&t);
		CHECK_EQ(now, last * 2 < TOGGLE_TRIAL_MOST ? last * 2 : TOGGLE_TRIAL_MOST);
		last = now;
	}
	toggle_fates(&t, 90, 10);
	CHECK(toggle_decide(&t));
	CHECK_EQ(off_for(&t), 2 * TOGGLE_TRIAL_FIRST);
	/* Less than twice the cost is enough to stay on, not to forget the trials that failed. */
	measure(&t, 100000, 50000);
	toggle_fates(&t, 75, 25);
	CHECK(toggle_decide(&t));
	CHECK_EQ(off_for(&t), 4 * TOGGLE_TRIAL_FIRST);
}

/* What met its fate before a trial says nothing of it. */
static void test_trial_begins_anew(void)
{
	struct toggle t;

	toggle_init(&t);
	measure(&t, 100000, 5000);
	toggle_fates(&t, 0, 100);
	CHECK(!toggle_decide(&t));
	toggle_fates(&t, 0, 1000);
	while (!toggle_decide(&t))
		;
	toggle_fates(&t, 20, 0);
	CHECK(toggle_decide(&t));
	toggle_fates(&t, 0, 300);
	CHECK(!toggle_decide(&t));
	toggle_fates(&t, 1000, 0);
	while (!toggle_decide(&t))
		;
	toggle_fates(&t, 0, 100);
	CHECK(!toggle_decide(&t));
}

static void test_means(void)
{
	struct toggle t;

	toggle_init(&t);
	toggle_latency(&t, 0);
	CHECK_EQ(t.latency, 1);
	toggle_latency(&t, ~0ull);
	CHECK(t.latency <= 1u << 30);
	toggle_init(&t);
	toggle_latency(&t, 1ull << 32);
	CHECK_EQ(t.latency, 1u << 30);
	toggle_init(&t);
	toggle_latency(&t, 80000);
	CHECK_EQ(t.latency, 80000);
	measure(&t, 80000, 10);
	CHECK(t.latency > 70000 && t.latency <= 100000);
}

/* The mean when @of_1000 reads are held back for so long, and all others take 100 us. */
static u32 mean_beside_limit(u32 of_1000, u64 held)
{
	struct toggle t;
	u64 sum = 0;
	u32 i;

	toggle_init(&t);
	for (i = 0; i < 100000; i++) {
		toggle_latency(&t, unit_below(1000) < of_1000 ? held : 100000);
		sum += t.latency;
	}
	return sum / 100000;
}

static void test_outliers(void)
{
	struct toggle t;
	u32 i;

	CHECK(mean_beside_limit(30, 60000000) < 200000);
	CHECK(mean_beside_limit(10, 250000000) < 200000);
	/* What an eighth or more tell is so. */
	CHECK(mean_beside_limit(200, 8000000) > 1000000);
	toggle_init(&t);
	measure(&t, 100000, 1000);
	for (i = 0; i < 16; i++)
		toggle_latency(&t, 5000000);
	CHECK(t.latency > 1000000);
}

int main(void)
{
	static const struct unit_case cases[] = {
		UNIT_CASE(test_slow_device_stays_on),
		UNIT_CASE(test_fast_device_goes_off),
		UNIT_CASE(test_useless_goes_off),
		UNIT_CASE(test_waits_for_samples),
		UNIT_CASE(test_even),
		UNIT_CASE(test_late_waste),
		UNIT_CASE(test_trials_get_rare),
		UNIT_CASE(test_trial_begins_anew),
		UNIT_CASE(test_means),
		UNIT_CASE(test_outliers),
	};

	return unit_run(cases, UNIT_COUNT(cases));
}
