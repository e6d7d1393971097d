// SPDX-License-Identifier: GPL-2.0
/*
 * Readers in the kernel: proto_ops.read_sock and peek_len.  Test builds of the module have an echo
 * server, to which a socket can be handed over. If the connection is TCP, this program echoes.
 */
#include <sys/ioctl.h>

#include "role.h"

static void echo_here(int fd)
{
	char buf[8192];
	ssize_t n;

	while ((n = X(recv(fd, buf, sizeof(buf), 0))) > 0)
		CHECK(send(fd, buf, n, MSG_NOSIGNAL) == n);
	X(shutdown(fd, SHUT_WR));
}

static void echo_begin(int fd)
{
	if (smc_mode(fd) != MODE_TCP)
		X(set_int(fd, SOL_SMC, SMC_TEST_ECHO, 1));
}

/* Wait until the client has ended its stream. The peeking recv() does not disturb the echo. */
static void echo_rest(int fd)
{
	char c;

	if (smc_mode(fd) == MODE_TCP)
		echo_here(fd);
	else
		AWAIT(!recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT));
}

static void kernel_reader_server(void)
{
	int fd = pair();

	barrier("data arrived first");
	echo_begin(fd);
	if (smc_mode(fd) != MODE_TCP)
		CHECK(set_int(fd, SOL_SMC, SMC_TEST_ECHO, 1) < 0 && errno == EBUSY);
	barrier("no second echo");
	echo_rest(fd);
	barrier("done");
}

static void kernel_reader_urgent_server(void)
{
	int fd = pair();

	barrier("data arrived first");
	echo_begin(fd);
	echo_rest(fd);
	barrier("done");
}

static void kernel_reader_client(void)
{
	static const size_t sizes[] = { 10, 1, 1000, 4096, 8192, 20000, 1 };
	struct worker w = { .run = worker_recv, .len = 2 << 20, .chunk = 30000 };
	uint64_t pos = 0;
	int fd = pair();
	char c;

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		send_bytes(fd, pos, sizes[i], sizes[i]);
		if (!i) {
			barrier("data arrived first");
			barrier("no second echo");
		}
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
	barrier("done");
}

/* The urgent byte is not part of the stream. */
static void kernel_reader_urgent_client(void)
{
	int fd = pair();
	char buf[8];

	X(send(fd, "abc", 3, 0));
	barrier("data arrived first");
	CHECK(recv(fd, buf, 3, MSG_WAITALL) == 3 && !memcmp(buf, "abc", 3));
	X(send(fd, "!", 1, MSG_OOB));
	X(send(fd, "defg", 4, 0));
	CHECK(recv(fd, buf, 4, MSG_WAITALL) == 4 && !memcmp(buf, "defg", 4));
	X(shutdown(fd, SHUT_WR));
	R(recv(fd, buf, 1, 0));
	barrier("done");
}

/* The client resets the connection while the kernel reader waits; the server has closed its
 * file.
 */
static void kernel_reader_reset_server(void)
{
	int fd = pair();
	char buf[100];

	if (smc_mode(fd) == MODE_TCP) {
		CHECK(recv(fd, buf, sizeof(buf), MSG_WAITALL) == sizeof(buf));
		X(send(fd, buf, sizeof(buf), 0));
		barrier("echoed");
	} else {
		X(set_int(fd, SOL_SMC, SMC_TEST_ECHO, 1));
		barrier("echoed");
		close(fd);
	}
	barrier("reset");
}

static void kernel_reader_reset_client(void)
{
	int fd = pair();

	send_bytes(fd, 0, 100, 100);
	recv_bytes(fd, 0, 100, 100);
	barrier("echoed");
	reset(fd);
	barrier("reset");
}

static int peek_len(int fd)
{
	if (smc_mode(fd) != MODE_TCP)
		return get_int(fd, SOL_SMC, SMC_TEST_PEEK_LEN);
	return X(ask(fd, FIONREAD));
}

static void kernel_peek_len_server(void)
{
	int fd = pair();

	R(peek_len(fd));
	barrier("empty");
	await_inq(fd, 3000);
	R(peek_len(fd));
	recv_bytes(fd, 0, 1000, 1000);
	R(peek_len(fd));
	recv_bytes(fd, 1000, 2000, 2000);
	R(peek_len(fd));
	barrier("done");
}

static void kernel_peek_len_client(void)
{
	int fd = pair();

	barrier("empty");
	send_bytes(fd, 0, 3000, 3000);
	barrier("done");
}

const struct test_case reader_cases[] = {
	CASE(kernel_reader, F_SLOW, "read_sock: an echo in the kernel returns every byte"),
	{ "kernel_reader_urgent", kernel_reader_urgent_server, kernel_reader_urgent_client, 0,
	  "read_sock skips an urgent byte" },
	CASE(kernel_reader_reset, 0, "read_sock after close(), when the peer resets"),
	CASE(kernel_peek_len, 0, "peek_len is the number of bytes to read"),
	{ }
};
