// SPDX-License-Identifier: GPL-2.0
/* smcss -s: numbers of sockets of each kind. */
#include <string.h>
#include <sys/socket.h>

#include "json_writer.h"
#include "listing.h"

enum { IPV4, IPV6, FAMILIES };

struct counts {
	size_t total, smcd, smcr, tcp, listening, undecided;
};

static void count(struct counts *c, const struct record *r)
{
	const char *mode = mode_name(r);

	c->total++;
	if (!strcmp(mode, "SMCD"))
		c->smcd++;
	else if (!strcmp(mode, "SMCR"))
		c->smcr++;
	else if (state_is_listen(r->msg.diag_state))
		c->listening++;
	else if (is_tcp(r))
		c->tcp++;
	else
		c->undecided++;
}

static void count_all(struct counts of[FAMILIES], const struct records *records)
{
	size_t i;

	for (i = 0; i < records->count; i++)
		count(&of[record_family(&records->list[i]) == AF_INET6], &records->list[i]);
}

static void print_row(FILE *out, const char *name, size_t ipv4, size_t ipv6)
{
	fprintf(out, "%-11s %8zu %8zu %8zu\n", name, ipv4 + ipv6, ipv4, ipv6);
}

void print_summary(FILE *out, const struct records *records, bool titles)
{
	struct counts of[FAMILIES] = { };
	const struct counts *a = &of[IPV4], *b = &of[IPV6];

	count_all(of, records);
	if (titles)
		fprintf(out, "%-11s %8s %8s %8s\n", "SMC sockets", "Total", "IPv4", "IPv6");
	print_row(out, "all", a->total, b->total);
	print_row(out, "SMC-D", a->smcd, b->smcd);
	print_row(out, "SMC-R", a->smcr, b->smcr);
	print_row(out, "TCP", a->tcp, b->tcp);
	print_row(out, "listening", a->listening, b->listening);
	print_row(out, "undecided", a->undecided, b->undecided);
}

static void json_counts(struct json *json, const char *key, const struct counts *c)
{
	json_object(json, key);
	json_number(json, "total", c->total);
	json_number(json, "smcd", c->smcd);
	json_number(json, "smcr", c->smcr);
	json_number(json, "tcp", c->tcp);
	json_number(json, "listening", c->listening);
	json_number(json, "undecided", c->undecided);
	json_object_end(json);
}

void print_summary_json(FILE *out, const struct records *records)
{
	struct counts of[FAMILIES] = { };
	struct json json;

	count_all(of, records);
	json_begin(&json, out);
	json_object(&json, "summary");
	json_counts(&json, "ipv4", &of[IPV4]);
	json_counts(&json, "ipv6", &of[IPV6]);
	json_object_end(&json);
	json_end(&json);
}
