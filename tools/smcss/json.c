// SPDX-License-Identifier: GPL-2.0
/*
 * The listing as JSON, for programs: one object with a list "sockets". Keys are
 * never renamed, and what does not apply is left out; see smcss(8).
 */
#include <arpa/inet.h>
#include <string.h>

#include <linux/smc_reason.h>

#include "record.h"

/* Names of devices and GIDs come from a driver: print nothing that ends a string. */
static void print_text(FILE *out, const char *key, const uint8_t *text, size_t size)
{
	size_t i;

	fprintf(out, "\"%s\": \"", key);
	for (i = 0; i < size && text[i]; i++) {
		if (text[i] == '"' || text[i] == '\\')
			fprintf(out, "\\%c", text[i]);
		else if (text[i] < 0x20 || text[i] > 0x7e)
			fprintf(out, "\\u%04x", text[i]);
		else
			fputc(text[i], out);
	}
	fputc('"', out);
}

static void print_address(FILE *out, const char *key, const struct record *r, bool peer)
{
	const void *address = peer ? r->msg.id.idiag_dst : r->msg.id.idiag_src;
	char text[INET6_ADDRSTRLEN];

	if (!inet_ntop(record_family(r), address, text, sizeof(text)))
		strcpy(text, "?");
	fprintf(out, ", \"%s\": {\"address\": \"%s\", \"port\": %u}", key, text,
		ntohs(peer ? r->msg.id.idiag_dport : r->msg.id.idiag_sport));
}

static void print_reason(FILE *out, const char *key, uint32_t code)
{
	const char *name = reason_name(code);
	char room[64];

	fprintf(out, "\"%s\": {\"code\": \"0x%08x\"", key, code);
	if (name)
		fprintf(out, ", \"name\": \"%s\"", name);
	fprintf(out, ", \"words\": \"%s\", \"remedy\": \"%s\"}",
		reason_words(code, room), reason_remedy(code));
}

static void print_fallback(FILE *out, const struct smc_diag_fallback *f)
{
	fprintf(out, ", \"fallback\": {");
	print_reason(out, "reason", f->reason);
	if (f->peer_diagnosis) {
		fprintf(out, ", ");
		print_reason(out, "peer_diagnosis", f->peer_diagnosis);
	}
	fprintf(out, ", \"side\": \"%s\"}", reason_side(f));
}

static void print_cursor(FILE *out, const char *key, const struct smc_diag_cursor *c)
{
	fprintf(out, ", \"%s\": {\"wrap\": %u, \"count\": %u}", key, c->wrap, c->count);
}

static void print_connection(FILE *out, const struct smc_diag_conninfo *c)
{
	fprintf(out, ", \"connection\": {\"token\": \"0x%08x\"", c->token);
	fprintf(out, ", \"sndbuf\": %u, \"rcvbuf\": %u, \"peerbuf\": %u",
		c->sndbuf_size, c->rmbe_size, c->peer_rmbe_size);
	print_cursor(out, "rx_prod", &c->rx_prod);
	print_cursor(out, "rx_cons", &c->rx_cons);
	print_cursor(out, "tx_prod", &c->tx_prod);
	print_cursor(out, "tx_cons", &c->tx_cons);
	print_cursor(out, "tx_prep", &c->tx_prep);
	print_cursor(out, "tx_sent", &c->tx_sent);
	print_cursor(out, "tx_fin", &c->tx_fin);
	fprintf(out, ", \"rx_prod_flags\": %u, \"rx_conn_state_flags\": %u",
		c->rx_prod_flags, c->rx_conn_state_flags);
	fprintf(out, ", \"tx_prod_flags\": %u, \"tx_conn_state_flags\": %u}",
		c->tx_prod_flags, c->tx_conn_state_flags);
}

/* 64-bit numbers as text: many readers of JSON would round them. */
static void print_dmb(FILE *out, const struct smcd_diag_dmbinfo *d)
{
	fprintf(out, ", \"smcd\": {\"linkgroup\": \"0x%08x\"", d->linkid);
	fprintf(out, ", \"gid\": \"0x%016llx\", \"peer_gid\": \"0x%016llx\"",
		(unsigned long long)d->my_gid, (unsigned long long)d->peer_gid);
	fprintf(out, ", \"token\": \"0x%016llx\", \"peer_token\": \"0x%016llx\"}",
		(unsigned long long)d->token, (unsigned long long)d->peer_token);
}

static void print_link(FILE *out, const struct smc_diag_lgrinfo *g)
{
	const struct smc_diag_linkinfo *link = &g->lnk[0];

	fprintf(out, ", \"smcr\": {\"role\": \"%s\", \"link\": %u, ",
		g->role ? "server" : "client", link->link_id);
	print_text(out, "device", link->ibname, sizeof(link->ibname));
	fprintf(out, ", \"port\": %u, ", link->ibport);
	print_text(out, "gid", link->gid, sizeof(link->gid));
	fprintf(out, ", ");
	print_text(out, "peer_gid", link->peer_gid, sizeof(link->peer_gid));
	fprintf(out, "}");
}

static void print_socket(FILE *out, const struct record *r)
{
	uint8_t shut = record_has(r, SMC_DIAG_SHUTDOWN) ? r->shutdown : r->msg.diag_shutdown;
	char room[16];

	fprintf(out, "{\"state\": \"%s\", \"uid\": %u, \"inode\": %llu",
		state_name(r->msg.diag_state, room), r->msg.diag_uid,
		(unsigned long long)r->msg.diag_inode);
	print_address(out, "local", r, false);
	if (has_peer(r))
		print_address(out, "peer", r, true);
	fprintf(out, ", \"interface\": %u", r->msg.id.idiag_if);
	if (strcmp(mode_name(r), "-"))
		fprintf(out, ", \"mode\": \"%s\"", mode_name(r));
	fprintf(out, ", \"shutdown\": {\"receive\": %s, \"send\": %s}",
		shut & 1 ? "true" : "false", shut & 2 ? "true" : "false");
	if (is_tcp(r) && record_has(r, SMC_DIAG_FALLBACK))
		print_fallback(out, &r->fallback);
	if (record_has(r, SMC_DIAG_CONNINFO))
		print_connection(out, &r->conn);
	if (record_has(r, SMC_DIAG_DMBINFO))
		print_dmb(out, &r->dmb);
	if (record_has(r, SMC_DIAG_LGRINFO))
		print_link(out, &r->lgr);
	fprintf(out, "}");
}

void print_json(FILE *out, const struct records *records)
{
	size_t i;

	fprintf(out, "{\"sockets\": [");
	for (i = 0; i < records->count; i++) {
		fprintf(out, i ? ",\n  " : "\n  ");
		print_socket(out, &records->list[i]);
	}
	fprintf(out, records->count ? "\n]}\n" : "]}\n");
}
