// SPDX-License-Identifier: GPL-2.0
/* Plain TCP between the two machines that run one case. */
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#include "kselftest.h"
#include "role.h"
#include "machines.h"

#define PORT	7100

/* One connection carries commands and results; each case gets a connection of its own. */
static int lead = -1, listener = -1;

struct outcome {
	int64_t ok, log_len;	/* the transcript follows */
	char why[256];
};

static const struct sockaddr_in *server_address(void)
{
	static struct sockaddr_in a = { .sin_family = AF_INET };

	a.sin_port = htons(PORT);
	a.sin_addr.s_addr = htonl(MACHINE_NET + 1);
	return &a;
}

/* The result of a call, if it is a socket. */
static int prompt(int fd, const char *call)
{
	int on = 1;

	if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0)
		ksft_exit_fail_msg("%s: %s\n", call, strerror(errno));
	return fd;
}

static int stream(void)
{
	return prompt(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP), "socket");
}

static int accept_next(void)
{
	return prompt(accept4(listener, NULL, NULL, SOCK_CLOEXEC), "accept");
}

static int connect_there(void)
{
	int fd = stream();

	if (connect(fd, (struct sockaddr *)server_address(), sizeof(struct sockaddr_in)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

void machines_meet(bool server)
{
	int fd;

	if (!server) {
		/* The connection is refused until the other machine listens. vm/run ends the test
		 * if it never does.
		 */
		while ((lead = connect_there()) < 0)
			usleep(100000);
		return;
	}
	fd = stream();
	if (bind(fd, (struct sockaddr *)server_address(), sizeof(struct sockaddr_in)) < 0 ||
	    listen(fd, 5) < 0)
		ksft_exit_fail_msg("10.0.0.1: %s\n", strerror(errno));
	listener = fd;
	lead = accept_next();
}

/* False at the end of the stream or when the other machine is gone. recv() of 0 bytes would
 * block.
 */
static bool get(void *buf, size_t len)
{
	return !len || recv(lead, buf, len, MSG_WAITALL) == (ssize_t)len;
}

static void put(const void *buf, size_t len)
{
	if (send(lead, buf, len, MSG_NOSIGNAL) != (ssize_t)len)
		ksft_exit_fail_msg("the connection to the other machine ended\n");
}

bool machines_next(struct order *order, int *ctl)
{
	if (!get(order, sizeof(*order)))
		return false;
	*ctl = accept_next();
	return true;
}

void machines_tell(bool ok, const char *why, const char *log)
{
	struct outcome o = { .ok = ok, .log_len = strlen(log) };

	snprintf(o.why, sizeof(o.why), "%s", why);
	put(&o, sizeof(o));
	put(log, o.log_len);
}

int machines_ask(const char *test, const char *variant)
{
	struct order order = { 0 };
	int fd;

	snprintf(order.test, sizeof(order.test), "%s", test);
	snprintf(order.variant, sizeof(order.variant), "%s", variant);
	put(&order, sizeof(order));
	fd = connect_there();
	if (fd < 0)
		ksft_exit_fail_msg("the other machine does not answer\n");
	return fd;
}

bool machines_hear(char *why, size_t why_len, char *log, size_t log_len)
{
	struct outcome o;

	if (!get(&o, sizeof(o)) || (size_t)o.log_len >= log_len || !get(log, o.log_len))
		ksft_exit_fail_msg("the connection to the other machine ended\n");
	log[o.log_len] = 0;
	if (!o.ok)
		snprintf(why, why_len, "%s", o.why);
	return o.ok;
}
