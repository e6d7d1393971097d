// SPDX-License-Identifier: GPL-2.0
/* The report of smcat as text and JSON. */
#include <arpa/inet.h>
#include <string.h>

#include "json_writer.h"
#include "number.h"
#include "share.h"
#include "text_table.h"

static const char * const size_names[SIZE_CLASSES] = {
	"1K", "8K", "64K", "512K", "4M", "32M", "more"
};

#define BAR	40	/* length of the longest bar in characters */

static const char *address_text(const uint8_t address[16], char room[INET6_ADDRSTRLEN])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (!memcmp(address, mapped, 12))
		inet_ntop(AF_INET, address + 12, room, INET6_ADDRSTRLEN);
	else
		inet_ntop(AF_INET6, address, room, INET6_ADDRSTRLEN);
	return room;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

/* ---- text ---------------------------------------------------------------------- */

static void share_titles(struct text_table *t)
{
	table_column(t, "Conns", 7, ALIGN_RIGHT, 2);
	table_column(t, "Bytes", 7, ALIGN_RIGHT, 2);
	table_column(t, "Qualify", 7, ALIGN_RIGHT, 2);
	table_column(t, "Profit", 7, ALIGN_RIGHT, 2);
	table_column(t, "Profit-Bytes", 12, ALIGN_RIGHT, 2);
}

static void share_cells(struct text_table *t, const struct shares *s)
{
	char room[16];

	table_cell(t, "%llu", (unsigned long long)s->all.conns);
	table_cell(t, "%s", short_number(s->all.bytes, room));
	table_cell(t, "%.1f%%", percent(s->qualified.conns, s->all.conns));
	table_cell(t, "%.1f%%", percent(s->profit.conns, s->all.conns));
	table_cell(t, "%.1f%%", percent(s->profit.bytes, s->all.bytes));
	table_row(t);
}

static void print_peers(FILE *out, const struct report *r, size_t top)
{
	struct text_table *t = table_new();
	char room[INET6_ADDRSTRLEN];
	size_t i;

	table_column(t, "Peer", 24, ALIGN_LEFT, 2);
	share_titles(t);
	for (i = 0; i < r->peers.count && i < top; i++) {
		const struct peer_shares *p = array_item(&r->peers, i);

		table_cell(t, "%s", address_text(p->address, room));
		share_cells(t, &p->shares);
	}
	table_print(t, out, true);
	table_free(t);
	if (r->peers.count > top)
		fprintf(out, "and %zu more\n", r->peers.count - top);
}

static void print_ports(FILE *out, const struct report *r, size_t top)
{
	struct text_table *t = table_new();
	size_t i;

	table_column(t, "Port", 6, ALIGN_RIGHT, 2);
	table_column(t, "Server", 16, ALIGN_LEFT, 2);
	share_titles(t);
	for (i = 0; i < r->ports.count && i < top; i++) {
		const struct port_shares *p = array_item(&r->ports, i);

		table_cell(t, "%u", p->port);
		table_cell(t, "%s", p->served ? "this host" : "the peer");
		share_cells(t, &p->shares);
	}
	table_print(t, out, true);
	table_free(t);
	if (r->ports.count > top)
		fprintf(out, "and %zu more\n", r->ports.count - top);
}

static void print_sizes(FILE *out, const struct report *r)
{
	char room[16];
	int i;

	fprintf(out, "Bytes of a connection, up to\n");
	for (i = 0; i < SIZE_CLASSES; i++) {
		double part = percent(r->sizes[i].conns, r->total.all.conns);
		int bar = part * BAR / 100 + 0.5;

		fprintf(out, "  %-4s %8llu %5.1f%% %8s %5.1f%%%s%.*s\n", size_names[i],
			(unsigned long long)r->sizes[i].conns, part,
			short_number(r->sizes[i].bytes, room),
			percent(r->sizes[i].bytes, r->total.all.bytes), bar ? "  " : "", bar,
			"########################################");
	}
}

static void print_total(FILE *out, const char *what, const struct share *part,
			const struct share *all)
{
	char room[16];

	fprintf(out, "  %-26s %9llu %5.1f%% %9s %5.1f%%\n", what,
		(unsigned long long)part->conns, percent(part->conns, all->conns),
		short_number(part->bytes, room), percent(part->bytes, all->bytes));
}

void report_print(FILE *out, const struct report *r, const struct rules *rules, size_t top)
{
	char room[16];

	fprintf(out, "TCP connections of %g s            Conns            Bytes\n", r->seconds);
	print_total(out, "all", &r->total.all, &r->total.all);
	print_total(out, "qualify for SMC", &r->total.qualified, &r->total.all);
	print_total(out, "would profit from it", &r->total.profit, &r->total.all);
	if (!r->total.all.conns)
		return;
	fputc('\n', out);
	print_peers(out, r, top);
	fputc('\n', out);
	print_ports(out, r, top);
	fputc('\n', out);
	print_sizes(out, r);
	fprintf(out, "\nQualify: the peer is in a network of this host, or in one given with -n.\n"
		"Profit: the connection also moved %s bytes, or exchanged %llu segments with data.\n",
		short_number(rules->min_bytes, room), (unsigned long long)rules->min_segments);
}

/* ---- JSON ---------------------------------------------------------------------- */

static void json_share(struct json *json, const char *key, const struct share *share)
{
	json_object(json, key);
	json_number(json, "connections", share->conns);
	json_number(json, "bytes", share->bytes);
	json_object_end(json);
}

static void json_shares(struct json *json, const struct shares *s)
{
	json_share(json, "all", &s->all);
	json_share(json, "qualified", &s->qualified);
	json_share(json, "profit", &s->profit);
}

static void json_peers(struct json *json, const struct array *peers)
{
	char room[INET6_ADDRSTRLEN];
	size_t i;

	json_list(json, "peers");
	for (i = 0; i < peers->count; i++) {
		const struct peer_shares *p = array_item(peers, i);

		json_object(json, NULL);
		json_text(json, "address", address_text(p->address, room));
		json_shares(json, &p->shares);
		json_object_end(json);
	}
	json_list_end(json);
}

static void json_ports(struct json *json, const struct array *ports)
{
	size_t i;

	json_list(json, "ports");
	for (i = 0; i < ports->count; i++) {
		const struct port_shares *p = array_item(ports, i);

		json_object(json, NULL);
		json_number(json, "port", p->port);
		json_bool(json, "served_here", p->served);
		json_shares(json, &p->shares);
		json_object_end(json);
	}
	json_list_end(json);
}

void report_json(FILE *out, const struct report *r, const struct rules *rules)
{
	struct json json;
	int i;

	json_begin(&json, out);
	json_ratio(&json, "seconds", r->seconds);
	json_number(&json, "min_bytes", rules->min_bytes);
	json_number(&json, "min_segments", rules->min_segments);
	json_shares(&json, &r->total);
	json_peers(&json, &r->peers);
	json_ports(&json, &r->ports);
	json_list(&json, "sizes");
	for (i = 0; i < SIZE_CLASSES; i++) {
		json_object(&json, NULL);
		json_text(&json, "up_to", size_names[i]);
		json_number(&json, "connections", r->sizes[i].conns);
		json_number(&json, "bytes", r->sizes[i].bytes);
		json_object_end(&json);
	}
	json_list_end(&json);
	json_end(&json);
}
