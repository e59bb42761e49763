// SPDX-License-Identifier: GPL-2.0-only
#include "scan.h"
#include "trace.h"

#define HEADER	"time,op,offset,size"
#define SECTOR	512

static enum parsed bad(const char **why, const char *text)
{
	*why = text;
	return PARSED_BAD;
}

static bool scan_what(const char **at, enum trace_what *what)
{
	static const char letters[] = "RWD";
	const char *found = **at ? strchr(letters, **at) : NULL;

	if (!found)
		return false;
	++*at;
	*what = (enum trace_what)(found - letters);
	return true;
}

enum parsed parse_csv(const char *line, bool first, struct trace_op *op, const char **why)
{
	u64 offset, size;

	if (first && !strcmp(line, HEADER))
		return PARSED_NOTHING;
	if (!scan_time(&line, &op->ns))
		return bad(why, "time must be seconds with at most nine decimals");
	if (!scan_char(&line, ','))
		return bad(why, "no comma after the time");
	if (!scan_what(&line, &op->what))
		return bad(why, "op must be R, W or D");
	if (!scan_char(&line, ','))
		return bad(why, "no comma after op");
	if (!scan_number(&line, TRACE_BYTES_END, &offset) || offset % SECTOR)
		return bad(why, "offset must be bytes, a multiple of 512, at most 2^62");
	if (!scan_char(&line, ','))
		return bad(why, "no comma after offset");
	if (!scan_number(&line, TRACE_BYTES_END, &size) || size % SECTOR || !size)
		return bad(why, "size must be bytes, a multiple of 512, from 512 to 2^62");
	if (*line)
		return bad(why, "something follows the size");
	if (offset + size > TRACE_BYTES_END)
		return bad(why, "the I/O goes past 2^62 bytes");
	op->sector = offset / SECTOR;
	op->sectors = size / SECTOR;
	return PARSED_OP;
}
