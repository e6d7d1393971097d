/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints: every change of state, with its reason. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM smc

#if !defined(SMC_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SMC_TRACE_H

#include <linux/tracepoint.h>
#include <net/sock.h>
#include "smc.h"

struct smc_conn;

TRACE_EVENT(smc_conn_state,
	TP_PROTO(const struct smc_conn *conn, int from, int to, int event),
	TP_ARGS(conn, from, to, event),
	TP_STRUCT__entry(
		__field(const void *, conn)
		__field(int, from)
		__field(int, to)
		__field(int, event)
	),
	TP_fast_assign(
		__entry->conn = conn;
		__entry->from = from;
		__entry->to = to;
		__entry->event = event;
	),
	TP_printk("conn=%p state %d -> %d event %d", __entry->conn,
		  __entry->from, __entry->to, __entry->event)
);

TRACE_EVENT(smc_phase,
	TP_PROTO(const struct sock *sk, int from, int to, u32 reason),
	TP_ARGS(sk, from, to, reason),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(int, from)
		__field(int, to)
		__field(u32, reason)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->from = from;
		__entry->to = to;
		__entry->reason = reason;
	),
	TP_printk("sk=%p phase %d -> %d reason 0x%08x", __entry->sk,
		  __entry->from, __entry->to, __entry->reason)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
