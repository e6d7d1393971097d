// SPDX-License-Identifier: GPL-2.0
/*
 * The work of the two processes: first warmup operations, then count operations
 * between mark_begin() and mark_end(), which only the client calls.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "bench.h"
#include "../lib/epoll_busy_poll.h"

/* @ep: the epoll instance of an event loop, which waits for an event before each read; or -1 */
static void pingpong_loop(const struct options *opt, struct chan *ch, enum role role, long n, char *buf,
			  int ep)
{
	struct epoll_event ev;

	while (n--) {
		if (role == CLIENT)
			write_all(ch->out, buf, opt->size);
		if (ep >= 0 && epoll_wait(ep, &ev, 1, -1) != 1)
			die_errno("epoll_wait");
		read_all(ch->in, buf, opt->size);
		if (role == SERVER)
			write_all(ch->out, buf, opt->size);
	}
}

static int epoll_of(const struct options *opt, struct chan *ch)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int ep = epoll_create1(0);

	if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, ch->in, &ev))
		die_errno("epoll");
	if (opt->busy_poll && !epoll_busy_poll(ep, opt->busy_poll))
		die_errno("EPIOCSPARAMS");
	return ep;
}

static void pingpong_both(const struct transport *t, const struct options *opt, enum role role,
			  bool epoll)
{
	char *buf = buffer(opt->size);
	struct chan ch;
	int ep;

	if (role == SERVER) {
		t->server(opt, &ch);
		ep = epoll ? epoll_of(opt, &ch) : -1;
		pingpong_loop(opt, &ch, role, opt->warmup + opt->count, buf, ep);
	} else {
		t->client(opt, &ch);
		ep = epoll ? epoll_of(opt, &ch) : -1;
		pingpong_loop(opt, &ch, role, opt->warmup, buf, ep);
		mark_begin();
		pingpong_loop(opt, &ch, role, opt->count, buf, ep);
		mark_end();
	}
	chan_close(&ch);
}

static void run_pingpong(const struct transport *t, const struct options *opt, enum role role)
{
	pingpong_both(t, opt, role, false);
}

static void run_epoll(const struct transport *t, const struct options *opt, enum role role)
{
	pingpong_both(t, opt, role, true);
}

static void stream_read(const struct options *opt, struct chan *ch, long n, char *buf)
{
	size_t left = n * opt->size;
	ssize_t got;

	while (left) {
		got = read(ch->in, buf, left < opt->read_size ? left : opt->read_size);
		if (got <= 0)
			die_errno("read in the middle of a stream");
		left -= got;
	}
	write_all(ch->out, "", 1);
}

/* A file in memory, as a web server has it in the page cache. */
static int file_of(size_t size)
{
	int fd = memfd_create("smc_bench", MFD_CLOEXEC);

	if (fd < 0)
		die_errno("memfd_create");
	write_all(fd, buffer(size), size);
	return fd;
}

static void send_file(int to, int file, size_t size)
{
	off_t at = 0;

	while (at < (off_t)size)
		if (sendfile(to, file, &at, size - at) <= 0)
			die_errno("sendfile");
}

/* Sends @buf, or the file instead of it. */
static void stream_write(const struct options *opt, struct chan *ch, long n, char *buf, int file)
{
	char done;

	/* Two loops, so that a write costs no decision. */
	while (buf && n--)
		write_all(ch->out, buf, opt->size);
	while (!buf && n--)
		send_file(ch->out, file, opt->size);
	/* The clock stops when the last byte has been read, not when it has been queued. */
	read_all(ch->in, &done, 1);
}

static void stream_both(const struct transport *t, const struct options *opt, enum role role,
			char *buf, int file)
{
	struct chan ch;

	if (role == SERVER) {
		t->server(opt, &ch);
		stream_read(opt, &ch, opt->warmup, buf);
		stream_read(opt, &ch, opt->count, buf);
	} else {
		t->client(opt, &ch);
		stream_write(opt, &ch, opt->warmup, buf, file);
		mark_begin();
		stream_write(opt, &ch, opt->count, buf, file);
		mark_end();
	}
	chan_close(&ch);
}

static void run_stream(const struct transport *t, const struct options *opt, enum role role)
{
	stream_both(t, opt, role, buffer(role == SERVER ? opt->read_size : opt->size), -1);
}

static void run_sendfile(const struct transport *t, const struct options *opt, enum role role)
{
	if (role == SERVER)
		stream_both(t, opt, role, buffer(opt->read_size), -1);
	else
		stream_both(t, opt, role, NULL, file_of(opt->size));
}

static void connect_loop(const struct transport *t, const struct options *opt,
			 enum role role, long n, char *echo)
{
	struct chan ch;

	while (n--) {
		if (role == SERVER)
			t->server(opt, &ch);
		else
			t->client(opt, &ch);
		if (echo)
			pingpong_loop(opt, &ch, role, opt->exchanges, echo, -1);
		chan_close(&ch);
	}
}

static void connect_both(const struct transport *t, const struct options *opt,
			 enum role role, char *echo)
{
	bool together = opt->listeners == OWN;

	if (role == SERVER && !together)
		connect_loop(t, opt, role, LONG_MAX, echo);
	/*
	 * The client may be a backlog ahead of the server. With a meeting before and after, the
	 * time covers exactly count connects and count accepts.
	 */
	connect_loop(t, opt, role, opt->warmup, echo);
	if (together)
		meet(role);
	if (role == CLIENT)
		mark_begin();
	connect_loop(t, opt, role, opt->count, echo);
	if (together)
		meet(role);
	if (role == CLIENT)
		mark_end();
}

static void run_connect(const struct transport *t, const struct options *opt,
			enum role role)
{
	connect_both(t, opt, role, NULL);
}

static void run_connect_echo(const struct transport *t, const struct options *opt,
			     enum role role)
{
	connect_both(t, opt, role, buffer(opt->size));
}

static const struct work works[] = {
	{ "pingpong", "write SIZE, read SIZE back", false, false, 10000, 1000, run_pingpong },
	{ "epoll", "write SIZE, read SIZE back, waiting in epoll", false, false, 10000, 1000,
	  run_epoll },
	{ "stream", "write SIZE, the other end reads", false, false, 5000, 500, run_stream },
	{ "sendfile", "sendfile() of SIZE, the other end reads", false, false, 5000, 500,
	  run_sendfile },
	{ "connect", "connect, close", true, true, 2000, 1000, run_connect },
	{ "connect-echo", "connect, one ping-pong of SIZE, close", true, true, 2000, 1000,
	  run_connect_echo },
	{ "mem", "open COUNT connections: memory and set-up cost", true, false,
	  10000, 10, run_mem },
};

const struct work *work_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(works) / sizeof(works[0]); i++)
		if (!strcmp(works[i].name, name))
			return &works[i];
	return NULL;
}

void work_list(void)
{
	size_t i;

	for (i = 0; i < sizeof(works) / sizeof(works[0]); i++)
		printf("  %-14s %s\n", works[i].name, works[i].what);
}
