// SPDX-License-Identifier: GPL-2.0
/* close(): with unread data, with data in flight, with linger, by reset, by kill. */
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/wait.h>

#include "role.h"

static void linger(int fd, int on, int seconds)
{
	struct linger l = { on, seconds };

	X(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)));
}

/* What a peer sees of a connection that was reset: first the unread data. */
static void see_reset(int fd, size_t unread)
{
	char c;

	await_mask(fd, POLLHUP);
	if (unread)
		recv_bytes(fd, 0, unread, unread);
	rec("poll %s", mask_name(poll_mask(fd, POLLIN | POLLOUT | POLLRDHUP)));
	R(recv(fd, &c, 1, 0));
	R(recv(fd, &c, 1, 0));
	R(send(fd, &c, 1, MSG_NOSIGNAL));
	R(get_int(fd, SOL_SOCKET, SO_ERROR));
	rec("poll %s", mask_name(poll_mask(fd, POLLIN | POLLOUT | POLLRDHUP)));
}

static void close_plain_server(void)
{
	int fd = pair();

	rec("end at %d", (int)recv_to_end(fd, 0));
	R(close(fd));
	R(close(fd));
}

static void close_plain_client(void)
{
	int fd = pair();

	send_bytes(fd, 0, 100000, 30000);
	R(close(fd));
	R(send(fd, "x", 1, MSG_NOSIGNAL));
}

/* Closed with unread data: the peer first reads what it can, then sees the reset. */
static void close_unread_server(void)
{
	int fd = pair();

	send_bytes(fd, 0, 1000, 1000);
	barrier("sent");
	await_inq(fd, 500);
	R(close(fd));
	barrier("closed");
	barrier("done");
}

static void close_unread_client(void)
{
	int fd = pair();

	send_bytes(fd, 0, 500, 500);
	await_inq(fd, 1000);
	barrier("sent");
	barrier("closed");
	see_reset(fd, 1000);
	barrier("done");
}

enum late { LATE_PLAIN, LATE_SHUT, LATE_URGENT, LATE_READ, LATE_LINGER, LATES };

static bool client_shuts(enum late how)
{
	return how == LATE_SHUT || how == LATE_LINGER;
}

/*
 * An end that reads late, or never closes: the time of the other one in FIN_WAIT2 ends meanwhile,
 * of which only the kernels know. (But over ISM devices TCP is reset then, and the program sees
 * that.)
 */
static void late_reader_server(void)
{
	int l = serve();

	for (int how = 0; how < LATES; how++) {
		int fd = accept_one(l);

		set_int(fd, IPPROTO_TCP, TCP_LINGER2, 1);
		if (client_shuts(how))
			rec("end at %d", (int)recv_to_end(fd, 0));
		if (how == LATE_READ)
			await_inq(fd, 1000);
		send_bytes(fd, 0, 30000, 30000);
		if (how == LATE_URGENT) {
			X(send(fd, "!", 1, MSG_OOB));
			send_bytes(fd, 0, 1000, 1000);
		}
		if (how == LATE_READ) {
			/* So that nothing delays the word of the end. */
			await_sent(fd);
			R(shutdown(fd, SHUT_RDWR));
			rec("end at %d", (int)recv_to_end(fd, 0));
		} else if (how == LATE_LINGER) {
			R(shutdown(fd, SHUT_WR));
			barrier("both shut");
			linger(fd, 1, 0);
		}
		R(close(fd));
		barrier("judged");
	}
}

static void late_reader_client(void)
{
	int port = ctl_get();
	char c;

	for (int how = 0; how < LATES; how++) {
		int fd = connect_to(port, 0);

		if (how == LATE_READ)
			send_bytes(fd, 0, 1000, 1000);
		if (client_shuts(how))
			R(shutdown(fd, SHUT_WR));
		await_inq(fd, 30000);
		if (how == LATE_LINGER) {
			await_mask(fd, POLLRDHUP);
			barrier("both shut");
		}
		/* This time is what the case is about. */
		poll(NULL, 0, 3000);
		/* Over SMC the end follows what the unread urgent byte holds back. */
		if (how != LATE_URGENT && !me.ism)
			rec("poll %s", mask_name(poll_mask(fd, POLLIN | POLLRDHUP)));
		recv_bytes(fd, 0, 30000, 30000);
		if (how == LATE_URGENT)
			rec("end at %d", (int)recv_to_end(fd, 0));
		if (!me.ism) {
			R(recv(fd, &c, 1, 0));
			R(get_int(fd, SOL_SOCKET, SO_ERROR));
			rec("poll %s", mask_name(poll_mask(fd, POLLIN | POLLRDHUP)));
		}
		X(close(fd));
		barrier("judged");
	}
}

/* One end is woken in the middle of the other one's close(), and sends. */
static void sent_in_close_server(void)
{
	int fd = pair();

	recv_bytes(fd, 0, 1, 1);
	R(close(fd));
	barrier("done");
}

static void sent_in_close_client(void)
{
	struct sched_param first = { .sched_priority = 1 }, usual = { 0 };
	int fd = pair();
	ssize_t end, sent, after;
	char c;

	send_bytes(fd, 0, 1, 1);
	X(sched_setscheduler(0, SCHED_FIFO, &first));
	end = recv(fd, &c, 1, 0);
	sent = send(fd, "x", 1, MSG_NOSIGNAL);
	after = recv(fd, &c, 1, 0);
	X(sched_setscheduler(0, SCHED_OTHER, &usual));
	rec("end %zd, sent %zd, end again %zd", end, sent, after);
	barrier("done");
}

/* TCP's own reset overtakes what the network has lost. */
static void recv_answer(int fd)
{
	size_t got = 0;
	char b[8000];
	ssize_t n;

	while ((n = recv(fd, b, sizeof(b), 0)) > 0) {
		verify(b, n, got);
		got += n;
	}
	rec("then %s", n ? err_name(errno) : "the end");
	if (me.var->smc)
		CHECK(got == sizeof(b));
}

/*
 * close() with unread data does not lose what was sent before it. A hundred connections end at
 * once, and the device does not have room for all of their messages.
 */
static void close_answered_server(void)
{
	int l = serve(), fd[100];

	for (int i = 0; i < 100; i++) {
		fd[i] = accept_one(l);
		await_inq(fd[i], 500);
	}
	barrier("unread");
	for (int i = 0; i < 100; i++) {
		send_bytes(fd[i], 0, 8000, 8000);
		close(fd[i]);
	}
}

static void close_answered_client(void)
{
	int port = ctl_get(), fd[100];

	for (int i = 0; i < 100; i++) {
		fd[i] = connect_to(port, 0);
		send_bytes(fd[i], 0, 500, 500);
	}
	barrier("unread");
	for (int i = 0; i < 100; i++) {
		recv_answer(fd[i]);
		close(fd[i]);
	}
}

/* With a byte of our own still corked: it is lost with the connection. */
static void close_corked_server(void)
{
	int l = serve();

	for (int i = 0; i < 20; i++) {
		int fd = accept_one(l);

		send_bytes(fd, 0, 1, 1);
		barrier("closed");
		if (i == 0)
			see_reset(fd, 0);
		close(fd);
	}
}

static void close_corked_client(void)
{
	int port = ctl_get();

	for (int i = 0; i < 20; i++) {
		int fd = connect_to(port, 0);

		await_inq(fd, 1);
		X(send(fd, "1", 1, MSG_MORE));
		X(close(fd));
		barrier("closed");
	}
}

/* An unread byte resets the connection, whether it arrives before close() or after it. */
static void close_crossed_server(void)
{
	int l = serve();

	for (int i = 0; i < 30; i++) {
		int fd = accept_one(l);

		barrier("now");
		close(fd);
	}
}

static void close_crossed_client(void)
{
	int port = ctl_get();

	for (int i = 0; i < 30; i++) {
		int fd = connect_to(port, 0);
		double since;

		barrier("now");
		since = clock_seconds();
		R(send(fd, "x", 1, MSG_NOSIGNAL));
		/* An end that has ended its stream is told, too. */
		if (i & 1)
			shutdown(fd, SHUT_WR);
		/* Over SMC-D nothing can tell us any more, see refuse() in fabric/msg/msg.c. */
		if (!me.ism && i & 1)
			await_mask(fd, POLLERR);
		else if (!me.ism)
			rec("poll %s", mask_name(await_mask(fd, POLLERR)));
		/* Not only when the peer's time in FIN_WAIT2 is over, after a minute. */
		CHECK(clock_seconds() - since < 40);
		close(fd);
	}
}

/* close() sends corked data, behind what the peer has not read yet. */
static void close_sends_corked_server(void)
{
	int l = serve();

	for (int i = 0; i < 4; i++) {
		int fd = accept_one(l);

		await_inq(fd, 300);
		barrier("unread");
		barrier("closed");
		await_inq(fd, 500);
		rec("end at %d", (int)recv_to_end(fd, 0));
		close(fd);
	}
}

static void close_sends_corked_client(void)
{
	int port = ctl_get();
	char buf[200];

	fill(buf, sizeof(buf), 300);
	for (int i = 0; i < 4; i++) {
		int fd = connect_to(port, 0);

		send_bytes(fd, 0, 300, 300);
		barrier("unread");
		if (i & 1)
			X(set_int(fd, IPPROTO_TCP, TCP_CORK, 1));
		R(send(fd, buf, sizeof(buf), i & 1 ? 0 : MSG_MORE));
		if (i & 2)
			linger(fd, 1, 20);
		R(close(fd));
		barrier("closed");
	}
}

static void close_unread_shut_server(void)
{
	int fd = pair();

	barrier("sent");
	await_inq(fd, 500);
	await_mask(fd, POLLRDHUP);
	R(shutdown(fd, SHUT_WR));
	R(close(fd));
	barrier("closed");
}

static void close_unread_shut_client(void)
{
	int fd = pair();

	send_bytes(fd, 0, 500, 500);
	X(shutdown(fd, SHUT_WR));
	barrier("sent");
	barrier("closed");
	rec("poll %s", mask_name(await_mask(fd, POLLHUP)));
}

/* Closed with more unsent data than the peer's buffer holds: all of it arrives. */
static void close_unsent_server(void)
{
	int fd = pair();

	barrier("closed");
	rec("complete %d", recv_to_end(fd, 0) == (uint64_t)ctl_get());
}

static void close_unsent_client(void)
{
	int fd = pair();
	size_t total = fill_up(fd);

	R(close(fd));
	barrier("closed");
	ctl_put(total);
}

/* As above, but the process exits without calling close(). */
static void exit_unsent_server(void)
{
	int fd = pair();

	barrier("full");
	rec("complete %d", recv_to_end(fd, 0) == (uint64_t)ctl_get());
}

static void exit_unsent_client(void)
{
	int fd = pair();
	size_t total = fill_up(fd);

	barrier("full");
	ctl_put(total);
}

static void linger_zero_server(void)
{
	int fd = pair();

	barrier("closed");
	see_reset(fd, 0);
}

static void linger_zero_client(void)
{
	int fd = pair();

	linger(fd, 1, 0);
	R(close(fd));
	barrier("closed");
}

/* Reset while data is unread: data that had arrived can still be read. */
static void linger_zero_data_server(void)
{
	int fd = pair();

	await_inq(fd, 700);
	barrier("arrived");
	barrier("closed");
	see_reset(fd, 700);
}

static void linger_zero_data_client(void)
{
	int fd = pair();

	send_bytes(fd, 0, 700, 700);
	barrier("arrived");
	linger(fd, 1, 0);
	R(close(fd));
	barrier("closed");
}

/* Reset after the end of the stream: read() still returns the end, and write() gets EPIPE. */
static void reset_after_end_server(void)
{
	int fd = pair();

	await_inq(fd, 300);
	await_mask(fd, POLLRDHUP);
	barrier("ended");
	barrier("closed");
	see_reset(fd, 300);
}

static void reset_after_end_client(void)
{
	int fd = pair();

	send_bytes(fd, 0, 300, 300);
	R(shutdown(fd, SHUT_WR));
	barrier("ended");
	linger(fd, 1, 0);
	R(close(fd));
	barrier("closed");
}

/* SO_LINGER: close() returns when the peer has received everything. */
static void linger_wait_server(void)
{
	int fd = pair();

	barrier("full");
	rec("complete %d", recv_to_end(fd, 0) == (uint64_t)ctl_get());
	close(fd);
}

static void linger_wait_client(void)
{
	int fd = pair();
	size_t total = fill_up(fd);

	linger(fd, 1, 60);
	barrier("full");
	ctl_put(total);
	R(close(fd));
}

/* The peer reads nothing: close() returns after the linger time, and the data still arrives. */
static void linger_timeout_server(void)
{
	int fd = pair();

	barrier("closed");
	rec("complete %d", recv_to_end(fd, 0) == (uint64_t)ctl_get());
}

static void linger_timeout_client(void)
{
	int fd = pair();
	size_t total = fill_up(fd);

	linger(fd, 1, 1);
	R(close(fd));
	barrier("closed");
	ctl_put(total);
}

/* A socket keeps what the program has set, and the SYN of its peer. */
static void reset_keeps_server(void)
{
	int l = listen_on(5), fd;
	socklen_t len = 500;
	char syn[500];

	R(set_int(l, IPPROTO_TCP, TCP_SAVE_SYN, 1));
	R(set_int(l, IPPROTO_TCP, TCP_MAXSEG, 1000));
	tell_port(l);
	fd = accept_one(l);
	barrier("closed");
	while (send(fd, "x", 1, MSG_NOSIGNAL) == 1)
		usleep(1000);
	await_mask(fd, POLLHUP);
	R(getsockopt(fd, IPPROTO_TCP, TCP_SAVED_SYN, syn, &len));
	CHECK(len >= 40);
	R(get_int(fd, IPPROTO_TCP, TCP_MAXSEG));
}

static void reset_keeps_client(void)
{
	int fd = connect_to(ctl_get(), 0);

	close(fd);
	barrier("closed");
}

/* A peer killed with unread data resets the connection; without, it closes normally. */
static void killed_server(void)
{
	int l = serve(), up[2];
	char c;

	X(pipe(up));
	for (int unread = 0; unread < 2; unread++) {
		pid_t pid = X(fork());
		int status;

		if (!pid) {
			int fd = accept_one(l);

			if (unread)
				await_inq(fd, 10);
			X(write(up[1], "x", 1));
			for (;;)
				pause();
		}
		CHECK(read(up[0], &c, 1) == 1);
		barrier("kill");
		X(kill(pid, SIGKILL));
		X(waitpid(pid, &status, 0));
		CHECK(WIFSIGNALED(status));
		barrier("killed");
	}
}

static void killed_client(void)
{
	int port = ctl_get(), fd;

	fd = connect_to(port, 0);
	barrier("kill");
	barrier("killed");
	rec("end at %d", (int)recv_to_end(fd, 0));
	rec("poll %s", mask_name(poll_mask(fd, POLLIN | POLLOUT | POLLRDHUP)));
	close(fd);
	fd = connect_to(port, 0);
	send_bytes(fd, 0, 10, 10);
	barrier("kill");
	barrier("killed");
	see_reset(fd, 0);
}

static void *block_in_recv(struct worker *w)
{
	char c;

	w->ret = recv(w->fd, &c, 1, 0);
	w->err = errno;
	return NULL;
}

static void *block_in_send(struct worker *w)
{
	static char buf[1 << 20];

	w->ret = send(w->fd, buf, sizeof(buf), MSG_NOSIGNAL);
	if (w->ret > 0)
		w->ret = send(w->fd, buf, sizeof(buf), MSG_NOSIGNAL);
	w->err = errno;
	return NULL;
}

/* A reset wakes sleepers. */
static void reset_wakes_server(void)
{
	struct worker rx = { .run = block_in_recv }, tx = { .run = block_in_send };
	int fd = pair();

	fill_up(fd);
	rx.fd = tx.fd = fd;
	worker_start(&rx);
	worker_start(&tx);
	await_blocked(getpid(), rx.tid);
	await_blocked(getpid(), tx.tid);
	barrier("both threads sleep");
	worker_join(&rx);
	worker_join(&tx);
	/* one of them gets the error, the other sees the end */
	rec("recv failed or ended: %d", rx.ret <= 0);
	rec("send failed: %d", tx.ret < 0);
	CHECK(rx.ret == 0 || rx.err == ECONNRESET);
	CHECK(tx.err == EPIPE || tx.err == ECONNRESET);
	CHECK(rx.ret < 0 || tx.err == ECONNRESET || tx.err == EPIPE);
}

static void reset_wakes_client(void)
{
	int fd = pair();

	barrier("both threads sleep");
	linger(fd, 1, 0);
	R(close(fd));
}

static void close_at_once_server(void)
{
	int l = serve();

	for (int i = 0; i < 50; i++) {
		int fd = accept_one(l);

		if (i % 3 == 1)
			X(send(fd, "x", 1, MSG_NOSIGNAL));
		barrier("now");
		X(close(fd));
	}
}

static void close_at_once_client(void)
{
	int port = ctl_get();

	for (int i = 0; i < 50; i++) {
		int fd = connect_to(port, 0);

		if (i % 3 == 2)
			X(send(fd, "x", 1, MSG_NOSIGNAL));
		barrier("now");
		X(close(fd));
	}
}

/* One side closes while data arrives from the other: the result is a reset, and no byte is made
 * up.
 */
static void close_while_sending_server(void)
{
	int fd = pair();

	recv_bytes(fd, 0, 5000, 1000);
	R(close(fd));
	barrier("done");
}

static void close_while_sending_client(void)
{
	static char buf[8192];
	int fd = pair();
	uint64_t pos = 0;
	ssize_t n;

	do {
		fill(buf, sizeof(buf), pos);
		n = send(fd, buf, sizeof(buf), MSG_NOSIGNAL);
		if (n > 0)
			pos += n;
	} while (n > 0);
	CHECK(pos >= 5000);
	CHECK(errno == ECONNRESET || errno == EPIPE);
	/* the first call after the reset returned the error; later calls return EPIPE */
	await_mask(fd, POLLHUP);
	R(send(fd, buf, 1, MSG_NOSIGNAL) < 0);
	R(send(fd, buf, 1, MSG_NOSIGNAL));
	barrier("done");
}

/* One thread sleeps in recv() while another closes the descriptor. */
static void close_under_recv_server(void)
{
	struct worker w = { .run = block_in_recv };
	int fd = pair();

	w.fd = fd;
	worker_start(&w);
	await_blocked(getpid(), w.tid);
	R(close(fd));
	barrier("closed");
	worker_join(&w);
	rec("recv %ld", w.ret);
	barrier("joined");
}

static void close_under_recv_client(void)
{
	int fd = pair();
	char c;

	barrier("closed");
	send_bytes(fd, 0, 1, 1);
	barrier("joined");
	R(recv(fd, &c, 1, 0));
}

/* Many connections end in every way in quick succession, so elements are soon reused. */
static void churn_server(void)
{
	int l = serve();

	for (int i = 0; i < 120; i++) {
		int fd = accept_one(l), n = 1 + i * 97 % 5000;

		recv_bytes(fd, i, n, 1000);
		if (i % 4 == 0)
			linger(fd, 1, 0);
		if (i % 4 == 1)
			X(shutdown(fd, SHUT_WR));
		send(fd, "x", i % 4 == 2, MSG_NOSIGNAL);
		X(close(fd));
	}
}

static void churn_client(void)
{
	int port = ctl_get();
	char c;

	for (int i = 0; i < 120; i++) {
		int fd = connect_to(port, 0), n = 1 + i * 97 % 5000;
		ssize_t got;

		send_bytes(fd, i, n, n);
		got = recv(fd, &c, 1, 0);
		if (i % 4 == 0)
			CHECK(got < 0 && errno == ECONNRESET);
		else
			CHECK(got == (i % 4 == 2));
		X(close(fd));
	}
}

/* A reset of the underlying TCP connection ends the SMC connection. */
static void destroyed_server(void)
{
	int l = serve(), fd = accept_one(l);

	ping_pong(fd);
	barrier("destroyed");
	see_reset(fd, 0);
}

static void destroyed_client(void)
{
	int fd = connect_to(ctl_get(), 0);
	struct addr a = name_of(fd);
	char cmd[160], c;

	ping_pong(fd);
	snprintf(cmd, sizeof(cmd), "ss -K -%d sport = :%d >/dev/null 2>&1",
		 me.var->ipv6 ? 6 : 4, addr_port(&a));
	CHECK(system(cmd) == 0);
	rec("poll %s", mask_name(await_mask(fd, POLLHUP)));
	R(recv(fd, &c, 1, 0));
	R(recv(fd, &c, 1, 0));
	R(send(fd, &c, 1, MSG_NOSIGNAL));
	barrier("destroyed");
}

/* Does TCP still keep a connection from this local port in TIME_WAIT? */
static bool remembered(int port)
{
	static const char *const tables[] = { "/proc/net/tcp", "/proc/net/tcp6" };
	unsigned int local, state;
	bool found = false;
	char line[512];

	for (int i = 0; i < 2; i++) {
		FILE *f = fopen(tables[i], "r");

		CHECK(f);
		while (fgets(line, sizeof(line), f))
			if (sscanf(line, " %*d: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x", &local,
				   &state) == 2 && local == (unsigned int)port && state == 6)
				found = true;
		fclose(f);
	}
	return found;
}

static void closes_first(void)
{
	int fd = pair();
	struct addr a = name_of(fd);
	int port = addr_port(&a);

	ping_pong(fd);
	X(close(fd));
	barrier("closed");
	AWAIT(remembered(port));
	rec("this end has TIME_WAIT");
}

static void closes_later(void)
{
	int fd = pair();

	ping_pong(fd);
	barrier("closed");
	rec("end at %d", (int)recv_to_end(fd, 0));
	X(close(fd));
}

const struct test_case close_cases[] = {
	CASE(close_plain, 0, "the peer reads all data, then end of file"),
	CASE(close_unread, 0, "close() with unread data resets the connection"),
	CASE(late_reader, 0, "a peer that reads after the time in FIN_WAIT2 is over"),
	CASE(sent_in_close, F_ROOT, "data that is sent in the middle of the peer's close()"),
	CASE(close_answered, 0, "what was sent before close() with unread data arrives"),
	CASE(close_corked, 0, "close() with unread data and with corked data"),
	CASE(close_sends_corked, 0, "close() sends corked data while the peer has unread data"),
	CASE(close_crossed, 0, "close() while data is on its way resets the connection"),
	CASE(close_unread_shut, 0, "close() with unread data after both ends shut down"),
	CASE(close_unsent, 0, "everything written before close() arrives"),
	CASE(exit_unsent, 0, "everything written before exit() arrives"),
	CASE(linger_zero, 0, "close() with SO_LINGER 0 resets the connection"),
	CASE(linger_zero_data, 0, "data that arrived before a reset can be read"),
	CASE(reset_after_end, 0, "a reset after the end of the stream"),
	CASE(linger_wait, 0, "close() with SO_LINGER waits until the peer has read"),
	CASE(reset_keeps, 0, "options and the saved SYN after a reset"),
	CASE(linger_timeout, 0, "close() returns when the linger time has passed"),
	CASE(killed, 0, "a peer is killed, with and without unread data"),
	CASE(reset_wakes, 0, "a reset wakes calls that sleep"),
	CASE(close_at_once, 0, "both ends close at the same time"),
	CASE(close_while_sending, 0, "close() while the peer sends"),
	CASE(close_under_recv, 0, "close() while another thread sleeps in recv()"),
	{ "time_wait_client", closes_later, closes_first, 0,
	  "the client closes first and has TIME_WAIT" },
	{ "time_wait_server", closes_first, closes_later, 0,
	  "the server closes first and has TIME_WAIT" },
	CASE(churn, 0, "120 connections that end in four ways"),
	CASE(destroyed, F_ROOT, "SOCK_DESTROY of the underlying TCP connection"),
	{ 0 }
};
