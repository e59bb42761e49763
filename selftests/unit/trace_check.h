/* SPDX-License-Identifier: GPL-2.0-only */
/* What the fuzz targets of the trace parsers share. */
#ifndef SELFTESTS_TRACE_CHECK_H
#define SELFTESTS_TRACE_CHECK_H

#include "trace.h"

static inline void expect(bool ok)
{
	if (!ok)
		__builtin_trap();
}

/* @line has room for @n bytes and an end. */
static inline void text_of(char *line, const u8 *data, size_t n)
{
	memcpy(line, data, n);
	line[n] = 0;
}

/* What every parser promises. */
static inline void expect_sound(enum parsed parsed, const struct trace_op *op, const char *why)
{
	if (parsed == PARSED_BAD)
		expect(why && *why);
	else
		expect(!why);
	if (parsed == PARSED_OP)
		expect(op->sectors && (u32)op->what <= TRACE_DISCARD &&
		       op->sector + op->sectors <= TRACE_BYTES_END / 512);
}

#endif
