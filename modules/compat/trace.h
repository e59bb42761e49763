/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MUSTER_COMPAT_TRACE_H
#define MUSTER_COMPAT_TRACE_H

/* Fills the string field @field, declared with source @src, of a tracepoint. */
#ifdef COMPAT_HAVE_TRACE_ASSIGN_SHORT
#define compat_assign_str(field, src)	\
do {					\
	(void)(src);			\
	__assign_str(field);		\
} while (0)
#else
#define compat_assign_str(field, src)	__assign_str(field, src)
#endif

#endif
