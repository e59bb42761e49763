/* SPDX-License-Identifier: GPL-2.0-only */
/* Traces in memory, from files or made by a generator. */
#ifndef SIM_W2R_TRACE_FILE_H
#define SIM_W2R_TRACE_FILE_H

#include "trace.h"

#define TRACE_ERROR	512

struct trace {
	struct trace_op *ops;
	size_t nr;
	size_t room;
	u64 ns;			/* of the last operation */
	u64 sectors;		/* the first that no operation touches */
};

enum trace_format { FORMAT_BY_NAME, FORMAT_CSV, FORMAT_BLKPARSE, FORMAT_ORACLE, FORMATS };

/* FORMATS: there is none of that name. */
enum trace_format trace_format_named(const char *name);

/*
 * Adds what file @path says, later than what is in @t already. A name that ends in .xz is unpacked by xz. By its
 * name, apart from that, a file is csv (.csv), blkparse (.blkparse) or oracle (.bin, .oracleGeneral); @unit is the
 * latter's bytes an object. False: @error says where and why, and what was read until then is in @t.
 */
bool trace_load(struct trace *t, const char *path, enum trace_format format, u32 unit,
		char error[TRACE_ERROR]);

/* Blocks of 2^@block_shift sectors that are read, each counted once. Ends the program without memory. */
u64 trace_footprint(const struct trace *t, u32 block_shift);

/* Ends the program when there is no memory. */
void trace_add(struct trace *t, const struct trace_op *op);
void trace_free(struct trace *t);

#endif
