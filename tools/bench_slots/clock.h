/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time stamps: the cycle counter on x86, else the monotonic clock. The counter of
 * some CPUs advances in steps of 10 ns and more; clock_step_ns() tells.
 */
#ifndef BENCH_SLOTS_CLOCK_H
#define BENCH_SLOTS_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + ts.tv_nsec;
}

#ifdef __x86_64__
/* Fenced on both sides: what was begun before is done, what comes after has not begun. */
static inline uint64_t clock_stamp(void)
{
	uint32_t lo, hi;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}
#else
static inline uint64_t clock_stamp(void)
{
	return clock_monotonic_ns();
}
#endif

/* To be called first; takes 50 ms. */
void clock_calibrate(void);

double clock_ns(uint64_t stamps);

/* The smallest difference two stamps can show. */
double clock_step_ns(void);

/* What lies between two stamps taken one right after the other: the mean. */
double clock_overhead_ns(void);

#endif
