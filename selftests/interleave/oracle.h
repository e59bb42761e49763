/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What may be read: each place (a slot or a sector) is a register that is written and read
 * by operations that take time, and there must be an order of all of them, each at some
 * moment between its begin and its end, in which every read gives what was written last.
 *
 * Values are numbers that are never used again, but for 0, which is nothing. Times are
 * those of oracle_now().
 */
#ifndef INTERLEAVE_ORACLE_H
#define INTERLEAVE_ORACLE_H

#include "base.h"

enum oracle_outcome {
	ORACLE_DONE,		/* it was acknowledged */
	ORACLE_NOT_DONE,	/* it failed, and nobody may ever see it */
	ORACLE_EITHER,		/* it failed, and happened before that or never */
};

/* All places hold 0. */
void oracle_begin(u32 places);
void oracle_end(void);

/* The time now, which is no other call's. */
u64 oracle_now(void);
/* A number for a value of @place. */
u64 oracle_value(u32 place);
/* What has begun at that time may be under way until oracle_over(). */
void oracle_under_way(u64 begin);
void oracle_over(u64 begin);

/*
 * A write that has begun at @begin, and what became of it. @loose: who reads meanwhile may
 * find anything that the place ever held.
 */
void oracle_write(u32 place, u64 value, u64 begin, bool loose);
void oracle_written(u32 place, u64 value, u64 begin, u64 end, enum oracle_outcome outcome);
/* It gave @value, or fails. */
void oracle_read(u32 place, u64 value, u64 begin, u64 end);
/* Nothing is under way, and it holds @value from now on, whatever it was. */
void oracle_set(u32 place, u64 value);

#endif
