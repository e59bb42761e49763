/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Block traces: what a trace says, and the parsers of its formats. A parser looks at one line or record
 * and says what is wrong with it; nothing is guessed or repaired.
 *
 * csv       time,op,offset,size: seconds with up to nine decimals; R, W or D (discard); bytes, multiples of
 *           512. The line "time,op,offset,size" may come first.
 * blkparse  the text that blkparse prints by default, of one device: what was queued (Q) counts, the other
 *           events are looked at and left out, the summary at the end ends it.
 * oracle    records of 24 bytes, little endian, as cache simulators keep them (oracleGeneral): u32 seconds, u64
 *           object, u32 bytes, i64 number of the next request for it (-1 or 2^63 - 1: none). Reads only.
 */
#ifndef SIM_W2R_TRACE_H
#define SIM_W2R_TRACE_H

#include "pure.h"

#define TRACE_BYTES_END		((u64)1 << 62)	/* no I/O goes past it */
#define ORACLE_RECORD		24

enum trace_what { TRACE_READ, TRACE_WRITE, TRACE_DISCARD };

struct trace_op {
	u64 ns;
	u64 sector;		/* of 512 bytes */
	u64 sectors;		/* at least 1 */
	enum trace_what what;
};

enum parsed {
	PARSED_OP,		/* *op was filled in */
	PARSED_NOTHING,		/* a good line that says nothing about I/O */
	PARSED_BAD,		/* *why was set */
};

/* @line without its end; @first: it is the first one of the file. */
enum parsed parse_csv(const char *line, bool first, struct trace_op *op, const char **why);

struct blkparse {
	u32 major, minor;
	bool known;		/* the device is */
	bool ended;		/* the summary has begun */
};

/* @state is zeroed at the start of a file. */
enum parsed parse_blkparse(struct blkparse *state, const char *line, struct trace_op *op,
			   const char **why);

/* An object is a place on the device: object i begins at byte @unit * i. */
enum parsed parse_oracle(const u8 record[ORACLE_RECORD], u32 unit, struct trace_op *op,
			 const char **why);

#endif
