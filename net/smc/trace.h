/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints: every change of state, with its reason. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM smc

#if !defined(SMC_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SMC_TRACE_H

#include <linux/tracepoint.h>
#include <linux/types.h>

/* @object is the connection or the socket, @why an event or a reason. */
DECLARE_EVENT_CLASS(smc_change,
	TP_PROTO(const void *object, int from, int to, u32 why),
	TP_ARGS(object, from, to, why),
	TP_STRUCT__entry(
		__field(const void *, object)
		__field(int, from)
		__field(int, to)
		__field(u32, why)
	),
	TP_fast_assign(
		__entry->object = object;
		__entry->from = from;
		__entry->to = to;
		__entry->why = why;
	),
	TP_printk("conn=%p state %d -> %d event %u", __entry->object,
		  __entry->from, __entry->to, __entry->why)
);

DEFINE_EVENT(smc_change, smc_conn_state,
	TP_PROTO(const void *object, int from, int to, u32 why),
	TP_ARGS(object, from, to, why)
);

DEFINE_EVENT_PRINT(smc_change, smc_phase,
	TP_PROTO(const void *object, int from, int to, u32 why),
	TP_ARGS(object, from, to, why),
	TP_printk("sk=%p phase %d -> %d reason 0x%08x", __entry->object,
		  __entry->from, __entry->to, __entry->why)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
