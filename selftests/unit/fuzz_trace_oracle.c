// SPDX-License-Identifier: GPL-2.0-only
/* Fuzz target: any record of an oracle trace, with any unit, is refused with a text, or is a read in bounds. */
#include "trace_check.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const char *why = NULL;
	struct trace_op op;
	enum parsed parsed;
	u32 unit;

	if (size != ORACLE_RECORD + 4)
		return 0;
	unit = 1 + ((u32)data[24] | (u32)data[25] << 8 | (u32)data[26] << 16 | (u32)data[27] << 24) % (1u << 30);
	parsed = parse_oracle(data, unit, &op, &why);
	expect_sound(parsed, &op, why);
	expect(parsed != PARSED_OP || op.what == TRACE_READ);
	expect(parsed != PARSED_NOTHING);
	return 0;
}
