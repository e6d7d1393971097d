// SPDX-License-Identifier: GPL-2.0
/*
 * The work of the two processes: first warmup operations, then count operations
 * between mark_begin() and mark_end(), which only the client calls.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "bench.h"

static void pingpong_loop(const struct options *opt, struct chan *ch, enum role role,
			  long n, char *buf)
{
	while (n--) {
		if (role == CLIENT)
			write_all(ch->out, buf, opt->size);
		read_all(ch->in, buf, opt->size);
		if (role == SERVER)
			write_all(ch->out, buf, opt->size);
	}
}

/* As an event loop does it: wait for an event before each read. */
static void epoll_loop(const struct options *opt, struct chan *ch, enum role role, long n, char *buf,
		       int ep)
{
	struct epoll_event ev;

	while (n--) {
		if (role == CLIENT)
			write_all(ch->out, buf, opt->size);
		if (epoll_wait(ep, &ev, 1, -1) != 1)
			die_errno("epoll_wait");
		read_all(ch->in, buf, opt->size);
		if (role == SERVER)
			write_all(ch->out, buf, opt->size);
	}
}

static int epoll_of(const struct options *opt, struct chan *ch)
{
	struct {
		uint32_t usecs;
		uint16_t budget;
		uint8_t prefer, pad;
	} params = { .usecs = opt->busy_poll, .budget = 8 };
	struct epoll_event ev = { .events = EPOLLIN };
	int ep = epoll_create1(0);

	if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, ch->in, &ev))
		die_errno("epoll");
	/* EPIOCSPARAMS, since Linux 6.9 */
	if (opt->busy_poll && ioctl(ep, _IOW(0x8A, 0x01, params), &params))
		die_errno("EPIOCSPARAMS");
	return ep;
}

static void run_epoll(const struct transport *t, const struct options *opt, enum role role)
{
	char *buf = buffer(opt->size);
	struct chan ch;
	int ep;

	if (role == SERVER) {
		t->server(opt, &ch);
		ep = epoll_of(opt, &ch);
		epoll_loop(opt, &ch, role, opt->warmup + opt->count, buf, ep);
	} else {
		t->client(opt, &ch);
		ep = epoll_of(opt, &ch);
		epoll_loop(opt, &ch, role, opt->warmup, buf, ep);
		mark_begin();
		epoll_loop(opt, &ch, role, opt->count, buf, ep);
		mark_end();
	}
	chan_close(&ch);
}

static void run_pingpong(const struct transport *t, const struct options *opt,
			 enum role role)
{
	char *buf = buffer(opt->size);
	struct chan ch;

	if (role == SERVER) {
		t->server(opt, &ch);
		pingpong_loop(opt, &ch, role, opt->warmup + opt->count, buf);
	} else {
		t->client(opt, &ch);
		pingpong_loop(opt, &ch, role, opt->warmup, buf);
		mark_begin();
		pingpong_loop(opt, &ch, role, opt->count, buf);
		mark_end();
	}
	chan_close(&ch);
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

static void stream_write(const struct options *opt, struct chan *ch, long n, char *buf)
{
	char done;

	while (n--)
		write_all(ch->out, buf, opt->size);
	/* The clock stops when the last byte has been read, not when it has been queued. */
	read_all(ch->in, &done, 1);
}

static void run_stream(const struct transport *t, const struct options *opt,
		       enum role role)
{
	char *buf = buffer(role == SERVER ? opt->read_size : opt->size);
	struct chan ch;

	if (role == SERVER) {
		t->server(opt, &ch);
		stream_read(opt, &ch, opt->warmup, buf);
		stream_read(opt, &ch, opt->count, buf);
	} else {
		t->client(opt, &ch);
		stream_write(opt, &ch, opt->warmup, buf);
		mark_begin();
		stream_write(opt, &ch, opt->count, buf);
		mark_end();
	}
	chan_close(&ch);
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

static void stream_file(const struct options *opt, struct chan *ch, long n, int file)
{
	char done;

	while (n--) {
		off_t at = 0;

		while (at < (off_t)opt->size)
			if (sendfile(ch->out, file, &at, opt->size - at) <= 0)
				die_errno("sendfile");
	}
	read_all(ch->in, &done, 1);
}

static void run_sendfile(const struct transport *t, const struct options *opt, enum role role)
{
	struct chan ch;
	char *buf;
	int file;

	if (role == SERVER) {
		buf = buffer(opt->read_size);
		t->server(opt, &ch);
		stream_read(opt, &ch, opt->warmup, buf);
		stream_read(opt, &ch, opt->count, buf);
	} else {
		file = file_of(opt->size);
		t->client(opt, &ch);
		stream_file(opt, &ch, opt->warmup, file);
		mark_begin();
		stream_file(opt, &ch, opt->count, file);
		mark_end();
	}
	chan_close(&ch);
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
			pingpong_loop(opt, &ch, role, opt->exchanges, echo);
		chan_close(&ch);
	}
}

static void connect_both(const struct transport *t, const struct options *opt,
			 enum role role, char *echo)
{
	/*
	 * The client may be a backlog ahead of the server. With a meeting before and after, the
	 * time covers exactly count connects and count accepts.
	 */
	connect_loop(t, opt, role, opt->warmup, echo);
	meet(role);
	if (role == CLIENT)
		mark_begin();
	connect_loop(t, opt, role, opt->count, echo);
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
	{ "pingpong", "write SIZE, read SIZE back", false, 10000, 1000, run_pingpong },
	{ "epoll", "the same, waiting for it in epoll", false, 10000, 1000, run_epoll },
	{ "stream", "write SIZE, the other end reads", false, 5000, 500, run_stream },
	{ "sendfile", "sendfile() of SIZE, the other end reads", false, 5000, 500, run_sendfile },
	{ "connect", "connect, close", true, 2000, 1000, run_connect },
	{ "connect-echo", "connect, one ping-pong of SIZE, close", true, 2000, 1000,
	  run_connect_echo },
	{ "mem", "COUNT connections kept open: memory and set-up cost", true, 10000, 10,
	  run_mem },
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
