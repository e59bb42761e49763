// SPDX-License-Identifier: GPL-2.0-only
#include "trace.h"

#define NEVER	0x7fffffffffffffffull
#define SECTOR	512

static u64 little_endian(const u8 *from, u32 bytes)
{
	u64 value = 0;

	while (bytes--)
		value = value << 8 | from[bytes];
	return value;
}

static enum parsed bad(const char **why, const char *text)
{
	*why = text;
	return PARSED_BAD;
}

enum parsed parse_oracle(const u8 record[ORACLE_RECORD], u32 unit, struct trace_op *op,
			 const char **why)
{
	u64 object = little_endian(record + 4, 8), bytes = little_endian(record + 12, 4);
	u64 next = little_endian(record + 16, 8), start;

	/* Nothing but -1 is negative: a file of another format hardly passes. */
	if (next > NEVER && next != (u64)-1)
		return bad(why, "the next request must be its number, or -1");
	if (!bytes)
		return bad(why, "an object must have at least a byte");
	if (object > (TRACE_BYTES_END - bytes - SECTOR) / unit)
		return bad(why, "the object goes past 2^62 bytes");
	start = object * unit;
	op->ns = little_endian(record, 4) * 1000000000;
	op->what = TRACE_READ;
	op->sector = start / SECTOR;
	op->sectors = (start % SECTOR + bytes + SECTOR - 1) / SECTOR;
	return PARSED_OP;
}
