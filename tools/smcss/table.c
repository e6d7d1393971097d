// SPDX-License-Identifier: GPL-2.0
/* The listing as an aligned table. */
#include <arpa/inet.h>
#include <string.h>

#include <linux/smc_reason.h>

#include "grid.h"
#include "record.h"

static void titles(struct grid *t, const char *const *texts)
{
	while (*texts)
		grid_column(t, *texts++, 0, GRID_LEFT, 1);
}

static void heading(struct grid *t, const struct columns *columns)
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

static void cursor_cell(struct grid *t, const struct smc_diag_cursor *c)
{
	grid_cell(t, "%04x:%08x", c->wrap, c->count);
}

static void base_cells(struct grid *t, const struct record *r)
{
	char address[ADDRESS_ROOM];
	char room[16];

	grid_cell(t, "%s", state_name(r->msg.diag_state, room));
	grid_cell(t, "%05u", r->msg.diag_uid);
	grid_cell(t, "%07llu", (unsigned long long)r->msg.diag_inode);
	address_words(r, false, address, sizeof(address));
	grid_cell(t, "%s", address);
	if (has_peer(r))
		address_words(r, true, address, sizeof(address));
	grid_cell(t, "%s", has_peer(r) ? address : "");
	grid_cell(t, "%04x", r->msg.id.idiag_if);
	grid_cell(t, "%s", mode_name(r));
}

static void blanks(struct grid *t, int count)
{
	while (count--)
		grid_cell(t, "%s", "");
}

static void debug_cells(struct grid *t, const struct record *r)
{
	const struct smc_diag_conninfo *c = &r->conn;
	uint8_t shut = record_has(r, SMC_DIAG_SHUTDOWN) ? r->shutdown : r->msg.diag_shutdown;

	grid_cell(t, "%c%c", shut & 1 ? 'R' : '<', shut & 2 ? 'W' : '>');
	if (!record_has(r, SMC_DIAG_CONNINFO)) {
		blanks(t, 13);
		return;
	}
	grid_cell(t, "%08x", c->token);
	grid_cell(t, "%u", c->sndbuf_size);
	grid_cell(t, "%u", c->rmbe_size);
	grid_cell(t, "%u", c->peer_rmbe_size);
	cursor_cell(t, &c->rx_prod);
	cursor_cell(t, &c->rx_cons);
	grid_cell(t, "%02x:%02x", c->rx_prod_flags, c->rx_conn_state_flags);
	cursor_cell(t, &c->tx_prod);
	cursor_cell(t, &c->tx_cons);
	grid_cell(t, "%02x:%02x", c->tx_prod_flags, c->tx_conn_state_flags);
	cursor_cell(t, &c->tx_prep);
	cursor_cell(t, &c->tx_sent);
	cursor_cell(t, &c->tx_fin);
}

static void smcd_cells(struct grid *t, const struct record *r)
{
	if (!record_has(r, SMC_DIAG_DMBINFO)) {
		blanks(t, 5);
		return;
	}
	grid_cell(t, "%016llx", (unsigned long long)r->dmb.my_gid);
	grid_cell(t, "%016llx", (unsigned long long)r->dmb.token);
	grid_cell(t, "%016llx", (unsigned long long)r->dmb.peer_gid);
	grid_cell(t, "%016llx", (unsigned long long)r->dmb.peer_token);
	grid_cell(t, "%08x", r->dmb.linkid);
}

static void smcr_cells(struct grid *t, const struct record *r)
{
	const struct smc_diag_linkinfo *link = &r->lgr.lnk[0];

	if (!record_has(r, SMC_DIAG_LGRINFO)) {
		blanks(t, 7);
		return;
	}
	grid_cell(t, "%s", r->lgr.role ? "SERV" : "CLNT");
	grid_cell(t, "%.*s", (int)sizeof(link->ibname), link->ibname);
	grid_cell(t, "%02x", link->ibport);
	grid_cell(t, "%02x", link->link_id);
	grid_cell(t, "%.*s", (int)sizeof(link->gid), link->gid);
	grid_cell(t, "%.*s", (int)sizeof(link->peer_gid), link->peer_gid);
	if (record_has(r, SMC_DIAG_LGRID))
		grid_cell(t, "%08x", r->lgr_id);
	else
		grid_cell(t, "n/a");
}

/* Last in the line, as its length is nobody's alignment. */
static void reason_cell(struct grid *t, const struct record *r)
{
	const struct smc_diag_fallback *f = &r->fallback;
	char room[64];

	if (!is_tcp(r) || !record_has(r, SMC_DIAG_FALLBACK))
		return;
	if (f->peer_diagnosis)
		grid_cell(t, "the peer declined: %s", reason_words(f->peer_diagnosis, room));
	else
		grid_cell(t, "%s", reason_words(f->reason, room));
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

void print_table(FILE *out, const struct records *records, const struct columns *columns)
{
	struct grid *t = grid_new();
	size_t i;

	heading(t, columns);
	if (any_reason(records))
		grid_column(t, "Reason", 0, GRID_LEFT, 0);
	for (i = 0; i < records->count; i++) {
		base_cells(t, &records->list[i]);
		if (columns->debug)
			debug_cells(t, &records->list[i]);
		if (columns->smcd)
			smcd_cells(t, &records->list[i]);
		if (columns->smcr)
			smcr_cells(t, &records->list[i]);
		reason_cell(t, &records->list[i]);
		grid_row(t);
	}
	grid_print(t, out);
	grid_free(t);
}
