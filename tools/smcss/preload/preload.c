// SPDX-License-Identifier: GPL-2.0
/*
 * libsmc-preload.so: TCP sockets of an unmodified program become SMC sockets.
 *
 * Only socket() is replaced, and it reaches the kernel by syscall() instead of
 * looking up the C library's own: there is nothing to initialise that a first
 * call from two threads, from another library's constructor or after fork()
 * could find half done.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "smc_socket.h"

/*
 * How this kernel wants to be asked for SMC. Threads may find out at the same
 * time: they find the same.
 */
enum how { BY_IPPROTO, BY_FAMILY, NOT_AT_ALL };

static _Atomic enum how how4 = BY_IPPROTO;
static _Atomic enum how how6 = BY_IPPROTO;	/* on its own: there may be no IPv6 */
static atomic_bool settings_read;
static atomic_bool debug;
static atomic_bool keep_mptcp;
static atomic_int rcvbuf;
static atomic_int sndbuf;

/*
 * Normally run by the loader, before there are threads. If another library's
 * constructor calls socket() before that, it runs twice, with the same result.
 * A program with more rights than its caller is not to be told anything by the caller.
 */
__attribute__((constructor)) static void read_settings(void)
{
	const char *text = secure_getenv("SMC_DEBUG");

	debug = text && *text && strcmp(text, "0") != 0;
	text = secure_getenv("SMC_RCVBUF");
	rcvbuf = text ? smc_parse_size(text) : 0;
	text = secure_getenv("SMC_SNDBUF");
	sndbuf = text ? smc_parse_size(text) : 0;
	text = secure_getenv("SMC_KEEP_MPTCP");
	keep_mptcp = text && *text && strcmp(text, "0") != 0;
	settings_read = true;
}

/* One write() per message, so that threads do not mix their lines. */
static void say(int domain, int type, int fd, const char *result)
{
	char line[256];
	int len;

	if (!debug)
		return;
	len = snprintf(line, sizeof(line),
		       "smc_run: %s[%d]: socket(%s, SOCK_STREAM%s%s) = %d: %s\n",
		       program_invocation_short_name, (int)getpid(),
		       domain == AF_INET ? "AF_INET" : "AF_INET6",
		       type & SOCK_NONBLOCK ? "|NONBLOCK" : "",
		       type & SOCK_CLOEXEC ? "|CLOEXEC" : "", fd, result);
	if (len >= (int)sizeof(line))
		len = sizeof(line) - 1;
	if (write(STDERR_FILENO, line, len) < 0)
		return;		/* nobody left to tell */
}

static void set_size(int fd, int option, int size, const char *name)
{
	char line[128];
	int len;

	if (size <= 0 || !setsockopt(fd, SOL_SOCKET, option, &size, sizeof(size)) || !debug)
		return;
	len = snprintf(line, sizeof(line), "smc_run: fd %d: cannot set %s to %d: %s\n",
		       fd, name, size, strerror(errno));
	if (write(STDERR_FILENO, line, len) < 0)
		return;
}

static bool kernel_lacks_it(int error)
{
	return error == EPROTONOSUPPORT || error == EAFNOSUPPORT || error == ESOCKTNOSUPPORT;
}

/* A file descriptor, or -1 with errno; *told says what came of it. */
static int smc_socket(int domain, int type, const char **told)
{
	_Atomic enum how *how = domain == AF_INET ? &how4 : &how6;
	enum how way = *how;
	int fd = -1;

	if (way == BY_IPPROTO) {
		*told = "SMC (IPPROTO_SMC)";
		fd = syscall(SYS_socket, domain, type, IPPROTO_SMC);
		if (fd >= 0 || !kernel_lacks_it(errno))
			return fd;
		way = BY_FAMILY;
		*how = way;
	}
	if (way == BY_FAMILY) {
		*told = "SMC (AF_SMC)";
		fd = syscall(SYS_socket, AF_SMC, type,
			     domain == AF_INET ? SMCPROTO_SMC : SMCPROTO_SMC6);
		if (fd >= 0 || !kernel_lacks_it(errno))
			return fd;
		/* remembered: each attempt would make the kernel run modprobe */
		*how = NOT_AT_ALL;
	}
	*told = "TCP, as this kernel has no SMC";
	errno = EPROTONOSUPPORT;
	return -1;
}

static bool converted(int protocol)
{
	return protocol == 0 || protocol == IPPROTO_TCP ||
	       (protocol == IPPROTO_MPTCP && !keep_mptcp);
}

__attribute__((visibility("default")))
int socket(int domain, int type, int protocol)
{
	int before = errno;
	const char *told;
	int fd;

	if (!settings_read)
		read_settings();
	if ((domain != AF_INET && domain != AF_INET6) ||
	    (type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != SOCK_STREAM ||
	    !converted(protocol))
		return syscall(SYS_socket, domain, type, protocol);

	fd = smc_socket(domain, type, &told);
	if (fd >= 0) {
		set_size(fd, SO_RCVBUF, rcvbuf, "SO_RCVBUF");
		set_size(fd, SO_SNDBUF, sndbuf, "SO_SNDBUF");
	} else if (errno != EMFILE && errno != ENFILE) {
		/* whatever SMC lacks must not cost the program its connection */
		if (errno != EPROTONOSUPPORT)
			told = "TCP, as the SMC socket failed";
		fd = syscall(SYS_socket, domain, type, protocol);
	}
	if (fd < 0) {
		before = errno;
		told = strerror(before);
	}
	say(domain, type, fd, told);
	errno = before;		/* a successful call leaves it alone */
	return fd;
}
