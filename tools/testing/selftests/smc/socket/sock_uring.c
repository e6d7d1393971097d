// SPDX-License-Identifier: GPL-2.0
/* io_uring: all operations that take a socket. */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "role.h"

struct ring {
	int fd;
	char *sq, *cq;
	struct io_uring_sqe *sqes;
	struct io_uring_params p;
};

/* Swap the halves as the ABI requires: the field for events had 16 bits before it had 32. */
static uint32_t uring_events(uint32_t events)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return events << 16 | events >> 16;
#else
	return events;
#endif
}

static void ring_open(struct ring *r)
{
	size_t len;

	memset(r, 0, sizeof(*r));
	r->fd = X(syscall(__NR_io_uring_setup, 8, &r->p));
	CHECK(r->p.features & IORING_FEAT_SINGLE_MMAP);
	len = r->p.cq_off.cqes + r->p.cq_entries * sizeof(struct io_uring_cqe);
	if (len < r->p.sq_off.array + r->p.sq_entries * sizeof(uint32_t))
		len = r->p.sq_off.array + r->p.sq_entries * sizeof(uint32_t);
	r->sq = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->fd,
		     IORING_OFF_SQ_RING);
	CHECK(r->sq != MAP_FAILED);
	r->cq = r->sq;
	r->sqes = mmap(NULL, r->p.sq_entries * sizeof(*r->sqes), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_SQES);
	CHECK(r->sqes != MAP_FAILED);
}

static uint32_t *word(char *base, uint32_t off)
{
	return (uint32_t *)(base + off);
}

static void submit(struct ring *r, const struct io_uring_sqe *sqe)
{
	uint32_t tail = *word(r->sq, r->p.sq_off.tail);
	uint32_t idx = tail & *word(r->sq, r->p.sq_off.ring_mask);

	r->sqes[idx] = *sqe;
	word(r->sq, r->p.sq_off.array)[idx] = idx;
	__atomic_store_n(word(r->sq, r->p.sq_off.tail), tail + 1, __ATOMIC_RELEASE);
	CHECK(X(syscall(__NR_io_uring_enter, r->fd, 1, 0, 0, NULL, 0)) == 1);
}

/* The result of the next completion; on failure a negative errno, as for a system call. */
static long complete(struct ring *r, uint32_t *flags)
{
	uint32_t head = *word(r->cq, r->p.cq_off.head);
	struct io_uring_cqe *cqe;
	long res;

	while (__atomic_load_n(word(r->cq, r->p.cq_off.tail), __ATOMIC_ACQUIRE) == head)
		X(syscall(__NR_io_uring_enter, r->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0));
	cqe = (struct io_uring_cqe *)(r->cq + r->p.cq_off.cqes) +
	      (head & *word(r->cq, r->p.cq_off.ring_mask));
	res = cqe->res;
	if (flags)
		*flags = cqe->flags;
	__atomic_store_n(word(r->cq, r->p.cq_off.head), head + 1, __ATOMIC_RELEASE);
	if (res < 0)
		errno = -res;
	return res < 0 ? -1 : res;
}

static struct io_uring_sqe transfer(int op, int fd, void *buf, size_t len, int flags)
{
	return (struct io_uring_sqe) {
		.opcode = op, .fd = fd, .addr = (uintptr_t)buf, .len = len,
		.msg_flags = flags,
	};
}

static long run(struct ring *r, struct io_uring_sqe sqe)
{
	submit(r, &sqe);
	return complete(r, NULL);
}

static bool completed(struct ring *r)
{
	return __atomic_load_n(word(r->cq, r->p.cq_off.tail), __ATOMIC_ACQUIRE) !=
	       *word(r->cq, r->p.cq_off.head);
}

/* io_uring believes the wake-up, and does not ask poll() again. */
static void uring_lowat_server(void)
{
	struct io_uring_sqe sqe = { .opcode = IORING_OP_POLL_ADD };
	char buf[1000];
	struct ring r;

	ring_open(&r);
	sqe.fd = pair();
	sqe.poll32_events = uring_events(POLLIN);
	X(set_int(sqe.fd, SOL_SOCKET, SO_RCVLOWAT, 1000));
	submit(&r, &sqe);
	barrier("polling");
	await_inq(sqe.fd, 10);
	rec("completed %d", completed(&r));
	barrier("more");
	rec("poll %s", mask_name(complete(&r, NULL)));
	R(recv(sqe.fd, buf, sizeof(buf), 0));
	sqe = transfer(IORING_OP_RECV, sqe.fd, buf, sizeof(buf), 0);
	submit(&r, &sqe);
	barrier("receiving");
	await_inq(sqe.fd, 10);
	rec("completed %d", completed(&r));
	barrier("more");
	R(complete(&r, NULL));
	verify(buf, sizeof(buf), 1000);
	barrier("done");
}

static void uring_lowat_client(void)
{
	int fd = pair();

	barrier("polling");
	send_bytes(fd, 0, 10, 10);
	barrier("more");
	send_bytes(fd, 10, 990, 990);
	barrier("receiving");
	send_bytes(fd, 1000, 10, 10);
	barrier("more");
	send_bytes(fd, 1010, 990, 990);
	barrier("done");
}

static void uring_server(void)
{
	struct io_uring_sqe sqe = { .opcode = IORING_OP_ACCEPT };
	static char buf[100000];
	struct ring r;
	int fd;

	ring_open(&r);
	sqe.fd = serve();
	submit(&r, &sqe);		/* before or after the client connects */
	fd = RFD(complete(&r, NULL));
	check_mode(fd);
	/* These requests wait in the kernel for data that has not been sent yet. */
	sqe = transfer(IORING_OP_RECV, fd, buf, 10, 0);
	submit(&r, &sqe);
	barrier("waiting");
	R(complete(&r, NULL));
	verify(buf, 10, 0);
	sqe = (struct io_uring_sqe){ .opcode = IORING_OP_POLL_ADD, .fd = fd,
				     .poll32_events = uring_events(POLLIN) };
	submit(&r, &sqe);
	barrier("polling");
	rec("poll %s", mask_name(complete(&r, NULL)));
	R(run(&r, transfer(IORING_OP_RECV, fd, buf, sizeof(buf), MSG_WAITALL)));
	verify(buf, sizeof(buf), 10);
	R(run(&r, transfer(IORING_OP_RECV, fd, buf, 10, MSG_DONTWAIT)));
	R(run(&r, transfer(IORING_OP_SEND, fd, buf, 1000, 0)));
	barrier("copied");
	R(run(&r, transfer(IORING_OP_RECV, fd, buf, 500, MSG_WAITALL)));
	verify(buf, 500, 0);
	R(run(&r, transfer(IORING_OP_READ, fd, buf, 500, 0)));
	barrier("done");
}

static void uring_client(void)
{
	struct addr a = loopback(ctl_get());
	struct io_uring_sqe sqe = { .opcode = IORING_OP_CONNECT };
	static char buf[100010];
	uint32_t flags;
	struct ring r;
	int fd = make_socket(0);

	ring_open(&r);
	fill(buf, sizeof(buf), 0);
	sqe.fd = fd;
	sqe.addr = (uintptr_t)&a.sa;
	sqe.off = a.len;
	R(run(&r, sqe));
	check_mode(fd);
	barrier("waiting");
	R(run(&r, transfer(IORING_OP_SEND, fd, buf, 10, 0)));
	barrier("polling");
	for (size_t at = 10; at < sizeof(buf); ) {
		size_t left = sizeof(buf) - at;
		long n = run(&r, transfer(IORING_OP_SEND, fd, buf + at, left, MSG_WAITALL));

		CHECK(n > 0);
		at += n;
	}
	recv_bytes(fd, 10, 1000, 1000);
	barrier("copied");
	sqe = transfer(IORING_OP_SEND_ZC, fd, buf, 500, 0);
	submit(&r, &sqe);
	R(complete(&r, &flags));
	if (flags & IORING_CQE_F_MORE)
		R(complete(&r, &flags));
	rec("a notification: %d", !!(flags & IORING_CQE_F_NOTIF));
	sqe = (struct io_uring_sqe){ .opcode = IORING_OP_SHUTDOWN, .fd = fd, .len = SHUT_WR };
	R(run(&r, sqe));
	barrier("done");
}

/* Receive, and say whether more is there. */
static void recv_flag(struct ring *r, int fd, size_t len, int msg_flags)
{
	struct io_uring_sqe sqe;
	uint32_t flags;
	char buf[100];

	sqe = transfer(IORING_OP_RECV, fd, buf, len, msg_flags);
	submit(r, &sqe);
	R(complete(r, &flags));
	rec("more is there: %d", !!(flags & IORING_CQE_F_SOCK_NONEMPTY));
}

static void uring_nonempty_server(void)
{
	struct ring r;
	int fd = pair();

	ring_open(&r);
	barrier("sent");
	await_inq(fd, 10);
	recv_flag(&r, fd, 4, MSG_PEEK);
	recv_flag(&r, fd, 10, MSG_PEEK);
	recv_flag(&r, fd, 4, 0);
	recv_flag(&r, fd, 4, MSG_WAITALL);
	recv_flag(&r, fd, 4, 0);
	recv_flag(&r, fd, 4, MSG_DONTWAIT);
	barrier("end");
	await_mask(fd, POLLRDHUP);
	recv_flag(&r, fd, 10, 0);
	recv_flag(&r, fd, 10, 0);
	barrier("done");
}

static void uring_nonempty_client(void)
{
	int fd = pair();

	send_bytes(fd, 0, 10, 10);
	barrier("sent");
	barrier("end");
	send_bytes(fd, 10, 10, 10);
	R(shutdown(fd, SHUT_WR));
	barrier("done");
}

#ifndef SOCKET_URING_OP_SIOCINQ
#define SOCKET_URING_OP_SIOCINQ 0
#define SOCKET_URING_OP_SIOCOUTQ 1
#endif

/*
 * A command to a socket, which kernels before 6.7 do not have. IORING_OP_URING_CMD128 is the same
 * in an entry of twice the size.
 */
static void command(struct ring *r, int fd, int op)
{
	struct io_uring_sqe sqe = { .opcode = IORING_OP_URING_CMD, .fd = fd, .off = op };

	R(run(r, sqe));
}

static void uring_queues_server(void)
{
	int l = listen_on(1), fd = pair();
	struct ring r;

	ring_open(&r);
	command(&r, l, SOCKET_URING_OP_SIOCINQ);
	command(&r, fd, SOCKET_URING_OP_SIOCINQ);
	barrier("empty");
	barrier("sent");
	await_inq(fd, 100);
	command(&r, fd, SOCKET_URING_OP_SIOCINQ);
	recv_bytes(fd, 0, 30, 30);
	command(&r, fd, SOCKET_URING_OP_SIOCINQ);
	barrier("done");
}

static void uring_queues_client(void)
{
	struct ring r;
	int fd = pair(), on = 1;

	ring_open(&r);
	barrier("empty");
	send_bytes(fd, 0, 100, 100);
	await_sent(fd);
	barrier("sent");
	R(setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof(on)));
	send_bytes(fd, 100, 7, 7);
	command(&r, fd, SOCKET_URING_OP_SIOCOUTQ);
	command(&r, fd, 0x1234);
	barrier("done");
}

/* Operations that the headers of Linux 6.1 lack; older kernels answer EINVAL. */
#define OP_READ_MULTISHOT	49	/* IORING_OP_READ_MULTISHOT, 6.7 */
#define OP_BIND			56	/* IORING_OP_BIND, 6.11 */
#define OP_LISTEN		57	/* IORING_OP_LISTEN, 6.11 */
#define OP_EPOLL_WAIT		59	/* IORING_OP_EPOLL_WAIT, 6.15 */
#define OP_READV_FIXED		60	/* IORING_OP_READV_FIXED, 6.15 */
#define OP_WRITEV_FIXED		61	/* IORING_OP_WRITEV_FIXED, 6.15 */

#define PART	100		/* bytes that one operation transfers */

static struct io_uring_sqe vector(int op, int fd, void *what, unsigned int len)
{
	return (struct io_uring_sqe) { .opcode = op, .fd = fd, .addr = (uintptr_t)what, .len = len };
}

static struct io_uring_sqe spliced(int from, int to)
{
	return (struct io_uring_sqe) {
		.opcode = IORING_OP_SPLICE, .splice_fd_in = from, .fd = to, .len = PART,
		.splice_off_in = -1, .off = -1, .splice_flags = SPLICE_F_NONBLOCK,
	};
}

/* Let the kernel know this memory, for IORING_OP_READ_FIXED and the like. */
static void register_buffer(struct ring *r, char *buf, size_t len)
{
	struct iovec iov = { buf, len };

	X(syscall(__NR_io_uring_register, r->fd, IORING_REGISTER_BUFFERS, &iov, 1));
}

/* Receive by an operation that goes on until it is cancelled, into buffers that it chooses. */
static void multishot(struct ring *r, int fd, int op, int ioprio, const char *step)
{
	static char buf[4 * PART];
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_PROVIDE_BUFFERS, .fd = 4, .addr = (uintptr_t)buf, .len = PART,
	};
	uint32_t flags;
	bool more;

	R(run(r, sqe));
	sqe = (struct io_uring_sqe) {
		.opcode = op, .fd = fd, .ioprio = ioprio, .flags = IOSQE_BUFFER_SELECT,
	};
	submit(r, &sqe);
	barrier(step);
	R(complete(r, &flags));
	more = flags & IORING_CQE_F_MORE;
	rec("more will follow: %d", more);
	if (!more)
		recv_bytes(fd, 0, PART, PART);
	barrier(step);
	if (more) {
		R(complete(r, NULL));
		R(run(r, (struct io_uring_sqe) { .opcode = IORING_OP_ASYNC_CANCEL }));
		R(complete(r, NULL));
	} else {
		recv_bytes(fd, 0, 10, 10);
	}
	R(run(r, (struct io_uring_sqe) { .opcode = IORING_OP_REMOVE_BUFFERS, .fd = 4 }));
}

static void uring_ops_server(void)
{
	static char buf[PART], rest[2 * PART];
	struct iovec iov = { buf, PART };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct epoll_event event = { .events = EPOLLIN };
	struct io_uring_sqe sqe;
	int fd, epoll, p[2];
	struct ring r;

	ring_open(&r);
	register_buffer(&r, buf, PART);
	fd = pair();
	barrier("sent");
	await_inq(fd, 6 * PART);
	R(run(&r, vector(IORING_OP_READV, fd, &iov, 1)));
	verify(buf, PART, 0);
	R(run(&r, vector(IORING_OP_READ_FIXED, fd, buf, PART)));
	verify(buf, PART, PART);
	R(run(&r, vector(IORING_OP_RECVMSG, fd, &msg, 1)));
	verify(buf, PART, 2 * PART);
	X(pipe(p));
	R(run(&r, spliced(fd, p[1])));
	CHECK(read(p[0], buf, PART) == PART);
	verify(buf, PART, 3 * PART);
	epoll = X(epoll_create1(0));
	sqe = vector(IORING_OP_EPOLL_CTL, epoll, &event, EPOLL_CTL_ADD);
	sqe.off = fd;
	R(run(&r, sqe));
	rec("%d events, %s", epoll_wait(epoll, &event, 1, 0), mask_name(event.events));
	R(run(&r, vector(OP_EPOLL_WAIT, epoll, &event, 1)));
	R(run(&r, vector(OP_READV_FIXED, fd, &iov, 1)));
	R(recv(fd, rest, sizeof(rest), MSG_DONTWAIT));
	sqe = vector(IORING_OP_POLL_ADD, fd, NULL, 0);
	sqe.poll32_events = uring_events(POLLIN);
	sqe.user_data = 1;
	submit(&r, &sqe);
	R(run(&r, (struct io_uring_sqe) { .opcode = IORING_OP_POLL_REMOVE, .addr = 1 }));
	R(complete(&r, NULL));
	multishot(&r, fd, IORING_OP_RECV, IORING_RECV_MULTISHOT, "received");
	multishot(&r, fd, OP_READ_MULTISHOT, 0, "read");
	barrier("done");
	R(run(&r, vector(IORING_OP_CLOSE, fd, NULL, 0)));
}

static void uring_ops_client(void)
{
	static char buf[6 * PART];
	struct iovec iov = { buf, PART };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fd, p[2];
	uint32_t flags;
	struct ring r;
	struct io_uring_sqe sqe;

	ring_open(&r);
	fill(buf, sizeof(buf), 0);
	register_buffer(&r, buf, sizeof(buf));
	fd = pair();
	R(run(&r, vector(IORING_OP_WRITEV, fd, &iov, 1)));
	R(run(&r, vector(IORING_OP_WRITE_FIXED, fd, buf + PART, PART)));
	iov.iov_base = buf + 2 * PART;
	R(run(&r, vector(IORING_OP_SENDMSG, fd, &msg, 1)));
	X(pipe(p));
	CHECK(write(p[1], buf + 3 * PART, PART) == PART);
	R(run(&r, spliced(p[0], fd)));
	iov.iov_base = buf + 4 * PART;
	sqe = vector(IORING_OP_SENDMSG_ZC, fd, &msg, 1);
	submit(&r, &sqe);
	R(complete(&r, &flags));
	if (flags & IORING_CQE_F_MORE)
		R(complete(&r, NULL));
	iov.iov_base = buf + 5 * PART;
	if (R(run(&r, vector(OP_WRITEV_FIXED, fd, &iov, 1))) < 0)
		R(run(&r, vector(IORING_OP_WRITE, fd, buf + 5 * PART, PART)));
	barrier("sent");
	for (int i = 0; i < 2; i++) {
		const char *step = i ? "read" : "received";

		barrier(step);
		send_bytes(fd, 0, PART, PART);
		barrier(step);
		send_bytes(fd, 0, 10, 10);
	}
	barrier("done");
}

/* A listener that is made by operations of io_uring. */
static void uring_listener_server(void)
{
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_SOCKET, .fd = me.kind.family, .off = SOCK_STREAM,
		.len = me.kind.protocol,
	};
	struct addr a = loopback(0);
	struct ring r;
	int l;

	ring_open(&r);
	l = RFD(run(&r, sqe));
	sqe = vector(OP_BIND, l, &a.sa, 0);
	sqe.addr2 = a.len;
	if (R(run(&r, sqe)) < 0)
		X(bind(l, &a.sa, a.len));
	if (R(run(&r, vector(OP_LISTEN, l, NULL, 5))) < 0)
		X(listen(l, 5));
	tell_port(l);
	ping_pong(accept_one(l));
	barrier("done");
}

static void uring_listener_client(void)
{
	ping_pong(connect_to(ctl_get(), 0));
	barrier("done");
}

const struct test_case uring_cases[] = {
	CASE(uring, 0, "io_uring instead of system calls"),
	CASE(uring_nonempty, 0, "a receive by io_uring says whether more is there"),
	CASE(uring_lowat, 0, "io_uring polls a socket with SO_RCVLOWAT"),
	CASE(uring_ops, 0, "io_uring's other ways to send, receive and wait"),
	CASE(uring_listener, 0, "io_uring makes a listener"),
	CASE(uring_queues, 0, "io_uring's own SIOCINQ and SIOCOUTQ"),
	{ 0 }
};
