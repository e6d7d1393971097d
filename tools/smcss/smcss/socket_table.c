// SPDX-License-Identifier: GPL-2.0
/* The listing as an aligned table. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include <linux/smc_reason.h>

#include "complain.h"
#include "listing.h"
#include "process.h"
#include "text_table.h"
#include "utf8.h"

static void titles(struct text_table *t, const char *const *texts)
{
	while (*texts)
		table_column(t, *texts++, 0, ALIGN_LEFT, 1);
}

static void heading(struct text_table *t, const struct columns *columns)
{
	static const char * const base[] = {
		"State", "UID", "Inode", "Local Address", "Peer Address", "Intf", "Mode", NULL
	};
	static const char * const debug[] = {
		"Shutd", "Token", "Sndbuf", "Rcvbuf", "Peerbuf",
		"rxprod-Cursor", "rxcons-Cursor", "rxFlags",
		"txprod-Cursor", "txcons-Cursor", "txFlags",
		"txprep-Cursor", "txsent-Cursor", "txfin-Cursor", NULL
	};
	static const char * const smcd[] = {
		"GID", "Token", "Peer-GID", "Peer-Token", "Linkid", NULL
	};
	static const char * const smcr[] = {
		"Role", "IB-Device", "Port", "Linkid", "GID", "Peer-GID", "LG-ID", NULL
	};

	titles(t, base);
	if (columns->debug)
		titles(t, debug);
	if (columns->smcd)
		titles(t, smcd);
	if (columns->smcr)
		titles(t, smcr);
}

static void cursor_cell(struct text_table *t, const struct smc_diag_cursor *c)
{
	table_cell(t, "%04x:%08x", c->wrap, c->count);
}

static void base_cells(struct text_table *t, const struct record *r)
{
	char address[ADDRESS_ROOM];
	char room[16];

	table_cell(t, "%s", state_name(r->msg.diag_state, room));
	table_cell(t, "%05u", r->msg.diag_uid);
	table_cell(t, "%07llu", (unsigned long long)r->msg.diag_inode);
	address_words(r, false, address, sizeof(address));
	table_cell(t, "%s", address);
	if (has_peer(r))
		address_words(r, true, address, sizeof(address));
	table_cell(t, "%s", has_peer(r) ? address : "");
	table_cell(t, "%04x", r->msg.id.idiag_if);
	table_cell(t, "%s", mode_name(r));
}

static void blanks(struct text_table *t, int count)
{
	while (count--)
		table_cell(t, "%s", "");
}

static void debug_cells(struct text_table *t, const struct record *r)
{
	const struct smc_diag_conninfo *c = &r->conn;
	uint8_t shut = record_has(r, SMC_DIAG_SHUTDOWN) ? r->shutdown : r->msg.diag_shutdown;

	table_cell(t, "%c%c", shut & 1 ? 'R' : '<', shut & 2 ? 'W' : '>');
	if (!record_has(r, SMC_DIAG_CONNINFO)) {
		blanks(t, 13);
		return;
	}
	table_cell(t, "%08x", c->token);
	table_cell(t, "%u", c->sndbuf_size);
	table_cell(t, "%u", c->rmbe_size);
	table_cell(t, "%u", c->peer_rmbe_size);
	cursor_cell(t, &c->rx_prod);
	cursor_cell(t, &c->rx_cons);
	table_cell(t, "%02x:%02x", c->rx_prod_flags, c->rx_conn_state_flags);
	cursor_cell(t, &c->tx_prod);
	cursor_cell(t, &c->tx_cons);
	table_cell(t, "%02x:%02x", c->tx_prod_flags, c->tx_conn_state_flags);
	cursor_cell(t, &c->tx_prep);
	cursor_cell(t, &c->tx_sent);
	cursor_cell(t, &c->tx_fin);
}

static void smcd_cells(struct text_table *t, const struct record *r)
{
	if (!record_has(r, SMC_DIAG_DMBINFO)) {
		blanks(t, 5);
		return;
	}
	table_cell(t, "%016llx", (unsigned long long)r->dmb.my_gid);
	table_cell(t, "%016llx", (unsigned long long)r->dmb.token);
	table_cell(t, "%016llx", (unsigned long long)r->dmb.peer_gid);
	table_cell(t, "%016llx", (unsigned long long)r->dmb.peer_token);
	table_cell(t, "%08x", r->dmb.linkid);
}

static void smcr_cells(struct text_table *t, const struct record *r)
{
	const struct smc_diag_linkinfo *link = &r->lgr.lnk[0];

	if (!record_has(r, SMC_DIAG_LGRINFO)) {
		blanks(t, 7);
		return;
	}
	table_cell(t, "%s", r->lgr.role ? "SERV" : "CLNT");
	table_cell(t, "%.*s", (int)sizeof(link->ibname), link->ibname);
	table_cell(t, "%02x", link->ibport);
	table_cell(t, "%02x", link->link_id);
	table_cell(t, "%.*s", (int)sizeof(link->gid), link->gid);
	table_cell(t, "%.*s", (int)sizeof(link->peer_gid), link->peer_gid);
	if (record_has(r, SMC_DIAG_LGRID))
		table_cell(t, "%08x", r->lgr_id);
	else
		table_cell(t, "n/a");
}

/* The last column, because its text may be of any length. */
static void reason_cell(struct text_table *t, const struct record *r, bool code)
{
	const struct smc_diag_fallback *f = &r->fallback;
	char room[REASON_ROOM], in_brackets[16] = "";
	uint32_t words;

	if (!is_tcp(r) || !record_has(r, SMC_DIAG_FALLBACK))
		return;
	words = f->peer_diagnosis ? f->peer_diagnosis : f->reason;
	if (code)
		snprintf(in_brackets, sizeof(in_brackets), " (0x%08x)", words);
	table_cell(t, "%s%s%s", f->peer_diagnosis ? "the peer declined: " : "",
		   reason_words(words, room), in_brackets);
}

static bool any_reason(const struct records *records)
{
	size_t i;

	for (i = 0; i < records->count; i++)
		if (is_tcp(&records->list[i]) &&
		    record_has(&records->list[i], SMC_DIAG_FALLBACK))
			return true;
	return false;
}

/* In the format of ss: users:(("nginx",pid=12,fd=3)) */
static void process_cell(struct text_table *t, const struct array *processes,
			 const struct record *r)
{
	const struct process *p;
	char *text = NULL;
	size_t i, count, size;
	FILE *out;

	p = processes_of(processes, r->msg.diag_inode, &count);
	if (!count) {
		table_cell(t, "%s", "");
		return;
	}
	out = open_memstream(&text, &size);
	if (!out)
		no_memory();
	fputs("users:(", out);
	for (i = 0; i < count; i++) {
		fprintf(out, "%s(\"", i ? "," : "");
		utf8_print(out, p[i].name);
		fprintf(out, "\",pid=%u,fd=%u)", p[i].pid, p[i].fd);
	}
	fputc(')', out);
	if (fclose(out))
		no_memory();
	table_cell(t, "%s", text);
	free(text);
}

void print_table(FILE *out, const struct records *records, const struct columns *columns)
{
	struct text_table *t = table_new();
	size_t i;

	heading(t, columns);
	if (columns->processes)
		table_column(t, "Process", 0, ALIGN_LEFT, 1);
	if (any_reason(records))
		table_column(t, "Reason", 0, ALIGN_LEFT, 0);
	for (i = 0; i < records->count; i++) {
		base_cells(t, &records->list[i]);
		if (columns->debug)
			debug_cells(t, &records->list[i]);
		if (columns->smcd)
			smcd_cells(t, &records->list[i]);
		if (columns->smcr)
			smcr_cells(t, &records->list[i]);
		if (columns->processes)
			process_cell(t, columns->processes, &records->list[i]);
		reason_cell(t, &records->list[i], columns->debug);
		table_row(t);
	}
	table_print(t, out, !columns->no_titles);
	table_free(t);
}
