// SPDX-License-Identifier: GPL-2.0
/*
 * The listing as JSON: one object with a list "sockets". Keys must never be renamed; members that
 * do not apply are left out, see smcss(8).
 */
#include <arpa/inet.h>
#include <string.h>

#include "json_writer.h"
#include "listing.h"
#include "process.h"

static void print_address(struct json *json, const char *key, const struct record *r, bool peer)
{
	const void *address = peer ? r->msg.id.idiag_dst : r->msg.id.idiag_src;
	char text[INET6_ADDRSTRLEN];

	if (!inet_ntop(record_family(r), address, text, sizeof(text)))
		strcpy(text, "?");
	json_object(json, key);
	json_text(json, "address", text);
	json_number(json, "port", ntohs(peer ? r->msg.id.idiag_dport : r->msg.id.idiag_sport));
	json_object_end(json);
}

static void print_fallback(struct json *json, const struct smc_diag_fallback *f)
{
	json_object(json, "fallback");
	json_reason(json, "reason", f->reason);
	if (f->peer_diagnosis)
		json_reason(json, "peer_diagnosis", f->peer_diagnosis);
	json_text(json, "side", reason_side(f));
	json_object_end(json);
}

static void print_cursor(struct json *json, const char *key, const struct smc_diag_cursor *c)
{
	json_object(json, key);
	json_number(json, "wrap", c->wrap);
	json_number(json, "count", c->count);
	json_object_end(json);
}

static void print_connection(struct json *json, const struct smc_diag_conninfo *c)
{
	json_object(json, "connection");
	json_hex(json, "token", 8, c->token);
	json_number(json, "sndbuf", c->sndbuf_size);
	json_number(json, "rcvbuf", c->rmbe_size);
	json_number(json, "peerbuf", c->peer_rmbe_size);
	print_cursor(json, "rx_prod", &c->rx_prod);
	print_cursor(json, "rx_cons", &c->rx_cons);
	print_cursor(json, "tx_prod", &c->tx_prod);
	print_cursor(json, "tx_cons", &c->tx_cons);
	print_cursor(json, "tx_prep", &c->tx_prep);
	print_cursor(json, "tx_sent", &c->tx_sent);
	print_cursor(json, "tx_fin", &c->tx_fin);
	json_number(json, "rx_prod_flags", c->rx_prod_flags);
	json_number(json, "rx_conn_state_flags", c->rx_conn_state_flags);
	json_number(json, "tx_prod_flags", c->tx_prod_flags);
	json_number(json, "tx_conn_state_flags", c->tx_conn_state_flags);
	json_object_end(json);
}

static void print_dmb(struct json *json, const struct smcd_diag_dmbinfo *d)
{
	json_object(json, "smcd");
	json_hex(json, "linkgroup", 8, d->linkid);
	json_hex(json, "gid", 16, d->my_gid);
	json_hex(json, "peer_gid", 16, d->peer_gid);
	json_hex(json, "token", 16, d->token);
	json_hex(json, "peer_token", 16, d->peer_token);
	json_object_end(json);
}

static void print_link(struct json *json, const struct record *r)
{
	const struct smc_diag_lgrinfo *g = &r->lgr;
	const struct smc_diag_linkinfo *link = &g->lnk[0];

	json_object(json, "smcr");
	if (record_has(r, SMC_DIAG_LGRID))
		json_hex(json, "linkgroup", 8, r->lgr_id);
	json_text(json, "role", g->role ? "server" : "client");
	json_number(json, "link", link->link_id);
	json_bytes(json, "device", link->ibname, sizeof(link->ibname));
	json_number(json, "port", link->ibport);
	json_bytes(json, "gid", link->gid, sizeof(link->gid));
	json_bytes(json, "peer_gid", link->peer_gid, sizeof(link->peer_gid));
	json_object_end(json);
}

static void print_processes(struct json *json, const struct array *processes, uint64_t inode)
{
	const struct process *p;
	size_t i, count;

	p = processes_of(processes, inode, &count);
	json_list(json, "processes");
	for (i = 0; i < count; i++) {
		json_object(json, NULL);
		json_text(json, "name", p[i].name);
		json_number(json, "pid", p[i].pid);
		json_number(json, "fd", p[i].fd);
		json_object_end(json);
	}
	json_list_end(json);
}

static void print_socket(struct json *json, const struct record *r, const struct array *processes)
{
	uint8_t shut = record_has(r, SMC_DIAG_SHUTDOWN) ? r->shutdown : r->msg.diag_shutdown;
	char room[16];

	json_object(json, NULL);
	json_text(json, "state", state_name(r->msg.diag_state, room));
	json_number(json, "uid", r->msg.diag_uid);
	json_number(json, "inode", r->msg.diag_inode);
	print_address(json, "local", r, false);
	if (has_peer(r))
		print_address(json, "peer", r, true);
	json_number(json, "interface", r->msg.id.idiag_if);
	if (strcmp(mode_name(r), "-"))
		json_text(json, "mode", mode_name(r));
	json_object(json, "shutdown");
	json_bool(json, "receive", shut & 1);
	json_bool(json, "send", shut & 2);
	json_object_end(json);
	if (is_tcp(r) && record_has(r, SMC_DIAG_FALLBACK))
		print_fallback(json, &r->fallback);
	if (record_has(r, SMC_DIAG_CONNINFO))
		print_connection(json, &r->conn);
	if (record_has(r, SMC_DIAG_DMBINFO))
		print_dmb(json, &r->dmb);
	if (record_has(r, SMC_DIAG_LGRINFO))
		print_link(json, r);
	if (processes)
		print_processes(json, processes, r->msg.diag_inode);
	json_object_end(json);
}

void print_json(FILE *out, const struct records *records, const struct array *processes)
{
	struct json json;
	size_t i;

	json_begin(&json, out);
	json_list(&json, "sockets");
	for (i = 0; i < records->count; i++)
		print_socket(&json, &records->list[i], processes);
	json_list_end(&json);
	json_end(&json);
}
