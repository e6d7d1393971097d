/* SPDX-License-Identifier: GPL-2.0 */
/* TCP connections of this network namespace, as sock_diag tells them. */
#ifndef SMC_TOOLS_TCP_WATCH_H
#define SMC_TOOLS_TCP_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/inet_diag.h>

#include "array.h"

struct tcp_count {
	uint64_t sent;			/* bytes that the peer has acknowledged */
	uint64_t received;
	uint64_t segments;		/* with data, in both directions */
};

struct tcp_conn {
	struct inet_diag_sockid id;	/* with a cookie that no other connection has */
	uint8_t family;
	struct tcp_count now;
	struct tcp_count before;	/* what there was when the watch began */
	bool ended;
};

struct tcp_watch {
	struct array conns;		/* struct tcp_conn */
	struct array ports;		/* uint16_t: somebody listens there; network order */
	size_t *index;			/* hash of cookies: position + 1 in the list */
	size_t slots;
	bool lost;			/* the kernel told more ends than we could read */
	bool no_ends;			/* we may not be told of ends */
};

/*
 * Watches for so many seconds, or until a signal. Returns an exit code. What is
 * in the watch is valid then; tcp_watch_free() frees it.
 */
int tcp_watch_run(struct tcp_watch *watch, double seconds);
void tcp_watch_free(struct tcp_watch *watch);

/* The connection with this ID, which is added if it is new. */
struct tcp_conn *tcp_watch_find(struct tcp_watch *watch, const struct inet_diag_sockid *id);

/* From the kernel's struct tcp_info, of which there may be less than we know. */
void tcp_counters(const void *data, size_t len, struct tcp_count *count);

#endif /* SMC_TOOLS_TCP_WATCH_H */
