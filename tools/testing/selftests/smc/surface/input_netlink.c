// SPDX-License-Identifier: GPL-2.0
/*
 * smc_input_test: requests to SMC_GEN_NETLINK and SMC_PNETID. Each is a valid request with one
 * thing wrong; the type of an attribute in the table determines what can be wrong with it. A
 * refused request must not change what the dumps show.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/smc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "input.h"
#include "netlink_client.h"

static struct genl families[2];	/* as in surface_families */
static struct answer ans;

/* A command of a family. */
struct command {
	const struct surface_family *f;
	const struct surface_command *c;
};

static struct genl *client(const struct surface_family *f)
{
	return &families[f - surface_families];
}

static void open_families(void)
{
	for (size_t i = 0; i < surface_n_families; i++)
		if (!genl_open(&families[i], surface_families[i].name))
			wrong("the family %s does not exist", surface_families[i].name);
}

static void close_families(void)
{
	for (size_t i = 0; i < surface_n_families; i++)
		genl_close(&families[i]);
}

static void ask(const struct command *c, bool dump, const struct payload *p)
{
	if (dump)
		genl_dump(client(c->f), c->c->number, p, &ans);
	else
		genl_do(client(c->f), c->c->number, p, &ans);
}

/* ---- state ---- */

struct state {
	size_t len;
	uint8_t b[8192];
};

static void add_dump(struct state *s, struct genl *g, uint8_t cmd)
{
	static struct answer a;

	genl_dump(g, cmd, NULL, &a);
	if (a.error)
		wrong("dump %u: %s", cmd, error_name(a.error));
	for (size_t i = 0; i < a.count && s->len + a.msg[i].len < sizeof(s->b); i++) {
		memcpy(s->b + s->len, a.msg[i].attrs, a.msg[i].len);
		s->len += a.msg[i].len;
	}
}

static struct state state(void)
{
	struct state s = { };

	add_dump(&s, &families[0], SMC_NETLINK_DUMP_UEID);
	add_dump(&s, &families[0], SMC_NETLINK_DUMP_SEID);
	add_dump(&s, &families[0], SMC_NETLINK_DUMP_HS_LIMITATION);
	add_dump(&s, &families[0], SMC_NETLINK_GET_FILTER);
	add_dump(&s, &families[1], SMC_PNETID_GET);
	return s;
}

static bool same_state(const struct state *a, const struct state *b)
{
	return a->len == b->len && !memcmp(a->b, b->b, a->len);
}

static void must(struct genl *g, uint8_t cmd, const struct payload *p)
{
	genl_do(g, cmd, p, &ans);
	if (ans.error)
		wrong("command %u: %s: %s", cmd, error_name(ans.error), ans.words);
}

static void put_u8(struct payload *p, uint16_t type, uint8_t value)
{
	put_attr(p, type, &value, sizeof(value));
}

/* Removes all objects that begin() adds. */
static void clear(void)
{
	must(&families[0], SMC_NETLINK_FLUSH_UEID, NULL);
	must(&families[0], SMC_NETLINK_FLUSH_FILTER, NULL);
	must(&families[0], SMC_NETLINK_ENABLE_SEID, NULL);
	must(&families[0], SMC_NETLINK_DISABLE_HS_LIMITATION, NULL);
	must(&families[1], SMC_PNETID_FLUSH, NULL);
}

/* Adds objects of every kind, so that a loss is noticed, and switches both switches on or off. */
static void begin(bool on)
{
	struct payload eid = { }, rule = { }, filter = { }, net = { };

	clear();
	put_text(&eid, SMC_NLA_EID_TABLE_ENTRY, "KEPT");
	must(&families[0], SMC_NETLINK_ADD_UEID, &eid);
	put_u8(&rule, SMC_NLA_FILTER_ACTION, SMC_FILTER_PERMIT);
	put_attr(&filter, SMC_GEN_FILTER | NLA_F_NESTED, rule.b, rule.len);
	must(&families[0], SMC_NETLINK_ADD_FILTER, &filter);
	put_text(&net, SMC_PNETID_NAME, "KEPT");
	put_text(&net, SMC_PNETID_ETHNAME, "kept0");
	must(&families[1], SMC_PNETID_ADD, &net);
	must(&families[0], on ? SMC_NETLINK_ENABLE_SEID : SMC_NETLINK_DISABLE_SEID, NULL);
	must(&families[0], on ? SMC_NETLINK_ENABLE_HS_LIMITATION :
				SMC_NETLINK_DISABLE_HS_LIMITATION, NULL);
}

/* ---- attributes ---- */

static size_t size_of(enum surface_type type)
{
	return type == ATTR_U8 ? 1 : type == ATTR_U16 ? 2 : 4;
}

static uint32_t largest(enum surface_type type)
{
	return type == ATTR_U8 ? 0xff : type == ATTR_U16 ? 0xffff : 0xffffffff;
}

/* An attribute to send, maybe with false fields in its header. */
struct spoiled {
	const char *what;
	uint8_t data[4000];
	size_t len;
	uint16_t flags;		/* flags in its type */
	int lie;		/* added to its length */
	uint16_t type;		/* instead of its own; 0: its own */
	int error;
};

static void put_spoiled(struct payload *p, uint16_t number, const struct spoiled *bad)
{
	size_t at = p->len;
	struct nlattr nla;

	put_attr(p, (bad->type ?: number) | bad->flags, bad->data, bad->len);
	memcpy(&nla, p->b + at, sizeof(nla));
	nla.nla_len += bad->lie;
	memcpy(p->b + at, &nla, sizeof(nla));
}

static bool has(const uint16_t *list, uint16_t number)
{
	for (int i = 0; i < MAX_MANDATORY; i++)
		if (list[i] == number)
			return true;
	return false;
}

static const struct surface_attr *attr_of(const struct surface_policy *policy, uint16_t number)
{
	for (size_t i = 0; i < policy->n; i++)
		if (policy->attrs[i].number == number)
			return &policy->attrs[i];
	return NULL;
}

static void put_good(struct payload *p, const struct surface_attr *a, const uint16_t *in_nest)
{
	uint32_t address = htonl(a->value);
	struct payload inner = { };

	switch (a->type) {
	case ATTR_TEXT:
		put_text(p, a->number, a->good);
		break;
	case ATTR_ADDRESS:
		put_attr(p, a->number, &address, sizeof(address));
		break;
	case ATTR_NEST:
		for (int i = 0; i < MAX_MANDATORY && in_nest[i]; i++)
			put_good(&inner, attr_of(a->nest, in_nest[i]), NULL);
		put_attr(p, a->number | NLA_F_NESTED, inner.b, inner.len);
		break;
	default:	/* little endian: true for the kernel of every guest */
		put_attr(p, a->number, &a->value, size_of(a->type));
	}
}

/*
 * A request of @policy with the mandatory attributes: all valid, except for @target, which is as
 * @bad says, or missing. The target comes last, because data behind a false length is lost.
 */
static struct payload request(const struct surface_policy *policy, const uint16_t *mandatory,
			      const uint16_t *in_nest, const struct surface_attr *target,
			      const struct spoiled *bad)
{
	struct payload p = { };

	for (size_t i = 0; i < policy->n; i++) {
		const struct surface_attr *a = &policy->attrs[i];

		if (a != target && (has(mandatory, a->number) || (target && a->number == target->needs)))
			put_good(&p, a, in_nest);
	}
	if (target && bad)
		put_spoiled(&p, target->number, bad);
	return p;
}

/* The attribute of the request that contains the target, and the kind of request. */
struct place {
	const struct command *c;
	bool dump;
	const struct surface_attr *nest;	/* NULL: at the top level */
};

static void send_spoiled(const struct place *at, const struct surface_attr *a,
			 const struct spoiled *bad)
{
	static const uint16_t none[MAX_MANDATORY];
	const struct surface_command *c = at->c->c;
	struct spoiled whole = { .flags = NLA_F_NESTED };
	struct payload p;

	if (at->nest) {
		p = request(at->nest->nest, c->in_nest, none, a, bad);
		memcpy(whole.data, p.b, p.len);
		whole.len = p.len;
		p = request(c->policy, c->mandatory, c->in_nest, at->nest, &whole);
	} else {
		p = request(c->policy, c->mandatory, c->in_nest, a, bad);
	}
	ask(at->c, at->dump, &p);
}

static void refused(const struct place *at, const struct surface_attr *a,
		    const struct spoiled *bad, const struct state *before)
{
	struct state after;

	send_spoiled(at, a, bad);
	after = state();
	if (ans.error != bad->error)
		wrong("%s%s, %s: %s: %s: '%s', not %s", at->c->c->name, at->dump ? " (dump)" : "", a->name,
		      bad->what, error_name(ans.error), ans.words, error_name(bad->error));
	/* The answer explains the error: in our words, or for the kernel's own commands in its. */
	if (ans.error == EINVAL && !ans.words[0])
		wrong("%s, %s: %s: no error message", at->c->c->name, a->name, bad->what);
	if (!same_state(before, &after))
		wrong("%s, %s: %s: changed the configuration", at->c->c->name, a->name, bad->what);
}

static struct spoiled spoil(const char *what, int error, const void *data, size_t len)
{
	struct spoiled bad = { .what = what, .error = error, .len = len };

	if (data)
		memcpy(bad.data, data, len);
	return bad;
}

/* Errors that are possible with any attribute. */
static void bad_headers(const struct place *at, const struct surface_attr *a,
			const struct spoiled *good, const struct state *before)
{
	struct spoiled bad = *good;

	bad.error = EINVAL;
	bad.what = a->type == ATTR_NEST ? "without the nested flag" : "with the nested flag";
	bad.flags ^= NLA_F_NESTED;
	refused(at, a, &bad, before);
	bad = *good;
	bad.error = EINVAL;
	bad.what = "longer than the message";
	bad.lie = 8;
	refused(at, a, &bad, before);
	bad.what = "as long as possible";
	bad.lie = 0xffff - NLA_HDRLEN - bad.len;
	refused(at, a, &bad, before);
	bad.what = "shorter than its header";
	bad.lie = 3 - NLA_HDRLEN - bad.len;
	refused(at, a, &bad, before);
	bad.what = "without a length";
	bad.lie = -(int)(NLA_HDRLEN + bad.len);
	refused(at, a, &bad, before);
	bad = *good;
	bad.error = EINVAL;
	bad.what = "of a large type";
	bad.type = 0x3fff;
	bad.flags = 0;
	refused(at, a, &bad, before);
	bad.what = "of type 100";
	bad.type = 100;
	refused(at, a, &bad, before);
}

static void bad_numbers(const struct place *at, const struct surface_attr *a,
			const struct state *before)
{
	static const size_t lens[] = { 0, 1, 2, 3, 4, 5, 8, 16, 1000 };
	size_t size = size_of(a->type);
	struct spoiled bad = spoil("", 0, &a->value, size);
	uint32_t low = a->min - 1, high = a->max + 1;

	bad_headers(at, a, &bad, before);
	for (size_t i = 0; i < ARRAY(lens); i++) {
		bad = spoil("of another length", EINVAL, &a->value, sizeof(a->value));
		bad.len = lens[i];
		if (bad.len != size)
			refused(at, a, &bad, before);
	}
	/* A dump of the PNET table shows all of it, whatever attributes the request has. */
	if (!a->beyond || at->dump)
		return;
	bad = spoil("too small", a->beyond, &low, size);
	if (a->min)
		refused(at, a, &bad, before);
	bad = spoil("too large", a->beyond, &high, size);
	if (a->max < largest(a->type))
		refused(at, a, &bad, before);
	high = largest(a->type);
	bad = spoil("the largest", a->beyond, &high, size);
	if (a->max < largest(a->type))
		refused(at, a, &bad, before);
}

static void bad_addresses(const struct place *at, const struct surface_attr *a,
			  const struct state *before)
{
	static const size_t lens[] = { 0, 1, 2, 3, 5, 8, 15, 17, 32, 1000 };
	struct spoiled bad = spoil("", 0, &a->value, sizeof(a->value));

	bad_headers(at, a, &bad, before);
	for (size_t i = 0; i < ARRAY(lens); i++) {
		bad = spoil("of another length", EINVAL, &a->value, sizeof(a->value));
		bad.len = lens[i];
		refused(at, a, &bad, before);
	}
}

static void bad_texts(const struct place *at, const struct surface_attr *a,
		      const struct state *before)
{
	struct spoiled bad = spoil("", 0, a->good, strlen(a->good) + 1);
	char text[4000];

	bad_headers(at, a, &bad, before);
	memset(text, 'A', sizeof(text));
	bad = spoil("empty, without a terminator", ERANGE, NULL, 0);
	refused(at, a, &bad, before);
	bad = spoil("empty", a->empty, "", 1);
	refused(at, a, &bad, before);
	bad = spoil("nothing but terminators", a->empty, "\0\0\0\0", 4);
	refused(at, a, &bad, before);
	bad = spoil("too long", a->beyond, text, a->max + 2);
	bad.data[a->max + 1] = 0;
	refused(at, a, &bad, before);
	bad = spoil("too long, without a terminator", a->beyond, text, a->max + 1);
	refused(at, a, &bad, before);
	bad = spoil("much too long", a->beyond, text, 3000);
	refused(at, a, &bad, before);
	for (const char *c = a->never; c && *c; c++) {
		bad = spoil("with a character that it cannot have", EINVAL, "A?B", 4);
		bad.data[1] = *c;
		refused(at, a, &bad, before);
	}
}

static void bad_attrs(const struct place *at, const struct surface_policy *policy,
		      const struct state *before);

/* Errors of the nest itself, then of its contents. */
static void bad_nests(const struct place *at, const struct surface_attr *a,
		      const struct state *before)
{
	static const uint16_t none[MAX_MANDATORY];
	struct payload inner = request(a->nest, at->c->c->in_nest, none, NULL, NULL);
	struct spoiled bad = spoil("", 0, inner.b, inner.len);
	struct place in = *at;

	bad.flags = NLA_F_NESTED;
	bad_headers(at, a, &bad, before);
	for (size_t len = 1; len < NLA_HDRLEN; len++) {
		bad = spoil("too short for a header", ERANGE, "abc", len);
		bad.flags = NLA_F_NESTED;
		refused(at, a, &bad, before);
	}
	for (size_t len = 1; len < NLA_HDRLEN; len++) {
		bad = spoil("with a rest that is not an attribute", inner.len ? EINVAL : ERANGE,
			    inner.b, inner.len);
		bad.len += len;
		bad.flags = NLA_F_NESTED;
		refused(at, a, &bad, before);
	}
	if (at->c->c->in_nest[0]) {
		bad = spoil("empty", EINVAL, NULL, 0);
		bad.flags = NLA_F_NESTED;
		refused(at, a, &bad, before);
	}
	/* Nested in itself, 100 times. */
	bad = spoil("nested in itself", EINVAL, inner.b, inner.len);
	for (int i = 0; i < 100; i++) {
		struct nlattr nla = { NLA_HDRLEN + bad.len, a->number | NLA_F_NESTED };

		memmove(bad.data + sizeof(nla), bad.data, bad.len);
		memcpy(bad.data, &nla, sizeof(nla));
		bad.len += sizeof(nla);
	}
	bad.flags = NLA_F_NESTED;
	refused(at, a, &bad, before);
	in.nest = a;
	bad_attrs(&in, a->nest, before);
}

static void bad_attrs(const struct place *at, const struct surface_policy *policy,
		      const struct state *before)
{
	for (size_t i = 0; i < policy->n; i++) {
		const struct surface_attr *a = &policy->attrs[i];

		if (a->type == ATTR_NEST)
			bad_nests(at, a, before);
		else if (a->type == ATTR_TEXT)
			bad_texts(at, a, before);
		else if (a->type == ATTR_ADDRESS)
			bad_addresses(at, a, before);
		else
			bad_numbers(at, a, before);
	}
}

/* Where no attribute is allowed: all that the families have. */
static void unknown(const struct place *at, const struct state *before)
{
	static const uint16_t numbers[] = { 0, 1, 2, 3, 4, 5, 64, 65, 66, 100, 0x3fff };

	for (size_t i = 0; i < ARRAY(numbers); i++) {
		const struct surface_attr a = { .number = numbers[i], .name = "no attribute" };
		struct spoiled bad = spoil("of another type", EINVAL, "A", 2);

		if (!attr_of(at->c->c->policy, numbers[i]))
			refused(at, &a, &bad, before);
	}
}

static void missing(const struct place *at, const struct state *before)
{
	const struct surface_command *c = at->c->c;
	const struct spoiled nothing = { .what = "missing", .error = EINVAL };

	for (int i = 0; i < MAX_MANDATORY && c->mandatory[i]; i++) {
		const struct surface_attr *a = attr_of(c->policy, c->mandatory[i]);
		struct payload p = request(c->policy, c->mandatory, c->in_nest, a, NULL);
		struct state after;

		ask(at->c, false, &p);
		after = state();
		if (ans.error != nothing.error || !ans.words[0])
			wrong("%s without %s: %s '%s'", c->name, a->name, error_name(ans.error), ans.words);
		if (!same_state(before, &after))
			wrong("%s without %s: changed the configuration", c->name, a->name);
	}
}

/* ---- messages ---- */

struct raw {
	struct nlmsghdr nlh;
	struct genlmsghdr genl;
	uint8_t b[sizeof(((struct payload *)NULL)->b)];
};

static struct raw valid(const struct command *c, bool dump)
{
	struct payload p = request(c->c->policy, c->c->mandatory, c->c->in_nest, NULL, NULL);
	struct genl *g = client(c->f);
	struct raw m = {
		.nlh = { .nlmsg_type = g->family, .nlmsg_seq = ++g->seq, .nlmsg_flags = NLM_F_REQUEST },
		.genl = { .cmd = c->c->number, .version = 1 },
	};

	if (dump)
		p.len = 0;
	m.nlh.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN) + p.len;
	m.nlh.nlmsg_flags |= dump ? NLM_F_DUMP : NLM_F_ACK;
	memcpy(m.b, p.b, p.len);
	return m;
}

/* Returns the errno of the answer; -1 if there is none, as netlink drops the message. */
static int outcome(const struct command *c, struct raw *m, size_t len)
{
	struct genl *g = client(c->f);
	char room[1 << 16];
	int error = -1;
	ssize_t n;

	genl_send_raw(g, m, len);
	while ((n = recv(g->fd, room, sizeof(room), MSG_DONTWAIT)) > 0)
		for (struct nlmsghdr *nlh = (void *)room; NLMSG_OK(nlh, (size_t)n);
		     nlh = NLMSG_NEXT(nlh, n))
			if (nlh->nlmsg_type == NLMSG_ERROR || nlh->nlmsg_type == NLMSG_DONE)
				error = -*(int *)NLMSG_DATA(nlh);
	return error;
}

static void bad_message(const struct command *c, struct raw m, size_t len, int error,
			const char *what, const struct state *before)
{
	int got = outcome(c, &m, len);
	struct state after = state();

	if (got != error)
		wrong("%s: %s: %d %s, not %d %s", c->c->name, what, got, error_name(got > 0 ? got : 0),
		      error, error_name(error > 0 ? error : 0));
	if (!same_state(before, &after))
		wrong("%s: %s: changed the configuration", c->c->name, what);
}

static void bad_messages(const struct command *c, const struct state *before)
{
	bool dump = c->c->how & CMD_DUMP;
	struct raw m = valid(c, dump);
	size_t len = m.nlh.nlmsg_len;

	for (size_t cut = NLMSG_HDRLEN; cut < NLMSG_LENGTH(GENL_HDRLEN); cut++) {
		m = valid(c, dump);
		m.nlh.nlmsg_len = cut;
		bad_message(c, m, cut, EINVAL, "an incomplete header", before);
	}
	m = valid(c, dump);
	m.nlh.nlmsg_len = len + 1;
	bad_message(c, m, len, -1, "longer than the data sent", before);
	m.nlh.nlmsg_len = NLMSG_HDRLEN - 1;
	bad_message(c, m, len, -1, "shorter than its header", before);
	m = valid(c, dump);
	m.nlh.nlmsg_flags &= ~NLM_F_REQUEST;
	bad_message(c, m, len, dump ? -1 : 0, "not a request", before);
	m = valid(c, dump);
	m.b[len - NLMSG_LENGTH(GENL_HDRLEN)] = 1;
	m.nlh.nlmsg_len = len + 3;
	bad_message(c, m, len + 3, EINVAL, "a rest that is not an attribute", before);
	m = valid(c, dump);
	m.genl.cmd = 255;
	bad_message(c, m, len, EOPNOTSUPP, "an unknown command", before);
	m = valid(c, dump);
	m.nlh.nlmsg_type = 0x7fff;
	bad_message(c, m, len, ENOENT, "an unknown family", before);
	if (c->c->how != (CMD_DO | CMD_DUMP)) {
		m = valid(c, !dump);
		bad_message(c, m, m.nlh.nlmsg_len, EOPNOTSUPP, "the other kind of request", before);
	}
	if (!c->c->strict)
		return;
	m = valid(c, dump);
	m.genl.reserved = 1;
	bad_message(c, m, len, EINVAL, "reserved bits", before);
	m = valid(c, dump);
	m.nlh.nlmsg_flags |= 0x8000;
	bad_message(c, m, len, EINVAL, "unknown flags", before);
}

static void play_command(const void *arg)
{
	const struct command *c = arg;
	struct place at = { .c = c };

	open_families();
	for (int on = 0; on < 2; on++) {
		struct state before;

		begin(on);
		before = state();
		missing(&at, &before);
		for (int dump = 0; dump < 2; dump++) {
			at.dump = dump;
			if (!(c->c->how & (dump ? CMD_DUMP : CMD_DO)))
				continue;
			unknown(&at, &before);
			bad_attrs(&at, c->c->policy, &before);
		}
		bad_messages(c, &before);
	}
	clear();
	close_families();
}

/* ---- a text without a terminator: no error, and the same text ---- */

static void unterminated(const void *arg)
{
	open_families();
	clear();
	for (size_t i = 0; i < surface_n_families; i++) {
		const struct surface_family *f = &surface_families[i];

		for (size_t j = 0; j < f->n; j++) {
			struct command c = { f, &f->commands[j] };
			const struct surface_policy *policy = c.c->policy;

			for (size_t k = 0; k < policy->n && c.c->mandatory[0]; k++) {
				const struct surface_attr *a = &policy->attrs[k];
				struct place at = { .c = &c };
				struct state with, without;
				struct spoiled text;

				if (a->type != ATTR_TEXT)
					continue;
				text = spoil("", 0, a->good, strlen(a->good) + 1);
				send_spoiled(&at, a, &text);
				with = state();
				clear();
				text.len--;
				send_spoiled(&at, a, &text);
				without = state();
				clear();
				if (!same_state(&with, &without))
					wrong("%s: %s without a terminator has another meaning",
					      c.c->name, a->name);
			}
		}
	}
	close_families();
}

/* ---- rights ---- */

static bool forbidden(const struct command *c, enum actor actor, const struct surface_attr *a)
{
	if (c->c->right == RIGHT_NONE || !(c->c->how & CMD_DO))
		return false;
	if (actor == NOBODY || actor == ALONE || c->c->right == RIGHT_HOST)
		return true;
	return a && actor == CONTAINED && c->c->right == RIGHT_DEVICES;
}

/* ENOENT and similar errors show that the request was permitted. */
static void tried(const struct command *c, enum actor actor, const struct surface_attr *a)
{
	static const uint16_t none[MAX_MANDATORY];
	const uint16_t *in_nest = c->c->in_nest;
	struct payload p = request(c->c->policy, c->c->mandatory, in_nest, a, NULL);

	/* The attribute is added, or it is the only one. */
	if (a)
		put_good(&p, a, none);
	ask(c, !(c->c->how & CMD_DO), c->c->mandatory[0] || a ? &p : NULL);
	if ((ans.error == EPERM) != forbidden(c, actor, a))
		wrong("%s as %s: %s '%s'", c->c->name, actor_names[actor], error_name(ans.error), ans.words);
	if (ans.error == EPERM && !ans.words[0])
		wrong("%s as %s: no error message", c->c->name, actor_names[actor]);
}

static void each_command(enum actor actor)
{
	for (size_t i = 0; i < surface_n_families; i++) {
		const struct surface_family *f = &surface_families[i];

		for (size_t j = 0; j < f->n; j++) {
			struct command c = { f, &f->commands[j] };

			tried(&c, actor, NULL);
			for (size_t k = 0; k < c.c->policy->n && c.c->mandatory[0]; k++)
				if (c.c->policy->attrs[k].of_host)
					tried(&c, actor, &c.c->policy->attrs[k]);
		}
	}
}

/* With a socket of the actor's own, none opened by root. */
static void all_as(const void *arg)
{
	enum actor actor = *(const enum actor *)arg;

	become(actor);
	if (actor == NOBODY)
		each_command(actor);
	close_families();
	open_families();
	each_command(actor);
	close_families();
}

static void rights(const void *arg)
{
	struct state before, after;

	open_families();
	for (int on = 0; on < 2; on++) {
		begin(on);
		before = state();
		for (enum actor actor = 0; actor < ACTORS; actor++) {
			in_child(all_as, &actor);
			after = state();
			if (!same_state(&before, &after))
				wrong("%s has changed the host's configuration",
				      actor_names[actor]);
		}
	}
	clear();
	close_families();
}

/* ---- is the table complete? ---- */

static const struct surface_command *command_of(const struct surface_family *f, uint32_t number)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->commands[i].number == number)
			return &f->commands[i];
	return NULL;
}

/* CTRL_CMD_GETFAMILY: every command with its properties. */
static void same_commands(const struct surface_family *f)
{
	struct genl ctrl = *client(f);
	struct payload p = { };
	size_t n, len, count = 0;
	const uint8_t *ops;

	ctrl.family = GENL_ID_CTRL;
	put_text(&p, CTRL_ATTR_FAMILY_NAME, f->name);
	genl_do(&ctrl, CTRL_CMD_GETFAMILY, &p, &ans);
	client(f)->seq = ctrl.seq;
	ops = ans.count ? find_attr(ans.msg[0].attrs, ans.msg[0].len, CTRL_ATTR_OPS, &n) : NULL;
	for (uint16_t i = 1; ops && i < 256; i++) {
		const uint8_t *op = find_attr(ops, n, i, &len);
		const struct surface_command *c;
		unsigned int id, flags, how;

		if (!op || !has_u32(op, len, CTRL_ATTR_OP_ID, &id) ||
		    !has_u32(op, len, CTRL_ATTR_OP_FLAGS, &flags))
			continue;
		count++;
		c = command_of(f, id);
		how = (flags & GENL_CMD_CAP_DO ? CMD_DO : 0) | (flags & GENL_CMD_CAP_DUMP ? CMD_DUMP : 0);
		if (!c || c->how != how)
			wrong("%s: command %u is not in the table", f->name, id);
	}
	if (count != f->n)
		wrong("%s: %zu commands, %zu in the table", f->name, count, f->n);
}

/* The types of attributes in CTRL_CMD_GETPOLICY. */
static bool same_type(const struct surface_attr *a, uint32_t type)
{
	switch (a->type) {
	case ATTR_U8:
		return type == NL_ATTR_TYPE_U8;
	case ATTR_U16:
		return type == NL_ATTR_TYPE_U16;
	case ATTR_U32:
		return type == NL_ATTR_TYPE_U32;
	case ATTR_TEXT:
		return type == NL_ATTR_TYPE_STRING;
	case ATTR_ADDRESS:
		return type == NL_ATTR_TYPE_BINARY;
	case ATTR_NEST:
		return type == NL_ATTR_TYPE_NESTED;
	}
	return false;
}

/* The policy with this number in the answer must have exactly these attributes. */
static void same_policy(const struct surface_policy *policy, uint32_t index, const char *name)
{
	size_t n, m, len, count = 0;

	for (size_t i = 0; i < ans.count; i++) {
		const uint8_t *all = find_attr(ans.msg[i].attrs, ans.msg[i].len, CTRL_ATTR_POLICY, &n);
		const uint8_t *one = all ? find_attr(all, n, index, &m) : NULL;

		for (uint16_t number = 1; one && number < 256; number++) {
			const struct surface_attr *a = attr_of(policy, number);
			const uint8_t *attr = find_attr(one, m, number, &len);
			unsigned int type, nested;

			if (!attr || !has_u32(attr, len, NL_POLICY_TYPE_ATTR_TYPE, &type) ||
			    type == NL_ATTR_TYPE_INVALID)
				continue;
			count++;
			if (!a || !same_type(a, type))
				wrong("%s: attribute %u of type %u is not in the table", name, number, type);
			if (a && a->type == ATTR_NEST &&
			    has_u32(attr, len, NL_POLICY_TYPE_ATTR_POLICY_IDX, &nested))
				same_policy(a->nest, nested, a->name);
		}
	}
	if (count != policy->n)
		wrong("%s: %zu attributes, %zu in the table", name, count, policy->n);
}

static void same_policies(const struct surface_family *f)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct surface_command *c = &f->commands[i];
		struct genl ctrl = *client(f);
		uint32_t op = c->number;
		struct payload p = { };
		bool found = false;
		size_t n, len;

		ctrl.family = GENL_ID_CTRL;
		put_text(&p, CTRL_ATTR_FAMILY_NAME, f->name);
		put_attr(&p, CTRL_ATTR_OP, &op, sizeof(op));
		genl_dump(&ctrl, CTRL_CMD_GETPOLICY, &p, &ans);
		client(f)->seq = ctrl.seq;
		for (size_t j = 0; j < ans.count; j++) {
			const uint8_t *ops = find_attr(ans.msg[j].attrs, ans.msg[j].len,
						       CTRL_ATTR_OP_POLICY, &n);
			const uint8_t *of = ops ? find_attr(ops, n, c->number, &len) : NULL;
			unsigned int index;

			if (of && (has_u32(of, len, CTRL_ATTR_POLICY_DO, &index) ||
				   has_u32(of, len, CTRL_ATTR_POLICY_DUMP, &index))) {
				same_policy(c->policy, index, c->name);
				found = true;
			}
		}
		if (!found)
			wrong("%s has no policy: %s", c->name, error_name(ans.error));
	}
}

static void complete(const void *arg)
{
	open_families();
	for (size_t i = 0; i < surface_n_families; i++) {
		same_commands(&surface_families[i]);
		same_policies(&surface_families[i]);
	}
	close_families();
}

void input_netlink(void)
{
	char name[100];

	play("netlink complete", complete, NULL);
	play("netlink rights", rights, NULL);
	play("netlink unterminated", unterminated, NULL);
	for (size_t i = 0; i < surface_n_families; i++)
		for (size_t j = 0; j < surface_families[i].n; j++) {
			struct command c = { &surface_families[i], &surface_families[i].commands[j] };

			snprintf(name, sizeof(name), "netlink %s", c.c->name);
			play(name, play_command, &c);
		}
}
