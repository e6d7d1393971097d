// SPDX-License-Identifier: GPL-2.0
/*
 * smcr report --html: one page without external resources and scripts. All text from outside must
 * go through put().
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../smcss/process.h"
#include "link.h"
#include "number.h"
#include "report.h"
#include "report_style.h"

#define BEADS	48		/* maximum of connections drawn on a wire */
#define ROWS	300		/* maximum of connections in the table */

/* Escapes text for HTML: names come from peers, drivers and users. */
static void put(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc((*text >= ' ' && *text != 127) || *text == '\n' ? *text : '?', out);
		}
	}
}

static void put_bytes(FILE *out, const uint8_t *bytes, size_t size)
{
	char text[128];

	snprintf(text, sizeof(text), "%.*s", (int)size, (const char *)bytes);
	put(out, text);
}

/* ---- connections --------------------------------------------------------------- */

static bool is_connection(const struct record *r)
{
	return state_is_settled(r->msg.diag_state) && has_peer(r);
}

/* The class in the style sheet, a letter. */
static char letter(const struct record *r)
{
	if (is_tcp(r))
		return 't';
	return r->msg.diag_mode == SMC_DIAG_MODE_SMCD ? 'd' : 'r';
}

static void put_why(FILE *out, const struct record *r)
{
	const struct smc_diag_fallback *f = &r->fallback;
	char room[REASON_ROOM];

	if (!is_tcp(r) || !record_has(r, SMC_DIAG_FALLBACK))
		return;
	if (f->peer_diagnosis)
		put(out, "the peer declined: ");
	put(out, reason_words(f->peer_diagnosis ? f->peer_diagnosis : f->reason, room));
}

static void put_ends(FILE *out, const struct record *r)
{
	char address[ADDRESS_ROOM];

	address_words(r, false, address, sizeof(address));
	put(out, address);
	put(out, " \xe2\x80\x93 ");
	address_words(r, true, address, sizeof(address));
	put(out, address);
}

static void put_processes(FILE *out, const struct report *report, const struct record *r)
{
	const struct process *p;
	size_t i, count;

	p = processes_of(&report->processes, r->msg.diag_inode, &count);
	for (i = 0; i < count && i < 3; i++) {
		put(out, i ? ", " : "");
		put(out, p[i].name);
		fprintf(out, " (%u)", p[i].pid);
	}
	if (count > 3)
		fprintf(out, " and %zu more", count - 3);
}

/* A wire of the drawing. Its members select the connections that are drawn on it. */
struct wire {
	char kind;			/* d, r, t */
	uint32_t group;
	uint8_t link;
	bool off;			/* dashed: no traffic now */
};

static bool on_wire(const struct wire *w, const struct record *r)
{
	if (!is_connection(r) || letter(r) != w->kind)
		return false;
	if (w->kind == 'd')
		return record_has(r, SMC_DIAG_DMBINFO) && r->dmb.linkid == w->group;
	if (w->kind == 'r')
		return record_has(r, SMC_DIAG_LGRINFO) && r->lgr_id == w->group &&
		       r->lgr.lnk[0].link_id == w->link;
	return true;
}

static size_t count_on(const struct report *report, const struct wire *w)
{
	size_t i, count = 0;

	for (i = 0; i < report->records.count; i++)
		count += on_wire(w, &report->records.list[i]);
	return count;
}

static void print_wire(FILE *out, const struct report *report, const struct wire *w)
{
	size_t i, drawn = 0, count = count_on(report, w);
	size_t beads = count < BEADS ? count : BEADS;
	char room[16];

	fprintf(out, "<svg class=\"wire%s\" role=\"img\"><title>%zu connection%s</title>"
		"<line x1=\"0\" y1=\"11\" x2=\"100%%\" y2=\"11\"/>", w->off ? " off" : "", count,
		count == 1 ? "" : "s");
	for (i = 0; i < report->records.count && drawn < beads; i++) {
		const struct record *r = &report->records.list[i];

		if (!on_wire(w, r))
			continue;
		fprintf(out, "<circle%s cx=\"%.1f%%\" cy=\"11\" r=\"%d\"><title>",
			r->msg.diag_state == SMC_DIAG_STATE_ACTIVE ? "" : " class=\"idle\"",
			100.0 * (drawn + 1) / (beads + 1), beads > 24 ? 3 : 6);
		put_ends(out, r);
		fprintf(out, ", %s ", state_name(r->msg.diag_state, room));
		put_processes(out, report, r);
		fputs("</title></circle>", out);
		drawn++;
	}
	fputs("</svg>\n", out);
}

/* ---- the drawing --------------------------------------------------------------- */

static void print_caption(FILE *out, enum smc_kind kind, const struct linkgroup *g)
{
	char room[16];

	fprintf(out, "<div class=\"cap\"><b>%s</b> link group %08x", kind == SMC_D ? "SMC-D" : "SMC-R",
		g->id);
	if (kind == SMC_R)
		fprintf(out, ", %s, %s", linkgroup_type(g->type, room), g->role ? "server" : "client");
	fprintf(out, ", version %u", g->has_v2 && g->version ? g->version : 1);
	fprintf(out, ", %u connection%s</div>\n", g->conns, g->conns == 1 ? "" : "s");
}

static void print_peer(FILE *out, enum smc_kind kind, const struct linkgroup *g)
{
	bool loopback = kind == SMC_D && g->chid == 0xffff;

	fputs("<div class=\"peer\"><b>", out);
	if (loopback)
		fputs("this kernel", out);
	else
		put(out, g->peer_host[0] ? g->peer_host : "the peer");
	fputs("</b>", out);
	if (loopback) {
		fputs("<small>loopback</small>", out);
	} else if (g->eid[0]) {
		fputs("<small>EID ", out);
		put(out, g->eid);
		fputs("</small>", out);
	}
	fputs("</div></div>\n", out);
}

/* Shortens a GID: the kernel writes all 39 characters. */
static void put_gid(FILE *out, const char *gid)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr address;

	put(out, inet_pton(AF_INET6, gid, &address) == 1 ?
	    inet_ntop(AF_INET6, &address, text, sizeof(text)) : gid);
}

static void print_link(FILE *out, const struct report *report, const struct link *l)
{
	struct wire wire = { 'r', l->group, l->id, l->state != 3 };
	char room[32];

	fputs("<div class=\"ends\"><span>", out);
	put(out, l->dev);
	fprintf(out, " port %u (", l->port);
	put(out, netdev_name(l->ifindex, room));
	fprintf(out, ")</span><span>link %u%s</span><span>", l->id,
		l->state == 3 ? "" : ", not active");
	put_gid(out, l->peer_gid);
	fputs("</span></div>\n", out);
	print_wire(out, report, &wire);
}

static void print_group(FILE *out, const struct report *report, enum smc_kind kind,
			const struct linkgroup *g)
{
	struct wire wire = { 'd', g->id, 0, !g->conns };
	size_t i;

	fprintf(out, "<div class=\"row %c\"><div class=\"wires\">", kind == SMC_D ? 'd' : 'r');
	print_caption(out, kind, g);
	for (i = 0; kind == SMC_R && i < report->now.links.count; i++) {
		const struct link *l = array_item(&report->now.links, i);

		if (l->group == g->id)
			print_link(out, report, l);
	}
	if (kind == SMC_D) {
		if (g->chid != 0xffff)
			fprintf(out, "<div class=\"ends\"><span>GID %016" PRIx64
				"</span><span>GID %016" PRIx64 "</span></div>\n", g->gid,
				g->peer_gid);
		print_wire(out, report, &wire);
	}
	fputs("</div>", out);
	print_peer(out, kind, g);
}

static void print_tcp(FILE *out, const struct report *report)
{
	struct wire wire = { 't', 0, 0, true };
	size_t count = count_on(report, &wire);

	if (!count)
		return;
	fprintf(out, "<div class=\"row t\"><div class=\"wires\"><div class=\"cap\"><b>TCP</b> "
		"%zu connection%s that could not be SMC</div>\n", count, count == 1 ? "" : "s");
	print_wire(out, report, &wire);
	fputs("</div><div class=\"peer\"><b>other hosts</b><small>reasons below</small></div></div>\n",
	      out);
}

static void print_drawing(FILE *out, const struct report *report)
{
	int kind;
	size_t i;

	fputs("<section><h2>Link groups, links and connections</h2>\n<div class=\"net\"><div class=\"host\"><b>",
	      out);
	put(out, report->host);
	fputs("</b><small>this host</small></div><div class=\"rows\">\n", out);
	for (kind = SMC_R; kind >= SMC_D; kind--)
		for (i = 0; i < report->now.groups[kind].count; i++)
			print_group(out, report, kind, array_item(&report->now.groups[kind], i));
	print_tcp(out, report);
	if (!report->now.groups[SMC_R].count && !report->now.groups[SMC_D].count)
		fputs("<p class=\"cap soft\">There is no link group now.</p>\n", out);
	fprintf(out, "</div></div>\n<div class=\"key\"><span class=\"r\"><i></i>SMC-R</span>"
		"<span class=\"d\"><i></i>SMC-D</span><span class=\"t\"><i></i>TCP</span>"
		"<span>a bead is a connection (at most %d are drawn on a line); hollow: closing; "
		"dashed: no traffic now</span></div></section>\n", BEADS);
}

/* ---- tiles and bars ------------------------------------------------------------ */

static void tile(FILE *out, const char *class, uint64_t value, const char *what)
{
	char room[16];

	fprintf(out, "<div class=\"tile %s\"><b>%s</b>%s</div>\n", class, short_number(value, room),
		what);
}

static void print_tiles(FILE *out, const struct report *report)
{
	const struct sysinfo *info = &report->now.info;
	uint64_t counts[128] = { };
	char used[16], most[16];
	size_t i;

	for (i = 0; i < report->records.count; i++)
		if (is_connection(&report->records.list[i]))
			counts[(int)letter(&report->records.list[i])]++;
	fputs("<div class=\"tiles\">\n", out);
	tile(out, "r", counts['r'], "connections over SMC-R");
	tile(out, "d", counts['d'], "connections over SMC-D");
	tile(out, "t", counts['t'], "became TCP");
	tile(out, "", report->now.groups[SMC_R].count + report->now.groups[SMC_D].count,
	     "link groups");
	if (info->has_memory)
		fprintf(out, "<div class=\"tile\"><b>%s</b>bytes of buffers, of %s at most"
			"<div class=\"track r\" style=\"margin-top:.3rem\"><span class=\"fill\" "
			"style=\"width:%.1f%%\"></span></div></div>\n",
			short_number(info->memory_used, used), short_number(info->memory_max, most),
			info->memory_max ? 100.0 * info->memory_used / info->memory_max : 0);
	fputs("</div>\n", out);
}

/* label: a constant, not escaped */
static void bar(FILE *out, const char *class, const char *label, double value, double most,
		const char *unit)
{
	char room[16];

	fprintf(out, "<div class=\"bar %s\"><span>%s</span><span class=\"track\"><span class=\"fill\" "
		"style=\"width:%.1f%%\"></span></span><span class=\"val\">%s%s</span></div>\n", class,
		label, most > 0 ? 100 * value / most : 0, short_number(value + .5, room), unit);
}

struct rates {
	double bytes[2][2], calls[2][2];	/* by kind and direction, 0: rx, 1: tx */
};

static void make_rates(const struct report *r, struct rates *rates)
{
	int kind;

	for (kind = 0; kind < 2; kind++) {
		const struct counters *old = &r->before.of[kind].counters;
		const struct counters *new = &r->now.of[kind].counters;

		rates->bytes[kind][0] = (new->rx.bytes - old->rx.bytes) / r->seconds;
		rates->bytes[kind][1] = (new->tx.bytes - old->tx.bytes) / r->seconds;
		rates->calls[kind][0] = (new->rx.count - old->rx.count) / r->seconds;
		rates->calls[kind][1] = (new->tx.count - old->tx.count) / r->seconds;
	}
}

static void print_rates_of(FILE *out, const char *title, double of[2][2], const char *unit)
{
	static const char * const labels[2][2] = {
		[SMC_D] = { "SMC-D received", "SMC-D sent" },
		[SMC_R] = { "SMC-R received", "SMC-R sent" },
	};
	double most = 0;
	int kind, way;

	for (kind = 0; kind < 2; kind++)
		for (way = 0; way < 2; way++)
			most = of[kind][way] > most ? of[kind][way] : most;
	fprintf(out, "<h3>%s</h3>\n", title);
	for (kind = SMC_R; kind >= SMC_D; kind--)
		for (way = 1; way >= 0; way--)
			bar(out, kind == SMC_R ? "r" : "d", labels[kind][way], of[kind][way], most,
			    unit);
}

static void print_rates(FILE *out, const struct report *report)
{
	struct rates rates;

	make_rates(report, &rates);
	fprintf(out, "<section><h2>Rates <small>over %.1f s</small></h2>\n", report->seconds);
	print_rates_of(out, "Data", rates.bytes, "B/s");
	print_rates_of(out, "Calls", rates.calls, "/s");
	fputs("</section>\n", out);
}

static void print_reasons(FILE *out, const struct report *report)
{
	const struct array *all = &report->now.of[SMC_R].fallbacks;
	uint64_t most = 0;
	char room[REASON_ROOM], number[16];
	size_t i;

	fputs("<section><h2>Why connections became TCP <small>since the namespace was created or the module loaded</small></h2>\n",
	      out);
	for (i = 0; i < all->count; i++) {
		const struct fallback_count *f = array_item(all, i);

		most = f->count > most ? f->count : most;
	}
	for (i = 0; i < all->count; i++) {
		const struct fallback_count *f = array_item(all, i);
		struct smc_diag_fallback fallback = { .reason = f->reason };

		fputs("<div class=\"why\">", out);
		put(out, reason_words(f->reason, room));
		fprintf(out, " <span class=\"chip\">%s</span> <span class=\"chip\">look at: %s</span>"
			"<div class=\"bar t\"><span class=\"track\"><span class=\"fill\" "
			"style=\"width:%.1f%%\"></span></span><span class=\"val\">%s</span></div><small>",
			f->is_server ? "server" : "client", reason_side(&fallback),
			most ? 100.0 * f->count / most : 0, short_number(f->count, number));
		put(out, reason_remedy(f->reason));
		fputs("</small></div>\n", out);
	}
	if (!all->count)
		fputs("<p class=\"soft\">No connection did.</p>\n", out);
	fputs("</section>\n", out);
}

/* Column chart of the calls of one direction by size. */
static void print_sizes(FILE *out, const char *class, const char *title, const uint64_t sizes[])
{
	static const char * const names[STATS_SIZES] = {
		"8K", "16K", "32K", "64K", "128K", "256K", "512K", "1M", "more"
	};
	uint64_t most = 0, sum = 0;
	char room[16];
	int i;

	for (i = 0; i < STATS_SIZES; i++) {
		most = sizes[i] > most ? sizes[i] : most;
		sum += sizes[i];
	}
	if (!sum)
		return;
	fprintf(out, "<div><h3>%s: %s calls</h3><div class=\"cols %s\">", title, short_number(sum, room),
		class);
	for (i = 0; i < STATS_SIZES; i++)
		fprintf(out, "<div title=\"%" PRIu64 "\"><i style=\"height:%.1f%%\"></i><span>%s</span></div>",
			sizes[i], 80.0 * sizes[i] / most, names[i]);
	fputs("</div></div>\n", out);
}

static void print_calls(FILE *out, const struct report *report)
{
	const struct counters *r = &report->now.of[SMC_R].counters;
	const struct counters *d = &report->now.of[SMC_D].counters;

	if (!r->tx.count && !r->rx.count && !d->tx.count && !d->rx.count)
		return;
	fputs("<section><h2>Calls by size <small>in bytes, at most</small></h2><div class=\"charts\">\n",
	      out);
	print_sizes(out, "r", "SMC-R, sent", r->tx.requests);
	print_sizes(out, "r", "SMC-R, received", r->rx.requests);
	print_sizes(out, "d", "SMC-D, sent", d->tx.requests);
	print_sizes(out, "d", "SMC-D, received", d->rx.requests);
	fputs("</div></section>\n", out);
}

/* ---- tables -------------------------------------------------------------------- */

static void print_row(FILE *out, const struct report *report, const struct record *r)
{
	char address[ADDRESS_ROOM], room[16];

	fprintf(out, "<tr class=\"%c\"><td><b>%s</b></td><td>%s</td><td>", letter(r), mode_name(r),
		state_name(r->msg.diag_state, room));
	address_words(r, false, address, sizeof(address));
	put(out, address);
	fputs("</td><td>", out);
	address_words(r, true, address, sizeof(address));
	put(out, address);
	fputs("</td><td>", out);
	if (record_has(r, SMC_DIAG_LGRINFO)) {
		fprintf(out, "%08x/%u ", r->lgr_id, r->lgr.lnk[0].link_id);
		put_bytes(out, r->lgr.lnk[0].ibname, sizeof(r->lgr.lnk[0].ibname));
	} else if (record_has(r, SMC_DIAG_DMBINFO)) {
		fprintf(out, "%08x", r->dmb.linkid);
	}
	fputs("</td><td>", out);
	put_processes(out, report, r);
	fputs("</td><td class=\"why\">", out);
	put_why(out, r);
	fputs("</td></tr>\n", out);
}

static void print_connections(FILE *out, const struct report *report)
{
	size_t i, count = 0;

	fputs("<section><h2>Connections</h2><div class=\"scroll\"><table><tr><th>Mode</th><th>State</th>"
	      "<th>Local</th><th>Peer</th><th>Link group</th><th>Process</th><th>Reason</th></tr>\n", out);
	for (i = 0; i < report->records.count; i++)
		if (is_connection(&report->records.list[i]) && count++ < ROWS)
			print_row(out, report, &report->records.list[i]);
	fputs("</table></div>\n", out);
	if (!count)
		fputs("<p class=\"soft\">There are none.</p>\n", out);
	if (count > ROWS)
		fprintf(out, "<p class=\"soft\">and %zu more</p>\n", count - ROWS);
	fputs("</section>\n", out);
}

static void print_devices(FILE *out, const struct report *report)
{
	char *text = NULL;
	size_t size;
	int kind;

	fputs("<section><h2>Devices</h2>\n", out);
	for (kind = SMC_R; kind >= SMC_D; kind--) {
		FILE *copy = open_memstream(&text, &size);

		if (!copy)
			break;
		devices_print(copy, kind, &report->devices[kind], 0);
		fclose(copy);
		fprintf(out, "<h3>%s</h3><pre>", kind == SMC_R ? "SMC-R" : "SMC-D");
		put(out, text);
		fputs("</pre>\n", out);
		free(text);
	}
	fputs("</section>\n", out);
}

/* ---- the page ------------------------------------------------------------------ */

static void print_head(FILE *out, const struct report *report)
{
	char text[64];
	struct tm tm;

	strftime(text, sizeof(text), "%F %T %z", localtime_r(&report->time, &tm));
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>SMC on ",
	      out);
	put(out, report->host);
	fprintf(out, "</title>\n<style>\n%s</style></head>\n<body>\n<h1>SMC on ", report_style);
	put(out, report->host);
	fprintf(out, "</h1>\n<p class=\"soft\">%s. Linux ", text);
	put(out, report->kernel);
	if (report->system[0])
		fputs(", ", out);
	put(out, report->system);
	fputs(". Module: ", out);
	put(out, report->module);
	fputs(".</p>\n", out);
}

void report_html(FILE *out, const struct report *report, const char *text)
{
	print_head(out, report);
	print_tiles(out, report);
	print_drawing(out, report);
	fputs("<div class=\"two\">\n", out);
	if (report->seconds > 0)
		print_rates(out, report);
	print_reasons(out, report);
	fputs("</div>\n", out);
	print_calls(out, report);
	print_devices(out, report);
	print_connections(out, report);
	fputs("<section><details><summary>The whole report as text</summary><pre>", out);
	put(out, text);
	fputs("</pre></details></section>\n</body></html>\n", out);
}
