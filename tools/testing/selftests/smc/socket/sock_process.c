// SPDX-License-Identifier: GPL-2.0
/* Descriptors that are duplicated, inherited, passed on and shared by many. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "role.h"

static void wait_child(pid_t pid)
{
	int status;

	X(waitpid(pid, &status, 0));
	CHECK(status == 0);
}

/* The connection lives as long as one descriptor of it is open. */
static void dup_server(void)
{
	int fd = pair(), fd2 = X(dup(fd));

	R(close(fd));
	ping_pong(fd2);
	barrier("connection open");
	R(dup2(fd2, fd2 + 10) == fd2 + 10);
	R(close(fd2));
	ping_pong(fd2 + 10);
	barrier("connection still open");
	R(close(fd2 + 10));
	barrier("gone");
}

static void dup_client(void)
{
	int fd = pair();

	ping_pong(fd);
	barrier("connection open");
	rec("poll %s", mask_name(poll_mask(fd, POLLIN | POLLOUT | POLLRDHUP)));
	ping_pong(fd);
	barrier("connection still open");
	barrier("gone");
	rec("poll %s", mask_name(await_mask(fd, POLLRDHUP)));
}

static void fork_server(void)
{
	int fd = pair();
	pid_t pid = X(fork());

	if (!pid) {
		recv_bytes(fd, 0, 1000, 100);
		send_bytes(fd, 0, 1000, 100);
		_exit(0);
	}
	wait_child(pid);
	recv_bytes(fd, 1000, 1000, 100);
	send_bytes(fd, 1000, 1000, 100);
	pid = X(fork());
	if (!pid) {
		shutdown(fd, SHUT_WR);
		_exit(0);
	}
	wait_child(pid);
	R(send(fd, "x", 1, MSG_NOSIGNAL));
	rec("end at %d", (int)recv_to_end(fd, 2000));
}

static void fork_client(void)
{
	int fd = pair();

	send_bytes(fd, 0, 2000, 2000);
	recv_bytes(fd, 0, 2000, 2000);
	rec("end at %d", (int)recv_to_end(fd, 2000));
}

/* A program started by exec finds an ordinary socket on its descriptor. */
static void exec_server(void)
{
	int fd = pair();
	pid_t pid = X(fork());

	if (!pid) {
		dup2(fd, 0);
		dup2(fd, 1);
		execlp("cat", "cat", NULL);
		_exit(1);
	}
	close(fd);
	wait_child(pid);
	barrier("done");
}

static void exec_client(void)
{
	int fd = pair();

	send_bytes(fd, 0, 200000, 10000);
	recv_bytes(fd, 0, 200000, 10000);
	R(shutdown(fd, SHUT_WR));
	rec("end at %d", (int)recv_to_end(fd, 200000));
	barrier("done");
}

static int pass_fd(int sock, int fd)
{
	char ctl[CMSG_SPACE(sizeof(int))] = "", c = 'f';
	struct iovec iov = { &c, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1,
			      .msg_control = ctl, .msg_controllen = sizeof(ctl) };
	struct cmsghdr *cm = CMSG_FIRSTHDR(&msg);

	if (fd >= 0) {
		cm->cmsg_len = CMSG_LEN(sizeof(int));
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(cm), &fd, sizeof(fd));
		return X(sendmsg(sock, &msg, 0));
	}
	CHECK(recvmsg(sock, &msg, 0) == 1);
	cm = CMSG_FIRSTHDR(&msg);
	CHECK(cm && cm->cmsg_type == SCM_RIGHTS);
	memcpy(&fd, CMSG_DATA(cm), sizeof(fd));
	return fd;
}

/* Passed to another process with data unread, then back again, in flight. */
static void scm_rights_server(void)
{
	int fd = pair(), sv[2];
	pid_t pid;

	X(socketpair(AF_UNIX, SOCK_STREAM, 0, sv));
	await_inq(fd, 100);
	pid = X(fork());
	if (!pid) {
		close(fd);
		close(sv[0]);
		fd = pass_fd(sv[1], -1);
		recv_bytes(fd, 0, 100, 10);
		send_bytes(fd, 0, 100, 10);
		pass_fd(sv[1], fd);
		_exit(0);
	}
	close(sv[1]);
	pass_fd(sv[0], fd);
	R(close(fd));
	wait_child(pid);
	/* for a moment only the message held the socket */
	fd = pass_fd(sv[0], -1);
	ping_pong(fd);
	barrier("done");
}

static void scm_rights_client(void)
{
	int fd = pair();

	send_bytes(fd, 0, 100, 100);
	recv_bytes(fd, 0, 100, 100);
	ping_pong(fd);
	barrier("done");
}

/* A descriptor that is closed while only a message holds it closes the connection. */
static void scm_rights_lost_server(void)
{
	int fd = pair(), sv[2];

	X(socketpair(AF_UNIX, SOCK_STREAM, 0, sv));
	pass_fd(sv[0], fd);
	R(close(fd));
	barrier("in a message");
	barrier("looked");
	R(close(sv[0]));
	R(close(sv[1]));
	barrier("lost");
}

static void scm_rights_lost_client(void)
{
	int fd = pair();

	barrier("in a message");
	rec("poll %s", mask_name(poll_mask(fd, POLLIN | POLLOUT | POLLRDHUP)));
	barrier("looked");
	barrier("lost");
	rec("poll %s", mask_name(await_mask(fd, POLLRDHUP)));
}

/* 64 threads receive fixed-size records from one socket; none is torn or lost. */
#define RECORDS	2000

static void *take_records(struct worker *w)
{
	unsigned char *seen = w->data;
	uint32_t r[4];

	for (;;) {
		ssize_t n = recv(w->fd, r, sizeof(r), MSG_WAITALL);

		if (n == 0)
			return NULL;
		if (n != sizeof(r) || r[0] >= RECORDS || r[1] != ~r[0] ||
		    r[2] != r[0] * 7 || r[3] != r[0] + 99) {
			w->err = 1;
			return NULL;
		}
		__atomic_add_fetch(&seen[r[0]], 1, __ATOMIC_RELAXED);
		w->ret++;
	}
}

static void *put_records(struct worker *w)
{
	for (uint32_t i = w->pos; i < RECORDS; i += 64) {
		uint32_t r[4] = { i, ~i, i * 7, i + 99 };

		if (send(w->fd, r, sizeof(r), MSG_NOSIGNAL) != sizeof(r))
			w->err = 1;
	}
	return NULL;
}

static struct worker crew[64];

static void run_crew(int fd, void *(*run)(struct worker *), void *data)
{
	for (int i = 0; i < 64; i++) {
		crew[i] = (struct worker){ .run = run, .fd = fd, .pos = i, .data = data };
		worker_start(&crew[i]);
	}
	for (int i = 0; i < 64; i++) {
		worker_join(&crew[i]);
		CHECK(!crew[i].err);
	}
}

/*
 * Only the sending side is shared. A record of 16 bytes is one send(), which
 * another send() must not tear. Receivers could tear each other's records, with
 * TCP too.
 */
static void threads_64_server(void)
{
	static unsigned char seen[RECORDS];
	struct worker one = { .run = take_records, .data = seen };

	one.fd = pair();
	worker_start(&one);
	worker_join(&one);
	CHECK(!one.err);
	for (int i = 0; i < RECORDS; i++)
		CHECK(seen[i] == 1);
	rec("%ld records, each received once", one.ret);
	send_bytes(one.fd, 0, 300000, 10000);
}

static void *count_bytes(struct worker *w)
{
	char buf[500];
	ssize_t n;

	while ((n = recv(w->fd, buf, 1 + w->pos * 7, 0)) > 0)
		__atomic_add_fetch((long *)w->data, n, __ATOMIC_RELAXED);
	w->err = n < 0;
	return NULL;
}

static void threads_64_client(void)
{
	int fd = pair();
	long sum = 0;

	run_crew(fd, put_records, NULL);
	X(shutdown(fd, SHUT_WR));
	run_crew(fd, count_bytes, &sum);
	rec("%ld bytes by 64 readers", sum);
}

static void fstat_server(void)
{
	struct stat st;
	char path[64], link[64];
	int fd = pair();
	ssize_t n;

	R(fstat(fd, &st));
	rec("mode %o, size %ld", st.st_mode, (long)st.st_size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = X(readlink(path, link, sizeof(link) - 1));
	link[n] = 0;
	rec("is a socket: %d", !strncmp(link, "socket:[", 8));
	R(open(path, O_RDONLY));
	R(fchmod(fd, 0600));
	barrier("done");
}

static void fstat_client(void)
{
	pair();
	barrier("done");
}

/* The reader and the writer are other processes than the one that connected. */
static void two_children_server(void)
{
	int fd = pair();
	pid_t r = X(fork()), w;

	if (!r) {
		recv_bytes(fd, 0, 400000, 9000);
		_exit(0);
	}
	w = X(fork());
	if (!w) {
		send_bytes(fd, 7, 400000, 70000);
		_exit(0);
	}
	close(fd);
	wait_child(r);
	wait_child(w);
}

static void two_children_client(void)
{
	int fd = pair();
	pid_t w = X(fork());

	if (!w) {
		send_bytes(fd, 0, 400000, 30000);
		_exit(0);
	}
	recv_bytes(fd, 7, 400000, 50000);
	wait_child(w);
	rec("end at %d", (int)recv_to_end(fd, 0));
}

const struct test_case process_cases[] = {
	CASE(dup, 0, "a connection lives until its last descriptor is closed"),
	CASE(fork, 0, "parent and child share a connection"),
	CASE(exec, 0, "a program started by exec reads and writes"),
	CASE(scm_rights, 0, "a descriptor passed to another process and back"),
	CASE(scm_rights_lost, 0, "a descriptor closed inside a message that is never read"),
	CASE(threads_64, 0, "64 threads send and receive on one socket"),
	CASE(fstat, 0, "fstat and /proc/self/fd"),
	CASE(two_children, 0, "a reader and a writer in two child processes"),
	{ 0 }
};
