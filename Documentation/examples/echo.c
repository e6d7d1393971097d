// SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note
/*
 * A server that sends back what it gets, and a client that says over what.
 *
 *   cc -o echo echo.c $(pkg-config --cflags af-smc)
 *   ./echo 7000 &
 *   ./echo 7000 127.0.0.1
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <smc/af_smc.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* The module is loaded by this call. Without one, or where it is forbidden, TCP will do. */
static int make_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_SMC);

	if (fd < 0)
		fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0)
		die("socket");
	return fd;
}

/* Only for those who are curious: a program need not know. */
static void say_mode(int fd)
{
	static const char * const names[] = { "undecided", "SMC-R", "TCP", "SMC-D" };
	struct smc_sockopt_info info;
	socklen_t size = sizeof(info);

	if (getsockopt(fd, SOL_SMC, SMC_SOCK_INFO, &info, &size))
		printf("TCP, without SMC in this kernel\n");
	else if (info.mode == SMC_MODE_TCP)
		printf("TCP, reason 0x%08x\n", info.reason);
	else
		printf("%s\n", names[info.mode & 3]);
}

static void serve(struct sockaddr_in *here)
{
	int listener = make_socket(), on = 1, fd;
	char buffer[4096];
	ssize_t got;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (struct sockaddr *)here, sizeof(*here)) || listen(listener, 16))
		die("listen");
	printf("listening\n");
	fflush(stdout);
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		while ((got = recv(fd, buffer, sizeof(buffer), 0)) > 0)
			if (send(fd, buffer, got, MSG_NOSIGNAL) != got)
				break;
		close(fd);
	}
	die("accept");
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	char buffer[] = "hello";
	int fd;

	if (argc < 2 || (argc > 2 && inet_pton(AF_INET, argv[2], &address.sin_addr) != 1)) {
		fprintf(stderr, "usage: echo PORT [ADDRESS]\n");
		return 2;
	}
	address.sin_port = htons(atoi(argv[1]));
	if (argc == 2)
		serve(&address);
	fd = make_socket();
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		die("connect");
	if (send(fd, buffer, sizeof(buffer), MSG_NOSIGNAL) != sizeof(buffer) ||
	    recv(fd, buffer, sizeof(buffer), MSG_WAITALL) != sizeof(buffer))
		die("echo");
	say_mode(fd);
	return 0;
}
