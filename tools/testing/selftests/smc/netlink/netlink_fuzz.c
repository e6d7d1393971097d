// SPDX-License-Identifier: GPL-2.0
/*
 * smc_netlink_test: 10 000 random messages to SMC_GEN_NETLINK, SMC_PNETID and sock_diag, while
 * there are connections to list. One in eight is valid, one in eight is noise. The others are valid
 * messages that were changed in a few places: lengths and types of attributes, order, nesting, the
 * headers, single bits. SMC_FUZZ_SEED repeats a run.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/sock_diag.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "modprobe.h"
#include "netlink_test.h"

#define MESSAGES	10000
#define SEED		1	/* the same in every run, unless the environment sets another one */
#define CONNECTIONS	4
#define DIAG_SMC	43	/* AF_SMC */

static unsigned int seed;
static struct genl diag;	/* NETLINK_SOCK_DIAG */

/* Counts of the results. */
static struct {
	unsigned int done, refused, answers;
} seen;

struct fuzzed {
	uint8_t b[8192];
	size_t len;		/* bytes to send, whatever the header says */
	struct genl *to;
};

static unsigned int rnd(unsigned int below)
{
	return (unsigned int)rand_r(&seed) % below;
}

/* ---- valid messages ---- */

static struct nlmsghdr *header(struct fuzzed *m)
{
	return (struct nlmsghdr *)m->b;
}

static void begin(struct fuzzed *m, struct genl *to, uint16_t flags, const void *data, size_t len)
{
	memset(m, 0, offsetof(struct fuzzed, len));
	m->to = to;
	header(m)->nlmsg_type = to->family;
	header(m)->nlmsg_flags = NLM_F_REQUEST | flags;
	header(m)->nlmsg_seq = rnd(1000);
	memcpy(m->b + NLMSG_HDRLEN, data, len);
	m->len = NLMSG_HDRLEN + NLMSG_ALIGN(len);
}

static void add_payload(struct fuzzed *m, const struct payload *p)
{
	memcpy(m->b + m->len, p->b, p->len);
	m->len += p->len;
}

static const char *eid(void)
{
	static const char * const eids[] = { "FUZZ", "E1", "E2", "E.3", "E-4" };

	return eids[rnd(ARRAY_SIZE(eids))];
}

static void valid_filter(struct fuzzed *m)
{
	struct genlmsghdr g = { .cmd = SMC_NETLINK_GET_FILTER + rnd(4), .version = 1 };
	uint8_t action = 1 + rnd(2), direction = 1 + rnd(3), prefix = rnd(33);
	uint32_t id = 1 + rnd(50), addr = rnd(65536);
	struct payload rule = { }, p = { };

	if (g.cmd == SMC_NETLINK_ADD_FILTER) {
		put_attr(&rule, SMC_NLA_FILTER_ACTION, &action, sizeof(action));
		put_attr(&rule, SMC_NLA_FILTER_DIRECTION, &direction, sizeof(direction));
		put_attr(&rule, SMC_NLA_FILTER_REMOTE_ADDR, &addr, sizeof(addr));
		if (rnd(2))
			put_attr(&rule, SMC_NLA_FILTER_REMOTE_PREFIX, &prefix, sizeof(prefix));
	} else if (g.cmd == SMC_NETLINK_DEL_FILTER) {
		put_attr(&rule, SMC_NLA_FILTER_ID, &id, sizeof(id));
	}
	if (rule.len)
		put_attr(&p, SMC_GEN_FILTER | NLA_F_NESTED, rule.b, rule.len);
	begin(m, &genl, g.cmd == SMC_NETLINK_GET_FILTER ? NLM_F_DUMP : NLM_F_ACK, &g, sizeof(g));
	add_payload(m, &p);
}

static void valid_smc(struct fuzzed *m)
{
	struct genlmsghdr g = { .cmd = 1 + rnd(SMC_NETLINK_DISABLE_HS_LIMITATION), .version = 1 };
	bool dump = g.cmd <= SMC_NETLINK_DUMP_UEID || g.cmd == SMC_NETLINK_DUMP_SEID ||
		    g.cmd == SMC_NETLINK_DUMP_HS_LIMITATION;
	struct payload p = { };

	if (g.cmd == SMC_NETLINK_ADD_UEID || g.cmd == SMC_NETLINK_REMOVE_UEID)
		put_text(&p, SMC_NLA_EID_TABLE_ENTRY, eid());
	begin(m, &genl, dump ? NLM_F_DUMP : NLM_F_ACK, &g, sizeof(g));
	add_payload(m, &p);
}

static void valid_pnet(struct fuzzed *m)
{
	static const char * const ids[] = { "NET1", "NET2", "NET3" };
	struct genlmsghdr g = { .cmd = SMC_PNETID_GET + rnd(4), .version = 1 };
	bool dump = g.cmd == SMC_PNETID_GET && rnd(2);
	uint8_t port = 1 + rnd(2);
	struct payload p = { };

	if (!dump && g.cmd != SMC_PNETID_FLUSH)
		put_text(&p, SMC_PNETID_NAME, ids[rnd(ARRAY_SIZE(ids))]);
	if (g.cmd == SMC_PNETID_ADD && rnd(2)) {
		put_text(&p, SMC_PNETID_ETHNAME, rnd(2) ? "lo" : "eth0");
	} else if (g.cmd == SMC_PNETID_ADD) {
		put_text(&p, SMC_PNETID_IBNAME, rnd(2) ? "rxe0" : "0000:00:00.0");
		put_attr(&p, SMC_PNETID_IBPORT, &port, sizeof(port));
	}
	begin(m, &pnet, dump ? NLM_F_DUMP : NLM_F_ACK, &g, sizeof(g));
	add_payload(m, &p);
}

static void valid_diag(struct fuzzed *m)
{
	struct smc_diag_req req = { .diag_family = DIAG_SMC, .diag_ext = rnd(256) };

	begin(m, &diag, NLM_F_DUMP, &req, sizeof(req));
}

static void valid(struct fuzzed *m)
{
	switch (rnd(5)) {
	case 0:
		valid_diag(m);
		break;
	case 1:
		valid_pnet(m);
		break;
	case 2:
		valid_filter(m);
		break;
	default:
		valid_smc(m);
	}
	header(m)->nlmsg_len = m->len;
}

/* ---- changes ---- */

static size_t attrs_begin(const struct fuzzed *m)
{
	return m->to == &diag ? NLMSG_LENGTH(sizeof(struct smc_diag_req)) :
				NLMSG_LENGTH(GENL_HDRLEN);
}

/* Position and length of some attribute in the original message; 0: there is none. */
static size_t some_attr(const struct fuzzed *m, size_t *whole)
{
	size_t at = attrs_begin(m), found = 0, n = 0;
	struct nlattr nla;

	while (at + sizeof(nla) <= m->len) {
		memcpy(&nla, m->b + at, sizeof(nla));
		if (nla.nla_len < sizeof(nla) || at + nla.nla_len > m->len)
			break;
		if (!rnd(++n)) {
			found = at;
			*whole = NLA_ALIGN(nla.nla_len);
		}
		at += NLA_ALIGN(nla.nla_len);
	}
	if (found && found + *whole > m->len)
		*whole = m->len - found;
	return found;
}

static void set16(struct fuzzed *m, size_t at, uint16_t value)
{
	memcpy(m->b + at, &value, sizeof(value));
}

/* Inserts room for @len bytes at @at. */
static bool insert(struct fuzzed *m, size_t at, const void *data, size_t len)
{
	uint8_t copy[4096];

	if (len > sizeof(copy) || m->len + len > sizeof(m->b) || at > m->len)
		return false;
	memcpy(copy, data, len);
	memmove(m->b + at + len, m->b + at, m->len - at);
	memcpy(m->b + at, copy, len);
	m->len += len;
	return true;
}

static void random_attr(struct fuzzed *m)
{
	static const uint16_t flags[] = { 0, 0, 0, NLA_F_NESTED, NLA_F_NET_BYTEORDER };
	uint8_t bytes[300];
	size_t len = rnd(3) ? rnd(24) : rnd(sizeof(bytes));
	struct payload p = { };

	for (size_t i = 0; i < len; i++)
		bytes[i] = rnd(3) ? 'A' + rnd(26) : rnd(256);
	put_attr(&p, (rnd(4) ? rnd(8) : rnd(65536)) | flags[rnd(ARRAY_SIZE(flags))], bytes, len);
	insert(m, rnd(2) || m->len < attrs_begin(m) ? m->len : attrs_begin(m), p.b, p.len);
}

/* Puts the attributes into a nest with this many levels. */
static void nest(struct fuzzed *m, unsigned int levels)
{
	struct nlattr nla;

	while (levels-- && m->len >= attrs_begin(m) && m->len < 4000) {
		nla.nla_len = m->len - attrs_begin(m) + NLA_HDRLEN;
		nla.nla_type = rnd(6) | (rnd(4) ? NLA_F_NESTED : 0);
		insert(m, attrs_begin(m), &nla, sizeof(nla));
	}
}

static void change_attr(struct fuzzed *m)
{
	static const uint16_t lengths[] = { 0, 1, 3, 4, 5, 6, 32, 0x7fff, 0xffff };
	static const uint16_t types[] = { 0, 1, 2, 3, 4, 5, 8, 64, 0x3fff };
	static const uint16_t flags[] = { 0, 0, NLA_F_NESTED, NLA_F_NET_BYTEORDER, 0xc000 };
	size_t whole = 0, at = some_attr(m, &whole);

	if (!at) {
		random_attr(m);
		return;
	}
	switch (rnd(5)) {
	case 0:
		set16(m, at, lengths[rnd(ARRAY_SIZE(lengths))]);
		break;
	case 1:
		set16(m, at + 2, types[rnd(ARRAY_SIZE(types))] | flags[rnd(ARRAY_SIZE(flags))]);
		break;
	case 2:
		insert(m, m->len, m->b + at, whole);
		break;
	case 3:
		memmove(m->b + at, m->b + at + whole, m->len - at - whole);
		m->len -= whole;
		break;
	default:	/* change the length by one, and leave the rest where it is */
		set16(m, at, m->b[at] + (rnd(2) ? 1 : -1));
	}
}

static void change_headers(struct fuzzed *m)
{
	struct genlmsghdr *g = (struct genlmsghdr *)(m->b + NLMSG_HDRLEN);
	static const uint16_t types[] = { SOCK_DIAG_BY_FAMILY, SOCK_DESTROY, 19, 22, 100 };

	switch (rnd(4)) {
	case 0:
		header(m)->nlmsg_flags = NLM_F_REQUEST | (rnd(2) ? NLM_F_DUMP : NLM_F_ACK) |
					 (rnd(4) ? 0 : rnd(65536));
		break;
	case 1:
		if (m->to == &diag)
			header(m)->nlmsg_type = types[rnd(ARRAY_SIZE(types))];
		else
			g->cmd = rnd(4) ? rnd(24) : rnd(2) ? 126 + rnd(8) : rnd(256);
		break;
	case 2:
		if (m->to != &diag) {
			g->version = rnd(256);
			g->reserved = rnd(2) ? rnd(65536) : 0;
		}
		break;
	default:	/* the length in the header is wrong */
		header(m)->nlmsg_len = rnd(2) ? rnd(2 * m->len) : m->len + rnd(8) - 4;
	}
}

static void change(struct fuzzed *m)
{
	static const uint8_t bytes[] = { 0, 1, 0x7f, 0x80, 0xff };
	/* leave type and family of sock_diag alone: other values concern other modules */
	size_t first = NLMSG_HDRLEN + 4;

	switch (rnd(8)) {
	case 0:
		if (m->len > first)
			m->b[first + rnd(m->len - first)] ^= 1u << rnd(8);
		break;
	case 1:
		if (m->len > first)
			m->b[first + rnd(m->len - first)] = bytes[rnd(ARRAY_SIZE(bytes))];
		break;
	case 2:
		m->len = NLMSG_HDRLEN + rnd(m->len - NLMSG_HDRLEN + 1);
		break;
	case 3:
		nest(m, rnd(3) ? 1 + rnd(3) : 100);
		break;
	case 4:
		random_attr(m);
		break;
	default:
		change_attr(m);
	}
	header(m)->nlmsg_len = m->len;
	if (!rnd(4))
		change_headers(m);
}

static void noise(struct fuzzed *m)
{
	valid(m);
	m->len += rnd(200);
	for (size_t i = NLMSG_HDRLEN + (m->to == &diag); i < m->len; i++)
		m->b[i] = rnd(256);
	header(m)->nlmsg_len = m->len;
}

/* ---- sending ---- */

static void take_answers(struct genl *g)
{
	static char room[1 << 17];
	struct nlmsghdr *nlh;
	ssize_t n;
	int error;

	while ((n = recv(g->fd, room, sizeof(room), MSG_DONTWAIT)) >= 0 || errno == ENOBUFS) {
		for (nlh = (void *)room; n > 0 && NLMSG_OK(nlh, (size_t)n);
		     nlh = NLMSG_NEXT(nlh, n)) {
			if (nlh->nlmsg_type != NLMSG_ERROR && nlh->nlmsg_type != NLMSG_DONE) {
				seen.answers++;
				continue;
			}
			error = 0;
			if (nlh->nlmsg_len >= NLMSG_LENGTH(sizeof(error)))
				memcpy(&error, NLMSG_DATA(nlh), sizeof(error));
			if (error)
				seen.refused++;
			else
				seen.done++;
		}
	}
}

static void send_one(void)
{
	static struct fuzzed m;
	unsigned int how = rnd(8);

	if (!how) {
		noise(&m);
	} else {
		valid(&m);
		for (unsigned int n = how == 1 ? 0 : 1 + rnd(4); n; n--)
			change(&m);
	}
	if (m.len < NLMSG_HDRLEN)
		m.len = NLMSG_HDRLEN;
	genl_send_raw(m.to, m.b, m.len);
	take_answers(m.to);
}

/* Does the host still answer sensibly? */
static bool still_sane(struct link *l)
{
	unsigned int on;

	if (!reopen() || !do_cmd(SMC_NETLINK_FLUSH_FILTER) || !pnet_empty() ||
	    !back_to_default() || !seid_enabled(&on) || !on)
		return false;
	for (int i = 0; i < CONNECTIONS; i++)
		if (!is_mode(l[i], SMC_DIAG_MODE_SMCD))
			return false;
	return connects_as(SMC_DIAG_MODE_SMCD);
}

bool fuzz(void)
{
	const char *given = getenv("SMC_FUZZ_SEED");
	unsigned int first = given ? strtoul(given, NULL, 0) : SEED;
	struct link l[CONNECTIONS];
	struct modprobe modprobe;
	bool ok;

	diag.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	diag.family = SOCK_DIAG_BY_FAMILY;
	if (diag.fd < 0)
		return BAD("sock_diag: %s", strerror(errno));
	for (int i = 0; i < CONNECTIONS; i++)
		l[i] = connected();
	modprobe = without_modprobe();
	memset(&seen, 0, sizeof(seen));
	seed = first;
	for (int i = 0; i < MESSAGES; i++)
		send_one();
	with_modprobe(&modprobe);
	close(diag.fd);
	ksft_print_msg("SMC_FUZZ_SEED=%u: %u requests done, %u refused, %u messages in answers\n",
		       first, seen.done, seen.refused, seen.answers);
	ok = still_sane(l);
	/* Otherwise the messages would not reach the code under test. */
	if (ok && (seen.done < MESSAGES / 10 || seen.refused < MESSAGES / 10 ||
		   seen.answers < MESSAGES / 10))
		ok = BAD("too few requests succeeded, were refused or got an answer");
	for (int i = 0; i < CONNECTIONS; i++)
		disconnected(l[i]);
	return ok;
}
