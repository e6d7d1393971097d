/* SPDX-License-Identifier: GPL-2.0 */
/* TCP connections of this network namespace, as reported by sock_diag. */
#ifndef SMC_TOOLS_TCP_WATCH_H
#define SMC_TOOLS_TCP_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/inet_diag.h>

#include "array.h"

struct tcp_count {
	uint64_t sent;			/* bytes that the peer has acknowledged */
	uint64_t received;
	uint64_t segments;		/* segments with data, in both directions */
};

struct tcp_conn {
	struct inet_diag_sockid id;	/* its cookie is unique */
	uint8_t family;
	struct tcp_count now;
	struct tcp_count before;	/* counters when the watch began */
	bool ended;
};

struct tcp_watch {
	struct array conns;		/* struct tcp_conn */
	struct array ports;		/* uint16_t, network order: ports with a listener */
	size_t *index;			/* hash table of cookies: position in @conns + 1 */
	size_t slots;
	double seconds;			/* how long the watch took */
	bool lost;			/* some notifications of ended connections were lost */
	bool no_ends;			/* we are not permitted to get these notifications */
};

/*
 * Watches for the given time, or until a signal arrives. Returns an exit code. The content of watch
 * is valid afterwards; tcp_watch_free() frees it.
 */
int tcp_watch_run(struct tcp_watch *watch, double seconds);
void tcp_watch_free(struct tcp_watch *watch);

/* Finds a connection by its ID, or adds it. */
struct tcp_conn *tcp_watch_find(struct tcp_watch *watch, const struct inet_diag_sockid *id);

/* Reads the kernel's struct tcp_info, which may be shorter than ours. */
void tcp_counters(const void *data, size_t len, struct tcp_count *count);

#endif /* SMC_TOOLS_TCP_WATCH_H */
