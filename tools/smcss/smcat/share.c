// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "share.h"

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

static void set_address(uint8_t to[16], int family, const void *from)
{
	if (family == AF_INET6) {
		memcpy(to, from, 16);
		return;
	}
	memcpy(to, mapped, 12);
	memcpy(to + 12, from, 4);
}

/* ---- networks ------------------------------------------------------------------ */

bool parse_network(const char *text, struct network *n)
{
	const char *slash = strchr(text, '/');
	char address[INET6_ADDRSTRLEN + 1];
	int family = strchr(text, ':') ? AF_INET6 : AF_INET;
	unsigned int most = family == AF_INET6 ? 128 : 32;
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	uint8_t raw[16];
	char *end;

	if (len >= sizeof(address))
		return false;
	memcpy(address, text, len);
	address[len] = '\0';
	if (inet_pton(family, address, raw) != 1)
		return false;
	n->bits = most;
	if (slash) {
		unsigned long bits = strtoul(slash + 1, &end, 10);

		if (slash[1] < '0' || slash[1] > '9' || *end || bits > most)
			return false;
		n->bits = bits;
	}
	n->bits += 128 - most;
	n->family = AF_INET6;
	set_address(n->address, family, raw);
	return true;
}

static unsigned int mask_bits(const struct sockaddr *mask)
{
	const uint8_t *bytes = mask->sa_family == AF_INET6 ?
		(const void *)&((const struct sockaddr_in6 *)mask)->sin6_addr :
		(const void *)&((const struct sockaddr_in *)mask)->sin_addr;
	unsigned int i, bits = 0, most = mask->sa_family == AF_INET6 ? 128 : 32;

	for (i = 0; i < most && bytes[i / 8] & (0x80 >> i % 8); i++)
		bits++;
	return bits + 128 - most;
}

void add_local_networks(struct rules *rules)
{
	struct ifaddrs *all, *i;

	if (getifaddrs(&all))
		return;
	for (i = all; i; i = i->ifa_next) {
		struct network *n;
		int family = i->ifa_addr ? i->ifa_addr->sa_family : AF_UNSPEC;

		if ((family != AF_INET && family != AF_INET6) || !i->ifa_netmask)
			continue;
		n = array_add(&rules->networks);
		n->family = AF_INET6;
		n->bits = mask_bits(i->ifa_netmask);
		set_address(n->address, family, family == AF_INET6 ?
			    (void *)&((struct sockaddr_in6 *)i->ifa_addr)->sin6_addr :
			    (void *)&((struct sockaddr_in *)i->ifa_addr)->sin_addr);
	}
	freeifaddrs(all);
}

static bool in_network(const uint8_t address[16], const struct network *n)
{
	unsigned int whole = n->bits / 8, rest = n->bits % 8;
	uint8_t mask = 0xff00 >> rest;

	return !memcmp(address, n->address, whole) &&
	       (!rest || (address[whole] & mask) == (n->address[whole] & mask));
}

static bool qualifies(const uint8_t peer[16], const struct rules *rules)
{
	size_t i;

	for (i = 0; i < rules->networks.count; i++)
		if (in_network(peer, array_item(&rules->networks, i)))
			return true;
	return false;
}

/* ---- counting ------------------------------------------------------------------ */

struct verdict {
	uint64_t bytes;
	bool qualified;
	bool profit;
};

static void add(struct share *share, uint64_t bytes)
{
	share->conns++;
	share->bytes += bytes;
}

static void count(struct shares *shares, const struct verdict *v)
{
	add(&shares->all, v->bytes);
	if (v->qualified)
		add(&shares->qualified, v->bytes);
	if (v->profit)
		add(&shares->profit, v->bytes);
}

static struct shares *of_peer(struct array *peers, const uint8_t address[16])
{
	struct peer_shares *peer;
	size_t i;

	for (i = 0; i < peers->count; i++) {
		peer = array_item(peers, i);
		if (!memcmp(peer->address, address, 16))
			return &peer->shares;
	}
	peer = array_add(peers);
	memcpy(peer->address, address, 16);
	return &peer->shares;
}

static struct shares *of_port(struct array *ports, uint16_t number, bool served)
{
	struct port_shares *port;
	size_t i;

	for (i = 0; i < ports->count; i++) {
		port = array_item(ports, i);
		if (port->port == number && port->served == served)
			return &port->shares;
	}
	port = array_add(ports);
	port->port = number;
	port->served = served;
	return &port->shares;
}

static bool is_served(const struct tcp_watch *watch, const struct tcp_conn *c)
{
	size_t i;

	for (i = 0; i < watch->ports.count; i++)
		if (*(uint16_t *)array_item(&watch->ports, i) == c->id.idiag_sport)
			return true;
	return false;
}

static const uint64_t size_bounds[SIZE_CLASSES - 1] = {
	1 << 10, 8 << 10, 64 << 10, 512 << 10, 4 << 20, 32 << 20
};

static int size_class(uint64_t bytes)
{
	int i;

	for (i = 0; i < SIZE_CLASSES - 1; i++)
		if (bytes <= size_bounds[i])
			break;
	return i;
}

static void count_conn(struct report *report, const struct tcp_watch *watch,
		       const struct tcp_conn *c, const struct rules *rules)
{
	struct verdict v = {
		.bytes = c->now.sent - c->before.sent + c->now.received - c->before.received
	};
	bool served = is_served(watch, c);
	uint8_t peer[16];

	set_address(peer, c->family, c->id.idiag_dst);
	v.qualified = qualifies(peer, rules);
	v.profit = v.qualified && (v.bytes >= rules->min_bytes ||
				   c->now.segments - c->before.segments >= rules->min_segments);
	count(&report->total, &v);
	count(of_peer(&report->peers, peer), &v);
	count(of_port(&report->ports, ntohs(served ? c->id.idiag_sport : c->id.idiag_dport),
		      served), &v);
	add(&report->sizes[size_class(v.bytes)], v.bytes);
}

static int by_weight(const struct shares *x, const struct shares *y)
{
	if (x->all.bytes != y->all.bytes)
		return x->all.bytes < y->all.bytes ? 1 : -1;
	return x->all.conns < y->all.conns ? 1 : x->all.conns > y->all.conns ? -1 : 0;
}

static int by_peer(const void *a, const void *b)
{
	const struct peer_shares *x = a, *y = b;
	int order = by_weight(&x->shares, &y->shares);

	return order ? order : memcmp(x->address, y->address, 16);
}

static int by_port(const void *a, const void *b)
{
	const struct port_shares *x = a, *y = b;
	int order = by_weight(&x->shares, &y->shares);

	return order ? order : x->port - y->port;
}

void report_make(struct report *report, const struct tcp_watch *watch, const struct rules *rules)
{
	size_t i;

	*report = (struct report){
		.seconds = (uint64_t)(watch->seconds * 10 + 0.5) / 10.0, .peers = ARRAY_OF(struct peer_shares),
		.ports = ARRAY_OF(struct port_shares)
	};
	for (i = 0; i < watch->conns.count; i++)
		count_conn(report, watch, array_item(&watch->conns, i), rules);
	if (report->peers.count) {
		qsort(report->peers.items, report->peers.count, report->peers.size, by_peer);
		qsort(report->ports.items, report->ports.count, report->ports.size, by_port);
	}
}

void report_free(struct report *report)
{
	array_free(&report->peers);
	array_free(&report->ports);
}
