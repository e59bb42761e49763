/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parsers of lines share: each takes something from *at on and moves it behind that, or says no. */
#ifndef SIM_W2R_SCAN_H
#define SIM_W2R_SCAN_H

#include "pure.h"

static inline bool scan_char(const char **at, char c)
{
	if (**at != c)
		return false;
	++*at;
	return true;
}

/* At least one blank. */
static inline bool scan_blanks(const char **at)
{
	if (**at != ' ')
		return false;
	while (**at == ' ')
		++*at;
	return true;
}

/* Decimal digits, at least one, of a number up to @most. */
static inline bool scan_number(const char **at, u64 most, u64 *number)
{
	u64 value = 0, digit;

	if (**at < '0' || **at > '9')
		return false;
	while (**at >= '0' && **at <= '9') {
		digit = (u64)(**at - '0');
		if (digit > most || value > (most - digit) / 10)
			return false;
		value = 10 * value + digit;
		++*at;
	}
	*number = value;
	return true;
}

/* Seconds with at most nine decimals. */
static inline bool scan_time(const char **at, u64 *ns)
{
	u64 seconds, part = 0, unit = 1000000000;

	if (!scan_number(at, (u64)1 << 32, &seconds))
		return false;
	if (**at == '.') {
		++*at;
		if (**at < '0' || **at > '9')
			return false;
		for (; **at >= '0' && **at <= '9'; ++*at) {
			if (unit == 1)
				return false;
			unit /= 10;
			part += (u64)(**at - '0') * unit;
		}
	}
	*ns = seconds * 1000000000 + part;
	return true;
}

#endif
