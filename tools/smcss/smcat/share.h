/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What share of TCP connections could be SMC, and would be better off: counted for all,
 * by peer, by port of the server and by size.
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
	uint8_t family;		/* AF_INET6; IPv4 as ::ffff:0:0 */
	uint8_t address[16];
	unsigned int bits;
};

struct rules {
	struct array networks;
	uint64_t min_bytes;	/* it profits when it moved that much, */
	uint64_t min_segments;	/* or exchanged so many segments with data */
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
	bool served;		/* here; else by the peer */
	struct shares shares;
};

#define SIZE_CLASSES	7

struct report {
	double seconds;
	struct shares total;
	struct array peers;	/* struct peer_shares, those with most bytes first */
	struct array ports;	/* struct port_shares, likewise */
	struct share sizes[SIZE_CLASSES];
};

/* "10.0.0.0/8", "10.0.0.1", "fd00::/8" */
bool parse_network(const char *text, struct network *network);
void add_local_networks(struct rules *rules);	/* of this host: who is one hop away, or here */

void report_make(struct report *report, const struct tcp_watch *watch, const struct rules *rules,
		 double seconds);
void report_free(struct report *report);
void report_print(FILE *out, const struct report *report, const struct rules *rules, size_t top);
void report_json(FILE *out, const struct report *report, const struct rules *rules);

#endif /* SMC_TOOLS_SHARE_H */
