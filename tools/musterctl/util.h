/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MUSTERCTL_UTIL_H
#define MUSTERCTL_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Says why on standard error, and ends with status 1. */
__attribute__((format(printf, 1, 2)))
static inline _Noreturn void die(const char *why, ...)
{
	va_list words;

	fputs("musterctl: ", stderr);
	va_start(words, why);
	vfprintf(stderr, why, words);
	va_end(words);
	fputc('\n', stderr);
	exit(1);
}

/* What was allocated, or the program ends with status 1. */
static inline void *no_less(void *memory)
{
	if (!memory)
		die("no memory");
	return memory;
}

/* What was printed is out, or the program ends with status 1. */
static inline void finish_output(void)
{
	if (fflush(stdout) || ferror(stdout))
		die("cannot write: %m");
}

static inline bool all_digits(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

#endif
