// SPDX-License-Identifier: GPL-2.0-only
/* Fuzz target: any table line is refused with a text, or gives values in their ranges. */
#include "table.h"

#define WORDS_MAX 24

static void expect(bool ok)
{
	if (!ok)
		__builtin_trap();
}

static void check_ranges(const struct table *t)
{
	expect(t->cache_mib >= 1 && t->cache_mib <= TABLE_CACHE_MIB_MAX);
	expect(t->lookahead >= 1 && t->lookahead <= LOOKAHEAD_MAX);
	expect(t->block_kib >= TABLE_BLOCK_KIB_MIN && t->block_kib <= TABLE_BLOCK_KIB_MAX);
	expect(!(t->block_kib & (t->block_kib - 1)));
	expect((u32)t->readahead < READAHEAD_KINDS && (u32)t->policy < POLICY_KINDS);
	expect((u32)t->planner < PLANNER_KINDS);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	char text[512], *words[WORDS_MAX];
	bool in_word = false;
	struct table t;
	u32 n = 0;
	size_t i;
	const char *wrong;

	if (size >= sizeof(text))
		return 0;
	for (i = 0; i < size; i++) {
		text[i] = data[i] == ' ' ? 0 : (char)data[i];
		if (text[i] && !in_word && n < WORDS_MAX)
			words[n++] = text + i;
		in_word = text[i];
	}
	text[size] = 0;
	wrong = table_parse(&t, n, words);
	if (wrong)
		expect(*wrong);
	else
		check_ranges(&t);
	return 0;
}
