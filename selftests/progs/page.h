/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages whose content tells who wrote them: every 8-byte word of a page follows from (owner, page number,
 * generation), so that a page read back shows whether it is the right page of the right owner, as it was
 * written last, in all of its 4096 bytes. The number in the environment's PAGE_RUN makes it another one than that of
 * an earlier run, which a device may still hold.
 *
 * Shared by the programs of this folder; each of them prints "verified N pages, M bad" at its end and exits
 * with 0 (all good), 1 (bad pages) or 2 (could not do its work).
 */
#ifndef SELFTESTS_PAGE_H
#define SELFTESTS_PAGE_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE_SIZE	4096UL
#define PAGE_WORDS	(PAGE_SIZE / sizeof(uint64_t))
#define PAGES_PER_MIB	(1024 * 1024 / PAGE_SIZE)
#define WORD_STEP	0x9e3779b97f4a7c15ULL

#define EXIT_BAD	1
#define EXIT_CANNOT	2

struct tally {
	unsigned long verified;	/* pages */
	unsigned long bad;	/* pages */
};

/* A bijection of 64 bits: neighbouring inputs give unrelated outputs, different inputs never the same. */
static inline uint64_t mix64(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x7fb5d329728ea185ULL;
	x ^= x >> 27;
	x *= 0x81dadef4bc2dd44dULL;
	x ^= x >> 33;
	return x;
}

static inline uint64_t page_run(void)
{
	static uint64_t run;
	static bool known;
	const char *text;

	if (!known) {
		text = getenv("PAGE_RUN");
		run = text ? mix64(strtoull(text, NULL, 10)) : 0;
		known = true;
	}
	return run;
}

static inline uint64_t page_seed(uint32_t owner, uint64_t page, uint32_t generation)
{
	return mix64((mix64(((uint64_t)owner << 32) | generation) ^ page_run()) + page);
}

/* Fills @len bytes (a multiple of 8) at @mem. */
static inline void seed_fill(void *mem, size_t len, uint64_t seed)
{
	uint64_t *word = mem;
	uint64_t value = seed;

	for (size_t i = 0; i < len / sizeof(*word); i++, value += WORD_STEP)
		word[i] = value;
}

static inline bool seed_match(const void *mem, size_t len, uint64_t seed)
{
	const uint64_t *word = mem;
	uint64_t value = seed, diff = 0;

	for (size_t i = 0; i < len / sizeof(*word); i++, value += WORD_STEP)
		diff |= word[i] ^ value;
	return !diff;
}

static inline bool all_zero(const void *mem, size_t len)
{
	const uint64_t *word = mem;
	uint64_t any = 0;

	for (size_t i = 0; i < len / sizeof(*word); i++)
		any |= word[i];
	return !any;
}

static inline void page_fill(void *mem, uint32_t owner, uint64_t page, uint32_t generation)
{
	seed_fill(mem, PAGE_SIZE, page_seed(owner, page, generation));
}

/* Counts the page at @mem in @tally and shows the first few that are not what they must be. */
static inline bool page_check(const void *mem, uint32_t owner, uint64_t page, uint32_t generation,
			      struct tally *tally)
{
	uint64_t seed = page_seed(owner, page, generation);

	tally->verified++;
	if (seed_match(mem, PAGE_SIZE, seed))
		return true;
	if (tally->bad++ < 8)
		fprintf(stderr, "bad page: owner %u page %llu generation %u: first word %016llx, want %016llx\n",
			owner, (unsigned long long)page, generation,
			(unsigned long long)*(const uint64_t *)mem, (unsigned long long)seed);
	return false;
}

static inline int tally_report(const struct tally *tally)
{
	printf("verified %lu pages, %lu bad\n", tally->verified, tally->bad);
	fflush(stdout);
	return tally->bad ? EXIT_BAD : 0;
}

static inline double seconds_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* xorshift: the state must not be 0. */
static inline uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

__attribute__((format(printf, 1, 2), noreturn))
static inline void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(EXIT_CANNOT);
}

/* A kernel that has none, as one with PREEMPT_RT, takes no advice about them. */
static inline void want_huge_pages(void *mem, size_t bytes, bool wanted)
{
	if (!madvise(mem, bytes, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE))
		return;
	if (errno != EINVAL || !access("/sys/kernel/mm/transparent_hugepage", F_OK))
		die("madvise for %s huge pages failed: %m", wanted ? "" : "no");
}

/* A decimal number between @min and @max, or the end of the program. */
static inline unsigned long number_arg(const char *text, unsigned long min, unsigned long max)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end || value < min || value > max)
		die("'%s' is not a number between %lu and %lu", text, min, max);
	return value;
}

#endif
