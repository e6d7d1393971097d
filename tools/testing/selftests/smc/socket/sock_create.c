// SPDX-License-Identifier: GPL-2.0
/* socket(), bind() and the calls that fail on a socket in the wrong state. */
#include <fcntl.h>
#include <sys/un.h>

#include "role.h"

static int try_socket(int family, int type, int protocol)
{
	int fd = socket(family, type, protocol);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? -1 : 0;
}

static void create_ok(void)
{
	int type = SOCK_STREAM, f = me.kind.family, p = me.kind.protocol, fd;

	R(try_socket(f, type, p));
	fd = RFD(socket(f, type | SOCK_NONBLOCK | SOCK_CLOEXEC, p));
	R(fcntl(fd, F_GETFL) & O_NONBLOCK);
	R(fcntl(fd, F_GETFD));
	R(get_int(fd, SOL_SOCKET, SO_TYPE));
	R(get_int(fd, SOL_SOCKET, SO_DOMAIN));
	R(get_int(fd, SOL_SOCKET, SO_ACCEPTCONN));
	R(get_int(fd, SOL_SOCKET, SO_ERROR));
	rec("poll %s", mask_name(poll_mask(fd, ~0u)));
	R(close(fd));
	R(close(fd));
	for (int i = 0; i < 100; i++)
		CHECK(!try_socket(f, type, p));
}

/* Each mistake gets the same errno as with AF_INET. */
static void create_errors(void)
{
	int f = me.kind.family, p = me.kind.protocol;

	R(try_socket(f, SOCK_STREAM, 99));
	R(try_socket(f, SOCK_STREAM, -1));
	R(try_socket(f, SOCK_STREAM, 5000));
	R(try_socket(f, SOCK_SEQPACKET, p));
	R(try_socket(f, SOCK_RDM, p));
	R(try_socket(f, 0, p));
	R(try_socket(f, 12, p));
	R(try_socket(f, SOCK_STREAM | 0x100000, p));
	/* AF_SMC has no datagram protocol: the type is wrong, not the protocol */
	CHECK(try_socket(f, SOCK_DGRAM, p) < 0);
	CHECK(errno == (f == AF_SMC ? ESOCKTNOSUPPORT : EPROTONOSUPPORT));
	if (f == AF_SMC) {
		CHECK(try_socket(f, SOCK_STREAM, 2) < 0 && errno == EPROTONOSUPPORT);
		CHECK(try_socket(f, SOCK_STREAM, IPPROTO_TCP) < 0 &&
		      errno == EPROTONOSUPPORT);
	}
	{
		int sv[2];

		R(socketpair(f, SOCK_STREAM, p, sv));
	}
}

static void create_until_emfile(void)
{
	int fds[64], n = 0, fd;

	for (fd = 3; fd < 1024; fd++)
		close(fd == me.ctl ? -1 : fd);
	while (n < 64 && (fds[n] = make_socket(0)) >= 0)
		n++;
	rec("%d sockets", n);
	while (n--)
		X(close(fds[n]));
	R(try_socket(me.kind.family, SOCK_STREAM, me.kind.protocol));
}

static void bind_errors(void)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "x" };
	struct addr a = loopback(0), b, n;
	int fd = make_socket(0), fd2 = make_socket(0);

	R(bind(fd, (struct sockaddr *)&un, sizeof(un)));
	R(bind(fd, &a.sa, 0));
	R(bind(fd, &a.sa, 4));
	R(bind(fd, &a.sa, a.len - 1 - (me.var->ipv6 ? 4 : 0)));
	R(bind(fd, NULL, a.len));
	R(bind(fd, &a.sa, 100000));
	b = a;
	if (me.var->ipv6)
		b.in6.sin6_addr.s6_addr[0] = 0x20;
	else
		b.in.sin_addr.s_addr = htonl(0xc0000201);	/* 192.0.2.1 */
	R(bind(fd, &b.sa, b.len));
	R(bind(fd, &a.sa, a.len));
	R(bind(fd, &a.sa, a.len));
	n = name_of(fd);
	rec("bound to %s", addr_kind(&n));
	CHECK(addr_port(&n));
	R(bind(fd2, &n.sa, n.len));
	R(listen(fd, 1));
	R(bind(fd2, &n.sa, n.len));
	R(close(fd));
	R(bind(fd2, &n.sa, n.len));
	R(bind(fd, &a.sa, a.len));
}

static void bind_unspec(void)
{
	struct addr a = wildcard(0), n;
	int fd = make_socket(0);

	a.sa.sa_family = AF_UNSPEC;
	R(bind(fd, &a.sa, a.len));
	n = name_of(fd);
	rec("bound to %s", addr_kind(&n));
	a = wildcard(0);
	a.sa.sa_family = me.var->ipv6 ? AF_INET : AF_INET6;
	R(bind(make_socket(0), &a.sa, a.len));
}

static void bind_privileged(void)
{
	struct addr a = loopback(80);
	int fd = make_socket(0);

	X(setgid(65534));
	X(setuid(65534));
	R(bind(fd, &a.sa, a.len));
	a = loopback(1024);
	R(bind(fd, &a.sa, a.len));
}

/* A TCP socket may hold the port: TCP and SMC share one port space. */
static void bind_shares_ports_with_tcp(void)
{
	struct addr a;
	int t = listen_tcp(1, &a), fd = make_socket(0), v;

	R(bind(fd, &a.sa, a.len));
	R(set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1));
	R(bind(fd, &a.sa, a.len));
	close(fd);
	fd = make_socket(0);
	v = set_int(fd, SOL_SOCKET, SO_REUSEPORT, 1);
	R(v);
	R(bind(fd, &a.sa, a.len));
	close(t);
	R(bind(fd, &a.sa, a.len));
}

static void unconnected_calls(void)
{
	struct addr a = { .len = sizeof(a.ss) };
	int fd = make_socket(0);
	char c = 0;

	R(getpeername(fd, &a.sa, &a.len));
	a.len = sizeof(a.ss);
	R(getsockname(fd, &a.sa, &a.len));
	rec("%s port %d", addr_kind(&a), addr_port(&a));
	R(getsockname(fd, NULL, &a.len));
	R(getsockname(fd, &a.sa, NULL));
	R(recv(fd, &c, 1, 0));
	R(recv(fd, &c, 1, MSG_DONTWAIT));
	R(recv(fd, &c, 1, MSG_PEEK));
	R(recv(fd, &c, 0, 0));
	R(send(fd, &c, 1, MSG_NOSIGNAL));
	R(send(fd, &c, 0, MSG_NOSIGNAL));
	R(send(fd, &c, 1, MSG_NOSIGNAL | MSG_DONTWAIT));
	a = loopback(1);
	R(sendto(fd, &c, 1, MSG_NOSIGNAL, &a.sa, a.len));
	R(shutdown(fd, SHUT_RD));
	R(shutdown(fd, SHUT_WR));
	R(shutdown(fd, SHUT_RDWR));
	R(shutdown(fd, 7));
	R(accept(fd, NULL, NULL));
	R(accept4(fd, NULL, NULL, SOCK_NONBLOCK));
	R(accept4(fd, NULL, NULL, 0x40));
	rec("poll %s", mask_name(poll_mask(fd, ~0u)));
	R(lseek(fd, 0, SEEK_CUR));
	R(fsync(fd));
	R(ftruncate(fd, 0));
}

/* Complements the case above: after a failed call the socket still works. */
static void used_after_errors_server(void)
{
	int l = make_socket(0), fd;
	struct addr a = loopback(0);
	char c;

	R(accept(l, NULL, NULL));
	R(recv(l, &c, 1, 0));
	X(bind(l, &a.sa, a.len));
	R(listen(l, 1));
	R(listen(l, 10));
	R(connect(l, &a.sa, a.len));
	R(recv(l, &c, 1, 0));
	R(send(l, &c, 1, MSG_NOSIGNAL));
	a = name_of(l);
	ctl_put(addr_port(&a));
	fd = accept_one(l);
	ping_pong(fd);
	R(listen(fd, 1));
	R(bind(fd, &a.sa, a.len));
	R(accept(fd, NULL, NULL));
	ping_pong(fd);
}

static void used_after_errors_client(void)
{
	int fd = make_socket(0), port = ctl_get();
	struct addr a = loopback(port), p = { .len = sizeof(p.ss) };
	char c;

	R(recv(fd, &c, 1, 0));
	R(send(fd, "x", 1, MSG_NOSIGNAL));
	R(connect(fd, &a.sa, 3));
	R(connect(fd, &a.sa, a.len));
	check_mode(fd);
	R(connect(fd, &a.sa, a.len));
	ping_pong(fd);
	R(getpeername(fd, &p.sa, &p.len));
	CHECK(addr_port(&p) == port);
	ping_pong(fd);
}

const struct test_case create_cases[] = {
	SOLO(create_ok, 0, "flags and identity of a new socket"),
	/* slow: the kernel runs modprobe for each unknown protocol */
	SOLO(create_errors, F_SLOW, "wrong type, protocol and flags fail as with AF_INET"),
	SOLO(create_until_emfile, 0, "create sockets until EMFILE, without using them"),
	SOLO(bind_errors, 0, "every error of bind()"),
	SOLO(bind_unspec, 0, "bind() with another family's address"),
	SOLO(bind_privileged, F_ROOT, "bind() to port 80 without privileges"),
	SOLO(bind_shares_ports_with_tcp, 0, "bind() to a port that a TCP socket has"),
	SOLO(unconnected_calls, 0, "every call on a socket that is not connected"),
	CASE(used_after_errors, 0, "failed calls leave the socket usable"),
	{ 0 }
};
