// SPDX-License-Identifier: GPL-2.0
/* SIOCINQ, SIOCOUTQ, SIOCOUTQNSD, SIGIO, FIONBIO. */
#include <fcntl.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "role.h"

static void inq_server(void)
{
	char buf[100];
	int fd = pair();

	R(ask(fd, SIOCINQ));
	barrier("empty");
	barrier("sent");
	await_inq(fd, 100);
	R(ask(fd, SIOCINQ));
	R(ask(fd, FIONREAD));
	recv_bytes(fd, 0, 30, 30);
	R(ask(fd, SIOCINQ));
	R(recv(fd, buf, 10, MSG_PEEK));
	R(ask(fd, SIOCINQ));
	recv_bytes(fd, 30, 70, 70);
	R(ask(fd, SIOCINQ));
	R(ioctl(fd, SIOCINQ, NULL));
	barrier("end");
	await_mask(fd, POLLRDHUP);
	R(ask(fd, SIOCINQ));
	recv_bytes(fd, 100, 5, 5);
	R(ask(fd, SIOCINQ));
	R(recv(fd, buf, 100, 0));
	R(ask(fd, SIOCINQ));
}

static void inq_client(void)
{
	int fd = pair();

	barrier("empty");
	send_bytes(fd, 0, 100, 50);
	barrier("sent");
	barrier("end");
	send_bytes(fd, 100, 5, 5);
	R(close(fd));
}

/* SIOCOUTQ is 0 once the peer's kernel has received everything, whether or not it is read. */
static void outq_server(void)
{
	int fd = pair();

	barrier("arrived");
	recv_bytes(fd, 0, 1000, 1000);
	barrier("full");
	recv_bytes(fd, 0, ctl_get(), 10000);
	barrier("done");
}

static void outq_client(void)
{
	int fd = pair();
	size_t total;

	R(ask(fd, SIOCOUTQ));
	R(ask(fd, SIOCOUTQNSD));
	send_bytes(fd, 0, 1000, 1000);
	await_sent(fd);
	R(ask(fd, SIOCOUTQ));
	R(ask(fd, SIOCOUTQNSD));
	barrier("arrived");
	total = fill_up(fd);
	CHECK((size_t)ask(fd, SIOCOUTQ) <= total);
	CHECK(ask(fd, SIOCOUTQNSD) <= ask(fd, SIOCOUTQ));
	barrier("full");
	ctl_put(total);
	barrier("done");
	await_sent(fd);
	R(ask(fd, SIOCOUTQ));
	R(ask(fd, SIOCOUTQNSD));
}

static void ioctl_states(void)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	int fd = make_socket(0), l = listen_on(1);

	R(ask(fd, SIOCINQ));
	R(ask(fd, SIOCOUTQ));
	R(ask(fd, SIOCOUTQNSD));
	R(ask(fd, SIOCATMARK));
	R(ask(l, SIOCINQ));
	R(ask(l, SIOCOUTQ));
	R(ask(l, SIOCOUTQNSD));
	R(ask(l, SIOCATMARK));
	R(ioctl(fd, SIOCGIFINDEX, &ifr));
	rec("lo is %d", ifr.ifr_ifindex);
	R(ask(fd, 0x12345));
	R(ask(fd, TCGETS));
}

static void fionbio_server(void)
{
	int fd = pair(), on = 1;
	char c;

	R(ioctl(fd, FIONBIO, &on));
	R(fcntl(fd, F_GETFL) & O_NONBLOCK);
	R(recv(fd, &c, 1, 0));
	on = 0;
	R(ioctl(fd, FIONBIO, &on));
	R(fcntl(fd, F_GETFL) & O_NONBLOCK);
	barrier("tried");
	ping_pong(fd);
}

static void fionbio_client(void)
{
	int fd = pair();

	barrier("tried");
	ping_pong(fd);
}

/* Deliver SIGIO to this process from now on. */
static void asynchronous(int fd, int signal_flags)
{
	on_signal(SIGIO, signal_flags);
	R(fcntl(fd, F_SETOWN, getpid()));
	R(fcntl(fd, F_GETOWN) == getpid());
	R(fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK));
}

/* SIGIO is sent for data, for the end of the stream, and when a full buffer has room again. */
static void sigio_server(void)
{
	int fd = pair();
	char buf[10];

	asynchronous(fd, 0);
	barrier("ready");
	AWAIT(signals_seen);
	rec("signalled");
	await_inq(fd, 1);
	R(recv(fd, buf, 10, 0));
	signals_seen = 0;
	barrier("end");
	AWAIT(signals_seen);
	rec("signalled");
	await_mask(fd, POLLRDHUP);
	R(recv(fd, buf, 10, 0));
	barrier("closed");
}

static void sigio_client(void)
{
	int fd = pair();

	barrier("ready");
	send_bytes(fd, 0, 1, 1);
	barrier("end");
	R(shutdown(fd, SHUT_WR));
	barrier("closed");
}

static void sigio_room_server(void)
{
	int fd = pair();

	barrier("full");
	recv_bytes(fd, 0, ctl_get(), 10000);
	barrier("done");
}

static void sigio_room_client(void)
{
	int fd = pair();
	size_t total;

	asynchronous(fd, SA_RESTART);
	total = fill_up(fd);
	signals_seen = 0;
	barrier("full");
	ctl_put(total);
	AWAIT(signals_seen);
	rec("signalled");
	barrier("done");
}

static void sigio_listener_server(void)
{
	int l = listen_on(5);
	struct addr a = name_of(l);

	asynchronous(l, SA_RESTART);
	ctl_put(addr_port(&a));
	AWAIT(signals_seen);
	rec("signalled");
	await_mask(l, POLLIN);
	ping_pong(X(accept(l, NULL, NULL)));
}

static void sigio_listener_client(void)
{
	ping_pong(connect_to(ctl_get(), 0));
}

static void sigio_connect_server(void)
{
	ping_pong(accept_one(serve()));
}

static void sigio_connect_client(void)
{
	int fd = make_socket(SOCK_NONBLOCK);
	struct addr a = loopback(ctl_get());

	asynchronous(fd, SA_RESTART);
	R(connect(fd, &a.sa, a.len));
	AWAIT(signals_seen);
	rec("signalled");
	await_mask(fd, POLLOUT);
	set_nonblock(fd, false);
	check_mode(fd);
	ping_pong(fd);
}

const struct test_case ioctl_cases[] = {
	CASE(inq, 0, "SIOCINQ is the number of bytes to read"),
	CASE(outq, 0, "SIOCOUTQ and SIOCOUTQNSD count what the peer has not received"),
	SOLO(ioctl_states, 0, "ioctls on new and listening sockets"),
	CASE(fionbio, 0, "FIONBIO"),
	CASE(sigio, 0, "SIGIO (O_ASYNC) for data and for end of file"),
	CASE(sigio_room, 0, "SIGIO when a full buffer has room again"),
	CASE(sigio_listener, 0, "SIGIO for a new connection on a listener"),
	CASE(sigio_connect, 0, "SIGIO when a non-blocking connect ends"),
	{ 0 }
};
