// SPDX-License-Identifier: GPL-2.0
/* Bytes arrive complete, in order, whatever the sizes. */
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/utsname.h>

#include "role.h"

static const size_t sizes[] = {
	1, 2, 3, 7, 8, 63, 64, 65, 1000, 4095, 4096, 4097, 16383, 16384, 16385,
	65535, 65536, 65537, 131072, 131073, 500009, 1000003,
};

#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void echo_sizes_server(void)
{
	int fd = pair();
	uint64_t pos = 0;

	for (size_t i = 0; i < N_SIZES; i++, pos += sizes[i - 1]) {
		recv_bytes(fd, pos, sizes[i], 7919);
		send_bytes(fd, pos, sizes[i], 65521);
	}
	rec("%llu bytes", (unsigned long long)pos);
}

static void echo_sizes_client(void)
{
	int fd = pair();
	uint64_t pos = 0;

	for (size_t i = 0; i < N_SIZES; i++, pos += sizes[i - 1]) {
		send_bytes(fd, pos, sizes[i], sizes[i]);
		recv_bytes(fd, pos, sizes[i], sizes[i] / 3 + 1);
	}
	rec("%llu bytes", (unsigned long long)pos);
}

#define BIG	(8u << 20)

/* One blocking send() of any size returns when everything is sent. */
static void send_8m_server(void)
{
	int fd = pair();

	recv_bytes(fd, 0, BIG, 100003);
	recv_bytes(fd, BIG, 1, 1);
	barrier("all");
}

static void send_8m_client(void)
{
	int fd = pair();
	char *buf = malloc(BIG + 1);

	CHECK(buf);
	fill(buf, BIG + 1, 0);
	R(send(fd, buf, BIG, 0));
	R(write(fd, buf + BIG, 1));
	barrier("all");
}

static void recv_8m_waitall_server(void)
{
	int fd = pair();
	char *buf = malloc(BIG);

	CHECK(buf);
	R(recv(fd, buf, BIG, MSG_WAITALL));
	verify(buf, BIG, 0);
	barrier("all");
}

static void recv_8m_waitall_client(void)
{
	int fd = pair();

	send_bytes(fd, 0, BIG, 31337);
	barrier("all");
}

#define DUPLEX	(2u << 20)

/* Two threads on each side: both directions at once, with odd sizes. */
static void both_ways(int fd, size_t len, size_t send_chunk, size_t recv_chunk)
{
	struct worker tx = { .run = worker_send, .fd = fd, .len = len,
			     .chunk = send_chunk,
			     .pos = me.is_server ? 0 : 999983 };
	struct worker rx = { .run = worker_recv, .fd = fd, .len = len,
			     .chunk = recv_chunk,
			     .pos = me.is_server ? 999983 : 0 };

	worker_start(&tx);
	worker_start(&rx);
	worker_join(&tx);
	worker_join(&rx);
	rec("%zu bytes in each direction", len);
}

static void duplex_server(void)
{
	int fd = pair();

	both_ways(fd, DUPLEX, 10007, 3001);
	both_ways(fd, DUPLEX / 8, 211, 65536);
	barrier("done");
}

static void duplex_client(void)
{
	int fd = pair();

	both_ways(fd, DUPLEX, 70001, 20011);
	both_ways(fd, DUPLEX / 8, 1009, 61);
	barrier("done");
}

static void small_buffers(int fd)
{
	X(set_int(fd, SOL_SOCKET, SO_RCVBUF, 4096));
	X(set_int(fd, SOL_SOCKET, SO_SNDBUF, 4096));
}

/* Cursors wrap at every position of a small buffer. */
static void wrap_small_server(void)
{
	int fd = pair_with(small_buffers);
	uint64_t pos = 0;

	for (size_t n = 1; n < 3000; n += 41, pos += n)
		recv_bytes(fd, pos, n, n % 17 + 1);
	recv_bytes(fd, pos, 400000, 1999);
	send_bytes(fd, 0, 400000, 100000);
	rec("%llu bytes", (unsigned long long)pos);
	barrier("done");
}

static void wrap_small_client(void)
{
	int fd = pair_with(small_buffers);
	uint64_t pos = 0;

	for (size_t n = 1; n < 3000; n += 41, pos += n)
		send_bytes(fd, pos, n, n);
	send_bytes(fd, pos, 400000, 4096);
	recv_bytes(fd, 0, 400000, 4001);
	rec("%llu bytes", (unsigned long long)pos);
	barrier("done");
}

static void duplex_small_server(void)
{
	both_ways(pair_with(small_buffers), 200000, 1000, 1000);
	barrier("done");
}

static void duplex_small_client(void)
{
	both_ways(pair_with(small_buffers), 200000, 77777, 999);
	barrier("done");
}

static void large_buffers(int fd)
{
	X(set_int(fd, SOL_SOCKET, SO_RCVBUF, 1 << 20));
	X(set_int(fd, SOL_SOCKET, SO_SNDBUF, 1 << 20));
}

static void duplex_large_server(void)
{
	both_ways(pair_with(large_buffers), DUPLEX, 500000, 300007);
	barrier("done");
}

static void duplex_large_client(void)
{
	both_ways(pair_with(large_buffers), DUPLEX, 262144, 1 << 20);
	barrier("done");
}

/* A sender that fills the buffer continues exactly where it stopped. */
static void full_then_drained_server(void)
{
	int fd = pair();
	size_t total;

	barrier("full");
	total = ctl_get();
	recv_bytes(fd, 0, total, 5003);
	recv_bytes(fd, total, 100000, 5003);
	barrier("done");
}

static void full_then_drained_client(void)
{
	int fd = pair();
	size_t total;

	X(set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1));
	total = fill_up(fd);
	rec("wrote %s", total ? "something" : "nothing");
	rec("poll %s", mask_name(poll_mask(fd, POLLOUT | POLLIN)));
	barrier("full");
	ctl_put(total);
	await_mask(fd, POLLOUT);
	send_bytes(fd, total, 100000, 100000);
	barrier("done");
}

/*
 * More data than a fresh connection has room for, sent while earlier data is only partly read and
 * wraps around the end of the initial buffer: every byte keeps its place.
 */
#define GROW_FIRST	12000
#define GROW_PEEKED	5000
#define GROW_READ	3000
#define GROW_MORE	100000

static void growing_server(void)
{
	int fd = pair();
	char buf[GROW_PEEKED];

	recv_bytes(fd, 0, GROW_FIRST, GROW_FIRST);
	barrier("read");
	barrier("across the end of the ring");
	await_inq(fd, GROW_FIRST);
	CHECK(recv(fd, buf, sizeof(buf), MSG_PEEK) == sizeof(buf));
	verify(buf, sizeof(buf), GROW_FIRST);
	recv_bytes(fd, GROW_FIRST, GROW_READ, GROW_READ);
	barrier("read in part");
	barrier("more");
	CHECK(recv(fd, buf, sizeof(buf), MSG_PEEK) == sizeof(buf));
	verify(buf, sizeof(buf), GROW_FIRST + GROW_READ);
	recv_bytes(fd, GROW_FIRST + GROW_READ, GROW_FIRST - GROW_READ + GROW_MORE, 7001);
	R(recv(fd, buf, 1, MSG_DONTWAIT));
	barrier("done");
}

static void growing_client(void)
{
	int fd = pair();

	send_bytes(fd, 0, GROW_FIRST, GROW_FIRST);
	barrier("read");
	send_bytes(fd, GROW_FIRST, GROW_FIRST, 1999);
	barrier("across the end of the ring");
	barrier("read in part");
	send_bytes(fd, 2 * GROW_FIRST, GROW_MORE, GROW_MORE);
	barrier("more");
	barrier("done");
}

/* As above, for a program that writes only when poll() reports room. */
static void growing_poll_server(void)
{
	int fd = pair();

	barrier("full");
	recv_bytes(fd, 0, GROW_MORE, 7001);
	barrier("done");
}

static void growing_poll_client(void)
{
	int fd = pair();

	for (size_t sent = 0; sent < GROW_MORE; sent += 1000) {
		await_mask(fd, POLLOUT);
		send_bytes(fd, sent, 1000, 1000);
	}
	barrier("full");
	barrier("done");
}

static void one_byte_writes_server(void)
{
	int fd = pair();

	recv_bytes(fd, 0, 3000, 3000);
	send_bytes(fd, 0, 3000, 1);
	barrier("done");
}

static void one_byte_writes_client(void)
{
	int fd = pair();

	X(set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1));
	send_bytes(fd, 0, 3000, 1);
	recv_bytes(fd, 0, 3000, 1);
	barrier("done");
}

/* Buffers that the kernel cannot read or write. */
static void bad_buffers_server(void)
{
	int fd = pair();
	char c;

	barrier("bad sends");
	R(recv(fd, &c, 1, MSG_DONTWAIT));
	barrier("nothing came");
	recv_bytes(fd, 0, 10, 10);
	barrier("sent");
	await_inq(fd, 10);
	R(recv(fd, (void *)16, 10, 0));
	R(recv(fd, &c, 1, MSG_PEEK));
	recv_bytes(fd, 10, 10, 10);
	barrier("done");
}

static void bad_buffers_client(void)
{
	int fd = pair();

	R(send(fd, (void *)16, 10, 0));
	R(send(fd, (void *)16, 10000, 0));
	barrier("bad sends");
	barrier("nothing came");
	send_bytes(fd, 0, 10, 10);
	send_bytes(fd, 10, 10, 10);
	barrier("sent");
	barrier("done");
}

static void splice_out_server(void)
{
	int fd = pair(), p[2];
	char buf[4096];
	size_t got = 0;

	X(pipe(p));
	while (got < 100000) {
		ssize_t n = X(splice(fd, NULL, p[1], NULL, 4096, 0));

		if (!n)
			break;
		for (ssize_t m = 0; m < n; ) {
			ssize_t k = X(read(p[0], buf, n - m));

			verify(buf, k, got);
			got += k;
			m += k;
		}
	}
	rec("spliced %zu bytes", got);
	R(splice(fd, NULL, p[1], NULL, 4096, 0));
	set_nonblock(fd, true);
	R(splice(fd, NULL, p[1], NULL, 4096, 0));
}

/* Unlike recv(), splice() does not wait for SO_RCVLOWAT bytes. */
static void splice_lowat_server(void)
{
	int fd = pair(), p[2];

	X(pipe(p));
	X(set_int(fd, SOL_SOCKET, SO_RCVLOWAT, 1000));
	await_inq(fd, 10);
	R(splice(fd, NULL, p[1], NULL, 4096, 0));
	barrier("spliced");
}

static void splice_lowat_client(void)
{
	int fd = pair();

	send_bytes(fd, 0, 10, 10);
	barrier("spliced");
}

static void splice_out_client(void)
{
	int fd = pair();

	send_bytes(fd, 0, 100000, 33333);
	shutdown(fd, SHUT_WR);
	recv_to_end(fd, 0);
}

static void sendfile_server(void)
{
	int fd = pair();

	recv_bytes(fd, 0, 300000, 8192);
	recv_bytes(fd, 300000, 5000, 8192);
	barrier("done");
}

static void sendfile_client(void)
{
	int fd = pair(), file = X(memfd_create("data", 0)), p[2];
	char *buf = malloc(305000);
	size_t sent = 0;
	off_t off = 0;

	CHECK(buf);
	fill(buf, 305000, 0);
	X(write(file, buf, 300000));
	while (sent < 300000)
		sent += X(sendfile(fd, file, &off, 300000 - sent));
	rec("sent %zu, offset %ld", sent, (long)off);
	R(sendfile(fd, file, &off, 10));
	X(pipe(p));
	X(write(p[1], buf + 300000, 5000));
	for (sent = 0; sent < 5000; )
		sent += X(splice(p[0], NULL, fd, NULL, 5000 - sent, 0));
	rec("spliced %zu", sent);
	barrier("done");
}

/* Up to 6.4, sendfile() does not tell a socket that it has reached the end of the file. */
static bool sendfile_tells_end(void)
{
	struct utsname name;
	int major = 0, minor = 0;

	X(uname(&name));
	CHECK(sscanf(name.release, "%d.%d", &major, &minor) == 2);
	return major > 6 || (major == 6 && minor >= 5);
}

static void sendfile_eof_server(void)
{
	int fd = pair();

	barrier("sent");
	if (sendfile_tells_end())
		rec("poll %s", mask_name(poll_mask(fd, POLLIN)));
	recv_bytes(fd, 0, 1000, 1000);
	barrier("done");
}

static void sendfile_eof_client(void)
{
	int fd = pair(), file = X(memfd_create("data", 0));
	char buf[1000];
	off_t off = 0;

	fill(buf, sizeof(buf), 0);
	X(write(file, buf, sizeof(buf)));
	R(sendfile(fd, file, &off, 100000));
	barrier("sent");
	barrier("done");
}

const struct test_case stream_cases[] = {
	CASE(echo_sizes, 0, "echo, with sizes around every power of two"),
	CASE(send_8m, 0, "one blocking send() of 8 MiB is sent completely"),
	CASE(recv_8m_waitall, 0, "one recv() of 8 MiB with MSG_WAITALL is complete"),
	CASE(duplex, 0, "both directions at once"),
	CASE(wrap_small, 0, "buffers of 4 KiB wrap at every position"),
	CASE(duplex_small, 0, "both directions at once in small buffers"),
	CASE(duplex_large, 0, "both directions at once in large buffers"),
	CASE(full_then_drained, 0, "a sender fills the buffer, drains it and continues"),
	CASE(growing, 0, "more data than the initial buffer holds"),
	CASE(growing_poll, 0, "more data than the initial buffer holds, with poll()"),
	CASE(one_byte_writes, 0, "3000 writes of one byte in each direction"),
	CASE(bad_buffers, 0, "calls with EFAULT neither lose nor duplicate data"),
	CASE(splice_out, 0, "splice from a socket"),
	CASE(splice_lowat, 0, "splice from a socket with SO_RCVLOWAT"),
	CASE(sendfile_eof, F_HERE, "sendfile() past the end of a file sends all at once"),
	CASE(sendfile, 0, "sendfile and splice into a socket"),
	{ 0 }
};
