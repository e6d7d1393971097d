// SPDX-License-Identifier: GPL-2.0
/* Network namespaces are separate; connections may cross them. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "loopback_up.h"
#include "pairing.h"
#include "role.h"

static void run(const char *fmt, ...)
{
	char cmd[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	if (system(cmd))
		die("failed: %s", cmd);
}

static void own_namespace(void)
{
	X(unshare(CLONE_NEWNET));
	CHECK(loopback_up());
	if (me.var->negotiated)
		CHECK(set_pairing(false));
}

/* The same port in another namespace has no listener. */
static void own_world_server(void)
{
	int l = serve();

	barrier("tried");
	ping_pong(accept_one(l));
}

static void own_world_client(void)
{
	int port = ctl_get(), home = X(open("/proc/self/ns/net", O_RDONLY));
	struct addr a = loopback(port);
	int fd;

	own_namespace();
	fd = make_socket(0);
	R(connect(fd, &a.sa, a.len));
	R(bind(make_socket(0), &a.sa, a.len));
	X(setns(home, CLONE_NEWNET));
	R(bind(make_socket(0), &a.sa, a.len));
	barrier("tried");
	/* a socket stays in the namespace in which it was created */
	R(connect(fd, &a.sa, a.len));
	ping_pong(connect_to(port, 0));
}

static struct addr veth_addr(int host, int port)
{
	struct addr a = loopback(port);

	if (me.var->ipv6) {
		memset(&a.in6.sin6_addr, 0, 16);
		a.in6.sin6_addr.s6_addr[0] = 0xfd;
		a.in6.sin6_addr.s6_addr[1] = 0x73;
		a.in6.sin6_addr.s6_addr[15] = host;
	} else {
		a.in.sin_addr.s_addr = htonl(0x0a490000 + host);
	}
	return a;
}

/* The server creates the pair of devices and gives one to the client. */
static void veth_up(int host)
{
	run("ip addr add 10.73.0.%d/24 dev v%d", host, host);
	run("ip -6 addr add fd73::%d/64 dev v%d nodad", host, host);
	run("ip link set v%d up", host);
}

static void across_veth_server(void)
{
	int l, fd;
	struct addr a, p = { .len = sizeof(p.ss) };

	own_namespace();
	run("ip link add v1 type veth peer name v2");
	barrier("made");
	run("ip link set v2 netns %d", (int)ctl_get());
	veth_up(1);
	barrier("moved");
	barrier("up");
	l = make_socket(0);
	a = veth_addr(1, 0);
	X(bind(l, &a.sa, a.len));
	X(listen(l, 5));
	a = name_of(l);
	ctl_put(addr_port(&a));
	fd = RFD(accept(l, &p.sa, &p.len));
	rec("from %s", addr_kind(&p));
	check_mode(fd);
	recv_bytes(fd, 0, 500000, 10000);
	send_bytes(fd, 0, 500000, 10000);
	rec("end at %d", (int)recv_to_end(fd, 500000));
}

static void across_veth_client(void)
{
	struct addr a;
	int fd;

	own_namespace();
	barrier("made");
	ctl_put(getpid());
	barrier("moved");
	veth_up(2);
	barrier("up");
	a = veth_addr(1, ctl_get());
	fd = make_socket(0);
	R(connect(fd, &a.sa, a.len));
	check_mode(fd);
	send_bytes(fd, 0, 500000, 70000);
	recv_bytes(fd, 0, 500000, 10000);
}

/* The namespace is removed while it has connections: they continue, through their descriptors. */
static void orphaned_server(void)
{
	int l, fd, c, home = X(open("/proc/self/ns/net", O_RDONLY));
	struct addr a;

	own_namespace();
	l = listen_on(5);
	a = name_of(l);
	fd = make_kind(&me.var->client, 0);
	X(connect(fd, &a.sa, a.len));
	c = accept_one(l);
	X(setns(home, CLONE_NEWNET));
	ping_pong_local(fd, c);
	R(close(l));
	send_bytes(fd, 0, 1000, 1000);
	recv_bytes(c, 0, 1000, 1000);
	R(close(fd));
	rec("end at %d", (int)recv_to_end(c, 1000));
	barrier("done");
}

static void orphaned_client(void)
{
	barrier("done");
}

/* Namespaces are created and removed while they have listeners, connections and TIME_WAIT. */
static void namespace_churn(void)
{
	for (int i = 0; i < 15; i++) {
		int l, c, s;
		struct addr a;
		char x;

		own_namespace();
		l = listen_on(5);
		a = name_of(l);
		c = make_kind(&me.var->client, 0);
		X(connect(c, &a.sa, a.len));
		if (i % 3) {
			s = X(accept(l, NULL, NULL));
			ping_pong_local(c, s);
			if (i % 3 == 1) {
				X(shutdown(c, SHUT_WR));
				CHECK(recv(s, &x, 1, 0) == 0);
			}
			close(s);
		}
		close(l);
		close(c);
	}
	rec("done");
}

const struct test_case namespace_cases[] = {
	CASE(own_world, F_ROOT | F_HERE, "the same port in another namespace has no listener"),
	CASE(across_veth, F_ROOT | F_HERE, "a connection between two namespaces"),
	CASE(orphaned, F_ROOT | F_HERE, "a connection whose namespace was removed"),
	SOLO(namespace_churn, F_ROOT | F_HERE, "namespaces are created and removed in use"),
	{ 0 }
};
