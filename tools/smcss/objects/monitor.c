// SPDX-License-Identifier: GPL-2.0
/* smcr monitor, smcd monitor: show events as they happen, like ip-monitor(8). */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include <linux/smc_diag.h>

#include "auto.h"
#include "commands.h"
#include "complain.h"
#include "interrupt.h"
#include "link.h"
#include "monitor.h"
#include "reason.h"

const struct field event_fields[] = {
	NUMBER(SMC_NLA_EVENT_TYPE, struct event, type),
	NUMBER(SMC_NLA_EVENT_TIME, struct event, time),
	NUMBER(SMC_NLA_EVENT_ROLE, struct event, role),
	NUMBER(SMC_NLA_EVENT_LGR, struct event, lgr),
	FLAG(SMC_NLA_EVENT_LGR, struct event, has_lgr),
	NUMBER(SMC_NLA_EVENT_TECH, struct event, tech),
	NUMBER(SMC_NLA_EVENT_CONNS, struct event, conns),
	TEXT(SMC_NLA_EVENT_DEV, struct event, dev),
	NUMBER(SMC_NLA_EVENT_LGR_TYPE, struct event, lgr_type),
	FLAG(SMC_NLA_EVENT_LGR_TYPE, struct event, has_lgr_type),
	NUMBER(SMC_NLA_EVENT_LINK, struct event, link),
	NUMBER(SMC_NLA_EVENT_PORT, struct event, port),
	BYTES(SMC_NLA_EVENT_LOCAL_ADDR, struct event, local),
	NUMBER(SMC_NLA_EVENT_LOCAL_PORT, struct event, local_port),
	BYTES(SMC_NLA_EVENT_REMOTE_ADDR, struct event, remote),
	NUMBER(SMC_NLA_EVENT_REMOTE_PORT, struct event, remote_port),
	NUMBER(SMC_NLA_EVENT_REASON, struct event, reason),
	NUMBER(SMC_NLA_EVENT_DIAGNOSIS, struct event, diagnosis),
	{ }
};

/* Name in JSON, and words in text, for each event type; object also selects it in a command. */
static const struct {
	const char *json, *object, *what;
} types[] = {
	[0]			= { "lost", NULL, NULL },
	[SMC_EVENT_LGR_NEW]	= { "linkgroup_new", "linkgroup", "new" },
	[SMC_EVENT_LGR_END]	= { "linkgroup_end", "linkgroup", "end" },
	[SMC_EVENT_LINK_UP]	= { "link_up", "link", "up" },
	[SMC_EVENT_LINK_DOWN]	= { "link_down", "link", "down" },
	[SMC_EVENT_FALLBACK]	= { "fallback", "fallback", NULL },
};
#define TYPES	(sizeof(types) / sizeof(types[0]))

static struct smc_diag_fallback fallback_of(const struct event *e)
{
	return (struct smc_diag_fallback){ .reason = e->reason, .peer_diagnosis = e->diagnosis };
}

/* ---- text ---------------------------------------------------------------------- */

static void print_time(FILE *out, uint64_t time)
{
	time_t seconds = time / 1000000000;
	struct tm tm;
	char text[32];

	strftime(text, sizeof(text), "%F %T", localtime_r(&seconds, &tm));
	fprintf(out, "%s.%06" PRIu64 " ", text, time % 1000000000 / 1000);
}

static void print_group(FILE *out, const struct event *e)
{
	char room[16];

	fprintf(out, " %s", linkgroup_role(e->role));
	if (e->has_lgr_type)
		fprintf(out, " %s", linkgroup_type(e->lgr_type, room));
	fprintf(out, " %s", e->dev);
	if (e->link)
		fprintf(out, " port %u", e->port);
	fprintf(out, ", %u connection%s", e->conns, e->conns == 1 ? "" : "s");
}

static void print_reason(FILE *out, const struct event *e)
{
	struct smc_diag_fallback fallback = fallback_of(e);
	uint32_t code = e->diagnosis ? e->diagnosis : e->reason;
	char room[REASON_ROOM];

	fprintf(out, ": %s%s (0x%08x)", e->diagnosis ? "the peer declined: " : "",
		reason_words(code, room), code);
	if (e->type == SMC_EVENT_FALLBACK)
		fprintf(out, ", look at: %s", reason_side(&fallback));
}

void event_print(FILE *out, const struct event *e)
{
	char local[END_ROOM], remote[END_ROOM];

	if (!e->type || e->type >= TYPES) {
		fputs("some events are missing: they came faster than they could be read, or memory was short\n",
		      out);
		return;
	}
	print_time(out, e->time);
	fprintf(out, "%s", types[e->type].object);
	if (e->has_lgr) {
		fprintf(out, " %08x", e->lgr);
		if (e->link)
			fprintf(out, "/%u", e->link);
		fprintf(out, " %s", types[e->type].what);
		print_group(out, e);
	} else {
		fprintf(out, " %s %s -> %s", e->role ? "server" : "client",
			end_text(&e->local, e->local_port, local),
			end_text(&e->remote, e->remote_port, remote));
	}
	if (e->reason)
		print_reason(out, e);
	fputc('\n', out);
}

/* ---- JSON ---------------------------------------------------------------------- */

static void json_time(struct json *json, uint64_t time)
{
	time_t seconds = time / 1000000000;
	char text[48];
	struct tm tm;
	size_t len;

	len = strftime(text, sizeof(text), "%FT%T", gmtime_r(&seconds, &tm));
	snprintf(text + len, sizeof(text) - len, ".%09" PRIu64 "Z", time % 1000000000);
	json_text(json, "time", text);
}

static void json_group(struct json *json, const struct event *e)
{
	char room[16];

	json_hex(json, "linkgroup", 8, e->lgr);
	json_text(json, "mode", e->tech == SMC_DIAG_MODE_SMCD ? "SMCD" : "SMCR");
	if (e->has_lgr_type)
		json_text(json, "type", linkgroup_type(e->lgr_type, room));
	json_number(json, "connections", e->conns);
	json_text(json, "device", e->dev);
	if (!e->link)
		return;
	json_number(json, "link", e->link);
	json_number(json, "port", e->port);
}

static void json_end_of(struct json *json, const char *key, const struct bytes *address,
			unsigned int port)
{
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(address->len == 4 ? AF_INET : AF_INET6, address->bytes, text, sizeof(text));
	json_object(json, key);
	json_text(json, "address", text);
	json_number(json, "port", port);
	json_object_end(json);
}

void event_json(FILE *out, const struct event *e)
{
	struct smc_diag_fallback fallback = fallback_of(e);
	struct json json;

	json_begin(&json, out);
	json_text(&json, "event", types[e->type < TYPES ? e->type : 0].json);
	json_time(&json, e->time);
	if (e->type)
		json_text(&json, "role", e->role ? "server" : "client");
	if (e->has_lgr)
		json_group(&json, e);
	if (e->local.len) {
		json_end_of(&json, "local", &e->local, e->local_port);
		json_end_of(&json, "peer", &e->remote, e->remote_port);
	}
	if (e->reason)
		json_reason(&json, "reason", e->reason);
	if (e->diagnosis)
		json_reason(&json, "peer_diagnosis", e->diagnosis);
	if (e->type == SMC_EVENT_FALLBACK)
		json_text(&json, "side", reason_side(&fallback));
	json_end(&json);
}

/* ---- the monitor --------------------------------------------------------------- */

struct monitor {
	const struct request *request;
	bool shown[TYPES];
	unsigned int left;	/* remaining events, with --count */
};

static void show(struct monitor *m, const struct event *e)
{
	if (m->request->count && !m->left)
		return;
	(m->request->json ? event_json : event_print)(stdout, e);
	m->left--;
}

static void take_event(struct nlattr *nla, void *arg)
{
	struct monitor *m = arg;
	struct event e = { };

	if (nla_type(nla) != SMC_GEN_EVENT)
		return;
	decode(event_fields, nla_data(nla), nla_len(nla), &e);
	if (!e.type || e.type >= TYPES || !m->shown[e.type])
		return;
	/* events of link groups: only those of this program's kind */
	if (e.has_lgr && e.tech != (m->request->kind == SMC_D ? SMC_DIAG_MODE_SMCD :
				    SMC_DIAG_MODE_SMCR))
		return;
	show(m, &e);
}

static void show_lost(struct monitor *m)
{
	struct timespec now;
	struct event e = { };

	clock_gettime(CLOCK_REALTIME, &now);
	e.time = now.tv_sec * 1000000000ull + now.tv_nsec;
	show(m, &e);
}

/* linkgroup, link, fallback, all; without any word: all */
static void choose(struct monitor *m)
{
	const struct request *r = m->request;
	size_t i, t;

	for (t = 1; t < TYPES; t++)
		m->shown[t] = !r->word_count;
	for (i = 0; i < r->word_count; i++) {
		bool all = !strcmp(r->words[i], "all"), found = all;

		for (t = 1; t < TYPES; t++) {
			if (!all && strcmp(r->words[i], types[t].object))
				continue;
			m->shown[t] = found = true;
		}
		if (!found)
			usage_error("'%s' is not an event: use linkgroup, link, fallback or all",
				    r->words[i]);
	}
}

static int run_monitor(struct genl *genl, const struct request *r)
{
	struct monitor m = { .request = r, .left = r->count };
	struct genl_reader reader = { .take = take_event, .arg = &m };
	int error;

	choose(&m);
	error = genl_join(genl, SMC_GENL_EVENTS_NAME);
	if (error == ENOENT)
		return complain("this SMC module does not report events (the kernel's own does not)");
	if (error)
		return complain("cannot listen for events: %s", strerror(error));
	setvbuf(stdout, NULL, _IOLBF, 0);
	interrupt_catch();
	while (!interrupted() && (!r->count || m.left)) {
		if (!interrupt_wait(genl_fd(genl), INFINITY))
			continue;
		error = genl_take_events(genl, &reader);
		if (error == ENOBUFS)
			show_lost(&m);
		else if (error)
			return complain("cannot read events: %s", strerror(error));
		if (ferror(stdout))
			return EXIT_REFUSED;
	}
	return 0;
}

const struct command monitor_commands[] = {
	{ "show", run_monitor, TAKES_WORDS, ENDLESS },
	{ }
};
