// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"
#include "util.h"

/*
 * Bytes of the character at @s, or 0: there is none. What is too long for what it says, surrogates, and what is beyond the
 * last character, has a second byte out of the bounds of its first (RFC 3629, section 4).
 */
static size_t length(const unsigned char *s)
{
	static const struct {
		unsigned char first, last, low, high;
		size_t length;
	} kinds[] = {
		{ 0x01, 0x7f, 0, 0, 1 },
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	size_t kind = 0;

	while (kind < sizeof(kinds) / sizeof(*kinds) && (*s < kinds[kind].first || *s > kinds[kind].last))
		kind++;
	if (kind == sizeof(kinds) / sizeof(*kinds))
		return 0;
	if (kinds[kind].length > 1 && (s[1] < kinds[kind].low || s[1] > kinds[kind].high))
		return 0;
	for (size_t i = 2; i < kinds[kind].length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return kinds[kind].length;
}

char *utf8_of(const char *text)
{
	char *out = no_less(malloc(4 * strlen(text) + 1)), *to = out;

	while (*text) {
		size_t n = length((const unsigned char *)text);

		if (n) {
			memcpy(to, text, n);
			to += n;
			text += n;
		} else {
			to += sprintf(to, "\\x%02x", (unsigned char)*text++);
		}
	}
	*to = '\0';
	return out;
}
