// SPDX-License-Identifier: GPL-2.0
/* How the two processes are connected. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "bench.h"

#define REUSEPORT_PORT 4711

static int listener = -1;
static struct sockaddr_in inet_addr_of_listener;
static struct sockaddr_un unix_addr_of_listener;
static int pipes[2][2];

static void set_buffers(const struct options *opt, int fd)
{
	if (opt->sndbuf && setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &opt->sndbuf,
				      sizeof(opt->sndbuf)))
		die_errno("SO_SNDBUF %d", opt->sndbuf);
	if (opt->rcvbuf && setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &opt->rcvbuf,
				      sizeof(opt->rcvbuf)))
		die_errno("SO_RCVBUF %d", opt->rcvbuf);
}

static void set_nodelay(const struct options *opt, int fd)
{
	int one = 1;

	if (opt->nodelay &&
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		die_errno("TCP_NODELAY");
}

static void set_busy_poll(const struct options *opt, int fd)
{
	if (opt->busy_poll && setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &opt->busy_poll,
					 sizeof(opt->busy_poll)))
		die_errno("SO_BUSY_POLL %d", opt->busy_poll);
}

static int inet_socket(const struct options *opt, int protocol)
{
	int fd = socket(AF_INET, SOCK_STREAM, protocol);

	if (fd < 0)
		die_errno("socket(AF_INET, SOCK_STREAM, %d)%s", protocol,
			  protocol == IPPROTO_SMC ? ", is smc.ko loaded?" : "");
	set_buffers(opt, fd);
	return fd;
}

static void inet_listen(const struct options *opt, int protocol)
{
	struct sockaddr_in *sin = &inet_addr_of_listener;
	socklen_t len = sizeof(*sin);
	int one = 1;

	listener = inet_socket(opt, protocol);
	sin->sin_family = AF_INET;
	if (opt->listeners == REUSEPORT) {
		sin->sin_port = htons(REUSEPORT_PORT);
		if (setsockopt(listener, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)))
			die_errno("SO_REUSEPORT");
	}
	sin->sin_addr.s_addr = htonl(opt->addresses > 1 ? INADDR_ANY : opt->address);
	if (bind(listener, (struct sockaddr *)sin, sizeof(*sin)) ||
	    listen(listener, opt->backlog) ||
	    getsockname(listener, (struct sockaddr *)sin, &len))
		die_errno("cannot listen");
}

static void inet_connect(const struct options *opt, struct chan *ch, int protocol)
{
	static long calls;

	inet_addr_of_listener.sin_addr.s_addr = htonl(opt->address + calls++ % opt->addresses);
	ch->in = inet_socket(opt, protocol);
	ch->out = ch->in;
	if (connect(ch->in, (struct sockaddr *)&inet_addr_of_listener,
		    sizeof(inet_addr_of_listener)))
		die_errno("connect");
	set_nodelay(opt, ch->in);
	set_busy_poll(opt, ch->in);
}

static void accept_one(const struct options *opt, struct chan *ch)
{
	ch->in = accept(listener, NULL, NULL);
	ch->out = ch->in;
	if (ch->in < 0)
		die_errno("accept");
}

static void inet_accept(const struct options *opt, struct chan *ch)
{
	accept_one(opt, ch);
	set_nodelay(opt, ch->in);
	set_busy_poll(opt, ch->in);
}

static void tcp_open(const struct options *opt)
{
	inet_listen(opt, 0);
}

static void tcp_client(const struct options *opt, struct chan *ch)
{
	inet_connect(opt, ch, 0);
}

static void smc_open(const struct options *opt)
{
	inet_listen(opt, IPPROTO_SMC);
}

static void smc_client(const struct options *opt, struct chan *ch)
{
	inet_connect(opt, ch, IPPROTO_SMC);
}

static void unix_open(const struct options *opt)
{
	struct sockaddr_un *sun = &unix_addr_of_listener;

	sun->sun_family = AF_UNIX;
	snprintf(sun->sun_path + 1, sizeof(sun->sun_path) - 1, "smc_bench.%d",
		 getpid());
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (listener < 0)
		die_errno("socket(AF_UNIX)");
	if (bind(listener, (struct sockaddr *)sun, sizeof(*sun)) ||
	    listen(listener, opt->backlog))
		die_errno("cannot listen on a unix socket");
}

static void unix_client(const struct options *opt, struct chan *ch)
{
	ch->in = socket(AF_UNIX, SOCK_STREAM, 0);
	ch->out = ch->in;
	if (ch->in < 0)
		die_errno("socket(AF_UNIX)");
	set_buffers(opt, ch->in);
	if (connect(ch->in, (struct sockaddr *)&unix_addr_of_listener,
		    sizeof(unix_addr_of_listener)))
		die_errno("connect to a unix socket");
}

static void pipe_open(const struct options *opt)
{
	if (pipe(pipes[0]) || pipe(pipes[1]))
		die_errno("pipe");
}

static void pipe_client(const struct options *opt, struct chan *ch)
{
	ch->in = pipes[0][0];
	ch->out = pipes[1][1];
	close(pipes[0][1]);
	close(pipes[1][0]);
}

static void pipe_server(const struct options *opt, struct chan *ch)
{
	ch->in = pipes[1][0];
	ch->out = pipes[0][1];
	close(pipes[1][1]);
	close(pipes[0][0]);
}

static const struct transport transports[] = {
	{ "tcp", "TCP over loopback", true, tcp_open, tcp_client, inet_accept },
	{ "unix", "AF_UNIX stream", true, unix_open, unix_client, accept_one },
	{ "pipe", "two pipes", false, pipe_open, pipe_client, pipe_server },
	{ "smc", "SMC at both ends", true, smc_open, smc_client, inet_accept },
	{ "smc-fallback", "SMC client, TCP listener", true, tcp_open, smc_client,
	  inet_accept },
};

const struct transport *transport_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(transports) / sizeof(transports[0]); i++)
		if (!strcmp(transports[i].name, name))
			return &transports[i];
	return NULL;
}

void transport_list(void)
{
	size_t i;

	for (i = 0; i < sizeof(transports) / sizeof(transports[0]); i++)
		printf("  %-14s %s\n", transports[i].name, transports[i].what);
}

void chan_close(struct chan *ch)
{
	close(ch->in);
	if (ch->out != ch->in)
		close(ch->out);
}
