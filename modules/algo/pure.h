/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one header from elsewhere that algo/ may include: fixed-width types and bit
 * operations, for the kernel and for user space alike.
 */
#ifndef ALGO_PURE_H
#define ALGO_PURE_H

#ifdef __KERNEL__
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/types.h>
#define pure_div64(a, b) div_u64(a, b)
#define pure_popcount64(w) hweight64(w)
/* Between the steps of what is set up once and may be large: process context, may sleep. */
#define pure_relax() cond_resched()
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#define noinline __attribute_noinline__
#define pure_div64(a, b) ((u64)(a) / (u32)(b))
#define pure_relax() ((void)0)
/* A load beside a store, by these, sees what was there before it or after it. */
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value) __atomic_store_n(&(x), value, __ATOMIC_RELAXED)
/* Number of set bits. */
#define pure_popcount64(w) ((u32)__builtin_popcountll(w))
#endif

/* Index of the lowest set bit; @w must not be 0. */
static inline u32 pure_ctz64(u64 w)
{
	return (u32)__builtin_ctzll(w);
}

/* Index of the highest set bit; @w must not be 0. */
static inline u32 pure_fls64(u64 w)
{
	return 63u - (u32)__builtin_clzll(w);
}

static inline u32 pure_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

static inline u32 pure_max(u32 a, u32 b)
{
	return a > b ? a : b;
}

/* One of @others, from 1 on, for @number; 0 for 0. As many numbers in a row share none. */
static inline u32 pure_one_of(u32 number, u32 others)
{
	return number ? 1 + number % others : 0;
}

#endif
