/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The share of TCP connections that could use SMC, and of those that would profit: in total, by
 * peer, by port of the server and by size.
 */
#ifndef SMC_TOOLS_SHARE_H
#define SMC_TOOLS_SHARE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "array.h"
#include "tcp_watch.h"

/* A connection qualifies when its peer is in one of these networks. */
struct network {
	uint8_t family;		/* always AF_INET6; IPv4 addresses are mapped (::ffff:0:0) */
	uint8_t address[16];
	unsigned int bits;
};

struct rules {
	struct array networks;
	uint64_t min_bytes;	/* a connection profits if it moved at least this many bytes, */
	uint64_t min_segments;	/* or exchanged at least this many segments with data */
};

struct share {
	uint64_t conns;
	uint64_t bytes;
};

struct shares {
	struct share all;
	struct share qualified;
	struct share profit;
};

struct peer_shares {
	uint8_t address[16];
	struct shares shares;
};

struct port_shares {
	uint16_t port;		/* host order */
	bool served;		/* the server is here; else it is the peer */
	struct shares shares;
};

#define SIZE_CLASSES	7

struct report {
	double seconds;		/* of the watch, rounded to tenths */
	struct shares total;
	struct array peers;	/* struct peer_shares, by bytes in descending order */
	struct array ports;	/* struct port_shares, in the same order */
	struct share sizes[SIZE_CLASSES];
};

/* "10.0.0.0/8", "10.0.0.1", "fd00::/8" */
bool parse_network(const char *text, struct network *network);
void add_local_networks(struct rules *rules);	/* networks that this host is in */

void report_make(struct report *report, const struct tcp_watch *watch, const struct rules *rules);
void report_free(struct report *report);
void report_print(FILE *out, const struct report *report, const struct rules *rules, size_t top);
void report_json(FILE *out, const struct report *report, const struct rules *rules);

#endif /* SMC_TOOLS_SHARE_H */
