// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "complain.h"
#include "echo_server.h"
#include "number.h"
#include "smc_socket.h"

int smc_socket(int family, const char **how)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SMC);

	*how = "the kernel has SMC sockets (IPPROTO_SMC)";
	if (fd >= 0)
		return fd;
	*how = "the kernel has SMC sockets (AF_SMC)";
	return socket(AF_SMC, SOCK_STREAM | SOCK_CLOEXEC,
		      family == AF_INET6 ? SMCPROTO_SMC6 : SMCPROTO_SMC);
}

/* Serves one connection, in a separate process. */
static void echo(int fd)
{
	char buffer[65536];
	ssize_t got, done, sent;

	while ((got = recv(fd, buffer, sizeof(buffer), 0)) > 0) {
		for (done = 0; done < got; done += sent) {
			sent = send(fd, buffer + done, got - done, MSG_NOSIGNAL);
			if (sent <= 0)
				return;
		}
	}
}

/* Number of open connections, after reaping the processes that have ended. */
static int still_open(int connections)
{
	while (connections && waitpid(-1, NULL, WNOHANG) > 0)
		connections--;
	return connections;
}

static bool start_echo(int listener, int fd)
{
	pid_t pid = fork();

	if (!pid) {
		close(listener);
		echo(fd);
		_exit(0);
	}
	return pid > 0;
}

static int serve(int listener)
{
	struct sockaddr_storage from;
	char host[NI_MAXHOST];
	int connections = 0;

	signal(SIGCHLD, SIG_DFL);	/* waitpid() would fail if it were inherited as ignored */
	for (;;) {
		socklen_t size = sizeof(from);
		bool room;
		int fd = accept4(listener, (struct sockaddr *)&from, &size, SOCK_CLOEXEC);

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0)
			return complain("cannot accept connections: %s", strerror(errno));
		connections = still_open(connections);
		room = connections < SMC_CHK_CONNECTIONS;
		if (!getnameinfo((struct sockaddr *)&from, size, host, sizeof(host), NULL, 0,
				 NI_NUMERICHOST))
			printf("Connection from %s%s\n", host, room ? "" : ": closed, too many connections");
		fflush(stdout);
		if (room && start_echo(listener, fd))
			connections++;
		close(fd);
	}
}

static int bind_next_free(int fd, bool ipv6, unsigned long port)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };

	for (; port < 65536; port++) {
		v4.sin_port = v6.sin6_port = htons(port);
		if (!bind(fd, ipv6 ? (void *)&v6 : (void *)&v4, ipv6 ? sizeof(v6) : sizeof(v4)))
			return port;
		if (errno != EADDRINUSE)
			break;
	}
	return -1;
}

int run_server(const char *text, bool ipv6)
{
	unsigned long port;
	const char *how;
	int fd, one = 1, bound;

	if (!read_number(text, 1, 65535, &port))
		usage_error("'%s' is not a port: 1 to 65535", text);
	fd = smc_socket(ipv6 ? AF_INET6 : AF_INET, &how);
	if (fd < 0)
		return complain("no SMC socket: %s (as root: modprobe smc)", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	bound = bind_next_free(fd, ipv6, port);
	if (bound < 0 || listen(fd, 128))
		return complain("cannot listen on port %lu: %s", port, strerror(errno));
	printf("Server listening on port %d\n", bound);
	fflush(stdout);
	return serve(fd);
}
