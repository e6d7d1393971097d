// SPDX-License-Identifier: GPL-2.0
/* The listing as an aligned table. */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <linux/smc_reason.h>

#include "record.h"

#define MAX_COLUMNS	32
#define CELL_ROOM	160

struct table {
	size_t rows;
	int columns;
	int width[MAX_COLUMNS];
	char (*cells)[MAX_COLUMNS][CELL_ROOM];
	size_t row;		/* being filled */
	int column;
};

__attribute__((format(printf, 2, 3)))
static void cell(struct table *t, const char *format, ...)
{
	char *text = t->cells[t->row][t->column];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text, CELL_ROOM, format, args);
	va_end(args);
	if (len >= CELL_ROOM)
		len = CELL_ROOM - 1;
	if (len > t->width[t->column])
		t->width[t->column] = len;
	t->column++;
}

static void next_row(struct table *t)
{
	if (t->column > t->columns)
		t->columns = t->column;
	t->row++;
	t->column = 0;
}

static void cells(struct table *t, const char *const *texts)
{
	while (*texts)
		cell(t, "%s", *texts++);
}

static void heading(struct table *t, const struct columns *columns)
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
		"Role", "IB-Device", "Port", "Linkid", "GID", "Peer-GID", NULL
	};

	cells(t, base);
	if (columns->debug)
		cells(t, debug);
	if (columns->smcd)
		cells(t, smcd);
	if (columns->smcr)
		cells(t, smcr);
}

static void cursor_cell(struct table *t, const struct smc_diag_cursor *c)
{
	cell(t, "%04x:%08x", c->wrap, c->count);
}

static void base_cells(struct table *t, const struct record *r)
{
	char address[ADDRESS_ROOM];
	char room[16];

	cell(t, "%s", state_name(r->msg.diag_state, room));
	cell(t, "%05u", r->msg.diag_uid);
	cell(t, "%07llu", (unsigned long long)r->msg.diag_inode);
	address_words(r, false, address, sizeof(address));
	cell(t, "%s", address);
	if (has_peer(r))
		address_words(r, true, address, sizeof(address));
	cell(t, "%s", has_peer(r) ? address : "");
	cell(t, "%04x", r->msg.id.idiag_if);
	cell(t, "%s", mode_name(r));
}

static void blanks(struct table *t, int count)
{
	while (count--)
		cell(t, "%s", "");
}

static void debug_cells(struct table *t, const struct record *r)
{
	const struct smc_diag_conninfo *c = &r->conn;
	uint8_t shut = record_has(r, SMC_DIAG_SHUTDOWN) ? r->shutdown : r->msg.diag_shutdown;

	cell(t, "%c%c", shut & 1 ? 'R' : '<', shut & 2 ? 'W' : '>');
	if (!record_has(r, SMC_DIAG_CONNINFO)) {
		blanks(t, 13);
		return;
	}
	cell(t, "%08x", c->token);
	cell(t, "%u", c->sndbuf_size);
	cell(t, "%u", c->rmbe_size);
	cell(t, "%u", c->peer_rmbe_size);
	cursor_cell(t, &c->rx_prod);
	cursor_cell(t, &c->rx_cons);
	cell(t, "%02x:%02x", c->rx_prod_flags, c->rx_conn_state_flags);
	cursor_cell(t, &c->tx_prod);
	cursor_cell(t, &c->tx_cons);
	cell(t, "%02x:%02x", c->tx_prod_flags, c->tx_conn_state_flags);
	cursor_cell(t, &c->tx_prep);
	cursor_cell(t, &c->tx_sent);
	cursor_cell(t, &c->tx_fin);
}

static void smcd_cells(struct table *t, const struct record *r)
{
	if (!record_has(r, SMC_DIAG_DMBINFO)) {
		blanks(t, 5);
		return;
	}
	cell(t, "%016llx", (unsigned long long)r->dmb.my_gid);
	cell(t, "%016llx", (unsigned long long)r->dmb.token);
	cell(t, "%016llx", (unsigned long long)r->dmb.peer_gid);
	cell(t, "%016llx", (unsigned long long)r->dmb.peer_token);
	cell(t, "%08x", r->dmb.linkid);
}

static void smcr_cells(struct table *t, const struct record *r)
{
	const struct smc_diag_linkinfo *link = &r->lgr.lnk[0];

	if (!record_has(r, SMC_DIAG_LGRINFO)) {
		blanks(t, 6);
		return;
	}
	cell(t, "%s", r->lgr.role ? "SERV" : "CLNT");
	cell(t, "%.*s", (int)sizeof(link->ibname), link->ibname);
	cell(t, "%02x", link->ibport);
	cell(t, "%02x", link->link_id);
	cell(t, "%.*s", (int)sizeof(link->gid), link->gid);
	cell(t, "%.*s", (int)sizeof(link->peer_gid), link->peer_gid);
}

/* Last in the line, as its length is nobody's alignment. */
static void reason_cell(struct table *t, const struct record *r)
{
	const struct smc_diag_fallback *f = &r->fallback;
	char room[64];

	if (!is_tcp(r) || !record_has(r, SMC_DIAG_FALLBACK))
		return;
	if (f->peer_diagnosis)
		cell(t, "the peer declined: %s", reason_words(f->peer_diagnosis, room));
	else
		cell(t, "%s", reason_words(f->reason, room));
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

static void write_rows(FILE *out, const struct table *t)
{
	size_t row;
	int column, last;

	for (row = 0; row < t->rows; row++) {
		for (last = t->columns - 1; last > 0 && !t->cells[row][last][0]; last--)
			;
		for (column = 0; column < last; column++)
			fprintf(out, "%-*s ", t->width[column], t->cells[row][column]);
		fprintf(out, "%s\n", t->cells[row][last]);
	}
}

void print_table(FILE *out, const struct records *records, const struct columns *columns)
{
	struct table t = { .rows = records->count + 1 };
	size_t i;

	t.cells = calloc(t.rows, sizeof(*t.cells));
	if (!t.cells) {
		fprintf(stderr, "smcss: no memory for a table of %zu sockets\n", records->count);
		return;
	}
	heading(&t, columns);
	if (any_reason(records))
		cell(&t, "Reason");
	next_row(&t);
	for (i = 0; i < records->count; i++) {
		base_cells(&t, &records->list[i]);
		if (columns->debug)
			debug_cells(&t, &records->list[i]);
		if (columns->smcd)
			smcd_cells(&t, &records->list[i]);
		if (columns->smcr)
			smcr_cells(&t, &records->list[i]);
		reason_cell(&t, &records->list[i]);
		next_row(&t);
	}
	write_rows(out, &t);
	free(t.cells);
}
