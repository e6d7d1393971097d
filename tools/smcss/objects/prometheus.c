// SPDX-License-Identifier: GPL-2.0
/*
 * smcr stats --prometheus: all counters of this network namespace, of SMC-R and SMC-D together. The
 * names of metrics and labels must never be renamed or removed, see smcr(8).
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "prometheus.h"
#include "reason.h"

static const char * const kinds[] = { [SMC_D] = "smcd", [SMC_R] = "smcr" };

int exported_read(struct genl *genl, struct exported *e)
{
	int error, kind;

	memset(e, 0, sizeof(*e));
	e->links = (struct array)ARRAY_OF(struct link);
	for (kind = 0; kind < 2; kind++) {
		stats_init(&e->of[kind]);
		e->groups[kind] = (struct array)ARRAY_OF(struct linkgroup);
	}
	error = sysinfo_read(genl, &e->info);
	for (kind = 0; kind < 2 && !error; kind++) {
		error = stats_read(genl, kind, &e->of[kind]);
		if (!error)
			error = linkgroups_read(genl, kind, &e->groups[kind]);
	}
	return error ? error : links_read(genl, &e->links);
}

void exported_free(struct exported *e)
{
	int kind;

	for (kind = 0; kind < 2; kind++) {
		stats_free(&e->of[kind]);
		array_free(&e->groups[kind]);
	}
	array_free(&e->links);
}

/* ---- output format ------------------------------------------------------------- */

/* All samples of a metric must follow its head. */
static void head(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* labels: printf format of the labels, or "" */
__attribute__((format(printf, 4, 5)))
static void sample(FILE *out, const char *name, uint64_t value, const char *labels, ...)
{
	va_list args;

	fputs(name, out);
	if (*labels) {
		fputc('{', out);
		va_start(args, labels);
		vfprintf(out, labels, args);
		va_end(args);
		fputc('}', out);
	}
	fprintf(out, " %" PRIu64 "\n", value);
}

static void single(FILE *out, const char *name, const char *type, const char *help, uint64_t value)
{
	head(out, name, type, help);
	sample(out, name, value, "%s", "");
}

/* ---- connections --------------------------------------------------------------- */

static void print_connections(FILE *out, const struct exported *e)
{
	static const char * const name = "smc_connections_total";
	const struct counters *d = &e->of[SMC_D].counters;
	int kind;

	head(out, name, "counter", "Connections that became SMC.");
	for (kind = 0; kind < 2; kind++) {
		const struct counters *c = &e->of[kind].counters;
		static const char labels[] = "mode=\"%s\",role=\"%s\",version=\"%d\"";

		sample(out, name, c->client_v1, labels, kinds[kind], "client", 1);
		sample(out, name, c->client_v2, labels, kinds[kind], "client", 2);
		sample(out, name, c->server_v1, labels, kinds[kind], "server", 1);
		sample(out, name, c->server_v2, labels, kinds[kind], "server", 2);
	}
	if (e->of[SMC_D].has_pairs) {
		head(out, "smc_connections_paired_total", "counter",
		     "Of the smcd connections, those within this kernel that needed no handshake.");
		sample(out, "smc_connections_paired_total", d->client_paired, "role=\"client\"");
		sample(out, "smc_connections_paired_total", d->server_paired, "role=\"server\"");
	}
	head(out, "smc_handshake_errors_total", "counter", "Handshakes that ended in a reset.");
	sample(out, "smc_handshake_errors_total", d->client_errors, "role=\"client\"");
	sample(out, "smc_handshake_errors_total", d->server_errors, "role=\"server\"");
}

static void print_fallbacks(FILE *out, const struct exported *e)
{
	const struct array *all = &e->of[SMC_D].fallbacks;
	size_t i;

	head(out, "smc_fallbacks_total", "counter",
	     "Sockets that became TCP, by reason; the sum over the reasons is the total.");
	for (i = 0; i < all->count; i++) {
		const struct fallback_count *f = array_item(all, i);
		const char *name = reason_name(f->reason);

		sample(out, "smc_fallbacks_total", f->count,
		       "role=\"%s\",reason=\"%s\",code=\"0x%08x\"",
		       f->is_server ? "server" : "client", name ? name : "", f->reason);
	}
}

/* ---- data ---------------------------------------------------------------------- */

/* One sample for each direction of SMC-D and SMC-R. */
#define DIRECTIONS(out, e, name, what, ...) do {					\
	int kind_;									\
											\
	for (kind_ = 0; kind_ < 2; kind_++) {						\
		const struct counters *c_ = &(e)->of[kind_].counters;			\
											\
		sample(out, name, c_->tx.what, "mode=\"%s\",direction=\"tx\"" __VA_ARGS__,	\
		       kinds[kind_]);							\
		sample(out, name, c_->rx.what, "mode=\"%s\",direction=\"rx\"" __VA_ARGS__,	\
		       kinds[kind_]);							\
	}										\
} while (0)

static void print_sizes(FILE *out, const char *kind, const char *direction,
			const struct direction *d)
{
	static const char labels[] = "mode=\"%s\",direction=\"%s\"";
	uint64_t sum = 0;
	int i;

	for (i = 0; i < STATS_SIZES; i++) {
		sum += d->requests[i];
		if (i < STATS_SIZES - 1)
			sample(out, "smc_call_bytes_bucket", sum,
			       "mode=\"%s\",direction=\"%s\",le=\"%u\"", kind, direction,
			       8192u << i);
		else
			sample(out, "smc_call_bytes_bucket", sum,
			       "mode=\"%s\",direction=\"%s\",le=\"+Inf\"", kind, direction);
	}
	sample(out, "smc_call_bytes_sum", d->bytes, labels, kind, direction);
	sample(out, "smc_call_bytes_count", sum, labels, kind, direction);
}

static void print_data(FILE *out, const struct exported *e)
{
	int kind;

	head(out, "smc_bytes_total", "counter", "Bytes that applications sent and received.");
	DIRECTIONS(out, e, "smc_bytes_total", bytes);
	head(out, "smc_call_bytes", "histogram",
	     "Send and receive calls, by size; the sum is the number of bytes moved.");
	for (kind = 0; kind < 2; kind++) {
		print_sizes(out, kinds[kind], "tx", &e->of[kind].counters.tx);
		print_sizes(out, kinds[kind], "rx", &e->of[kind].counters.rx);
	}
	head(out, "smc_buffer_full_total", "counter",
	     "Calls that found no room to send (tx) or a full receive buffer (rx), here or at the peer.");
	DIRECTIONS(out, e, "smc_buffer_full_total", rmb.full, ",side=\"local\"");
	DIRECTIONS(out, e, "smc_buffer_full_total", rmb.full_peer, ",side=\"peer\"");
	head(out, "smc_buffer_too_small_total", "counter",
	     "Calls that sent more than the buffer holds, or left data unread.");
	DIRECTIONS(out, e, "smc_buffer_too_small_total", rmb.too_small, ",side=\"local\"");
	DIRECTIONS(out, e, "smc_buffer_too_small_total", rmb.too_small_peer, ",side=\"peer\"");
	head(out, "smc_buffers_total", "counter",
	     "Connections whose buffer was allocated, reused, or smaller than requested.");
	DIRECTIONS(out, e, "smc_buffers_total", rmb.allocated, ",how=\"allocated\"");
	DIRECTIONS(out, e, "smc_buffers_total", rmb.reused, ",how=\"reused\"");
	DIRECTIONS(out, e, "smc_buffers_total", rmb.downgraded, ",how=\"downgraded\"");
	head(out, "smc_buffer_bytes", "gauge", "Bytes in the buffers of current connections.");
	for (kind = 0; kind < 2; kind++) {
		sample(out, "smc_buffer_bytes", e->of[kind].tx_usage,
		       "mode=\"%s\",direction=\"tx\"", kinds[kind]);
		sample(out, "smc_buffer_bytes", e->of[kind].rx_usage,
		       "mode=\"%s\",direction=\"rx\"", kinds[kind]);
	}
}

/* ---- link groups, memory ------------------------------------------------------- */

static uint64_t connections_of(const struct array *groups)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < groups->count; i++)
		sum += ((const struct linkgroup *)array_item(groups, i))->conns;
	return sum;
}

static void print_groups(FILE *out, const struct exported *e)
{
	const struct counters *r = &e->of[SMC_R].counters;
	int kind;

	head(out, "smc_linkgroups", "gauge", "Current link groups; the whole loopback is one.");
	for (kind = 0; kind < 2; kind++)
		sample(out, "smc_linkgroups", e->groups[kind].count, "mode=\"%s\"", kinds[kind]);
	head(out, "smc_connections", "gauge", "Current connections of the link groups.");
	for (kind = 0; kind < 2; kind++)
		sample(out, "smc_connections", connections_of(&e->groups[kind]), "mode=\"%s\"",
		       kinds[kind]);
	single(out, "smc_links", "gauge", "Current SMC-R links.", e->links.count);
	if (e->of[SMC_R].has_links) {
		single(out, "smc_links_up_total", "counter", "SMC-R links that came up.",
		       r->links_up);
		single(out, "smc_links_down_total", "counter", "SMC-R links that failed.",
		       r->links_down);
	}
	if (e->of[SMC_R].has_moves) {
		single(out, "smc_connections_moved_total", "counter",
		       "Connections that moved from a failed link to another one.",
		       r->conns_moved);
		single(out, "smc_bytes_rewritten_total", "counter",
		       "Bytes that the moved connections wrote again.", r->bytes_again);
	}
}

static void print_host(FILE *out, const struct exported *e)
{
	const struct sysinfo *i = &e->info;

	head(out, "smc_devices", "gauge", "Devices that this namespace may use.");
	sample(out, "smc_devices", i->rdma_devices, "kind=\"rdma\"");
	sample(out, "smc_devices", i->ism_devices, "kind=\"ism\"");
	sample(out, "smc_devices", i->loopback, "kind=\"loopback\"");
	if (i->has_memory) {
		single(out, "smc_memory_bytes", "gauge", "Bytes of all buffers of the namespace.",
		       i->memory_used);
		single(out, "smc_memory_limit_bytes", "gauge", "Limit on smc_memory_bytes.",
		       i->memory_max);
	}
	if (i->has_host_memory) {
		single(out, "smc_host_memory_bytes", "gauge", "Bytes of all buffers of the host.",
		       i->host_memory_used);
		single(out, "smc_host_memory_limit_bytes", "gauge", "Limit on smc_host_memory_bytes.",
		       i->host_memory_max);
	}
	if (i->has_hs_pending)
		single(out, "smc_handshakes_pending", "gauge", "Handshakes in progress.",
		       i->hs_pending);
}

void exported_print(FILE *out, const struct exported *e)
{
	print_connections(out, e);
	print_fallbacks(out, e);
	print_data(out, e);
	print_groups(out, e);
	print_host(out, e);
}
