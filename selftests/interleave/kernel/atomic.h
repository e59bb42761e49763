/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looks without a lock, and atomic operations. The scheduler may switch before each.
 * All tasks see all stores in one order: what a CPU may reorder is not tested here.
 */
#ifndef INTERLEAVE_ATOMIC_H
#define INTERLEAVE_ATOMIC_H

#include "base.h"
#include "sim.h"

#define READ_ONCE(x) ({							\
	sim_site();							\
	sim_point(SIM_LOOK);						\
	*(const volatile typeof(x) *)&(x); })
#define WRITE_ONCE(x, value) do {					\
	typeof(x) new_once_ = (value);					\
									\
	sim_site();							\
	sim_point(SIM_LOOK);						\
	*(volatile typeof(x) *)&(x) = new_once_;			\
} while (0)
#define smp_load_acquire(ptr)		READ_ONCE(*(ptr))		/* in order as it is */
#define smp_store_release(ptr, value)	WRITE_ONCE(*(ptr), value)	/* likewise, */
#define smp_store_mb(var, value)		WRITE_ONCE(var, value)		/* likewise, */
#define smp_mb()			sim_point(SIM_LOOK)		/* but others may run */
#define smp_rmb()			sim_point(SIM_LOOK)		/* likewise */
#define smp_mb__before_atomic()		sim_point(SIM_LOOK)		/* likewise */
#define smp_mb__after_atomic()		sim_point(SIM_LOOK)		/* likewise */

#define xchg(ptr, value) ({						\
	typeof(ptr) at_x_ = (ptr);					\
	typeof(*at_x_) new_x_ = (value), old_x_;			\
									\
	sim_point(SIM_ATOMIC);						\
	old_x_ = *at_x_;						\
	*at_x_ = new_x_;						\
	old_x_; })

/* @old becomes what was found if that is something else. */
#define try_cmpxchg(ptr, old, value) ({					\
	typeof(ptr) at_c_ = (ptr);					\
	typeof(*at_c_) new_c_ = (value), found_c_;			\
	bool same_c_;							\
									\
	sim_point(SIM_ATOMIC);						\
	found_c_ = *at_c_;						\
	same_c_ = found_c_ == *(old);					\
	if (same_c_)							\
		*at_c_ = new_c_;					\
	else								\
		*(old) = found_c_;					\
	same_c_; })

/* What was found. */
#define cmpxchg(ptr, old, value) ({					\
	typeof(*(ptr)) found_x_ = (old);				\
									\
	try_cmpxchg(ptr, &found_x_, value);				\
	found_x_; })

struct sim_atomic {
	int value;
};

struct sim_atomic64 {
	s64 value;
};

#define atomic_t	struct sim_atomic
#define atomic64_t	struct sim_atomic64

#define atomic_set(a, n)		WRITE_ONCE((a)->value, n)
#define atomic_read(a)			READ_ONCE((a)->value)
#define atomic64_set(a, n)		atomic_set(a, n)
#define atomic64_read(a)		atomic_read(a)
#define atomic64_read_acquire(a)	atomic_read(a)
#define atomic64_try_cmpxchg(a, old, n)	try_cmpxchg(&(a)->value, old, n)

static inline int atomic_add_return(int n, atomic_t *a)
{
	sim_point(SIM_ATOMIC);
	return a->value += n;
}

static inline s64 atomic64_add_return(s64 n, atomic64_t *a)
{
	sim_point(SIM_ATOMIC);
	return a->value += n;
}

#define sim_at_site(value)	({ sim_site(); value; })
#define atomic_add(n, a)	sim_at_site((void)atomic_add_return(n, a))
#define atomic_sub(n, a)	sim_at_site((void)atomic_add_return(-(int)(n), a))
#define atomic_inc(a)		sim_at_site((void)atomic_add_return(1, a))
#define atomic_dec(a)		sim_at_site((void)atomic_add_return(-1, a))
#define atomic_dec_and_test(a)	sim_at_site(!atomic_add_return(-1, a))
#define atomic64_add(n, a)	sim_at_site((void)atomic64_add_return(n, a))
#define atomic64_sub(n, a)	sim_at_site((void)atomic64_add_return(-(s64)(n), a))

#endif
