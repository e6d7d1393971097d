// SPDX-License-Identifier: GPL-2.0
/* smcr filter, smcd filter: rules that say which connections may use SMC. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "filter_rule.h"
#include "genl.h"
#include "json_writer.h"
#include "text_table.h"

const struct field rule_fields[] = {
	NUMBER(SMC_NLA_FILTER_ID, struct rule, id),
	NUMBER(SMC_NLA_FILTER_ACTION, struct rule, action),
	NUMBER(SMC_NLA_FILTER_DIRECTION, struct rule, direction),
	NUMBER(SMC_NLA_FILTER_FAMILY, struct rule, family),
	BYTES(SMC_NLA_FILTER_LOCAL_ADDR, struct rule, local.address),
	FLAG(SMC_NLA_FILTER_LOCAL_ADDR, struct rule, local.has_address),
	NUMBER(SMC_NLA_FILTER_LOCAL_PREFIX, struct rule, local.prefix),
	NUMBER(SMC_NLA_FILTER_LOCAL_PORT, struct rule, local.port),
	FLAG(SMC_NLA_FILTER_LOCAL_PORT, struct rule, local.has_port),
	NUMBER(SMC_NLA_FILTER_LOCAL_PORT_LAST, struct rule, local.port_last),
	BYTES(SMC_NLA_FILTER_REMOTE_ADDR, struct rule, remote.address),
	FLAG(SMC_NLA_FILTER_REMOTE_ADDR, struct rule, remote.has_address),
	NUMBER(SMC_NLA_FILTER_REMOTE_PREFIX, struct rule, remote.prefix),
	NUMBER(SMC_NLA_FILTER_REMOTE_PORT, struct rule, remote.port),
	FLAG(SMC_NLA_FILTER_REMOTE_PORT, struct rule, remote.has_port),
	NUMBER(SMC_NLA_FILTER_REMOTE_PORT_LAST, struct rule, remote.port_last),
	NUMBER(SMC_NLA_FILTER_HITS, struct rule, hits),
	{ }
};

int rules_read(struct genl *genl, struct array *rules)
{
	return genl_list(genl, SMC_NETLINK_GET_FILTER, SMC_GEN_FILTER, rule_fields, rules);
}

/* ---- parsing the command line -------------------------------------------------- */

struct typed {
	const char *const *next;
	const char *const *end;
	bool local;		/* this end has been given */
	bool remote;
};

static const char *another(struct typed *typed, const char *after)
{
	if (typed->next == typed->end)
		usage_error("%s requires an argument", after);
	return *typed->next++;
}

/* Takes the next word if it is this one. */
static bool follows(struct typed *typed, const char *word)
{
	if (typed->next == typed->end || strcmp(*typed->next, word))
		return false;
	typed->next++;
	return true;
}

/* Parses a decimal number up to max; *end points behind it. */
static bool number(const char *text, unsigned long max, unsigned long *value, char **end)
{
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoul(text, end, 10);
	return !errno && *value <= max;
}

static bool parse_ports(const char *text, struct rule_end *e)
{
	unsigned long first, last;
	char *end;

	if (!number(text, 65535, &first, &end))
		return false;
	last = first;
	if (*end == '-' && !number(end + 1, 65535, &last, &end))
		return false;
	if (*end || first > last)
		return false;
	e->has_port = true;
	e->port = first;
	e->port_last = last;
	return true;
}

static bool parse_prefix(const char *text, struct rule_end *e)
{
	const char *slash = strchrnul(text, '/');
	char address[INET6_ADDRSTRLEN];
	unsigned long bits;
	char *end;

	if ((size_t)(slash - text) >= sizeof(address))
		return false;
	memcpy(address, text, slash - text);
	address[slash - text] = '\0';
	if (inet_pton(AF_INET, address, e->address.bytes) == 1)
		e->address.len = 4;
	else if (inet_pton(AF_INET6, address, e->address.bytes) == 1)
		e->address.len = 16;
	else
		return false;
	bits = 8 * e->address.len;
	if (*slash && (!number(slash + 1, bits, &bits, &end) || *end))
		return false;
	e->has_address = true;
	e->prefix = bits;
	return true;
}

/* local or remote: [any | ADDRESS[/BITS]] [port N[-M]] */
static void parse_end(const char *which, struct typed *typed, struct rule_end *e)
{
	const char *word = NULL;
	bool any = follows(typed, "any");

	if (!any && !follows(typed, "port")) {
		word = another(typed, which);
		if (!parse_prefix(word, e))
			usage_error("'%s' is not an address, as in 10.0.0.0/8, fd00::/8 or any", word);
	} else if (!any) {
		typed->next--;
	}
	if (follows(typed, "port")) {
		word = another(typed, "port");
		if (strcmp(word, "any") && !parse_ports(word, e))
			usage_error("'%s' is not a port, as in 80, 8000-8999 or any", word);
	}
}

static void parse_before(struct typed *typed, struct rule *r)
{
	const char *word = another(typed, "before");
	unsigned long before;
	char *end;

	if (!number(word, UINT32_MAX, &before, &end) || *end || !before)
		usage_error("'%s' is not the ID of a rule", word);
	r->before = before;
}

/* Refuses a second word of a kind: only the last one would apply. */
static void once(bool given, const char *word, const char *what)
{
	if (given)
		usage_error("unexpected '%s': a rule has one %s", word, what);
}

static void take_direction(struct rule *r, const char *word, uint8_t direction)
{
	once(r->direction, word, "direction; without one it applies to both");
	r->direction = direction;
}

static void take_family(struct rule *r, const char *word, uint8_t family)
{
	once(r->family, word, "family; without one it applies to both");
	r->family = family;
}

static void parse_word(const char *word, struct typed *typed, struct rule *r)
{
	if (!strcmp(word, "in")) {
		take_direction(r, word, SMC_FILTER_IN);
	} else if (!strcmp(word, "out")) {
		take_direction(r, word, SMC_FILTER_OUT);
	} else if (!strcmp(word, "both")) {
		take_direction(r, word, SMC_FILTER_BOTH);
	} else if (!strcmp(word, "ipv4")) {
		take_family(r, word, AF_INET);
	} else if (!strcmp(word, "ipv6")) {
		take_family(r, word, AF_INET6);
	} else if (!strcmp(word, "local")) {
		once(typed->local, word, "local end");
		typed->local = true;
		parse_end(word, typed, &r->local);
	} else if (!strcmp(word, "remote")) {
		once(typed->remote, word, "remote end");
		typed->remote = true;
		parse_end(word, typed, &r->remote);
	} else if (!strcmp(word, "before")) {
		once(r->before, word, "place");
		parse_before(typed, r);
	} else if (!strcmp(word, "port")) {
		usage_error("which end does the port belong to? Use 'local port N' or 'remote port N'");
	} else {
		usage_error("'%s' is not part of a rule: see --help", word);
	}
}

void rule_parse(const char *const *words, size_t count, struct rule *r)
{
	struct typed typed = { .next = words, .end = words + count };
	const char *action;

	memset(r, 0, sizeof(*r));
	if (!count)
		usage_error("a rule is missing: it begins with permit or exclude, see --help");
	action = *typed.next++;
	if (!strcmp(action, "permit"))
		r->action = SMC_FILTER_PERMIT;
	else if (!strcmp(action, "exclude"))
		r->action = SMC_FILTER_EXCLUDE;
	else
		usage_error("a rule begins with permit or exclude, not with '%s'", action);
	while (typed.next < typed.end) {
		const char *word = *typed.next++;

		parse_word(word, &typed, r);
	}
}

uint32_t rule_parse_id(const char *const *words, size_t count)
{
	unsigned long id;
	char *end;

	if (count != 1 || !number(words[0], UINT32_MAX, &id, &end) || *end || !id)
		usage_error("'filter del' requires the ID of one rule: 'filter show' lists them");
	return id;
}

/* ---- sending to the kernel ----------------------------------------------------- */

static int put_end(struct nl_msg *msg, const struct rule_end *e, int first)
{
	/* the attributes are consecutive: address, prefix, first port, last port */
	if (e->has_address && (nla_put(msg, first, e->address.len, e->address.bytes) ||
			       nla_put_u8(msg, first + 1, e->prefix)))
		return -1;
	if (e->has_port && (nla_put_u16(msg, first + 2, e->port) ||
			    nla_put_u16(msg, first + 3, e->port_last)))
		return -1;
	return 0;
}

int rule_add(struct genl *genl, const struct rule *r)
{
	struct nl_msg *msg = genl_message(genl, SMC_NETLINK_ADD_FILTER);
	struct nlattr *nest = nla_nest_start(msg, SMC_GEN_FILTER | NLA_F_NESTED);

	if (!nest || nla_put_u8(msg, SMC_NLA_FILTER_ACTION, r->action) ||
	    (r->direction && nla_put_u8(msg, SMC_NLA_FILTER_DIRECTION, r->direction)) ||
	    (r->family && nla_put_u8(msg, SMC_NLA_FILTER_FAMILY, r->family)) ||
	    put_end(msg, &r->local, SMC_NLA_FILTER_LOCAL_ADDR) ||
	    put_end(msg, &r->remote, SMC_NLA_FILTER_REMOTE_ADDR) ||
	    (r->before && nla_put_u32(msg, SMC_NLA_FILTER_BEFORE, r->before)))
		no_memory();
	nla_nest_end(msg, nest);
	return genl_do(genl, msg, NULL);
}

int rule_del(struct genl *genl, uint32_t id)
{
	struct nl_msg *msg = genl_message(genl, SMC_NETLINK_DEL_FILTER);
	struct nlattr *nest = nla_nest_start(msg, SMC_GEN_FILTER | NLA_F_NESTED);

	if (!nest || nla_put_u32(msg, SMC_NLA_FILTER_ID, id))
		no_memory();
	nla_nest_end(msg, nest);
	return genl_do(genl, msg, NULL);
}

int rules_flush(struct genl *genl)
{
	return genl_do(genl, genl_message(genl, SMC_NETLINK_FLUSH_FILTER), NULL);
}

/* ---- display ------------------------------------------------------------------- */

static const char *action_name(const struct rule *r)
{
	return r->action == SMC_FILTER_EXCLUDE ? "exclude" : "permit";
}

static const char *direction_name(const struct rule *r)
{
	return r->direction == SMC_FILTER_IN ? "in" : r->direction == SMC_FILTER_OUT ? "out" :
						      "both";
}

static const char *family_name(const struct rule *r)
{
	return r->family == AF_INET ? "ipv4" : r->family == AF_INET6 ? "ipv6" : "any";
}

static const char *prefix_words(const struct rule_end *e, char room[PREFIX_ROOM])
{
	char text[INET6_ADDRSTRLEN];

	if (!e->has_address)
		return "any";
	inet_ntop(e->address.len == 4 ? AF_INET : AF_INET6, e->address.bytes, text, sizeof(text));
	if (e->prefix == 8 * e->address.len)
		snprintf(room, PREFIX_ROOM, "%s", text);
	else
		snprintf(room, PREFIX_ROOM, "%s/%u", text, e->prefix);
	return room;
}

static const char *port_words(const struct rule_end *e, char room[16])
{
	if (!e->has_port)
		return "any";
	if (e->port == e->port_last)
		snprintf(room, 16, "%u", e->port);
	else
		snprintf(room, 16, "%u-%u", e->port, e->port_last);
	return room;
}

void rules_print(FILE *out, const struct array *rules)
{
	struct text_table *table = table_new();
	char prefix[PREFIX_ROOM], port[16];
	size_t i;

	table_column(table, "ID", 4, ALIGN_RIGHT, 2);
	table_column(table, "Action", 7, ALIGN_LEFT, 2);
	table_column(table, "Dir", 4, ALIGN_LEFT, 2);
	table_column(table, "Family", 6, ALIGN_LEFT, 2);
	table_column(table, "Local", 15, ALIGN_LEFT, 2);
	table_column(table, "Port", 5, ALIGN_LEFT, 2);
	table_column(table, "Remote", 15, ALIGN_LEFT, 2);
	table_column(table, "Port", 5, ALIGN_LEFT, 2);
	table_column(table, "Hits", 6, ALIGN_RIGHT, 0);
	for (i = 0; i < rules->count; i++) {
		const struct rule *r = array_item(rules, i);

		table_cell(table, "%u", r->id);
		table_cell(table, "%s", action_name(r));
		table_cell(table, "%s", direction_name(r));
		table_cell(table, "%s", family_name(r));
		table_cell(table, "%s", prefix_words(&r->local, prefix));
		table_cell(table, "%s", port_words(&r->local, port));
		table_cell(table, "%s", prefix_words(&r->remote, prefix));
		table_cell(table, "%s", port_words(&r->remote, port));
		table_cell(table, "%llu", (unsigned long long)r->hits);
		table_row(table);
	}
	table_print(table, out, true);
	table_free(table);
}

static void print_end(FILE *out, const char *which, const struct rule_end *e)
{
	char prefix[PREFIX_ROOM], port[16];

	if (e->has_address || e->has_port)
		fprintf(out, " %s %s", which, prefix_words(e, prefix));
	if (e->has_port)
		fprintf(out, " port %s", port_words(e, port));
}

void rule_print(FILE *out, const struct rule *r)
{
	fprintf(out, "%s", action_name(r));
	if (r->direction && r->direction != SMC_FILTER_BOTH)
		fprintf(out, " %s", direction_name(r));
	if (r->family)
		fprintf(out, " %s", family_name(r));
	print_end(out, "local", &r->local);
	print_end(out, "remote", &r->remote);
	fputc('\n', out);
}

static void json_rule_end(struct json *json, const char *key, const struct rule_end *e)
{
	char room[PREFIX_ROOM];

	if (!e->has_address && !e->has_port)
		return;
	json_object(json, key);
	if (e->has_address)
		json_text(json, "prefix", prefix_words(e, room));
	if (e->has_port) {
		json_number(json, "port", e->port);
		json_number(json, "port_last", e->port_last);
	}
	json_object_end(json);
}

void rules_json(FILE *out, const struct array *rules)
{
	struct json json;
	size_t i;

	json_begin(&json, out);
	json_list(&json, "filter");
	for (i = 0; i < rules->count; i++) {
		const struct rule *r = array_item(rules, i);

		json_object(&json, NULL);
		json_number(&json, "id", r->id);
		json_text(&json, "action", action_name(r));
		json_text(&json, "direction", direction_name(r));
		if (r->family)
			json_text(&json, "family", family_name(r));
		json_rule_end(&json, "local", &r->local);
		json_rule_end(&json, "remote", &r->remote);
		json_number(&json, "hits", r->hits);
		json_object_end(&json);
	}
	json_list_end(&json);
	json_end(&json);
}
