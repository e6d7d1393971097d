/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints: calls that carry data, every change of state with its reason, every CLC and LLC
 * message, and buffers. Tracepoints that also exist in the kernel's own module have the same names
 * and fields. See Documentation/trace.md.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM smc

#if !defined(SMC_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SMC_TRACE_H

#include <linux/tracepoint.h>
#include <linux/types.h>
#include <net/net_namespace.h>
#include <net/sock.h>

/* ---- data ------------------------------------------------------------------- */

DECLARE_EVENT_CLASS(smc_data,
	TP_PROTO(const struct sock *sk, const char *dev, size_t len),
	TP_ARGS(sk, dev, len),
	TP_STRUCT__entry(
		__field(const void *, smc)
		__field(u64, net_cookie)
		__field(size_t, len)
		__array(char, name, 16)
	),
	TP_fast_assign(
		__entry->smc = sk;
		__entry->net_cookie = sock_net(sk)->net_cookie;
		__entry->len = len;
		strscpy(__entry->name, dev, sizeof(__entry->name));
	),
	TP_printk("smc=%p net=%llu len=%zu dev=%s", __entry->smc,
		  __entry->net_cookie, __entry->len, __entry->name)
);

DEFINE_EVENT(smc_data, smc_tx_sendmsg,
	TP_PROTO(const struct sock *sk, const char *dev, size_t len),
	TP_ARGS(sk, dev, len)
);

DEFINE_EVENT(smc_data, smc_rx_recvmsg,
	TP_PROTO(const struct sock *sk, const char *dev, size_t len),
	TP_ARGS(sk, dev, len)
);

/* ---- states ----------------------------------------------------------------- */

/* @object is the connection or the socket; @why is an event or a reason. */
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

/* Steps have the names of enum smc_hs_step. */
#define smc_show_step(step)						\
	__print_symbolic(step, { 0, "connect" }, { 1, "accept" },	\
			 { 2, "proposal" }, { 3, "prepare" },		\
			 { 4, "confirm" }, { 5, "finish" },		\
			 { 6, "crossed" })

DEFINE_EVENT_PRINT(smc_change, smc_handshake,
	TP_PROTO(const void *object, int from, int to, u32 why),
	TP_ARGS(object, from, to, why),
	TP_printk("sk=%p step %s -> %s server=%u", __entry->object,
		  smc_show_step(__entry->from), smc_show_step(__entry->to),
		  __entry->why)
);

/* This module has only one socket, which also runs CLC: sk and clcsk are equal. */
TRACE_EVENT(smc_switch_to_fallback,
	TP_PROTO(const struct sock *sk, u32 reason),
	TP_ARGS(sk, reason),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(const void *, clcsk)
		__field(u64, net_cookie)
		__field(int, fallback_rsn)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->clcsk = sk;
		__entry->net_cookie = sock_net(sk)->net_cookie;
		__entry->fallback_rsn = reason;
	),
	TP_printk("sk=%p clcsk=%p net=%llu fallback_rsn=%d", __entry->sk,
		  __entry->clcsk, __entry->net_cookie, __entry->fallback_rsn)
);

TRACE_EVENT(smcr_link_down,
	TP_PROTO(const void *lgr, const void *lnk, const struct net *net, int state,
		 const char *dev, void *location),
	TP_ARGS(lgr, lnk, net, state, dev, location),
	TP_STRUCT__entry(
		__field(const void *, lnk)
		__field(const void *, lgr)
		__field(u64, net_cookie)
		__field(int, state)
		__array(char, name, 16)
		__field(void *, location)
	),
	TP_fast_assign(
		__entry->lnk = lnk;
		__entry->lgr = lgr;
		__entry->net_cookie = net->net_cookie;
		__entry->state = state;
		strscpy(__entry->name, dev, sizeof(__entry->name));
		__entry->location = location;
	),
	TP_printk("lnk=%p lgr=%p net=%llu state=%d dev=%s location=%pS",
		  __entry->lnk, __entry->lgr, __entry->net_cookie, __entry->state,
		  __entry->name, __entry->location)
);

/* @type: SMC_NLA_LGR_R_TYPE of the link group, including this link. */
TRACE_EVENT(smcr_link_up,
	TP_PROTO(const void *lgr, const void *lnk, const struct net *net, int type,
		 const char *dev),
	TP_ARGS(lgr, lnk, net, type, dev),
	TP_STRUCT__entry(
		__field(const void *, lnk)
		__field(const void *, lgr)
		__field(u64, net_cookie)
		__field(int, type)
		__array(char, name, 16)
	),
	TP_fast_assign(
		__entry->lnk = lnk;
		__entry->lgr = lgr;
		__entry->net_cookie = net->net_cookie;
		__entry->type = type;
		strscpy(__entry->name, dev, sizeof(__entry->name));
	),
	TP_printk("lnk=%p lgr=%p net=%llu type=%s dev=%s", __entry->lnk, __entry->lgr,
		  __entry->net_cookie,
		  __print_symbolic(__entry->type, { 0, "NONE" }, { 1, "SINGLE" }, { 2, "SYM" },
				   { 3, "ASYMP" }, { 4, "ASYML" }),
		  __entry->name)
);

/* @acked: number of the last CDC message that arrived; @again: bytes to be written again. */
TRACE_EVENT(smcr_conn_moved,
	TP_PROTO(const void *conn, const void *lgr, u8 from, u8 to, u16 acked, u64 again),
	TP_ARGS(conn, lgr, from, to, acked, again),
	TP_STRUCT__entry(
		__field(const void *, conn)
		__field(const void *, lgr)
		__field(u8, from)
		__field(u8, to)
		__field(u16, acked)
		__field(u64, again)
	),
	TP_fast_assign(
		__entry->conn = conn;
		__entry->lgr = lgr;
		__entry->from = from;
		__entry->to = to;
		__entry->acked = acked;
		__entry->again = again;
	),
	TP_printk("conn=%p lgr=%p link %u -> %u acked=%u again=%llu", __entry->conn,
		  __entry->lgr, __entry->from, __entry->to, __entry->acked, __entry->again)
);

/* ---- messages --------------------------------------------------------------- */

/* @verdict: 0, or the decoder's errno. */
DECLARE_EVENT_CLASS(smc_clc,
	TP_PROTO(const struct sock *sk, const u8 *msg, unsigned int len, int verdict),
	TP_ARGS(sk, msg, len, verdict),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u64, net_cookie)
		__field(u8, type)
		__field(u8, version)
		__field(unsigned int, len)
		__field(int, verdict)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->net_cookie = sock_net(sk)->net_cookie;
		/* Every message begins with this header (RFC 7609, A.2). */
		__entry->type = len > 7 ? msg[4] : 0;
		__entry->version = len > 7 ? msg[7] >> 4 : 0;
		__entry->len = len;
		__entry->verdict = verdict;
	),
	TP_printk("sk=%p net=%llu %s v%u len=%u verdict=%d", __entry->sk,
		  __entry->net_cookie,
		  __print_symbolic(__entry->type, { 1, "proposal" }, { 2, "accept" },
				   { 3, "confirm" }, { 4, "decline" }),
		  __entry->version, __entry->len, __entry->verdict)
);

DEFINE_EVENT(smc_clc, smc_clc_sent,
	TP_PROTO(const struct sock *sk, const u8 *msg, unsigned int len, int verdict),
	TP_ARGS(sk, msg, len, verdict)
);

DEFINE_EVENT(smc_clc, smc_clc_received,
	TP_PROTO(const struct sock *sk, const u8 *msg, unsigned int len, int verdict),
	TP_ARGS(sk, msg, len, verdict)
);

/* Shows the raw bytes: what a type means depends on the version. */
DECLARE_EVENT_CLASS(smc_llc,
	TP_PROTO(const void *lnk, const u8 *msg, unsigned int len, int verdict),
	TP_ARGS(lnk, msg, len, verdict),
	TP_STRUCT__entry(
		__field(const void *, lnk)
		__field(u8, type)
		__field(unsigned int, len)
		__field(int, verdict)
		__array(u8, head, 16)
	),
	TP_fast_assign(
		__entry->lnk = lnk;
		__entry->type = len ? msg[0] : 0;
		__entry->len = len;
		__entry->verdict = verdict;
		memset(__entry->head, 0, sizeof(__entry->head));
		memcpy(__entry->head, msg, min_t(unsigned int, len,
						 sizeof(__entry->head)));
	),
	TP_printk("lnk=%p type=0x%02x len=%u verdict=%d head=%*ph", __entry->lnk,
		  __entry->type, __entry->len, __entry->verdict,
		  (int)sizeof(__entry->head), __entry->head)
);

DEFINE_EVENT(smc_llc, smc_llc_sent,
	TP_PROTO(const void *lnk, const u8 *msg, unsigned int len, int verdict),
	TP_ARGS(lnk, msg, len, verdict)
);

DEFINE_EVENT(smc_llc, smc_llc_received,
	TP_PROTO(const void *lnk, const u8 *msg, unsigned int len, int verdict),
	TP_ARGS(lnk, msg, len, verdict)
);

/* ---- buffers ---------------------------------------------------------------- */

/* @used: bytes of all buffers of the namespace; @limit: the maximum of @used. */
DECLARE_EVENT_CLASS(smc_buf,
	TP_PROTO(const void *pools, size_t bytes, unsigned int elems, u64 used, u64 limit),
	TP_ARGS(pools, bytes, elems, used, limit),
	TP_STRUCT__entry(
		__field(const void *, pools)
		__field(size_t, bytes)
		__field(unsigned int, elems)
		__field(u64, used)
		__field(u64, limit)
	),
	TP_fast_assign(
		__entry->pools = pools;
		__entry->bytes = bytes;
		__entry->elems = elems;
		__entry->used = used;
		__entry->limit = limit;
	),
	TP_printk("pools=%p bytes=%zu elems=%u used=%llu limit=%llu", __entry->pools,
		  __entry->bytes, __entry->elems, __entry->used, __entry->limit)
);

DEFINE_EVENT(smc_buf, smc_buf_new,
	TP_PROTO(const void *pools, size_t bytes, unsigned int elems, u64 used, u64 limit),
	TP_ARGS(pools, bytes, elems, used, limit)
);

DEFINE_EVENT(smc_buf, smc_buf_free,
	TP_PROTO(const void *pools, size_t bytes, unsigned int elems, u64 used, u64 limit),
	TP_ARGS(pools, bytes, elems, used, limit)
);

/* Neither an element of this size nor a smaller one could be allocated. */
DEFINE_EVENT(smc_buf, smc_buf_failed,
	TP_PROTO(const void *pools, size_t bytes, unsigned int elems, u64 used, u64 limit),
	TP_ARGS(pools, bytes, elems, used, limit)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
