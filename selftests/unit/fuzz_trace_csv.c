// SPDX-License-Identifier: GPL-2.0-only
/* Fuzz target: any line of a csv trace is refused with a text, or is an I/O that can be written as such a line again. */
#include <stdio.h>

#include "trace_check.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct trace_op op, again;
	const char *why = NULL;
	char line[256];
	enum parsed parsed;

	if (size < 1 || size > sizeof(line))
		return 0;
	text_of(line, data + 1, size - 1);
	parsed = parse_csv(line, data[0] & 1, &op, &why);
	expect_sound(parsed, &op, why);
	if (parsed != PARSED_OP)
		return 0;
	snprintf(line, sizeof(line), "%llu.%09llu,%c,%llu,%llu", (unsigned long long)(op.ns / 1000000000),
		 (unsigned long long)(op.ns % 1000000000), "RWD"[op.what], (unsigned long long)op.sector * 512,
		 (unsigned long long)op.sectors * 512);
	expect(parse_csv(line, false, &again, &why) == PARSED_OP);
	expect(again.ns == op.ns && again.what == op.what && again.sector == op.sector &&
	       again.sectors == op.sectors);
	return 0;
}
