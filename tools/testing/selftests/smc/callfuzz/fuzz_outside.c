// SPDX-License-Identifier: GPL-2.0
/* Calls that affect a socket or SMC from outside: options, netlink, settings, the module. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/genetlink.h>
#include <linux/inet_diag.h>
#include <linux/smc.h>
#include <linux/sock_diag.h>
#include <linux/tls.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest.h"
#include "netlink_client.h"
#include "put_file.h"
#include "sock_identity.h"
#include "surface.h"
#include "call_fuzz.h"

#ifndef SOL_TLS
#define SOL_TLS		282
#endif

#define TRACING		"/sys/kernel/tracing"

static int sockmap = -1;
static char saved[64][32];		/* old value of each setting */

/* ---- options ---- */

static const uint32_t edges[] = { 0, 1, 2, 3, 16, 255, 4096, 16384, 0x7fffffff, 0x80000000, -1 };

/* Makes a value for an option, in buf or in unmapped memory; returns its length. */
static socklen_t make_value(const struct surface_option *o, const struct step *s, char **value)
{
	static const char * const texts[] = { "tls", "smc", "none", "cubic", "reno", "lo", "" };
	uint32_t number = s->arg[3] & 1 ? ITEM(edges, s->arg[1]) : s->arg[1];
	size_t len = o->size ?: sizeof(int);

	*value = buf;
	memset(buf, 0, 512);
	if (o->value == VALUE_TEXT) {
		strcpy(buf, ITEM(texts, s->arg[1]));
		len = strlen(buf);
	} else {
		for (size_t i = 0; i + 4 <= len && i < 64; i += 4)
			memcpy(buf + i, i && s->arg[3] & 2 ? &s->arg[2] : &number, 4);
	}
	switch (s->arg[3] >> 4 & 31) {
	case 0: return s->arg[2] % (2 * len + 1);
	case 1: *value = buf + 1;
		return len;
	case 2: *value = NULL;
		return len;
	case 3: *value = buf + BUF_SIZE - len / 2;
		return len;
	case 4: return ITEM(edges, s->arg[2]);
	default: return len;
	}
}

/* See smc_stress_test: with AF_INET this option leads to a use after free in TCP. */
#define IPV6_ADDRFORM	1

/*
 * Is this option the same with SMC? Others are SMC's own, are refused by it, or determine how much
 * fits into a buffer.
 */
static bool is_compared(const struct surface_option *o)
{
	static const struct { int level, name; } others[] = {
		{ SOL_SOCKET, SO_SNDBUF }, { SOL_SOCKET, SO_RCVBUF }, { SOL_SOCKET, SO_SNDBUFFORCE },
		{ SOL_SOCKET, SO_RCVBUFFORCE }, { SOL_SOCKET, 73 /* SO_RESERVE_MEM */ },
		{ IPPROTO_TCP, TCP_WINDOW_CLAMP }, { IPPROTO_TCP, TCP_MAXSEG },
		{ IPPROTO_TCP, TCP_NOTSENT_LOWAT },
		/* Messages in the error queue contain no data. */
		{ SOL_SOCKET, SO_TIMESTAMPING_OLD }, { SOL_SOCKET, SO_TIMESTAMPING_NEW },
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (o->level == others[i].level && o->number == others[i].name)
			return false;
	if (setting.prompt && o->level == IPPROTO_TCP &&
	    (o->number == TCP_CORK || o->number == TCP_NODELAY))
		return false;
	return o->level != 286 && !(o->flags & OPT_REFUSED);
}

/* Leaves out options that affect the whole host, and hooks that trust the tests. */
bool option_fits(const struct surface_option *o)
{
	if (o->flags & OPT_TEST || o->value == VALUE_POINTER ||
	    (o->level == IPPROTO_IPV6 && o->number == IPV6_ADDRFORM))
		return false;
	return setting.compared ? is_compared(o) : !(o->flags & OPT_NO_VALUES);
}

static long run_set(const struct step *s)
{
	const struct surface_option *o = &surface_options[s->arg[0] % surface_n_options];
	char *value;
	socklen_t len = make_value(o, s, &value);

	if (!option_fits(o))
		return -1;
	return setsockopt(slot_fd(s->slot), o->level, o->number, value, len);
}

static const struct surface_option *option_of(int level, int name)
{
	for (size_t i = 0; i < surface_n_options; i++)
		if (surface_options[i].level == level && surface_options[i].number == name)
			return &surface_options[i];
	return &surface_options[0];
}

/* The options that matter to SMC are drawn as often as all others together. */
static long run_set_tcp(const struct step *s)
{
	static const struct { int level, name; uint32_t values; } options[] = {
		{ IPPROTO_TCP, TCP_NODELAY, 2 }, { IPPROTO_TCP, TCP_CORK, 2 },
		{ IPPROTO_TCP, TCP_FASTOPEN, 5 }, { IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 2 },
		{ IPPROTO_TCP, TCP_REPAIR, 3 }, { IPPROTO_TCP, TCP_REPAIR_QUEUE, 3 },
		{ IPPROTO_TCP, TCP_DEFER_ACCEPT, 2 }, { IPPROTO_TCP, TCP_LINGER2, 3 },
		{ IPPROTO_TCP, TCP_USER_TIMEOUT, 500 }, { IPPROTO_TCP, TCP_KEEPIDLE, 4 },
		{ IPPROTO_TCP, TCP_SAVE_SYN, 3 }, { IPPROTO_TCP, TCP_INQ, 2 },
		{ IPPROTO_TCP, TCP_NOTSENT_LOWAT, 5000 }, { IPPROTO_TCP, TCP_WINDOW_CLAMP, 70000 },
		{ SOL_SOCKET, SO_REUSEPORT, 2 }, { SOL_SOCKET, SO_KEEPALIVE, 2 },
		{ SOL_SOCKET, SO_OOBINLINE, 2 }, { SOL_SOCKET, SO_ZEROCOPY, 2 },
		{ SOL_SOCKET, SO_RCVLOWAT, 70000 }, { SOL_SOCKET, SO_SNDBUF, 1000000 },
		{ SOL_SOCKET, SO_RCVBUF, 1000000 }, { SOL_SOCKET, SO_BUSY_POLL, 50 },
		{ SOL_SOCKET, SO_INCOMING_CPU, 2 }, { SOL_SOCKET, SO_MARK, 3 },
		{ IPPROTO_IPV6, IPV6_ADDRFORM, 2 }, { IPPROTO_IPV6, IPV6_V6ONLY, 2 },
		{ 286, 1 /* SMC_LIMIT_HS */, 2 },
	};
	int value = s->arg[1] % ITEM(options, s->arg[0]).values;

	if (setting.compared && !option_fits(option_of(ITEM(options, s->arg[0]).level,
						ITEM(options, s->arg[0]).name)))
		return -1;
	return setsockopt(slot_fd(s->slot), ITEM(options, s->arg[0]).level,
			  ITEM(options, s->arg[0]).name, &value, sizeof(value));
}

static long run_get(const struct step *s)
{
	const struct surface_option *o = &surface_options[s->arg[0] % surface_n_options];
	socklen_t len = s->arg[1] & 7 ? 256 : s->arg[2];
	void *to = s->arg[3] & 15 ? buf : s->arg[3] & 16 ? NULL : buf + BUF_SIZE - 2;
	socklen_t *where = s->arg[3] >> 5 & 31 ? &len : (void *)(buf + BUF_SIZE - 1);
	long rc;

	if (!option_fits(o))
		return -1;
	rc = getsockopt(slot_fd(s->slot), o->level, o->number, to, where);
	if (!rc && to == buf && where == &len && !(o->flags & OPT_VARIES)) {
		note(len);
		note_bytes(buf, len);
	}
	return rc;
}

static long run_linger(const struct step *s)
{
	struct linger l = { s->arg[0] & 1, s->arg[1] % 3 };

	return setsockopt(slot_fd(s->slot), SOL_SOCKET, SO_LINGER, &l, sizeof(l));
}

static long run_ulp(const struct step *s)
{
	static const char * const names[] = { "tls", "tls", "smc", "espintcp" };
	struct tls12_crypto_info_aes_gcm_128 keys = {
		.info = { .version = TLS_1_2_VERSION, .cipher_type = TLS_CIPHER_AES_GCM_128 },
	};
	const char *name = ITEM(names, s->arg[1]);

	if (s->arg[0] & 1)
		return setsockopt(slot_fd(s->slot), IPPROTO_TCP, TCP_ULP, name, strlen(name));
	return setsockopt(slot_fd(s->slot), SOL_TLS, s->arg[1] & 1 ? TLS_TX : TLS_RX, &keys,
			  sizeof(keys));
}

/* Not with plain TCP sockets, for the reason that stress_options.c gives. */
static long run_sockmap(const struct step *s)
{
	int protocol;
	socklen_t len = sizeof(protocol);
	uint32_t key = s->arg[0] % SLOTS, value = slot_fd(s->slot);
	union bpf_attr attr = {
		.map_fd = sockmap, .key = (uintptr_t)&key, .value = (uintptr_t)&value,
	};

	if (getsockopt(slot_fd(s->slot), SOL_SOCKET, SO_PROTOCOL, &protocol, &len) < 0 ||
	    protocol == IPPROTO_TCP)
		return -1;
	if (s->arg[1] & 1)
		return syscall(__NR_bpf, BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr));
	attr.value = 0;
	return syscall(__NR_bpf, BPF_MAP_DELETE_ELEM, &attr, sizeof(attr));
}

/* ---- netlink ---- */

static void swallow(int fd)
{
	while (recv(fd, buf, BUF_SIZE, MSG_DONTWAIT) > 0 || errno == ENOBUFS)
		;
}

static void put_number(struct payload *p, const struct surface_attr *a, struct random *r)
{
	uint32_t value = one_in(r, 2) ? a->value : one_in(r, 2) ? a->min + below(r, 4) :
			 one_in(r, 2) ? a->max : rnd(r);

	put_attr(p, a->number, &value, a->type == ATTR_U8 ? 1 : a->type == ATTR_U16 ? 2 : 4);
}

static void put_address(struct payload *p, const struct surface_attr *a, struct random *r)
{
	uint32_t bytes[4] = { htonl(one_in(r, 2) ? a->value : setting.addr) };

	put_attr(p, a->number, bytes, one_in(r, 3) ? 16 : 4);
}

static void put_word(struct payload *p, const struct surface_attr *a, struct random *r)
{
	char text[100] = "lo";

	if (one_in(r, 2))
		snprintf(text, sizeof(text), "%s", a->good);
	else if (one_in(r, 2))
		snprintf(text, sizeof(text), "FUZZ%u", below(r, 12));
	else if (one_in(r, 4))
		memset(text, 'A', below(r, sizeof(text)));
	put_attr(p, a->number, text, strlen(text) + one_in(r, 2));
}

static bool is_among(const uint16_t *numbers, uint16_t number)
{
	return numbers[0] == number || numbers[1] == number;
}

/* Mostly those that the command requires, and few of the others, because many exclude each
 * other.
 */
static void put_attrs(struct payload *p, const struct surface_policy *policy,
		      const struct surface_command *c, const uint16_t *mandatory, struct random *r)
{
	unsigned int rare = 1 + below(r, 6);

	for (size_t i = 0; i < policy->n; i++) {
		const struct surface_attr *a = &policy->attrs[i];
		struct payload nest = { .len = 0 };

		if (is_among(mandatory, a->number) ? one_in(r, 16) : !one_in(r, rare))
			continue;
		switch (a->type) {
		case ATTR_TEXT:
			put_word(p, a, r);
			break;
		case ATTR_ADDRESS:
			put_address(p, a, r);
			break;
		case ATTR_NEST:
			put_attrs(&nest, a->nest, c, c->in_nest, r);
			put_attr(p, a->number | (one_in(r, 16) ? 0 : NLA_F_NESTED), nest.b, nest.len);
			break;
		default:
			put_number(p, a, r);
		}
	}
}

/* Changes a few bytes, or shortens the message, regardless of what the bytes mean. */
static void spoil(char *m, size_t *len, struct random *r)
{
	for (unsigned int n = 1 + below(r, 3); n; n--)
		m[sizeof(struct nlmsghdr) + below(r, *len - sizeof(struct nlmsghdr))] =
			one_in(r, 2) ? ITEM(edges, rnd(r)) : rnd(r);
	if (one_in(r, 4))
		*len = sizeof(struct nlmsghdr) + below(r, *len - sizeof(struct nlmsghdr));
}

static long post(int fd, uint16_t type, uint16_t flags, const void *body, size_t size,
		 struct random *r)
{
	static __thread char m[8192];
	struct nlmsghdr h = { .nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST | flags };
	size_t len = sizeof(h) + size;
	long rc;

	memcpy(m + sizeof(h), body, size);
	if (r && one_in(r, 4))
		spoil(m, &len, r);
	h.nlmsg_len = len;
	memcpy(m, &h, sizeof(h));
	rc = send(fd, m, len, MSG_DONTWAIT);
	if (!r || !one_in(r, 8))	/* a dump whose answer nobody reads does not end */
		swallow(fd);
	return rc;
}

static long run_netlink(const struct step *s)
{
	unsigned int which = s->arg[0] % 4 == 3;	/* three times SMC_GEN_NETLINK */
	const struct surface_family *f = &surface_families[which];
	const struct surface_command *c = &f->commands[s->arg[1] % f->n];
	struct random r = { .state = s->arg[2] };
	struct genlmsghdr g = { .cmd = c->number, .version = 1 };
	struct { struct genlmsghdr g; uint8_t b[4096]; } m;
	struct payload p = { .len = 0 };
	bool dump = c->how == CMD_DUMP || (c->how & CMD_DUMP && one_in(&r, 2));

	if (one_in(&r, 16))
		g.cmd = rnd(&r);
	if (!dump || one_in(&r, 8))
		put_attrs(&p, c->policy, c, c->mandatory, &r);
	m.g = g;
	memcpy(m.b, p.b, p.len);
	return post(setting.netlink[which], setting.family[which], dump ? NLM_F_DUMP : NLM_F_ACK,
		    &m, sizeof(g) + p.len, &r);
}

static long run_diag(const struct step *s)
{
	struct inet_diag_req_v2 req = { .idiag_ext = s->arg[1] };
	uint8_t dump[64] = { 43, 0, 0, s->arg[1] };
	struct random r = { .state = s->arg[2] };

	if (s->arg[0] & 1)
		return post(setting.netlink[2], SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, dump, 52, &r);
	if (!sock_identity(slot_fd(s->slot), &req))
		return -1;
	return post(setting.netlink[2], s->arg[0] & 2 ? SOCK_DESTROY : SOCK_DIAG_BY_FAMILY,
		    NLM_F_ACK, &req, sizeof(req), NULL);
}

/* ---- settings and the module ---- */

static void path_of(const struct surface_sysctl *c, char *path, size_t room)
{
	snprintf(path, room, SURFACE_SYSCTL_DIR "/%s", c->name);
}

static long run_sysctl(const struct step *s)
{
	const struct surface_sysctl *c = &surface_sysctls[s->arg[0] % surface_n_sysctls];
	char path[100], text[40];
	unsigned long value;

	switch (s->arg[1] % 8) {
	case 0: value = c->min - 1; break;
	case 1: value = c->min; break;
	case 2: value = c->max; break;
	case 3: value = c->max + 1; break;
	case 4: value = c->min + s->arg[2]; break;
	default: value = c->min + s->arg[2] % (c->max - c->min);
	}
	snprintf(text, sizeof(text), s->arg[3] & 15 ? "%ld" : "%ld x", (long)value);
	path_of(c, path, sizeof(path));
	return put_file(path, text) ? 0 : -1;
}

/* Tracepoints belong to the host. */
void trace_off(void)
{
	put_file(TRACING "/events/smc/enable", "0");
}

/* For the initial namespace, where settings outlive a batch. */
void settings_save(void)
{
	char path[100];

	for (size_t i = 0; i < surface_n_sysctls; i++) {
		int fd;

		path_of(&surface_sysctls[i], path, sizeof(path));
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || read(fd, saved[i], sizeof(saved[i]) - 1) < 1)
			ksft_exit_fail_msg("cannot read %s\n", path);
		close(fd);
	}
}

static void flush(int which, uint8_t command)
{
	struct genlmsghdr g = { .cmd = command, .version = 1 };

	post(setting.netlink[which], setting.family[which], NLM_F_ACK, &g, sizeof(g), NULL);
}

void settings_restore(void)
{
	static const uint8_t smc[] = { SMC_NETLINK_FLUSH_UEID, SMC_NETLINK_ENABLE_SEID,
		SMC_NETLINK_DISABLE_HS_LIMITATION, SMC_NETLINK_FLUSH_FILTER,
		SMC_NETLINK_FLUSH_AUTOCACHE, SMC_NETLINK_FLUSH_AUTOSMC };
	char path[100];

	for (size_t i = 0; i < surface_n_sysctls; i++) {
		path_of(&surface_sysctls[i], path, sizeof(path));
		put_file(path, saved[i]);
	}
	for (size_t i = 0; i < sizeof(smc); i++)
		flush(0, smc[i]);
	flush(1, SMC_PNETID_FLUSH);
}

/* Connections between two devices of one host require a common EID; without one they would be
 * TCP.
 */
void settings_for_devices(void)
{
	struct { struct genlmsghdr g; uint8_t b[4096]; } m = {
		.g = { .cmd = SMC_NETLINK_ADD_UEID, .version = 1 },
	};
	struct payload p = { .len = 0 };

	put_text(&p, SMC_NLA_EID_TABLE_ENTRY, "SMC-FUZZ");
	memcpy(m.b, p.b, p.len);
	post(setting.netlink[0], setting.family[0], NLM_F_ACK, &m, sizeof(m.g) + p.len, NULL);
}

/* While a socket of its family is open, the module stays; smc_diag may be unloaded and loaded
 * again.
 */
static long run_unload(const struct step *s)
{
	const char *file = getenv("SMC_DIAG_KO");
	int fd = make_socket(0, 0);
	long rc = -1;

	if (fd >= 0 && s->arg[0] & 1) {
		rc = syscall(__NR_delete_module, "smc", O_NONBLOCK);
	} else if (fd >= 0 && file) {
		syscall(__NR_delete_module, "smc_diag", O_NONBLOCK);
		close(fd);
		fd = open(file, O_RDONLY | O_CLOEXEC);
		rc = syscall(__NR_finit_module, fd, "", 0);
	}
	close(fd);
	return rc;
}

/* One of the next allocations by the module in this thread fails. */
static long run_fault(const struct step *s)
{
	arm_fault(1 + s->arg[0] % 24);
	return 0;
}

/* Tracepoints, and reading their output. */
static long run_trace(const struct step *s)
{
	int fd;
	long n;

	if (s->arg[0] & 3)
		return put_file(TRACING "/events/smc/enable", s->arg[0] & 1 ? "1" : "0") ? 0 : -1;
	fd = open(TRACING "/trace", O_RDONLY | O_CLOEXEC);
	n = read(fd, buf, BUF_SIZE);
	close(fd);
	return n;
}

/* ---- */

void calls_open(void)
{
	union bpf_attr map = { .map_type = BPF_MAP_TYPE_SOCKMAP, .key_size = 4, .value_size = 4,
			       .max_entries = SLOTS };
	static struct genl g;

	for (size_t i = 0; i < surface_n_families; i++) {
		if (!genl_open(&g, surface_families[i].name))
			ksft_exit_fail_msg("no family %s\n", surface_families[i].name);
		setting.netlink[i] = g.fd;
		setting.family[i] = g.family;
	}
	setting.netlink[2] = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	sockmap = syscall(__NR_bpf, BPF_MAP_CREATE, &map, sizeof(map));
	if (setting.netlink[2] < 0)
		ksft_exit_fail_msg("no sock_diag\n");
}

const struct call outside_calls[] = {
	{ "set", 8, run_set },
	{ "set_tcp", 14, run_set_tcp },
	{ "get", 8, run_get },
	{ "linger", 2, run_linger },
	{ "ulp", 4, run_ulp },
	{ "sockmap", 4, run_sockmap },
	{ "netlink", 10, run_netlink },
	{ "diag", 6, run_diag },
	{ "sysctl", 6, run_sysctl },
	{ "unload", 1, run_unload },
	{ "fault", 6, run_fault },
	{ "trace", 1, run_trace },
	{ NULL, 0, NULL }
};
