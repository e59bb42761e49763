/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What kernel code takes for granted: types, attributes, errors in pointers, arithmetic,
 * bits, and what it says to the log.
 */
#ifndef INTERLEAVE_BASE_H
#define INTERLEAVE_BASE_H

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define __bitwise
#define __percpu
#define __init
#define __exit
#define ____cacheline_aligned_in_smp	__attribute__((aligned(64)))
#define noinline			__attribute__((noinline))
#define fallthrough			__attribute__((fallthrough))
#define likely(x)			(x)
#define unlikely(x)			(x)

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef int32_t s32;
typedef unsigned long long __bitwise u64;
typedef long long __bitwise s64;
typedef u64 __bitwise sector_t;
typedef u64 __bitwise ktime_t;
typedef unsigned int __bitwise gfp_t;
typedef unsigned int __bitwise fmode_t;

#define U32_MAX		((u32)-1)
#define U64_MAX		((u64)-1)

#define PAGE_SHIFT	12
#define PAGE_SIZE	4096ul
#define SECTOR_SHIFT	9
#define SECTOR_SIZE	512
#define PAGE_SECTORS	(PAGE_SIZE >> SECTOR_SHIFT)
#define offset_in_page(at)	((unsigned long)(at) & (PAGE_SIZE - 1))

#define container_of(ptr, type, member) ({				\
	typeof(&((type *)0)->member) member_ = (ptr);			\
									\
	(type *)((char *)member_ - offsetof(type, member)); })
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define static_assert		_Static_assert

/* --- errors in pointers --- */

#define ERRNO_MAX		4095
#define IS_ERR(ptr)		((unsigned long)(ptr) >= -(unsigned long)ERRNO_MAX)
#define PTR_ERR(ptr)		((long)(ptr))
#define IS_ERR_OR_NULL(ptr)	(!(ptr) || IS_ERR(ptr))
#define ERR_PTR(err)		((void *)(long)(err))
#define ERR_CAST(ptr)		((void *)(ptr))
#define PTR_ERR_OR_ZERO(ptr)	(IS_ERR(ptr) ? PTR_ERR(ptr) : 0)

/* --- arithmetic --- */

#define min(a, b) ({ typeof(a) a_ = (a); typeof(b) b_ = (b); a_ < b_ ? a_ : b_; })
#define max(a, b) ({ typeof(a) a_ = (a); typeof(b) b_ = (b); a_ > b_ ? a_ : b_; })
#define min_t(type, a, b) ({ type ta_ = (a), tb_ = (b); ta_ < tb_ ? ta_ : tb_; })
#define max_t(type, a, b) ({ type ta_ = (a), tb_ = (b); ta_ > tb_ ? ta_ : tb_; })
#define min3(a, b, c)			min(min(a, b), c)
#define clamp_t(type, x, low, high)	min_t(type, max_t(type, x, low), high)
#define DIV_ROUND_UP(n, d)		(((n) + (d) - 1) / (d))
#define rounddown(n, step)		((n) - (n) % (step))
#define round_up(n, power)		(((n) + (power) - 1) & ~((typeof(n))(power) - 1))
#define array_size(n, size)		((size_t)(n) * (size))
#define div_u64(n, d)			((u64)(n) / (u32)(d))

/* --- bits --- */

#define BITS_PER_LONG		64
#define GENMASK_ULL(high, low)	(~0ull >> (63 - (high)) & ~0ull << (low))
#define __ffs64(word)		((u32)__builtin_ctzll(word))
#define fls64(word)		((word) ? 64 - __builtin_clzll(word) : 0)
#define hweight64(word)		((u32)__builtin_popcountll(word))
#define ilog2(n)		(63 - __builtin_clzll(n))
#define order_base_2(n)		((n) > 1 ? ilog2((n) - 1) + 1 : 0)

#define DECLARE_BITMAP(name, bits) \
	unsigned long name[DIV_ROUND_UP(bits, BITS_PER_LONG)]

static inline void bitmap_zero(unsigned long *map, u32 bits)
{
	memset(map, 0, DIV_ROUND_UP(bits, BITS_PER_LONG) * sizeof(*map));
}

static inline void __set_bit(u32 bit, unsigned long *map)
{
	map[bit / BITS_PER_LONG] |= 1ul << (bit % BITS_PER_LONG);
}

static inline bool test_bit(u32 bit, const unsigned long *map)
{
	return map[bit / BITS_PER_LONG] >> (bit % BITS_PER_LONG) & 1;
}

static inline u32 bitmap_weight(const unsigned long *map, u32 bits)
{
	u32 i, n = 0;

	for (i = 0; i < bits; i++)
		n += test_bit(i, map);
	return n;
}

static inline u32 hash_64(u64 value, u32 bits)
{
	return (value * 0x61c8864680b583ebull) >> (64 - bits);
}

static inline u32 hash_32(u32 value, u32 bits)
{
	return (value * 0x61c88647u) >> (32 - bits);
}

/* --- the log: shown with INTERLEAVE_LOG=1 --- */

void sim_log(const char *format, ...);

#ifndef pr_fmt
#define pr_fmt(format) format
#endif
#define pr_err(format, ...)			sim_log(pr_fmt(format), ##__VA_ARGS__)
#define pr_err_ratelimited(format, ...)		sim_log(pr_fmt(format), ##__VA_ARGS__)
#define pr_warn(format, ...)			sim_log(pr_fmt(format), ##__VA_ARGS__)
#define pr_warn_ratelimited(format, ...)	sim_log(pr_fmt(format), ##__VA_ARGS__)
#define pr_info_ratelimited(format, ...)	sim_log(pr_fmt(format), ##__VA_ARGS__)
#define pr_info(format, ...)			sim_log(pr_fmt(format), ##__VA_ARGS__)

/* A warning of the code under test is a failure of the test. */
_Noreturn void sim_fail_at(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#define sim_fail(...)		sim_fail_at(__FILE__, __LINE__, __VA_ARGS__)
#define WARN_ON_ONCE(cond) ({						\
	bool warn_ = (cond);						\
									\
	if (warn_)							\
		sim_fail("WARN_ON_ONCE(%s)", #cond);			\
	warn_; })
#define SIM_CHECK(cond) do {						\
	if (!(cond))							\
		sim_fail("failed: %s", #cond);				\
} while (0)

/* --- modules --- */

#define THIS_MODULE		NULL
/* What the module does when it is loaded and unloaded, for the test to call. */
#define module_init(fn)		int sim_module_init(void) __attribute__((alias(#fn)))
#define module_exit(fn)		void sim_module_exit(void) __attribute__((alias(#fn)))

int sim_module_init(void);
void sim_module_exit(void);

/* --- tracepoints: never on --- */

#define TP_PROTO(...)		__VA_ARGS__
#define TP_ARGS(...)
#define TRACE_EVENT(name, proto, ...)					\
	static inline void trace_##name(proto) { }			\
	static inline bool trace_##name##_enabled(void) { return false; }
#define DECLARE_EVENT_CLASS(...)
#define DEFINE_EVENT(class, name, proto, ...)				\
	struct trace_class_##class;					\
	static inline void trace_##name(proto) { }

#endif
