/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Harness of the unit tests: seeded random numbers, a CHECK that says where,
 * with which seed and with which values, and KTAP output.
 *
 *	static void test_this(void) { ... CHECK_EQ(f(1), 2); ... }
 *	int main(void)
 *	{
 *		static const struct unit_case cases[] = { UNIT_CASE(test_this) };
 *
 *		return unit_run(cases, UNIT_COUNT(cases));
 *	}
 *
 * A failed check ends its case; the next case runs. Every case starts from the
 * same seed: UNIT_SEED in the environment, 1 without it. A case that goes over
 * many seeds calls unit_reseed() for each, with seeds counted from unit_seed.
 */
#ifndef SELFTESTS_UNIT_H
#define SELFTESTS_UNIT_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct unit_case {
	const char *name;
	void (*run)(void);
};

#define UNIT_CASE(fn) { #fn, fn }
#define UNIT_COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t unit_seed = 1;		/* the seed in force */
static uint64_t unit_random_state = 1;
static jmp_buf unit_failed;

static inline void unit_reseed(uint64_t seed)
{
	unit_seed = seed;
	/* Neighbouring seeds must not give neighbouring sequences; 0 is a fixed point. */
	unit_random_state = (seed + 1) * 0x9e3779b97f4a7c15ull;
	if (!unit_random_state)
		unit_random_state = 1;
}

/* xorshift64* */
static inline uint64_t unit_random(void)
{
	uint64_t x = unit_random_state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	unit_random_state = x;
	return x * 0x2545f4914f6cdd1dull;
}

/* 0 to @n - 1; @n at least 1. */
static inline uint32_t unit_below(uint32_t n)
{
	return ((unit_random() >> 32) * n) >> 32;
}

#define CHECK(cond) do {							\
	if (!(cond))								\
		unit_fail(__FILE__, __LINE__, #cond);				\
} while (0)

/* For integers; compared as 64 bits, signed values sign-extended. */
#define CHECK_EQ(got, wanted) do {						\
	uint64_t got_ = (uint64_t)(got), wanted_ = (uint64_t)(wanted);		\
										\
	if (got_ != wanted_) {							\
		printf("# %s = %" PRIu64 ", %s = %" PRIu64 "\n",		\
		       #got, got_, #wanted, wanted_);				\
		unit_fail(__FILE__, __LINE__, #got " == " #wanted);		\
	}									\
} while (0)

static inline _Noreturn void unit_fail(const char *file, int line, const char *what)
{
	printf("# %s:%d: failed: %s (UNIT_SEED=%" PRIu64 ")\n", file, line, what, unit_seed);
	longjmp(unit_failed, 1);
}

static inline bool unit_passes(const struct unit_case *c)
{
	if (setjmp(unit_failed))
		return false;
	c->run();
	return true;
}

/* Exit status: 0 if every case passed, else 1. */
static inline int unit_run(const struct unit_case *cases, size_t count)
{
	const char *env = getenv("UNIT_SEED");
	uint64_t seed = env ? strtoull(env, NULL, 0) : 1;
	size_t i, failed = 0;

	printf("KTAP version 1\n1..%zu\n", count);
	for (i = 0; i < count; i++) {
		bool ok;

		unit_reseed(seed);
		ok = unit_passes(&cases[i]);
		printf("%s %zu %s\n", ok ? "ok" : "not ok", i + 1, cases[i].name);
		fflush(stdout);
		failed += !ok;
	}
	return failed ? 1 : 0;
}

#endif
