// SPDX-License-Identifier: GPL-2.0
/* The other role, the driver, the sockets and their modes. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/smc_diag.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "xfer.h"

#define CTL	3		/* the descriptor at which the driver puts the control channel */

static int port;

void note(const char *fmt, ...)
{
	char line[512];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	if (len > (int)sizeof(line) - 2)
		len = sizeof(line) - 2;
	line[len++] = '\n';
	if (write(STDOUT_FILENO, line, len) < 0)
		_exit(4);
}

const char *err_name(int err)
{
	const char *name = strerrorname_np(err);

	return name ? name : "?";
}

void die_at(const char *file, int line, const char *fmt, ...)
{
	int err = errno;
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	note("%s:%d: %s (errno %s)", file, line, text, err_name(err));
	_exit(1);
}

long must(const char *file, int line, const char *text, long ret)
{
	if (ret < 0)
		die_at(file, line, "%s", text);
	return ret;
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

void *buffer(size_t len)
{
	void *p = malloc(len);

	if (!p)
		die("no memory for %zu bytes", len);
	return p;
}

/* ---- control channel: lines ---- */

void tell(const char *fmt, ...)
{
	char line[256];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	line[len++] = '\n';
	if (send(CTL, line, len, MSG_NOSIGNAL) != len)
		die("the peer's role has gone");
}

void hear(char *line, size_t len)
{
	size_t used = 0;

	for (;;) {
		char c;

		if (read(CTL, &c, 1) != 1)
			die("the peer's role has gone");
		if (c == '\n')
			break;
		if (used + 1 < len)
			line[used++] = c;
	}
	line[used] = 0;
}

void meet(const char *where)
{
	char line[256];

	tell("at %s", where);
	hear(line, sizeof(line));
	if (strncmp(line, "at ", 3) || strcmp(line + 3, where))
		die("the peer's role is \"%s\", this one at \"%s\"", line, where);
}

bool heard(const char *wanted)
{
	char line[256];

	hear(line, sizeof(line));
	return !strcmp(line, wanted);
}

void tell_number(uint64_t number)
{
	tell("%llu", (unsigned long long)number);
}

uint64_t hear_number(void)
{
	char line[256];

	hear(line, sizeof(line));
	return strtoull(line, NULL, 10);
}

void look(const char *where)
{
	char c;

	note("@look %s", where);
	do {
		if (read(STDIN_FILENO, &c, 1) != 1)
			die("the driver has gone");
	} while (c != '\n');
}

/* ---- sockets ---- */

static bool is_v6(void)
{
	return strchr(opt.local, ':');
}

/* Link-local addresses as "fe80::1%eth0" */
static socklen_t address(const char *text, int to_port, struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *in6 = (void *)ss;
	struct sockaddr_in *in = (void *)ss;

	memset(ss, 0, sizeof(*ss));
	if (is_v6()) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(to_port);
		if (inet_pton(AF_INET6, text, &in6->sin6_addr) != 1)
			die("%s is not an address", text);
		return sizeof(*in6);
	}
	in->sin_family = AF_INET;
	in->sin_port = htons(to_port);
	if (inet_pton(AF_INET, text, &in->sin_addr) != 1)
		die("%s is not an address", text);
	return sizeof(*in);
}

int make_socket(void)
{
	int family = is_v6() ? AF_INET6 : AF_INET;
	int fd;

	switch (opt.kind) {
	case KIND_SMC:
		fd = X(socket(AF_SMC, SOCK_STREAM, is_v6()));
		break;
	case KIND_IPPROTO:
		fd = X(socket(family, SOCK_STREAM, IPPROTO_SMC));
		break;
	default:
		fd = X(socket(family, SOCK_STREAM, 0));
	}
	if (opt.rcvbuf)
		X(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &opt.rcvbuf, sizeof(int)));
	if (opt.sndbuf)
		X(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &opt.sndbuf, sizeof(int)));
	return fd;
}

int listen_on(int backlog)
{
	struct sockaddr_storage ss;
	socklen_t len = address(opt.local, 0, &ss);
	int fd = make_socket();

	X(bind(fd, (void *)&ss, len));
	X(listen(fd, backlog));
	len = sizeof(ss);
	X(getsockname(fd, (void *)&ss, &len));
	port = ntohs(((struct sockaddr_in *)&ss)->sin_port);
	tell("port %d", port);
	return fd;
}

void hear_port(void)
{
	char line[64];

	hear(line, sizeof(line));
	if (sscanf(line, "port %d", &port) != 1)
		die("\"%s\" instead of a port", line);
}

socklen_t peer_address(struct sockaddr_storage *ss)
{
	return address(opt.peer, port, ss);
}

int connect_out(void)
{
	struct sockaddr_storage ss;
	socklen_t len = peer_address(&ss);
	int fd = make_socket();

	X(connect(fd, (void *)&ss, len));
	return fd;
}

int accept_one(int lfd)
{
	return X(accept(lfd, NULL, NULL));
}

void set_nonblock(int fd)
{
	X(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK));
}

int open_pair(void)
{
	char c = 'x', back = 0;
	int fd, lfd;

	if (opt.server) {
		lfd = listen_on(16);
		fd = accept_one(lfd);
		close(lfd);
		recv_all(fd, &back, 1);
		send_all(fd, &back, 1);
	} else {
		hear_port();
		fd = connect_out();
		send_all(fd, &c, 1);
		recv_all(fd, &back, 1);
	}
	if (back != c)
		die("0x%02x came instead of 0x%02x", back, c);
	check_modes(&fd, 1);
	meet("pair");
	return fd;
}

/* ---- the mode of a connection: sock_diag ---- */

struct entry {
	uint16_t lport, pport;		/* network order */
	uint8_t mode, state;
	struct smc_diag_conninfo conn;
	struct smc_diag_fallback fallback;
};

struct table {
	struct entry *list;
	int count, room;
};

static void take_socket(struct table *t, struct nlmsghdr *nlh)
{
	struct smc_diag_msg *msg = NLMSG_DATA(nlh);
	int left = nlh->nlmsg_len - NLMSG_SPACE(sizeof(*msg));
	struct nlattr *nla = (void *)((char *)msg + NLMSG_ALIGN(sizeof(*msg)));
	struct entry *e;

	if (t->count == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->list = realloc(t->list, t->room * sizeof(*t->list));
		CHECK(t->list);
	}
	e = &t->list[t->count++];
	memset(e, 0, sizeof(*e));
	e->lport = msg->id.idiag_sport;
	e->pport = msg->id.idiag_dport;
	e->mode = msg->diag_mode;
	e->state = msg->diag_state;
	while (left >= (int)sizeof(*nla) && nla->nla_len >= sizeof(*nla) && nla->nla_len <= left) {
		size_t len = nla->nla_len - NLA_HDRLEN;

		if (nla->nla_type == SMC_DIAG_CONNINFO)
			memcpy(&e->conn, nla + 1, len < sizeof(e->conn) ? len : sizeof(e->conn));
		if (nla->nla_type == SMC_DIAG_FALLBACK && len >= sizeof(e->fallback))
			memcpy(&e->fallback, nla + 1, sizeof(e->fallback));
		left -= NLA_ALIGN(nla->nla_len);
		nla = (void *)((char *)nla + NLA_ALIGN(nla->nla_len));
	}
}

static void dump_sockets(struct table *t)
{
	struct {
		struct nlmsghdr nlh;
		struct smc_diag_req req;
	} ask = {
		.nlh = { .nlmsg_len = sizeof(ask), .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.req = { .diag_family = AF_SMC,
			 .diag_ext = 1 << (SMC_DIAG_CONNINFO - 1) | 1 << (SMC_DIAG_FALLBACK - 1) },
	};
	int fd = X(socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG));
	static _Thread_local char buf[1 << 16];
	bool done = false;

	X(send(fd, &ask, sizeof(ask), 0));
	while (!done) {
		int len = X(recv(fd, buf, sizeof(buf), 0));
		struct nlmsghdr *nlh = (void *)buf;

		for (; NLMSG_OK(nlh, len); nlh = NLMSG_NEXT(nlh, len)) {
			if (nlh->nlmsg_type == NLMSG_ERROR)
				die("smc_diag refused, is it loaded?");
			done |= nlh->nlmsg_type == NLMSG_DONE;
			if (nlh->nlmsg_type == SOCK_DIAG_BY_FAMILY)
				take_socket(t, nlh);
		}
	}
	close(fd);
}

static uint16_t port_of(int fd, bool of_peer)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (of_peer)
		X(getpeername(fd, (void *)&ss, &len));
	else
		X(getsockname(fd, (void *)&ss, &len));
	return ((struct sockaddr_in *)&ss)->sin_port;
}

static struct entry *find_socket(struct table *t, int fd)
{
	uint16_t lport = port_of(fd, false), pport = port_of(fd, true);

	for (int i = 0; i < t->count; i++)
		if (t->list[i].lport == lport && t->list[i].pport == pport)
			return &t->list[i];
	return NULL;
}

static const char *mode_name(uint8_t mode)
{
	return mode == SMC_DIAG_MODE_SMCR ? "SMC-R" : mode == SMC_DIAG_MODE_SMCD ? "SMC-D" : "TCP";
}

void check_modes(const int *fds, int count)
{
	static const uint8_t wanted[] = {
		[EXPECT_SMCR] = SMC_DIAG_MODE_SMCR, [EXPECT_SMCD] = SMC_DIAG_MODE_SMCD,
		[EXPECT_TCP] = SMC_DIAG_MODE_FALLBACK_TCP,
	};
	struct table t = { 0 };
	int wrong = 0;

	if (opt.expect == EXPECT_ANY || opt.kind == KIND_TCP)
		return;
	dump_sockets(&t);
	for (int i = 0; i < count; i++) {
		struct entry *e = find_socket(&t, fds[i]);
		uint8_t mode = e ? e->mode : SMC_DIAG_MODE_FALLBACK_TCP;

		if (mode == wanted[opt.expect])
			continue;
		if (!wrong++)
			note("%s, reason 0x%08x, peer's diagnosis 0x%08x",
			     !e ? "not listed by smc_diag" : mode_name(mode),
			     e ? e->fallback.reason : 0, e ? e->fallback.peer_diagnosis : 0);
	}
	free(t.list);
	if (wrong)
		die("%d of %d connections are not %s", wrong, count, mode_name(wanted[opt.expect]));
}

void note_sockets(void)
{
	struct table t = { 0 };

	dump_sockets(&t);
	for (int i = 0; i < t.count; i++) {
		const struct entry *e = &t.list[i];
		const struct smc_diag_conninfo *c = &e->conn;

		note("socket %d to %d, %s, state %d, rings %u and %u: peer wrote to %u/%u, "
		     "read to %u/%u, flags %02x; we wrote to %u/%u, announced %u/%u, peer read to "
		     "%u/%u, flags %02x",
		     ntohs(e->lport), ntohs(e->pport), mode_name(e->mode), e->state,
		     c->rmbe_size, c->peer_rmbe_size, c->rx_prod.wrap, c->rx_prod.count,
		     c->rx_cons.wrap, c->rx_cons.count, c->rx_conn_state_flags, c->tx_prep.wrap,
		     c->tx_prep.count, c->tx_prod.wrap, c->tx_prod.count, c->tx_cons.wrap,
		     c->tx_cons.count, c->tx_conn_state_flags);
	}
	free(t.list);
}

int element_size(int fd)
{
	struct table t = { 0 };
	struct entry *e;
	int size = 0;

	if (opt.kind == KIND_TCP)
		return 0;
	dump_sockets(&t);
	e = find_socket(&t, fd);
	if (e && e->mode == SMC_DIAG_MODE_SMCR)
		size = e->conn.rmbe_size;
	free(t.list);
	return size;
}
