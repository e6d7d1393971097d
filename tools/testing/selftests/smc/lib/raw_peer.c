// SPDX-License-Identifier: GPL-2.0
/* Sockets that speak CLC themselves, and their victims. IPv4, over loopback by default. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loopback_up.h"
#include "parameter.h"
#include "raw_peer.h"

#define IPPROTO_SMC		256
#define SOL_SMC			286
#define SMC_TEST_RAW_CLC	0x200

/* Addresses of this program and of the victim. */
static in_addr_t raw_host = INADDR_LOOPBACK, victim_host = INADDR_LOOPBACK;

void (*give_up_to)(const char *words);

void give_up(const char *fmt, ...)
{
	char words[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	if (give_up_to)
		give_up_to(words);
	printf("Bail out! %s (%s)\n", words, strerror(errno));
	exit(1);
}

const char *reaction_names(unsigned int mask)
{
	static const char * const names[] = {
		"nothing", "reset", "end", "Decline", "Accept", "Confirm",
		"Proposal", "something else",
	};
	static char text[4][100];
	static int turn;
	char *out = text[turn++ % 4];

	out[0] = 0;
	for (int i = 0; i < 8; i++)
		if (mask & (1u << i))
			sprintf(out + strlen(out), "%s%s", out[0] ? " or " : "", names[i]);
	return out;
}

static int smc_socket(bool raw, int flags)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, IPPROTO_SMC);
	int on = 1;

	if (fd < 0)
		give_up("cannot create an SMC socket");
	if (raw && setsockopt(fd, SOL_SMC, SMC_TEST_RAW_CLC, &on, sizeof(on)) < 0)
		give_up("SMC_TEST_RAW_CLC");
	return fd;
}

bool raw_available(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_SMC), on = 1;
	bool yes;

	if (fd < 0)
		return false;
	yes = !setsockopt(fd, SOL_SMC, SMC_TEST_RAW_CLC, &on, sizeof(on));
	close(fd);
	return yes;
}

void raw_hosts(in_addr_t raw, in_addr_t victim)
{
	raw_host = raw;
	victim_host = victim;
}

/* A socket with an address of its own, which @a receives. */
static int bound(bool raw, int flags, struct sockaddr_in *a)
{
	socklen_t len = sizeof(*a);
	int fd = smc_socket(raw, flags);

	*a = (struct sockaddr_in) { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(raw ? raw_host : victim_host) };
	if (bind(fd, (void *)a, len) < 0 || getsockname(fd, (void *)a, &len) < 0)
		give_up("cannot bind");
	return fd;
}

static int listener(bool raw, int *port)
{
	struct sockaddr_in a;
	int fd = bound(raw, 0, &a);

	if (listen(fd, 4096) < 0)
		give_up("cannot listen");
	*port = ntohs(a.sin_port);
	return fd;
}

int raw_listen(int *port)
{
	return listener(true, port);
}

int victim_listen(int *port)
{
	return listener(false, port);
}

static int connect_port(int fd, in_addr_t from, in_addr_t to, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(to) };
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(from) };

	if (from != to && bind(fd, (void *)&here, sizeof(here)) < 0)
		give_up("cannot bind");
	return connect(fd, (void *)&a, sizeof(a));
}

int raw_connect(int port)
{
	int fd = smc_socket(true, 0);

	if (connect_port(fd, raw_host, victim_host, port) < 0)
		give_up("a raw connect failed");
	return fd;
}

int victim_connect(int port)
{
	int fd = smc_socket(false, SOCK_NONBLOCK);

	if (connect_port(fd, victim_host, raw_host, port) < 0 && errno != EINPROGRESS)
		give_up("a victim's connect failed at once");
	return fd;
}

void crossed_open(bool raw, int *first, int *second)
{
	struct sockaddr_in here, there;

	*first = bound(raw, SOCK_NONBLOCK, &here);
	*second = bound(false, SOCK_NONBLOCK, &there);
	if (!loopback_drops(true))
		give_up("cannot let lo drop packets");
	if (!connect(*first, (void *)&there, sizeof(there)) || errno != EINPROGRESS ||
	    !connect(*second, (void *)&here, sizeof(here)) || errno != EINPROGRESS)
		give_up("connect() while lo drops packets");
	if (!loopback_drops(false) || !wait_mask(*first, POLLOUT, WAIT_MS))
		give_up("no simultaneous open");
	fcntl(*first, F_SETFL, 0);
}

int wait_mask(int fd, int want, int ms)
{
	struct pollfd p = { .fd = fd, .events = want };

	if (poll(&p, 1, ms) < 0)
		give_up("poll");
	return p.revents;
}

int accept_in_time(int lfd)
{
	int fd;

	if (!wait_mask(lfd, POLLIN, WAIT_MS))
		give_up("no connection to accept");
	fd = accept4(lfd, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		give_up("accept");
	return fd;
}

/* The victim may reset the connection meanwhile; later checks will notice that. */
void put_bytes(int fd, const void *b, size_t len)
{
	if (len && send(fd, b, len, MSG_NOSIGNAL) < 0 && errno != EPIPE &&
	    errno != ECONNRESET)
		give_up("send");
}

static enum reaction get_bytes(int fd, uint8_t *b, size_t len, int ms)
{
	while (len) {
		ssize_t n;

		if (!wait_mask(fd, POLLIN, ms))
			return GOT_NOTHING;
		n = recv(fd, b, len, MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			continue;
		if (n < 0)
			return errno == ECONNRESET || errno == EPIPE ? GOT_RESET :
								       GOT_OTHER;
		if (!n)
			return GOT_END;
		b += n;
		len -= n;
	}
	return 0;
}

enum reaction get_message(int fd, struct message *m, int ms)
{
	enum reaction r;

	m->len = 0;
	r = get_bytes(fd, m->b, 8, ms);
	if (r)
		return r;
	m->len = m->b[5] << 8 | m->b[6];
	if (memcmp(m->b, "\xe2\xd4\xc3", 3) || m->len < 8 || m->len > sizeof(m->b))
		return GOT_OTHER;
	r = get_bytes(fd, m->b + 8, m->len - 8, ms);
	if (r)
		return r;
	switch (m->b[4]) {
	case CLC_PROPOSAL: return GOT_PROPOSAL;
	case CLC_ACCEPT: return GOT_ACCEPT;
	case CLC_CONFIRM: return GOT_CONFIRM;
	case CLC_DECLINE: return GOT_DECLINE;
	}
	return GOT_OTHER;
}

void set_parameter(const char *name, long value)
{
	if (!put_parameter(name, value))
		give_up("cannot set the parameter %s to %ld", name, value);
}

long set_timeout_ms(long ms)
{
	long old;

	if (!get_parameter("handshake_timeout_ms", &old))
		give_up("cannot read the parameter handshake_timeout_ms");
	set_parameter("handshake_timeout_ms", ms);
	return old;
}
