// SPDX-License-Identifier: GPL-2.0
/* MSG_ZEROCOPY with its completions; pipes and files as source and destination. */
#include <fcntl.h>
#include <linux/errqueue.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "role.h"

#ifndef SO_ZEROCOPY
#define SO_ZEROCOPY	60
#endif

/* The next completion: which calls it covers, and whether the kernel has copied. */
static void say_completion(int fd)
{
	char control[256];
	struct msghdr msg = { .msg_control = control, .msg_controllen = sizeof(control) };
	struct sock_extended_err *err;
	struct cmsghdr *cm;

	AWAIT(poll_mask(fd, 0) & POLLERR);
	R(recvmsg(fd, &msg, MSG_ERRQUEUE));
	cm = CMSG_FIRSTHDR(&msg);
	CHECK(cm);
	err = (void *)CMSG_DATA(cm);
	rec("flags 0x%x, errno %u, origin %u, calls %u to %u, code %u", msg.msg_flags,
	    err->ee_errno, err->ee_origin, err->ee_info, err->ee_data,
	    /* TCP does not copy towards another machine; SMC always does. */
	    me.between ? 0 : err->ee_code);
	rec("poll %s", mask_name(poll_mask(fd, POLLIN)));
}

static void zerocopy_server(void)
{
	int fd = pair();

	for (int i = 0; i < 3; i++) {
		recv_bytes(fd, i * 5000, 5000, 5000);
		barrier("sent");
	}
	barrier("done");
}

static void zerocopy_client(void)
{
	static char buf[5000];
	int fd = pair();

	/* Without SO_ZEROCOPY the flag has no effect. */
	fill(buf, sizeof(buf), 0);
	R(send(fd, buf, sizeof(buf), MSG_ZEROCOPY));
	barrier("sent");
	R(recv(fd, buf, 1, MSG_ERRQUEUE));
	R(set_int(fd, SOL_SOCKET, SO_ZEROCOPY, 1));
	R(get_int(fd, SOL_SOCKET, SO_ZEROCOPY));
	for (int i = 1; i < 3; i++) {
		fill(buf, sizeof(buf), i * sizeof(buf));
		R(send(fd, buf, sizeof(buf), MSG_ZEROCOPY));
		barrier("sent");
		say_completion(fd);
	}
	R(send(fd, (void *)16, 10, MSG_ZEROCOPY));
	R(send(fd, buf, 0, MSG_ZEROCOPY));
	rec("poll %s", mask_name(poll_mask(fd, POLLIN)));
	X(shutdown(fd, SHUT_WR));
	R(send(fd, buf, 10, MSG_ZEROCOPY | MSG_NOSIGNAL));
	R(recv(fd, buf, 1, MSG_ERRQUEUE));
	barrier("done");
}

#define CALLS	200		/* of each thread */

/* How many of CALLS calls succeed, some of which have no room. */
static void *send_often(struct worker *w)
{
	static char buf[20000];

	for (int i = 0; i < CALLS; i++)
		w->ret += send(w->fd, buf, sizeof(buf), MSG_ZEROCOPY | MSG_DONTWAIT) > 0;
	return NULL;
}

static void zerocopy_threads_server(void)
{
	char buf[5000];
	int fd = pair();

	while (X(recv(fd, buf, sizeof(buf), 0)))
		;
	barrier("done");
}

/* Calls that succeed at the same time have a number each. */
static void zerocopy_threads_client(void)
{
	struct worker w[2] = { { .run = send_often, .fd = pair() } };
	unsigned char told[2 * CALLS] = { 0 };
	int fd = w[0].fd, calls;

	w[1] = w[0];
	X(set_int(fd, SOL_SOCKET, SO_ZEROCOPY, 1));
	for (int i = 0; i < 2; i++)
		worker_start(&w[i]);
	for (int i = 0; i < 2; i++)
		worker_join(&w[i]);
	X(shutdown(fd, SHUT_WR));
	calls = w[0].ret + w[1].ret;
	for (int n = 0; n < calls; ) {
		char control[256];
		struct msghdr msg = { .msg_control = control, .msg_controllen = sizeof(control) };
		struct sock_extended_err *err;

		AWAIT(poll_mask(fd, 0) & POLLERR);
		X(recvmsg(fd, &msg, MSG_ERRQUEUE));
		err = (void *)CMSG_DATA(CMSG_FIRSTHDR(&msg));
		for (unsigned int at = err->ee_info; at <= err->ee_data; at++, n++)
			CHECK(at < (unsigned int)calls && !told[at]++);
	}
	barrier("done");
}

#define PIPED	200000

/* From the socket into a pipe, duplicated by tee(), and back into the socket. */
static void pipes_server(void)
{
	int fd = pair(), in[2], copy[2];
	static char buf[4096];
	size_t done = 0;

	X(pipe(in));
	X(pipe(copy));
	while (done < PIPED) {
		ssize_t n = X(splice(fd, NULL, in[1], NULL, sizeof(buf), SPLICE_F_MOVE));

		CHECK(n > 0 && X(tee(in[0], copy[1], n, 0)) == n);
		for (ssize_t left = n; left > 0; )
			left -= X(splice(in[0], NULL, fd, NULL, left, SPLICE_F_MORE));
		CHECK(X(read(copy[0], buf, n)) == n);
		verify(buf, n, done);
		done += n;
	}
	rec("%zu bytes", done);
	barrier("done");
}

static void *vmsplice_all(struct worker *w)
{
	char *data = w->data;
	size_t at = 0;

	while (at < PIPED) {
		struct iovec iov = { data + at, PIPED - at };

		at += X(vmsplice(w->fd, &iov, 1, 0));
	}
	close(w->fd);
	return NULL;
}

static void *take_back(struct worker *w)
{
	recv_bytes(w->fd, 0, PIPED, 10007);
	return NULL;
}

static void pipes_client(void)
{
	int fd = pair(), p[2];
	char *data = malloc(PIPED);
	struct worker tx = { .run = vmsplice_all, .data = data };
	struct worker rx = { .run = take_back, .fd = fd };

	CHECK(data);
	fill(data, PIPED, 0);
	X(pipe(p));
	tx.fd = p[1];
	worker_start(&tx);
	worker_start(&rx);
	while (X(splice(p[0], NULL, fd, NULL, 65536, 0)) > 0)
		;
	worker_join(&tx);
	worker_join(&rx);
	barrier("done");
}

#define FILE_SIZE	(3u << 20)

/* A file that changes right after sendfile() has returned, and one that gets shorter. */
static void sendfile_changed_server(void)
{
	int fd = pair();

	barrier("changed");
	recv_bytes(fd, 0, 20000, 20000);
	barrier("read");
	recv_bytes(fd, 0, FILE_SIZE, 60000);
	recv_bytes(fd, 0, 1000, 1000);
	barrier("done");
}

static void sendfile_changed_client(void)
{
	int fd = pair(), file = X(memfd_create("data", 0));
	char *buf = malloc(FILE_SIZE);
	off_t off = 0;

	CHECK(buf);
	fill(buf, FILE_SIZE, 0);
	X(write(file, buf, FILE_SIZE));
	R(sendfile(fd, file, &off, 20000));
	X(ftruncate(file, 0));
	barrier("changed");
	barrier("read");
	X(pwrite(file, buf, FILE_SIZE, 0));
	off = 0;
	while (off < (off_t)FILE_SIZE)
		X(sendfile(fd, file, &off, FILE_SIZE));
	R(sendfile(fd, file, &off, FILE_SIZE));
	X(ftruncate(file, 1000));
	off = 0;
	R(sendfile(fd, file, &off, 5000));
	rec("offset %ld", (long)off);
	free(buf);
	barrier("done");
}

/* MSG_PEEK continues where it stopped; kernels before 6.9 refuse this, for TCP too. */
static void peek_offset_server(void)
{
	char buf[10] = "";
	int fd = pair();

	R(set_int(fd, SOL_SOCKET, SO_PEEK_OFF, 0));
	barrier("sent");
	await_inq(fd, 10);
	for (int i = 0; i < 3; i++) {
		R(recv(fd, buf, 4, MSG_PEEK | MSG_DONTWAIT));
		rec("%.4s", buf);
		R(get_int(fd, SOL_SOCKET, SO_PEEK_OFF));
	}
	R(recv(fd, buf, 3, 0));
	R(get_int(fd, SOL_SOCKET, SO_PEEK_OFF));
	R(set_int(fd, SOL_SOCKET, SO_PEEK_OFF, 2));
	R(recv(fd, buf, 4, MSG_PEEK));
	rec("%.4s", buf);
	R(recv(fd, buf, 7, 0));
	R(set_int(fd, SOL_SOCKET, SO_PEEK_OFF, -1));
	barrier("done");
}

static void peek_offset_client(void)
{
	int fd = pair();

	R(send(fd, "0123456789", 10, 0));
	barrier("sent");
	barrier("done");
}

const struct test_case zerocopy_cases[] = {
	CASE(zerocopy, 0, "MSG_ZEROCOPY copies and reports completions"),
	CASE(zerocopy_threads, 0, "each MSG_ZEROCOPY call of two threads has a number"),
	CASE(pipes, 0, "splice(), tee() and vmsplice() with a socket"),
	CASE(sendfile_changed, 0, "sendfile() of 3 MiB, then the file changes"),
	CASE(peek_offset, 0, "MSG_PEEK with SO_PEEK_OFF"),
	{ 0 }
};
