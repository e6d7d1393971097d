// SPDX-License-Identifier: GPL-2.0
/*
 * Cases: the memory of a connection that ends serves the next one, which must not notice anything
 * of the first one. Over ISM devices both ends write into each other's memory, with nothing in
 * between that could refuse a late write.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "slow.h"
#include "xfer.h"

#define SOON	slow(30)	/* seconds within which a side notices the other's action */
#define PLACE	8000		/* bytes of a stream that cover the place of a late write */

static void set_timeout(int fd)
{
	struct timeval tv = { .tv_sec = SOON };

	X(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	X(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)));
}

/* Waits until this many bytes can be read, without reading them. */
static void await_bytes(int fd, size_t len)
{
	char *buf = buffer(len);

	set_timeout(fd);
	if (X(recv(fd, buf, len, MSG_PEEK | MSG_WAITALL)) != (ssize_t)len)
		die("not all bytes have come");
	free(buf);
}

/* Nothing tells when the peer's kernel has processed what it was told: gives it a moment. */
static void let_it_sink_in(void)
{
	poll(NULL, 0, slow(200));
}

static void expect_nothing(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLRDHUP };

	if (X(poll(&p, 1, slow(300))))
		die("the connection has noticed another one: poll 0x%x", p.revents);
}

static void exchange(int fd, uint64_t seed)
{
	for (int i = 0; i < 2; i++) {
		if (opt.server == !i)
			send_stream(fd, seed + i, 0, 3000, 1000);
		else
			recv_stream(fd, seed + i, 0, 3000, 1000);
	}
}

/* ---- a close that comes after both sides have closed ---- */

/*
 * The client shuts down both directions with data unread; the server sees the end and closes. So
 * both have said that they write no more, and the server gives its element to the second
 * connection. Then the client closes its file, which resets the TCP connection.
 */
static int end_twice(int fd, size_t unread)
{
	int second;

	if (opt.server) {
		send_stream(fd, 1, 0, unread, unread);
	} else {
		await_bytes(fd, unread);
		X(shutdown(fd, SHUT_RDWR));
	}
	if (opt.server) {
		char c;

		if (X(recv(fd, &c, 1, 0)))
			die("a byte instead of the end of the stream");
		close(fd);
	}
	meet("both have closed");
	let_it_sink_in();
	second = open_pair();
	set_timeout(second);
	return second;
}

static void late_abort(void)
{
	int fd = open_pair(), second = end_twice(fd, 1000);

	exchange(second, 3);
	meet("the second is in use");
	if (!opt.server)
		close(fd);
	meet("the first is gone");
	expect_nothing(second);
	meet("nothing has come");
	exchange(second, 5);
	meet("end");
	close(second);
}

/* The client has sent data over the first connection, and none over the second one. */
static void late_abort_leak(void)
{
	int fd = open_pair(), second;

	if (opt.server)
		recv_stream(fd, 2, 0, 1000, 1000);
	else
		send_stream(fd, 2, 0, 1000, 1000);
	second = end_twice(fd, 1000);
	if (!opt.server)
		close(fd);
	meet("the first is gone");
	expect_nothing(second);
	meet("nothing has come");
	exchange(second, 3);
	meet("end");
	close(second);
}

/* ---- a sender that is still copying when its connection ends ---- */

static struct {
	int fd, uffd;
	char *page;
	long size;
	pthread_t thread;
} stalled;

static void *stalled_send(void *arg)
{
	ssize_t n = send(stalled.fd, stalled.page, stalled.size, MSG_NOSIGNAL);

	note("the stalled send returned %zd %s", n, n < 0 ? err_name(errno) : "");
	return NULL;
}

/* A thread of the client sends from a page that is not there yet. */
static void stall(int fd)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffd_msg msg;
	struct pollfd p;

	stalled.fd = fd;
	stalled.size = sysconf(_SC_PAGESIZE);
	stalled.uffd = X(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK));
	stalled.page = mmap(NULL, stalled.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	CHECK(stalled.page != MAP_FAILED);
	reg.range.start = (unsigned long)stalled.page;
	reg.range.len = stalled.size;
	X(ioctl(stalled.uffd, UFFDIO_API, &api));
	X(ioctl(stalled.uffd, UFFDIO_REGISTER, &reg));
	X(-pthread_create(&stalled.thread, NULL, stalled_send, NULL));
	p = (struct pollfd) { .fd = stalled.uffd, .events = POLLIN };
	if (X(poll(&p, 1, SOON * 1000)) != 1)
		die("send() does not read the page");
	X(read(stalled.uffd, &msg, sizeof(msg)));
}

static void unstall(void)
{
	struct uffdio_copy copy = { .dst = (unsigned long)stalled.page, .len = stalled.size };
	void *bad = NULL;

	X(-posix_memalign(&bad, stalled.size, stalled.size));
	memset(bad, 0xee, stalled.size);
	copy.src = (unsigned long)bad;
	X(ioctl(stalled.uffd, UFFDIO_COPY, &copy));
	X(-pthread_join(stalled.thread, NULL));
	close(stalled.uffd);
	free(bad);
}

/* Opens the first connection; a sender of the client stalls, and the server has data unread. */
static int open_stalled(void)
{
	char buf[100] = "";
	int fd = open_pair();

	set_timeout(fd);
	if (opt.server) {
		await_bytes(fd, sizeof(buf));
	} else {
		send_all(fd, buf, sizeof(buf));
		stall(fd);
	}
	meet("a sender stalls");
	return fd;
}

/* The server closes with unread data; the client notices, while its sender stalls. */
static void end_stalled(int fd)
{
	struct pollfd p = { .fd = fd };

	if (opt.server)
		close(fd);
	else if (X(poll(&p, 1, SOON * 1000)) != 1)
		die("the client never learned of the close");
	meet("the first is over");
	let_it_sink_in();
}

/* Data is in all of these elements when the stalled sender continues. */
static void others_are_whole(const int *fds, int count)
{
	for (int i = 0; i < count; i++) {
		if (opt.server)
			await_bytes(fds[i], PLACE);
		else
			send_stream(fds[i], 7 + i, 0, PLACE, PLACE);
	}
	meet("data is there");
	if (!opt.server)
		unstall();
	meet("the stalled sender is done");
	for (int i = 0; i < count && opt.server; i++)
		recv_stream(fds[i], 7 + i, 0, PLACE, PLACE);
	meet("all was whole");
	for (int i = 0; i < count; i++)
		close(fds[i]);
}

static void late_write(void)
{
	int fd = open_stalled(), second;

	end_stalled(fd);
	second = open_pair();
	others_are_whole(&second, 1);
	if (!opt.server)
		close(fd);
	/* The last word was left to the sender, and has been said: another pair is possible. */
	close(open_pair());
	meet("another");
}

/* ---- a machine that is paused until its peer considers it dead, or forgets it ---- */

/*
 * The other connections, opt.count of them, use up the server's memory. So if the server has given
 * away what the client's stalled sender may write to, one of them has it.
 */
static void others_use_it_up(int fd)
{
	int *fds = buffer(opt.count * sizeof(int));

	meet("the first is over");
	/* Only the last ones may be TCP. */
	opt.expect = EXPECT_SMCD;
	for (int i = 0; i < opt.count; i++) {
		fds[i] = open_pair();
		opt.expect = EXPECT_ANY;
	}
	others_are_whole(fds, opt.count);
	if (!opt.server)
		close(fd);
	close(open_pair());
	meet("another");
	free(fds);
}

static void paused(void)
{
	int fd = open_stalled();
	char buf[100];
	ssize_t n;

	if (opt.server) {
		recv_all(fd, buf, sizeof(buf));
		n = recv(fd, buf, 1, 0);
		note("recv returned %zd %s", n, n < 0 ? err_name(errno) : "");
		if (n >= 0 || errno == EAGAIN)
			die("the client was not considered dead");
		close(fd);
	} else {
		look("pause");
	}
	others_use_it_up(fd);
}

/* The server's device is removed and added again: it knows nothing of the first connection. */
static void replugged(void)
{
	int fd = open_stalled();
	struct pollfd p = { .fd = fd };

	if (opt.server) {
		close(fd);
		look("replug");
	} else if (X(poll(&p, 1, SOON * 1000)) != 1) {
		die("the client never learned of it");
	}
	others_use_it_up(fd);
}

/* ---- unread data of a device that is removed, beside a connection over the next device ---- */

#define OLD	21	/* the streams of the two connections */
#define NEW	22
#define UNREAD	100000

static int take_error(int fd)
{
	int err;
	socklen_t len = sizeof(err);

	X(getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len));
	return err;
}

/* Returns the number of bytes, which are those at this position of the old stream, or -1: reset. */
static ssize_t recv_old(int fd, int flags, size_t pos)
{
	char *buf = buffer(UNREAD);
	ssize_t n = recv(fd, buf, UNREAD, flags | MSG_DONTWAIT);
	int err = errno;

	note("recv(%#x) after %zu bytes: %zd %s", flags, pos, n, n < 0 ? err_name(err) : "");
	if (n > 0)
		verify(buf, n, OLD, pos);
	if (n < 0 && err != ECONNRESET)
		die("recv: %s", err_name(err));
	free(buf);
	return n;
}

/*
 * The socket of the removed device yields bytes that the peer has sent, then an error, and no early
 * end, even if the socket's error has been taken before. After the error the stream has ended.
 */
static void read_old(int fd)
{
	ssize_t pos = 0, n = recv_old(fd, MSG_PEEK, 0);
	bool reset = n < 0;

	if (!n)
		die("the stream has ended early");
	while (pos < UNREAD && (n = recv_old(fd, 0, pos)) > 0)
		pos += n;
	if (reset ? pos != 0 : pos < UNREAD && !n)
		die("the stream goes on after the reset, or has ended early");
}

static bool wait_for_end(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLRDHUP };

	return X(poll(&p, 1, SOON * 1000)) == 1;
}

static atomic_bool watched_enough;

/* Looks at the socket as soon as anything happens to it, as the thread of an event loop does. */
static void *watch(void *arg)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLRDHUP | EPOLLET };
	int epfd = X(epoll_create1(0));

	X(epoll_ctl(epfd, EPOLL_CTL_ADD, (int)(long)arg, &event));
	while (!atomic_load(&watched_enough))
		X(epoll_wait(epfd, &event, 1, 100));
	close(epfd);
	return NULL;
}

/*
 * @ends: the peer has ended its stream in good order before. @watched: a thread waits for events
 * meanwhile, and nobody takes the socket's error.
 */
static void left_unread(bool ends, bool watched)
{
	int fd = open_pair(), second, third;
	pthread_t watcher;

	set_timeout(fd);
	if (opt.server) {
		await_bytes(fd, UNREAD);
		if (ends && !wait_for_end(fd))
			die("the stream does not end");
		meet("data is there");
		if (watched)
			pthread_create(&watcher, NULL, watch, (void *)(long)fd);
		look("replug");
	} else {
		send_stream(fd, OLD, 0, UNREAD, UNREAD);
		if (ends)
			X(shutdown(fd, SHUT_WR));
		meet("data is there");
	}
	meet("the device is another one");
	second = open_pair();
	set_timeout(second);
	if (opt.server)
		await_bytes(second, UNREAD);
	else
		send_stream(second, NEW, 0, UNREAD, UNREAD);
	meet("the second has data");
	if (opt.server) {
		if (watched) {
			atomic_store(&watched_enough, true);
			pthread_join(watcher, NULL);
		} else if (ends && wait_for_end(fd)) {
			note("SO_ERROR: %s", err_name(take_error(fd)));
		}
		read_old(fd);
		close(fd);
		recv_stream(second, NEW, 0, UNREAD, UNREAD);
	}
	meet("the first is closed");
	exchange(second, 23);
	if (!opt.server)
		close(fd);
	close(second);
	meet("the second is closed");
	let_it_sink_in();
	/* It gets the memory of the second, if the close of the first has left that registered. */
	third = open_pair();
	set_timeout(third);
	exchange(third, 25);
	meet("end");
	close(third);
}

static void replugged_unread(void)
{
	left_unread(false, false);
}

static void replugged_ended(void)
{
	left_unread(true, false);
}

static void replugged_watched(void)
{
	left_unread(true, true);
}

/* ---- connections that end with data under way, beside others ---- */

#define EARLY	3	/* threads */
#define CALM	3

static int churn_lfd;
static atomic_bool calm_over;
static atomic_int broken, early;

static void *serve(void *arg)
{
	char c, buf[200] = "";
	int fd;

	for (;;) {
		fd = X(accept(churn_lfd, NULL, NULL));
		c = 0;
		if (recv(fd, &c, 1, 0) != 1)
			atomic_fetch_add(&broken, 1);
		if (c == 'E')
			send(fd, buf, sizeof(buf), MSG_NOSIGNAL);
		for (int i = 0; c == 'C' && i < 3; i++) {
			if (send(fd, &c, 1, MSG_NOSIGNAL) == 1 && recv(fd, &c, 1, 0) == 1)
				continue;
			atomic_fetch_add(&broken, 1);
			break;
		}
		close(fd);
		if (c == 'Q')
			return NULL;
	}
}

/* Closes while the server's answer is under way. */
static void *early_client(void *arg)
{
	uint64_t state = (long)arg + 1;
	char c = 'E';

	while (!atomic_load(&calm_over)) {
		int fd = connect_out();

		send_all(fd, &c, 1);
		for (uint64_t until = now_ns() + draw(&state) % 400000; now_ns() < until;)
			;
		close(fd);
		atomic_fetch_add(&early, 1);
	}
	return NULL;
}

static void *calm_client(void *arg)
{
	for (long n = 0; n < opt.count; n++) {
		int fd = connect_out();
		char c = 'C';
		bool ok = send(fd, &c, 1, MSG_NOSIGNAL) == 1;

		for (int i = 0; i < 3 && ok; i++)
			ok = recv(fd, &c, 1, 0) == 1 && send(fd, &c, 1, MSG_NOSIGNAL) == 1;
		if (!ok) {
			note("a calm connection failed: %s", err_name(errno));
			atomic_fetch_add(&broken, 1);
		} else if (n % 4 == 0) {
			check_modes(&fd, 1);
		}
		close(fd);
	}
	return NULL;
}

static void early_churn_server(void)
{
	pthread_t threads[EARLY + CALM];

	churn_lfd = listen_on(256);
	for (int i = 0; i < EARLY + CALM; i++)
		X(-pthread_create(&threads[i], NULL, serve, NULL));
	for (int i = 0; i < EARLY + CALM; i++)
		X(-pthread_join(threads[i], NULL));
	close(churn_lfd);
	meet("end");
	if (atomic_load(&broken))
		die("%d connections were broken", atomic_load(&broken));
}

static void early_churn_client(void)
{
	pthread_t threads[EARLY + CALM];
	char quit = 'Q';

	hear_port();
	for (long i = 0; i < EARLY + CALM; i++)
		X(-pthread_create(&threads[i], NULL, i < EARLY ? early_client : calm_client,
				  (void *)i));
	for (int i = EARLY; i < EARLY + CALM; i++)
		X(-pthread_join(threads[i], NULL));
	atomic_store(&calm_over, true);
	for (int i = 0; i < EARLY; i++)
		X(-pthread_join(threads[i], NULL));
	for (int i = 0; i < EARLY + CALM; i++) {
		int fd = connect_out();

		send_all(fd, &quit, 1);
		close(fd);
	}
	note("%d connections were closed early, beside %ld calm ones", atomic_load(&early),
	     CALM * opt.count);
	meet("end");
	if (atomic_load(&broken))
		die("%d calm connections were broken", atomic_load(&broken));
}

/*
 * The client closes its sockets with a reset at any moment of their handshakes. The server must
 * learn that they do not use its elements: the case all_ended looks for what is left.
 */
static void withdrawn_server(void)
{
	int lfd = listen_on(256), keep = accept_one(lfd), fd;
	char c = 0;

	meet("ready");
	while (c != 'Q') {
		fd = X(accept(lfd, NULL, NULL));
		if (recv(fd, &c, 1, 0) != 1)
			c = 0;
		else if (c != 'Q')
			die("a byte that no program has sent: %#x", (unsigned char)c);
		close(fd);
	}
	meet("end");
	close(keep);
	close(lfd);
}

static void reset_early(uint64_t wait)
{
	const struct linger at_once = { .l_onoff = 1 };
	struct sockaddr_storage to;
	socklen_t len = peer_address(&to);
	int fd = make_socket();

	set_nonblock(fd);
	X(setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)));
	CHECK(connect(fd, (struct sockaddr *)&to, len) == 0 || errno == EINPROGRESS);
	for (uint64_t until = now_ns() + wait; now_ns() < until;)
		;
	close(fd);
}

static void withdrawn_client(void)
{
	uint64_t state = opt.seed;
	char quit = 'Q';
	int keep, fd;

	hear_port();
	keep = connect_out();
	meet("ready");
	for (long i = 0; i < opt.count; i++)
		reset_early(draw(&state) % 4000000);
	fd = connect_out();
	send_all(fd, &quit, 1);
	check_modes((int[]){ keep, fd }, 2);
	close(fd);
	meet("end");
	close(keep);
}

const struct test_case reuse_cases[] = {
	{ "late_abort", late_abort, late_abort, "a close after both sides have closed" },
	{ "late_abort_leak", late_abort_leak, late_abort_leak, "the same, beside an idle connection" },
	{ "late_write", late_write, late_write, "a sender goes on after the peer's close" },
	{ "early_churn", early_churn_server, early_churn_client,
	  "the client closes with data under way" },
	{ "withdrawn", withdrawn_server, withdrawn_client,
	  "the client resets its sockets during their handshakes" },
	{ "paused", paused, paused, "the client's machine is paused, and a sender then goes on" },
	{ "replugged", replugged, replugged, "the server's device is replaced, and a sender then goes on" },
	{ "replugged_unread", replugged_unread, replugged_unread,
	  "the server's device is replaced, with data unread" },
	{ "replugged_ended", replugged_ended, replugged_ended,
	  "the same, after the client has ended its stream" },
	{ "replugged_watched", replugged_watched, replugged_watched,
	  "the same, while a thread waits for events" },
	{ 0 }
};
