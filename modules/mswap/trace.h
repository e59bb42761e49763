/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints of mswap; fields in docs/sysfs.md. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM mswap

#if !defined(MSWAP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define MSWAP_TRACE_H

#include <linux/tracepoint.h>

#include "compat/trace.h"

TRACE_EVENT(mswap_pageout,
	TP_PROTO(const char *dev, u32 slot, u32 pages, u32 objects),
	TP_ARGS(dev, slot, pages, objects),
	TP_STRUCT__entry(
		__string(dev, dev)
		__field(u32, slot)
		__field(u32, pages)
		__field(u32, objects)
	),
	TP_fast_assign(
		compat_assign_str(dev, dev);
		__entry->slot = slot;
		__entry->pages = pages;
		__entry->objects = objects;
	),
	TP_printk("dev=%s slot=%u pages=%u objects=%u", __get_str(dev),
		  __entry->slot, __entry->pages, __entry->objects)
);

TRACE_EVENT(mswap_pagein,
	TP_PROTO(const char *dev, u32 slot, u32 pages, u32 wanted, u32 passed),
	TP_ARGS(dev, slot, pages, wanted, passed),
	TP_STRUCT__entry(
		__string(dev, dev)
		__field(u32, slot)
		__field(u32, pages)
		__field(u32, wanted)
		__field(u32, passed)
	),
	TP_fast_assign(
		compat_assign_str(dev, dev);
		__entry->slot = slot;
		__entry->pages = pages;
		__entry->wanted = wanted;
		__entry->passed = passed;
	),
	TP_printk("dev=%s slot=%u pages=%u wanted=%u passed=%u", __get_str(dev),
		  __entry->slot, __entry->pages, __entry->wanted,
		  __entry->passed)
);

TRACE_EVENT(mswap_slot_alloc,
	TP_PROTO(const char *dev, u32 want, u32 slot, u32 got),
	TP_ARGS(dev, want, slot, got),
	TP_STRUCT__entry(
		__string(dev, dev)
		__field(u32, want)
		__field(u32, slot)
		__field(u32, got)
	),
	TP_fast_assign(
		compat_assign_str(dev, dev);
		__entry->want = want;
		__entry->slot = slot;
		__entry->got = got;
	),
	TP_printk("dev=%s want=%u slot=%u got=%u", __get_str(dev),
		  __entry->want, __entry->slot, __entry->got)
);

TRACE_EVENT(mswap_write_error,
	TP_PROTO(const char *dev, u32 slot, u32 pages, int error, bool retry),
	TP_ARGS(dev, slot, pages, error, retry),
	TP_STRUCT__entry(
		__string(dev, dev)
		__field(u32, slot)
		__field(u32, pages)
		__field(int, error)
		__field(bool, retry)
	),
	TP_fast_assign(
		compat_assign_str(dev, dev);
		__entry->slot = slot;
		__entry->pages = pages;
		__entry->error = error;
		__entry->retry = retry;
	),
	TP_printk("dev=%s slot=%u pages=%u error=%d retry=%d", __get_str(dev),
		  __entry->slot, __entry->pages, __entry->error,
		  __entry->retry)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
