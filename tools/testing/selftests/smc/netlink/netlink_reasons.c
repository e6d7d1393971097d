// SPDX-License-Identifier: GPL-2.0
/* smc_netlink_test: everything that keeps a socket on TCP, each with its reason (F12 of the
 * audit).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loopback_up.h"
#include "netlink_test.h"
#include "parameter.h"
#include "slow.h"

#ifndef IPPROTO_SMC
#define IPPROTO_SMC		256
#endif
#ifndef TCP_FASTOPEN_CONNECT
#define TCP_FASTOPEN_CONNECT	30
#endif

#define TOO_OFTEN	17	/* one more than the former connections that a socket can keep */

static bool set_sysctl(const char *path, const char *value)
{
	return put_file(path, value) || BAD("%s: %s", path, strerror(errno));
}

static int smc_client(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_SMC);

	if (fd < 0)
		give_up("cannot create an SMC socket");
	return fd;
}

static struct sockaddr_in here(int port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static bool reason_is(const char *what, int fd, unsigned int reason)
{
	struct diag d = { };

	if (!diag_of(fd, &d))
		return BAD("%s: sock_diag does not list it", what);
	return (d.mode == SMC_DIAG_MODE_FALLBACK_TCP && d.reason == reason) ||
	       BAD("%s: mode %u, %s", what, d.mode, words_of(d.reason));
}

/* Makes one connection and checks the reason of its client, and of its server if that is an SMC
 * socket.
 */
static bool tcp_because(const char *what, int client, unsigned int of_client,
			unsigned int of_server)
{
	int port, lfd = victim_listen(&port), server;
	struct sockaddr_in to = here(port);
	bool ok;

	ok = !connect(client, (void *)&to, sizeof(to)) || BAD("%s: %s", what, strerror(errno));
	/* A connection by fast open, which begins with its data. */
	ok = ok && (send(client, "x", 1, MSG_NOSIGNAL) == 1 || BAD("%s: send", what));
	server = ok ? accept_in_time(lfd) : -1;
	ok = ok && reason_is(what, client, of_client) && reason_is(what, server, of_server);
	close(server);
	close(client);
	close(lfd);
	return ok;
}

static bool disabled(void)
{
	return set_sysctl("/proc/sys/net/smc/enable", "0") &&
	       tcp_because("disabled", smc_client(), SMC_REASON_DISABLED, SMC_REASON_DISABLED) &&
	       set_sysctl("/proc/sys/net/smc/enable", "1");
}

static bool fast_open(void)
{
	int fd = smc_client(), on = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof(on)))
		return BAD("TCP_FASTOPEN_CONNECT: %s", strerror(errno));
	return tcp_because("fast open", fd, SMC_REASON_FASTOPEN, SMC_REASON_PEER_NO_OPTION);
}

static bool repaired(void)
{
	int fd = smc_client(), on = 1, off = 0;
	struct sockaddr_in to = here(9);
	bool ok;

	if (setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on)))
		return BAD("TCP_REPAIR: %s", strerror(errno));
	ok = !connect(fd, (void *)&to, sizeof(to)) || BAD("repaired: %s", strerror(errno));
	ok = ok && reason_is("repaired", fd, SMC_REASON_ALREADY_CONNECTED);
	setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &off, sizeof(off));
	close(fd);
	return ok;
}

/* A descriptor keeps each of its SMC connections until it is closed. */
static bool used_too_often(void)
{
	int port, lfd = victim_listen(&port), fd = smc_client(), server;
	struct sockaddr_in to = here(port);
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	bool ok = true;

	for (int i = 0; ok && i < TOO_OFTEN; i++) {
		ok = !connect(fd, (void *)&to, sizeof(to)) || BAD("reused: %s", strerror(errno));
		server = accept_in_time(lfd);
		if (i == TOO_OFTEN - 1)
			ok = ok && reason_is("reused", fd, SMC_REASON_REUSED) &&
			     reason_is("reused, server", server, SMC_REASON_PEER_NO_OPTION);
		else
			ok = ok && is_mode((struct link){ fd, server }, SMC_DIAG_MODE_SMCD);
		connect(fd, &none, sizeof(none));
		close(server);
	}
	close(fd);
	close(lfd);
	return ok;
}

static bool by_user(const char *what, int fd)
{
	char text[24];

	snprintf(text, sizeof(text), "%s %d", what, fd);
	return put_file(parameter_path("test_user").name, text) ||
	       BAD("test_user: %s", strerror(errno));
}

/* The kernel has taken over a socket before it connects. */
static bool used_by_kernel(void)
{
	int fd = smc_client(), same = dup(fd);
	bool ok;

	ok = by_user("recv", fd) &&
	     tcp_because("a user in the kernel", fd, SMC_REASON_KERNEL_USER,
			 SMC_REASON_PEER_NO_OPTION) &&
	     by_user("drop", same);
	close(same);
	return ok;
}

static bool connected_to_itself(void)
{
	struct sockaddr_in to = here(0);
	socklen_t len = sizeof(to);
	int fd = smc_client();
	bool ok;

	ok = (!bind(fd, (void *)&to, len) && !getsockname(fd, (void *)&to, &len) &&
	      !connect(fd, (void *)&to, len)) || BAD("to itself: %s", strerror(errno));
	ok = ok && reason_is("to itself", fd, SMC_REASON_SELF_CONNECTED);
	close(fd);
	return ok;
}

static bool connected_to_each_other(void)
{
	int fd[2];
	bool ok;

	crossed_open(false, &fd[0], &fd[1]);
	ok = wait_mask(fd[1], POLLOUT, WAIT_MS) || BAD("to each other: no connection");
	/* The first one is an ordinary client if its SYN is repeated before the other one's. */
	ok = ok && (reason_is("to each other", fd[0], SMC_REASON_PEER_DECLINED) ||
		    reason_is("to each other", fd[0], SMC_REASON_BOTH_CLIENTS)) &&
	     reason_is("to each other", fd[1], SMC_REASON_BOTH_CLIENTS);
	close(fd[0]);
	close(fd[1]);
	return ok;
}

static bool cookies(void)
{
	/* Without pairing, which needs no option.  2: always, not only when the queue overflows */
	return set_sysctl("/proc/sys/net/smc/loopback_pairing", "0") &&
	       set_sysctl("/proc/sys/net/ipv4/tcp_syncookies", "2") &&
	       tcp_because("cookies", smc_client(), SMC_REASON_PEER_NO_OPTION,
			   SMC_REASON_SYN_COOKIE) &&
	       set_sysctl("/proc/sys/net/ipv4/tcp_syncookies", "1") &&
	       set_sysctl("/proc/sys/net/smc/loopback_pairing", "1");
}

static bool in_own_namespace(void)
{
	if (unshare(CLONE_NEWNET) < 0)
		return BAD("unshare: %s", strerror(errno));
	if (!loopback_up())
		return BAD("lo: %s", strerror(errno));
	return reopen() && connects_as(SMC_DIAG_MODE_SMCD) && disabled() && fast_open() &&
	       repaired() && used_too_often() && used_by_kernel() && connected_to_itself() &&
	       connected_to_each_other() &&
	       cookies() && connects_as(SMC_DIAG_MODE_SMCD);
}

bool reasons_of_tcp(void)
{
	return in_child(in_own_namespace);
}
