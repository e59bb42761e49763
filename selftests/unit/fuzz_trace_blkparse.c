// SPDX-License-Identifier: GPL-2.0-only
/* Fuzz target: any text for blkparse's, line by line: each is refused with a text, or says nothing, or an I/O. */
#include "trace_check.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct blkparse state = { 0 };
	bool was_known, had_ended;
	struct trace_op op;
	const char *why;
	char line[512];
	size_t from, n;

	for (from = 0; from < size; from += n + 1) {
		for (n = 0; from + n < size && data[from + n] != '\n'; n++)
			;
		if (n >= sizeof(line))
			return 0;
		text_of(line, data + from, n);
		was_known = state.known;
		had_ended = state.ended;
		why = NULL;
		expect_sound(parse_blkparse(&state, line, &op, &why), &op, why);
		expect((!was_known || state.known) && (!had_ended || (state.ended && !why)));
	}
	return 0;
}
