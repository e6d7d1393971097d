// SPDX-License-Identifier: GPL-2.0
/* smcss --why: explain which connections are not SMC, the reason, and what to do. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include <linux/smc_reason.h>

#include "listing.h"
#include "number.h"

#define EXAMPLES	5	/* maximum of connections named for each reason */

static bool parse_port(const char *text, uint16_t *port)
{
	unsigned long value;

	if (!read_number(text, 1, 65535, &value))
		return false;
	*port = value;
	return true;
}

/* "ADDR", "ADDR:PORT", "[ADDR6]:PORT", ":PORT", "ADDR6" */
bool parse_endpoint(const char *text, struct endpoint *e)
{
	char address[INET6_ADDRSTRLEN + 1];
	const char *colon = strrchr(text, ':');
	const char *first = strchr(text, ':');
	size_t len = strlen(text);
	const char *port = NULL;

	memset(e, 0, sizeof(*e));
	if (*text == '[') {
		const char *end = strchr(text, ']');

		if (!end || (end[1] && end[1] != ':'))
			return false;
		text++;
		len = end - text;
		port = end[1] ? end + 2 : NULL;
	} else if (colon && colon == first) {
		len = colon - text;
		port = colon + 1;
	}
	if (port && !parse_port(port, &e->port))
		return false;
	if (!len || (len == 1 && *text == '*'))
		return port != NULL;
	if (len >= sizeof(address))
		return false;
	memcpy(address, text, len);
	address[len] = '\0';
	e->family = strchr(address, ':') ? AF_INET6 : AF_INET;
	return inet_pton(e->family, address, e->address) == 1;
}

static bool same_address(const struct endpoint *e, int family, const __be32 *address)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (!e->family)
		return true;
	if (e->family == family)
		return !memcmp(e->address, address, family == AF_INET ? 4 : 16);
	/* IPv4 connection of an IPv6 socket */
	return e->family == AF_INET && family == AF_INET6 &&
	       !memcmp(address, mapped, 12) && !memcmp(e->address, address + 3, 4);
}

bool matches_endpoint(const struct record *r, const struct endpoint *e)
{
	const struct inet_diag_sockid *id = &r->msg.id;

	return (same_address(e, record_family(r), id->idiag_src) &&
		(!e->port || e->port == ntohs(id->idiag_sport))) ||
	       (same_address(e, record_family(r), id->idiag_dst) &&
		(!e->port || e->port == ntohs(id->idiag_dport)));
}

static int by_reason(const void *a, const void *b)
{
	const struct smc_diag_fallback *x = &((const struct record *)a)->fallback;
	const struct smc_diag_fallback *y = &((const struct record *)b)->fallback;

	if (x->reason != y->reason)
		return x->reason < y->reason ? -1 : 1;
	if (x->peer_diagnosis != y->peer_diagnosis)
		return x->peer_diagnosis < y->peer_diagnosis ? -1 : 1;
	return 0;
}

static void print_connection(FILE *out, const struct record *r)
{
	char local[ADDRESS_ROOM], peer[ADDRESS_ROOM];

	address_words(r, false, local, sizeof(local));
	address_words(r, true, peer, sizeof(peer));
	fprintf(out, "    %s -> %s (inode %llu, uid %u)\n", local,
		has_peer(r) ? peer : "no peer yet",
		(unsigned long long)r->msg.diag_inode, r->msg.diag_uid);
}

static void print_group(FILE *out, const struct record *list, size_t count)
{
	const struct smc_diag_fallback *f = &list->fallback;
	uint32_t code = f->peer_diagnosis ? f->peer_diagnosis : f->reason;
	char room[64];
	size_t i;

	fprintf(out, "%zu connection%s TCP:\n", count, count == 1 ? " is" : "s are");
	for (i = 0; i < count && i < EXAMPLES; i++)
		print_connection(out, &list[i]);
	if (count > EXAMPLES)
		fprintf(out, "    and %zu more\n", count - EXAMPLES);
	fprintf(out, "  reason: %s%s (0x%08x)\n",
		f->peer_diagnosis ? "the peer declined: " : "",
		reason_words(code, room), code);
	fprintf(out, "  side:   %s\n", reason_side(f));
	fprintf(out, "  remedy: %s%s\n", f->peer_diagnosis ? "on the peer: " : "",
		reason_remedy(code));
}

/*
 * Keeps TCP connections that match, and counts those that use SMC. A program may keep the socket of
 * a connection that has ended, such as by a reset: if it was SMC, nothing has to be explained.
 */
static size_t select_tcp(struct records *records, const struct endpoint *e, size_t *smc)
{
	size_t i, count = 0;

	for (i = 0; i < records->count; i++) {
		const struct record *r = &records->list[i];

		if (!matches_endpoint(r, e))
			continue;
		if (is_tcp(r) && !state_is_listen(r->msg.diag_state))
			records->list[count++] = *r;
		else if (state_is_settled(r->msg.diag_state) && !state_is_closed(r->msg.diag_state))
			++*smc;
	}
	return count;
}

static void print_groups(FILE *out, struct records *records, const struct endpoint *e, size_t smc)
{
	size_t count = records->count, start, end;

	if (!count && !smc)
		fprintf(out, "No connection of an SMC socket %s.\n"
			"A program uses SMC if it creates IPPROTO_SMC sockets or is started with smc_run; 'ss -t' shows the TCP sockets.\n",
			e->family || e->port ? "matches" : "is open");
	if (smc)
		fprintf(out, "%zu connection%s SMC.\n", smc, smc == 1 ? " uses" : "s use");
	qsort(records->list, count, sizeof(*records->list), by_reason);
	for (start = 0; start < count; start = end) {
		for (end = start; end < count; end++)
			if (by_reason(&records->list[start], &records->list[end]))
				break;
		print_group(out, &records->list[start], end - start);
	}
}

/* Keeps only what is TCP, and rearranges it. Returns an exit code. */
int print_why(FILE *out, struct records *records, const struct endpoint *e, bool json)
{
	size_t smc = 0;

	records->count = select_tcp(records, e, &smc);
	if (json)
		print_json(out, records, NULL);
	else
		print_groups(out, records, e, smc);
	if (records->count)
		return WHY_SOME_TCP;
	return smc ? WHY_ALL_SMC : WHY_NONE;
}
