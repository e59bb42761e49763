/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MUSTERCTL_UTF8_H
#define MUSTERCTL_UTF8_H

/* TEXT with "\xHH" for each byte that is not part of a character in UTF-8, as JSON must be. The caller frees it. */
char *utf8_of(const char *text);

#endif
