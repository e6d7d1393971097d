// SPDX-License-Identifier: GPL-2.0
/* Counters as text, in the layout that users of smcr stats know, and as JSON. */
#include "json_writer.h"
#include "number.h"
#include "reason.h"
#include "stats.h"

static const char *kind_name(enum smc_kind kind)
{
	return kind == SMC_D ? "SMC-D" : "SMC-R";
}

static uint64_t clients(const struct counters *c)
{
	return c->client_v1 + c->client_v2;
}

static uint64_t servers(const struct counters *c)
{
	return c->server_v1 + c->server_v2;
}

static uint64_t errors(const struct counters *c)
{
	return c->client_errors + c->server_errors;
}

static uint64_t fallbacks(const struct counters *c)
{
	return c->client_fallbacks + c->server_fallbacks;
}

static uint64_t connections(const struct counters *c)
{
	return clients(c) + servers(c);
}

static uint64_t handled(const struct counters *c)
{
	return connections(c) + errors(c) + fallbacks(c);
}

static uint64_t special(const struct counters *c)
{
	return c->sendpage + c->splice + c->cork + c->nodelay + c->urgent;
}

static double requests_per_connection(const struct counters *c)
{
	uint64_t count = c->rx.count + c->tx.count + special(c);

	return connections(c) ? (double)count / connections(c) : 0;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

/* ---- text ---------------------------------------------------------------------- */

static void line(FILE *out, const char *what, uint64_t value)
{
	fprintf(out, "  %-26s %12llu\n", what, (unsigned long long)value);
}

static void line_short(FILE *out, const char *what, uint64_t value)
{
	char room[16];

	fprintf(out, "  %-26s %12llu (%s)\n", what, (unsigned long long)value,
		short_number(value, room));
}

static void line_share(FILE *out, const char *what, uint64_t value, uint64_t whole)
{
	fprintf(out, "  %-26s %12llu (%.2f%%)\n", what, (unsigned long long)value,
		share(value, whole));
}

static void print_summary(FILE *out, enum smc_kind kind, const struct counters *c)
{
	fprintf(out, "%s Connections Summary\n", kind_name(kind));
	line(out, "Total connections handled", handled(c));
	line(out, "SMC connections", connections(c));
	line(out, "Handshake errors", errors(c));
	fprintf(out, "  %-26s %14.1f\n", "Avg requests per SMC conn", requests_per_connection(c));
	line(out, "TCP fallback", fallbacks(c));
}

static void print_details(FILE *out, enum smc_kind kind, const struct counters *c)
{
	fprintf(out, "%s Connections Summary\n", kind_name(kind));
	line(out, "Total connections handled", handled(c));
	line(out, "SMC connections", connections(c));
	line(out, "  Client, version 1", c->client_v1);
	line(out, "  Client, version 2", c->client_v2);
	line(out, "  Server, version 1", c->server_v1);
	line(out, "  Server, version 2", c->server_v2);
	line(out, "Handshake errors", errors(c));
	line(out, "  Client", c->client_errors);
	line(out, "  Server", c->server_errors);
	fprintf(out, "  %-26s %14.1f\n", "Avg requests per SMC conn", requests_per_connection(c));
	line(out, "TCP fallback", fallbacks(c));
	line(out, "  Client", c->client_fallbacks);
	line(out, "  Server", c->server_fallbacks);
}

/* Without details, the last two columns are shown as one. */
static void print_sizes(FILE *out, const char *what, const uint64_t sizes[STATS_SIZES], int details)
{
	int i, columns = details ? STATS_SIZES : STATS_SIZES - 1;
	char room[16];

	fprintf(out, "  %-4s", what);
	for (i = 0; i < columns; i++) {
		uint64_t value = sizes[i];

		if (i == columns - 1 && !details)
			value += sizes[i + 1];
		fprintf(out, i ? "%8s" : "%9s", short_number(value, room));
	}
	fputc('\n', out);
}

static void print_direction(FILE *out, const struct direction *d, uint64_t usage, bool is_tx,
			    int details)
{
	fprintf(out, "\n%s Stats\n", is_tx ? "TX" : "RX");
	line_short(out, "Data transmitted (Bytes)", d->bytes);
	line(out, "Total requests", d->count);
	line_short(out, "Buffer usage (Bytes)", usage);
	line_share(out, "Buffer full", d->rmb.full, d->count);
	if (is_tx)
		line_share(out, "Buffer full (remote)", d->rmb.full_peer, d->count);
	if (is_tx || details)
		line_share(out, "Buffer too small", d->rmb.too_small, d->count);
	if (is_tx)
		line_share(out, "Buffer too small (remote)", d->rmb.too_small_peer, d->count);
	if (details) {
		line(out, "Buffers allocated", d->rmb.allocated);
		line(out, "Buffers reused", d->rmb.reused);
		line(out, "Buffer downgrades", d->rmb.downgraded);
	}
	fprintf(out, "            8KB    16KB    32KB    64KB   128KB   256KB   512KB%s\n",
		details ? "  1024KB >1024KB" : "  >512KB");
	print_sizes(out, "Bufs", d->buffers, details);
	print_sizes(out, "Reqs", d->requests, details);
}

static void print_fallbacks(FILE *out, const struct array *fallbacks)
{
	char room[REASON_ROOM];
	size_t i;

	if (!fallbacks->count)
		return;
	fprintf(out, "\nTCP Fallback Reasons\n");
	for (i = 0; i < fallbacks->count; i++) {
		const struct fallback_count *f = array_item(fallbacks, i);

		fprintf(out, "  %s 0x%08x %5llu  %s\n", f->is_server ? "Server" : "Client",
			f->reason, (unsigned long long)f->count, reason_words(f->reason, room));
	}
}

void stats_print(FILE *out, enum smc_kind kind, const struct stats *stats, int details)
{
	const struct counters *c = &stats->counters;

	(details ? print_details : print_summary)(out, kind, c);
	print_direction(out, &c->rx, stats->rx_usage, false, details);
	print_direction(out, &c->tx, stats->tx_usage, true, details);
	fprintf(out, "\nExtras\n");
	line(out, "Special socket calls", special(c));
	if (!details)
		return;
	line(out, "  cork", c->cork);
	line(out, "  nodelay", c->nodelay);
	line(out, "  sendpage", c->sendpage);
	line(out, "  splice", c->splice);
	line(out, "  urgent data", c->urgent);
	if (stats->has_links && kind == SMC_R) {
		line(out, "Links that came up", c->links_up);
		line(out, "Links that failed", c->links_down);
	}
	if (stats->has_moves && kind == SMC_R) {
		line(out, "Moved to another link", c->conns_moved);
		line(out, "  bytes written again", c->bytes_again);
	}
	if (stats->has_pairs && kind == SMC_D) {
		fprintf(out, "\nPaired within this kernel\n");
		line(out, "Client", c->client_paired);
		line(out, "Server", c->server_paired);
	}
	print_fallbacks(out, &stats->fallbacks);
}

/* ---- JSON ---------------------------------------------------------------------- */

static void json_sizes(struct json *json, const char *key, const uint64_t sizes[STATS_SIZES])
{
	static const char * const bounds[STATS_SIZES] = {
		"8KB", "16KB", "32KB", "64KB", "128KB", "256KB", "512KB", "1024KB", "more"
	};
	int i;

	json_object(json, key);
	for (i = 0; i < STATS_SIZES; i++)
		json_number(json, bounds[i], sizes[i]);
	json_object_end(json);
}

static void json_direction(struct json *json, const char *key, const struct direction *d,
			   uint64_t usage)
{
	json_object(json, key);
	json_number(json, "bytes", d->bytes);
	json_number(json, "requests", d->count);
	json_number(json, "buffer_usage", usage);
	json_number(json, "buffer_full", d->rmb.full);
	json_number(json, "buffer_full_remote", d->rmb.full_peer);
	json_number(json, "buffer_too_small", d->rmb.too_small);
	json_number(json, "buffer_too_small_remote", d->rmb.too_small_peer);
	json_number(json, "buffers_allocated", d->rmb.allocated);
	json_number(json, "buffers_reused", d->rmb.reused);
	json_number(json, "buffer_downgrades", d->rmb.downgraded);
	json_sizes(json, "buffer_sizes", d->buffers);
	json_sizes(json, "request_sizes", d->requests);
	json_object_end(json);
}

static void json_side(struct json *json, const char *key, uint64_t v1, uint64_t v2,
		      uint64_t errors, uint64_t fallbacks)
{
	json_object(json, key);
	json_number(json, "smc_v1", v1);
	json_number(json, "smc_v2", v2);
	json_number(json, "handshake_errors", errors);
	json_number(json, "fallbacks", fallbacks);
	json_object_end(json);
}

static void json_extras(struct json *json, const struct counters *c)
{
	json_object(json, "special_calls");
	json_number(json, "cork", c->cork);
	json_number(json, "nodelay", c->nodelay);
	json_number(json, "sendpage", c->sendpage);
	json_number(json, "splice", c->splice);
	json_number(json, "urgent", c->urgent);
	json_object_end(json);
}

static void json_fallbacks(struct json *json, const struct array *fallbacks)
{
	size_t i;

	json_list(json, "fallback_reasons");
	for (i = 0; i < fallbacks->count; i++) {
		const struct fallback_count *f = array_item(fallbacks, i);

		json_object(json, NULL);
		json_text(json, "side", f->is_server ? "server" : "client");
		json_number(json, "count", f->count);
		json_reason(json, "reason", f->reason);
		json_object_end(json);
	}
	json_list_end(json);
}

void stats_json(FILE *out, enum smc_kind kind, const struct stats *stats)
{
	const struct counters *c = &stats->counters;
	struct json json;

	json_begin(&json, out);
	json_object(&json, "stats");
	json_text(&json, "type", kind_name(kind));
	json_number(&json, "connections", handled(c));
	json_number(&json, "smc_connections", connections(c));
	json_number(&json, "handshake_errors", errors(c));
	json_number(&json, "fallbacks", fallbacks(c));
	json_ratio(&json, "requests_per_connection", requests_per_connection(c));
	json_side(&json, "client", c->client_v1, c->client_v2, c->client_errors,
		  c->client_fallbacks);
	json_side(&json, "server", c->server_v1, c->server_v2, c->server_errors,
		  c->server_fallbacks);
	json_direction(&json, "rx", &c->rx, stats->rx_usage);
	json_direction(&json, "tx", &c->tx, stats->tx_usage);
	json_extras(&json, c);
	if (stats->has_links && kind == SMC_R) {
		json_object(&json, "links");
		json_number(&json, "up", c->links_up);
		json_number(&json, "down", c->links_down);
		if (stats->has_moves) {
			json_number(&json, "moved_connections", c->conns_moved);
			json_number(&json, "bytes_again", c->bytes_again);
		}
		json_object_end(&json);
	}
	if (stats->has_pairs && kind == SMC_D) {
		json_object(&json, "paired");
		json_number(&json, "client", c->client_paired);
		json_number(&json, "server", c->server_paired);
		json_object_end(&json);
	}
	json_fallbacks(&json, &stats->fallbacks);
	json_object_end(&json);
	json_end(&json);
}
