// SPDX-License-Identifier: GPL-2.0
/*
 * Users in the kernel that replace callbacks of a socket. Test builds of the module have such
 * users, which echo (net/smc/socket/test_user.c). A test tells the module by a descriptor which
 * socket to take over, as one tells nfsd or iscsi_tcp, so the same users take over sockets of TCP.
 */
#include <linux/smc_reason.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <sys/ioctl.h>

#include "parameter.h"
#include "role.h"

/* Let a user take over a socket, or leave it. */
static void user(const char *what, int fd)
{
	char text[24];

	snprintf(text, sizeof(text), "%s %d", what, fd);
	if (!put_file(parameter_path("test_user").name, text))
		die("test_user %s: %s", what, err_name(errno));
}

/* How many users wait for room, or have ended; in the whole kernel. */
static int users_that(bool ended)
{
	FILE *file = fopen(parameter_path("test_user").name, "r");
	int stuck, over;

	CHECK(file && fscanf(file, "%d %d", &stuck, &over) == 2);
	fclose(file);
	return ended ? over : stuck;
}

/* Must the connection of an SMC socket be TCP, with this reason? */
static void check_tcp(int fd, unsigned int reason)
{
	if (me.kind.protocol == IPPROTO_TCP)
		return;
	AWAIT(smc_mode(fd) != MODE_UNDECIDED);
	CHECK(smc_mode(fd) == MODE_TCP);
	if (smc_reason(fd) != reason)
		die("reason 0x%08x", smc_reason(fd));
}

/* Everything comes back, byte for byte, and then the end. */
static void expect_echo(int fd)
{
	static const size_t sizes[] = { 10, 1, 1000, 8192, 20000, 1 };
	struct worker w = { .run = worker_recv, .len = 1 << 20, .chunk = 30000 };
	uint64_t pos = 0;
	char c;

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		send_bytes(fd, pos, sizes[i], sizes[i]);
		recv_bytes(fd, pos, sizes[i], sizes[i]);
		pos += sizes[i];
	}
	w.fd = fd;
	w.pos = pos;
	worker_start(&w);
	send_bytes(fd, pos, w.len, 50000);
	worker_join(&w);
	X(shutdown(fd, SHUT_WR));
	R(recv(fd, &c, 1, 0));
}

static void echo_by(const char *what)
{
	int fd = pair();

	user(what, fd);
	barrier("taken over");
	barrier("done");
	user("drop", fd);
}

static void user_echo_client(void)
{
	int fd = pair();

	barrier("taken over");
	expect_echo(fd);
	barrier("done");
}

/* The first byte is the user's own. */
static void user_queue_client(void)
{
	int fd = pair();
	char c;

	barrier("taken over");
	CHECK(recv(fd, &c, 1, 0) == 1 && !c);
	expect_echo(fd);
	barrier("done");
}

static void user_recv_server(void)
{
	echo_by("recv");
}

static void user_queue_server(void)
{
	echo_by("queue");
}

static uint64_t bytes_received(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	X(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len));
	return info.tcpi_bytes_received;
}

/* When the user has left, it has removed its cork, and nothing is held back. */
static void user_cork_server(void)
{
	int fd = pair();

	user("recv", fd);
	barrier("taken over");
	barrier("sent");
	/* With RDMA, bytes that were sent may not have been announced yet. */
	AWAIT(bytes_received(fd) == 10 && !ask(fd, SIOCINQ));
	user("drop", fd);
	R(ask(fd, SIOCOUTQNSD));
	barrier("done");
}

static void user_cork_client(void)
{
	int fd = pair();

	barrier("taken over");
	send_bytes(fd, 0, 10, 10);
	await_sent(fd);
	barrier("sent");
	recv_bytes(fd, 0, 10, 10);
	barrier("done");
}

/* Nobody reads what comes back until the user has no room. */
static void user_room_client(void)
{
	int fd = pair(), before = users_that(false);
	uint64_t pos = 0;
	char buf[4096];
	ssize_t n;

	barrier("taken over");
	while (users_that(false) == before) {
		fill(buf, sizeof(buf), pos);
		n = send(fd, buf, sizeof(buf), MSG_DONTWAIT);
		CHECK(n > 0 || errno == EAGAIN);
		if (n > 0)
			pos += n;
		else
			usleep(500);
	}
	recv_bytes(fd, 0, pos, 30000);
	barrier("done");
}

/* The user ends, and the program's socket has the error. */
static void user_reset_server(void)
{
	int fd = pair(), before = users_that(true);

	user("recv", fd);
	barrier("taken over");
	AWAIT(users_that(true) == before + 1);
	user("drop", fd);
	R(recv(fd, &before, 1, 0));
	R(send(fd, &before, 1, MSG_NOSIGNAL));
	barrier("done");
}

static void user_reset_client(void)
{
	int fd = pair();

	barrier("taken over");
	send_bytes(fd, 0, 100, 100);
	recv_bytes(fd, 0, 100, 100);
	reset(fd);
	barrier("done");
}

/* When the user leaves, the socket is the program's again. */
static void user_leaves_server(void)
{
	int fd = pair();

	for (int i = 0; i < 3; i++) {
		user(i & 1 ? "queue" : "recv", fd);
		barrier("taken over");
		barrier("echoed");
		user("drop", fd);
		barrier("left");
		ping_pong(fd);
	}
	barrier("done");
}

static void user_leaves_client(void)
{
	int fd = pair();
	char c;

	for (int i = 0; i < 3; i++) {
		barrier("taken over");
		if (i & 1)
			CHECK(recv(fd, &c, 1, 0) == 1);
		send_bytes(fd, 0, 5000, 5000);
		recv_bytes(fd, 0, 5000, 5000);
		barrier("echoed");
		barrier("left");
		ping_pong(fd);
	}
	barrier("done");
}

/* A listener of the kernel: nothing of it is SMC. */
static void user_listen_server(void)
{
	int l = listen_on(5);

	user("listen", l);
	tell_port(l);
	barrier("done");
	user("drop", l);
}

static void user_listen_client(void)
{
	int port = ctl_get(), fd[4];

	for (int i = 0; i < 4; i++) {
		fd[i] = connect_any(port);
		if (!me.any_mode)
			check_tcp(fd[i], SMC_REASON_PEER_NO_OPTION);
	}
	for (int i = 0; i < 4; i++)
		expect_echo(fd[i]);
	barrier("done");
}

/* The connection came before the kernel took over the listener. */
static void user_late_server(void)
{
	int l = serve();

	barrier("connected");
	user("listen", l);
	barrier("done");
	user("drop", l);
}

static void user_late_client(void)
{
	int fd = connect_to(ctl_get(), 0);

	send_bytes(fd, 0, 1000, 1000);
	barrier("connected");
	recv_bytes(fd, 0, 1000, 1000);
	expect_echo(fd);
	barrier("done");
}

/* What a client says first. */
static size_t get_proposal(char *buf, size_t size)
{
	int l = make_socket(0), c = make_socket(SOCK_NONBLOCK), fd;
	struct addr a = loopback(0);
	ssize_t n;

	X(bind(l, &a.sa, a.len));
	X(set_int(l, SOL_SMC, SMC_TEST_RAW_CLC, 1));
	X(listen(l, 1));
	a = name_of(l);
	CHECK(!connect(c, &a.sa, a.len) || errno == EINPROGRESS);
	fd = X(accept(l, NULL, NULL));
	n = X(recv(fd, buf, size, 0));
	close(fd);
	close(c);
	close(l);
	return n;
}

/*
 * The same, and the handshake has not ended: the client sends its Proposal only later. TCP reports
 * that to the user alone. The server declines.
 */
static void propose_late(int fd, const char *proposal, size_t len)
{
	unsigned char decline[256];
	uint32_t reason;
	size_t n;

	CHECK(send(fd, proposal, len, 0) == (ssize_t)len);
	CHECK(recv(fd, decline, 20, MSG_WAITALL) == 20);
	n = (decline[5] << 8 | decline[6]) - 20;
	CHECK(n < sizeof(decline) && recv(fd, decline + 20, n, MSG_WAITALL) == (ssize_t)n);
	memcpy(&reason, decline + 16, sizeof(reason));
	CHECK(decline[4] == 4 && ntohl(reason) == SMC_REASON_KERNEL_USER);
}

static void user_handshake_client(void)
{
	int port = ctl_get(), fd = make_socket(0), before = users_that(true);
	bool smc = me.var->smc && !me.any_mode;
	struct addr a = loopback(port);
	char proposal[2048];
	size_t len = 0;

	if (smc) {
		len = get_proposal(proposal, sizeof(proposal));
		X(set_int(fd, SOL_SMC, SMC_TEST_RAW_CLC, 1));
	}
	X(connect(fd, &a.sa, a.len));
	barrier("connected");
	barrier("taken over");
	CHECK(users_that(true) == before);
	if (smc)
		propose_late(fd, proposal, len);
	expect_echo(fd);
	barrier("done");
}

static void user_handshake_server(void)
{
	int l = serve();

	barrier("connected");
	user("listen", l);
	barrier("taken over");
	barrier("done");
	user("drop", l);
}

#define CROWD	20

static void crowd_client(void)
{
	bool smc = me.var->smc && !me.any_mode;
	struct addr a = loopback(ctl_get());
	char proposal[2048];
	size_t len = smc ? get_proposal(proposal, sizeof(proposal)) : 0;
	int fd[CROWD];

	for (int i = 0; i < CROWD; i++) {
		fd[i] = make_socket(0);
		if (smc)
			X(set_int(fd[i], SOL_SMC, SMC_TEST_RAW_CLC, 1));
		X(connect(fd[i], &a.sa, a.len));
	}
	barrier("connected");
	barrier("taken over");
	for (int i = 0; i < CROWD; i++) {
		if (smc)
			propose_late(fd[i], proposal, len);
		expect_echo(fd[i]);
		close(fd[i]);
	}
	barrier("done");
}

/* A crowd takes its time if tasks sleep at any moment, as in a run from a seed. */
static long more_time(void)
{
	long old = 0;

	if (get_parameter("handshake_timeout_ms", &old))
		put_parameter("handshake_timeout_ms", 600000);
	return old;
}

static void user_crowd_server(void)
{
	long old = more_time();

	user_handshake_server();
	put_parameter("handshake_timeout_ms", old);
}

/* The handshake's worker and a user of the socket are called at the same time. */
static void user_meets_server(void)
{
	long old = more_time();
	int l = serve(), fd[CROWD];

	barrier("connected");
	for (int i = 0; i < CROWD; i++) {
		fd[i] = X(accept(l, NULL, NULL));
		user("recv", fd[i]);
	}
	barrier("taken over");
	barrier("done");
	for (int i = 0; i < CROWD; i++)
		user("drop", fd[i]);
	put_parameter("handshake_timeout_ms", old);
}

/* A user stays where it is when the socket is disconnected and connected again, as TCP. */
static void user_disconnect_server(void)
{
	int l = serve(), fd = accept_fallback(l);
	char c;

	barrier("taken over");
	CHECK(recv(fd, &c, 1, 0) == 1);
	send_bytes(fd, 0, 100, 100);
	recv_bytes(fd, 0, 100, 100);
	barrier("echoed");
	barrier("disconnected");
	close(fd);
	fd = X(accept(l, NULL, NULL));
	send_bytes(fd, 0, 3000, 3000);
	recv_bytes(fd, 0, 3000, 3000);
	if (!me.any_mode)
		check_tcp(fd, SMC_REASON_PEER_NO_OPTION);
	barrier("echoed again");
	barrier("left");
	close(fd);
	ping_pong(accept_one(l));
	barrier("done");
}

static void user_disconnect_client(void)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int fd = make_socket(0), port = ctl_get();
	struct addr a = loopback(port);

	connect_fallback(fd, port);
	user("queue", fd);
	barrier("taken over");
	barrier("echoed");
	X(connect(fd, &none, sizeof(none)));
	barrier("disconnected");
	X(connect(fd, &a.sa, a.len));
	if (!me.any_mode)
		check_tcp(fd, SMC_REASON_KERNEL_USER);
	barrier("echoed again");
	user("drop", fd);
	barrier("left");
	X(connect(fd, &none, sizeof(none)));
	X(connect(fd, &a.sa, a.len));
	check_mode(fd);
	ping_pong(fd);
	barrier("done");
}

const struct test_case user_cases[] = {
	{ "user_recv", user_recv_server, user_echo_client, F_ROOT,
	  "a user in the kernel that reads by recvmsg is called when there is data" },
	CASE(user_queue, F_ROOT, "a user in the kernel finds the data in TCP's queue"),
	{ "user_room", user_recv_server, user_room_client, F_ROOT | F_ONE,
	  "a user in the kernel is called when there is room" },
	CASE(user_cork, F_ROOT, "a user in the kernel removes its cork"),
	CASE(user_reset, F_ROOT, "a user in the kernel is called when the peer resets"),
	CASE(user_leaves, F_ROOT, "a user in the kernel leaves, and another one comes"),
	CASE(user_listen, F_ROOT, "connections to a listener of the kernel are TCP"),
	CASE(user_late, F_ROOT, "the kernel accepts a connection that is SMC already"),
	CASE(user_handshake, F_ROOT | F_ONE,
	     "the kernel accepts a connection during the handshake"),
	{ "user_crowd", user_crowd_server, crowd_client, F_ROOT | F_ONE,
	  "the kernel accepts many connections during the handshake" },
	{ "user_meets", user_meets_server, crowd_client, F_ROOT | F_ONE,
	  "a user in the kernel comes while a handshake ends" },
	CASE(user_disconnect, F_ROOT, "a user in the kernel keeps a socket that is disconnected"),
	{ }
};
