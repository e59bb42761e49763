/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints of dm-w2r; fields in docs/w2r.md. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM w2r

#if !defined(W2R_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define W2R_TRACE_H

#include <linux/types.h>
#include <linux/kdev_t.h>
#include <linux/tracepoint.h>

DECLARE_EVENT_CLASS(w2r_blocks,
	TP_PROTO(dev_t dev, u64 block, u32 blocks),
	TP_ARGS(dev, block, blocks),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, block)
		__field(u32, blocks)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->block = block;
		__entry->blocks = blocks;
	),
	TP_printk("dev=%u,%u block=%llu blocks=%u", MAJOR(__entry->dev),
		  MINOR(__entry->dev), (unsigned long long)__entry->block,
		  __entry->blocks)
);

DEFINE_EVENT(w2r_blocks, w2r_miss,
	TP_PROTO(dev_t dev, u64 block, u32 blocks),
	TP_ARGS(dev, block, blocks)
);

DEFINE_EVENT(w2r_blocks, w2r_prefetch,
	TP_PROTO(dev_t dev, u64 block, u32 blocks),
	TP_ARGS(dev, block, blocks)
);

TRACE_EVENT(w2r_split,
	TP_PROTO(dev_t dev, u32 waiting_target, u32 before),
	TP_ARGS(dev, waiting_target, before),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u32, waiting_target)
		__field(u32, before)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->waiting_target = waiting_target;
		__entry->before = before;
	),
	TP_printk("dev=%u,%u waiting_target=%u before=%u", MAJOR(__entry->dev),
		  MINOR(__entry->dev), __entry->waiting_target, __entry->before)
);

TRACE_EVENT(w2r_toggle,
	TP_PROTO(dev_t dev, bool on, u32 latency_ns, u32 cost_ns),
	TP_ARGS(dev, on, latency_ns, cost_ns),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(bool, on)
		__field(u32, latency_ns)
		__field(u32, cost_ns)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->on = on;
		__entry->latency_ns = latency_ns;
		__entry->cost_ns = cost_ns;
	),
	TP_printk("dev=%u,%u on=%d latency_ns=%u cost_ns=%u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->on,
		  __entry->latency_ns, __entry->cost_ns)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
