// SPDX-License-Identifier: GPL-2.0
/*
 * Every option there is, by number, and how a listener passes it on: over SMC each has the result
 * that it has over TCP.
 */
#include <linux/filter.h>
#include <linux/in6.h>
#include <linux/tcp.h>
#include <sched.h>
#include <sys/resource.h>

#include "epoll_busy_poll.h"
#include "role.h"
#include "slow.h"
#include "sol_socket.h"

/* All options that the headers of 6.12 name, and a few more. IP's above 63 belong to netfilter. */
static const struct {
	int level, first, last;
} ranges[] = {
	{ SOL_SOCKET, 1, 90 },
	{ IPPROTO_TCP, 1, 60 },
	{ IPPROTO_IP, 1, 63 },
	{ IPPROTO_IPV6, 1, 63 }, { IPPROTO_IPV6, 66, 79 },
};

#ifndef IP_PROTOCOL
#define IP_PROTOCOL	52
#endif

#define IS(l, o)	(level == (l) && opt == (o))

/*
 * Options whose value changes from call to call, or that describe packets and routes, which SMC
 * does not use.  TCP itself sets IPV6_MULTICAST_IF and IPV6_MULTICAST_HOPS when any segment
 * arrives, even an acknowledgment, while packet information or hop limits are requested.
 */
static bool untold(int level, int opt)
{
	return IS(IPPROTO_IP, IP_MTU) || IS(IPPROTO_IPV6, IPV6_MTU) ||
	       IS(IPPROTO_IPV6, IPV6_PATHMTU) || IS(IPPROTO_IPV6, IPV6_MULTICAST_IF) ||
	       IS(IPPROTO_IPV6, IPV6_MULTICAST_HOPS) ||
	       IS(SOL_SOCKET, SO_PROTOCOL) || IS(SOL_SOCKET, SO_INCOMING_CPU) ||
	       IS(SOL_SOCKET, SO_INCOMING_NAPI_ID) || IS(IPPROTO_TCP, TCP_QUICKACK) ||
	       IS(IPPROTO_TCP, TCP_TIMESTAMP) || IS(IPPROTO_TCP, TCP_MAXSEG) ||
	       IS(IPPROTO_IP, IP_PROTOCOL);
}

/* Options that SMC refuses, that load modules, or that have a case of their own. */
static bool left_out(int level, int opt)
{
	return IS(IPPROTO_TCP, TCP_REPAIR) || IS(IPPROTO_TCP, TCP_ULP) ||
	       IS(IPPROTO_TCP, TCP_MD5SIG) || IS(IPPROTO_TCP, TCP_MD5SIG_EXT) ||
	       IS(IPPROTO_TCP, TCP_CONGESTION) || IS(IPPROTO_TCP, TCP_SAVED_SYN) ||
	       IS(IPPROTO_IPV6, IPV6_ADDRFORM);
}

/* With SMC these keep a connection on TCP, or fail on one that is up: sock_packets.c. */
static bool about_packets(int level, int opt)
{
	return IS(SOL_SOCKET, SO_MAX_PACING_RATE) || IS(IPPROTO_IP, IP_OPTIONS) ||
	       IS(SOL_SOCKET, SO_MARK) || IS(SOL_SOCKET, SO_BINDTOIFINDEX) ||
	       IS(SOL_SOCKET, SO_DONTROUTE);
}

/* The value to set. 1 switches most options on; with these, 1 would stop the connection. */
static int sensible(int level, int opt)
{
	if (IS(SOL_SOCKET, SO_SNDBUF) || IS(SOL_SOCKET, SO_RCVBUF) ||
	    IS(SOL_SOCKET, SO_SNDBUFFORCE) || IS(SOL_SOCKET, SO_RCVBUFFORCE))
		return 65536;
	if (IS(IPPROTO_TCP, TCP_MAXSEG))
		return 1000;
	if (IS(IPPROTO_TCP, TCP_USER_TIMEOUT))
		return 60000;
	if (IS(IPPROTO_TCP, TCP_WINDOW_CLAMP))
		return 32768;
	if (IS(IPPROTO_TCP, TCP_TX_DELAY) || IS(IPPROTO_TCP, TCP_CORK))
		return 0;
	if (IS(SOL_SOCKET, SO_PEEK_OFF))
		return -1;
	/* These patch kernel code, which a guest under software emulation does not always
	 * survive.
	 */
	if (IS(SOL_SOCKET, SO_TIMESTAMP_OLD) || IS(SOL_SOCKET, SO_TIMESTAMPNS_OLD) ||
	    IS(SOL_SOCKET, SO_TIMESTAMPING_OLD) || IS(SOL_SOCKET, SO_TIMESTAMP_NEW) ||
	    IS(SOL_SOCKET, SO_TIMESTAMPNS_NEW) || IS(SOL_SOCKET, SO_TIMESTAMPING_NEW) ||
	    IS(IPPROTO_IP, IP_MINTTL) || IS(IPPROTO_IPV6, IPV6_MINHOPCOUNT))
		return 0;
	return 1;
}

static const char *got(int fd, int level, int opt)
{
	static char text[4][64];
	static int turn;
	char *out = text[turn++ % 4];
	int buf[128] = { };
	socklen_t len = sizeof(buf);

	if (untold(level, opt))
		return "something";
	if (getsockopt(fd, level, opt, buf, &len) < 0)
		return err_name(errno);
	if (len == sizeof(int))
		snprintf(out, sizeof(text[0]), "%d", buf[0]);
	else
		snprintf(out, sizeof(text[0]), "%d bytes", (int)len);
	return out;
}

static const char *set(int fd, int level, int opt, socklen_t len)
{
	int value = sensible(level, opt);

	return setsockopt(fd, level, opt, &value, len) < 0 ? err_name(errno) : "set";
}

/* Only a new socket, whose options are changed with those about packets, has no locked filter. */
static void each(int fd, bool change, bool packets)
{
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		int level = ranges[i].level;

		for (int opt = ranges[i].first; opt <= ranges[i].last; opt++) {
			const char *was;
			socklen_t one = 1;
			char byte;
			int rc;

			if (left_out(level, opt) || (!packets && about_packets(level, opt)) ||
			    (!(change && packets) && is_locked_filter(level, opt)))
				continue;
			was = got(fd, level, opt);
			if (!change) {
				rec("%d/%d: %s", level, opt, was);
				continue;
			}
			rc = getsockopt(fd, level, opt, &byte, &one) < 0 ? errno : 0;
			if (untold(level, opt))
				rc = 0;
			rec("%d/%d: %s, short get %d %d, %s, %s, short set %s", level, opt, was, rc,
			    (int)one, set(fd, level, opt, sizeof(int)), got(fd, level, opt),
			    set(fd, level, opt, 1));
		}
	}
}

static void every_option_new(void)
{
	each(make_socket(0), true, true);
}

static void every_option_connected(int fd)
{
	each(fd, true, false);
	ping_pong(fd);
	barrier("done");
}

static void every_option_connected_server(void)
{
	every_option_connected(pair());
}

static void every_option_connected_client(void)
{
	every_option_connected(pair());
}

/* Set on a listener: what does its child inherit? */
static void every_option_child_server(void)
{
	struct addr a = loopback(0);
	int l = make_socket(0), fd;

	X(bind(l, &a.sa, a.len));
	X(listen(l, 5));
	each(l, true, false);
	tell_port(l);
	fd = X(accept(l, NULL, NULL));
	ping_pong(fd);
	check_mode(fd);
	each(fd, false, true);
	barrier("done");
}

static void every_option_child_client(void)
{
	struct addr a = loopback(ctl_get());
	int fd = make_socket(0);

	X(connect(fd, &a.sa, a.len));
	ping_pong(fd);
	barrier("done");
}

static void device_and_names(void)
{
	char name[64] = "";
	socklen_t len = sizeof(name);
	int fd = make_socket(0);

	R(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3));
	R(getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, &len));
	rec("device %s, %d", name, (int)len);
	R(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "none-such", 10));
	R(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "", 0));
	R(set_int(fd, SOL_SOCKET, SO_MARK, 0x1234));
	R(get_int(fd, SOL_SOCKET, SO_MARK));
	R(set_int(fd, SOL_SOCKET, SO_PRIORITY, 6));
	R(set_int(fd, SOL_SOCKET, SO_PRIORITY, 99));
	R(get_int(fd, SOL_SOCKET, SO_PRIORITY));
	R(set_int(fd, IPPROTO_IP, IP_TOS, 0x28));
	R(get_int(fd, IPPROTO_IP, IP_TOS));
	R(set_int(fd, IPPROTO_IPV6, IPV6_TCLASS, 0x28));
	R(get_int(fd, IPPROTO_IPV6, IPV6_TCLASS));
}

/* ---- two listeners on one port, and a BPF program that selects one ---- */

static void choose(int l, int which, bool ebpf)
{
	struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, which) };
	struct sock_fprog prog = { 1, code };
	int fd;

	if (!ebpf) {
		R(setsockopt(l, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &prog, sizeof(prog)));
		return;
	}
	fd = bpf_returns(BPF_PROG_TYPE_SOCKET_FILTER, which);
	R(setsockopt(l, SOL_SOCKET, SO_ATTACH_REUSEPORT_EBPF, &fd, sizeof(fd)));
	close(fd);
}

/* A client may be connected a moment before its server can accept it. */
static void await_either(const int l[2])
{
	struct pollfd p[2] = { { l[0], POLLIN, 0 }, { l[1], POLLIN, 0 } };

	X(poll(p, 2, -1));
}

static void steer_reuseport_server(void)
{
	struct addr a = loopback(0);
	int l[2], fd;

	for (int i = 0; i < 2; i++) {
		l[i] = make_socket(0);
		X(set_int(l[i], SOL_SOCKET, SO_REUSEPORT, 1));
		X(bind(l[i], &a.sa, a.len));
		X(listen(l[i], 10));
		a = name_of(l[i]);
	}
	ctl_put(addr_port(&a));
	for (int i = 0; i < 8; i++) {
		/* The reuseport group lists its sockets in the order in which they joined. */
		choose(l[i & 1], i / 2 & 1, i > 3);
		barrier("chosen");
		barrier("connected");
		await_either(l);
		rec("first %s, second %s", mask_name(poll_mask(l[0], POLLIN)),
		    mask_name(poll_mask(l[1], POLLIN)));
		fd = X(accept(l[i / 2 & 1], NULL, NULL));
		ping_pong(fd);
		check_mode(fd);
		close(fd);
	}
	R(set_int(l[0], SOL_SOCKET, SO_DETACH_REUSEPORT_BPF, 1));
	R(set_int(l[1], SOL_SOCKET, SO_DETACH_REUSEPORT_BPF, 1));
}

static void steer_reuseport_client(void)
{
	int port = ctl_get();

	for (int i = 0; i < 8; i++) {
		int fd;

		barrier("chosen");
		fd = connect_to(port, 0);
		barrier("connected");
		ping_pong(fd);
		CHECK(recv_to_end(fd, 0) == 0);
		close(fd);
	}
}

/* ---- busy polling ---- */

enum { ROUNDS = 50 };

static long sleeps_of_ping_pong(int fd, int usecs)
{
	struct rusage before, after;

	X(set_int(fd, SOL_SOCKET, SO_BUSY_POLL, usecs));
	barrier("set");
	X(getrusage(RUSAGE_SELF, &before));
	for (int i = 0; i < ROUNDS; i++)
		ping_pong(fd);
	X(getrusage(RUSAGE_SELF, &after));
	return after.ru_nvcsw - before.ru_nvcsw;
}

/* One for each end. If there is only one, polling cannot succeed, but it must not hang. */
static void use_own_processor(void)
{
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(me.is_server, &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
}

static void check_sleeps(long polled, long slept)
{
	if (me.var->smc && !me.any_mode && !me.rdma &&
	    sysconf(_SC_NPROCESSORS_ONLN) > 1 && polled > slept / 2)
		die("the receiver slept %ld times with busy polling, %ld without", polled, slept);
}

/*
 * A receiver that polls does not sleep. With one processor for each end, almost no receive sleeps;
 * without polling, almost every receive does.
 */
static void busy_poll(int fd)
{
	long polled, slept;
	char byte;

	use_own_processor();
	slept = sleeps_of_ping_pong(fd, 0);
	/* The peer has to answer within this time. */
	polled = sleeps_of_ping_pong(fd, slow(200000));
	check_sleeps(polled, slept);
	/* No data comes: polling ends all the same. */
	set_timeo(fd, SO_RCVTIMEO, 10);
	R(set_int(fd, SOL_SOCKET, SO_BUSY_POLL, 1000));
	R(recv(fd, &byte, 1, 0));
	R(recv(fd, &byte, 1, MSG_DONTWAIT));
	barrier("done");
}

static void busy_poll_server(void)
{
	busy_poll(pair());
}

static void busy_poll_client(void)
{
	busy_poll(pair());
}

static long sleeps_in_epoll(int fd, int ep)
{
	struct rusage before, after;
	struct epoll_event ev;

	barrier("set");
	X(getrusage(RUSAGE_SELF, &before));
	for (int i = 0; i < ROUNDS; i++) {
		char c;

		if (!me.is_server)
			CHECK(send(fd, "e", 1, MSG_NOSIGNAL) == 1);
		CHECK(epoll_wait(ep, &ev, 1, -1) == 1 && ev.events == EPOLLIN);
		CHECK(recv(fd, &c, 1, MSG_DONTWAIT) == 1 && c == 'e');
		if (me.is_server)
			CHECK(send(fd, "e", 1, MSG_NOSIGNAL) == 1);
	}
	X(getrusage(RUSAGE_SELF, &after));
	return after.ru_nvcsw - before.ru_nvcsw;
}

static int napi_id(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	socklen_t len = sizeof(int);
	int id;

	X(poll(&p, 1, 0));
	X(getsockopt(fd, SOL_SOCKET, SO_INCOMING_NAPI_ID, &id, &len));
	return id;
}

/* As above, with epoll.  epoll polls by NAPI id, which the connection must have. */
static void busy_poll_epoll(int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int ep = X(epoll_create1(0));
	long polled, slept;
	bool can;

	use_own_processor();
	ping_pong(fd);
	X(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
	/* A late TCP packet clears the id until the next poll(). */
	if (me.var->smc && !me.any_mode)
		AWAIT(napi_id(fd) > 0);
	slept = sleeps_in_epoll(fd, ep);
	can = epoll_busy_poll(ep, slow(200000));
	polled = sleeps_in_epoll(fd, ep);
	/* Before Linux 6.9 there is only a sysctl for all epoll instances. */
	if (can)
		check_sleeps(polled, slept);
	/* No data comes: polling ends all the same. */
	epoll_busy_poll(ep, 1000);
	R(epoll_wait(ep, &ev, 1, 10));
	close(ep);
	barrier("done");
}

static void busy_poll_epoll_server(void)
{
	busy_poll_epoll(pair());
}

static void busy_poll_epoll_client(void)
{
	busy_poll_epoll(pair());
}

const struct test_case options_cases[] = {
	SOLO(every_option_new, F_ROOT | F_HERE, "every option of four levels on a new socket"),
	CASE(every_option_connected, F_ROOT | F_HERE,
	     "every option of four levels on a connection"),
	CASE(every_option_child, F_ROOT | F_HERE,
	     "every option set on a listener, read from its child"),
	SOLO(device_and_names, F_ROOT | F_HERE,
	     "SO_BINDTODEVICE, SO_MARK, SO_PRIORITY, IP_TOS and IPV6_TCLASS"),
	CASE(steer_reuseport, F_ROOT, "a BPF program chooses between SO_REUSEPORT listeners"),
	CASE(busy_poll, F_ROOT, "SO_BUSY_POLL: a receiver polls before it sleeps"),
	CASE(busy_poll_epoll, 0, "epoll with busy polling polls before it sleeps"),
	{ 0 }
};
