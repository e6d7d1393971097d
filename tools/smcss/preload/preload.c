// SPDX-License-Identifier: GPL-2.0
/*
 * libsmc-preload.so: turns TCP sockets of an unmodified program into SMC sockets.
 *
 * The library replaces only socket(). It calls the kernel with syscall() instead of looking up the
 * C library's function. So there is no initialisation that a first call could find incomplete, be
 * it from two threads, from a constructor of another library or after fork().
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
 * How this kernel creates SMC sockets. Several threads may detect this concurrently, with the same
 * result.
 */
enum how { BY_IPPROTO, BY_FAMILY, NOT_AT_ALL };

static _Atomic enum how how4 = BY_IPPROTO;
static _Atomic enum how how6 = BY_IPPROTO;	/* separate: there may be no IPv6 */
static atomic_bool settings_read;
static atomic_bool debug;
static atomic_bool keep_mptcp;
static atomic_int rcvbuf;
static atomic_int sndbuf;

/* The size that a variable has; 0: none. */
static int size_in(const char *variable)
{
	const char *text = secure_getenv(variable);
	int size = text ? smc_parse_size(text) : 0;
	char line[160];
	int len;

	if (size >= 0 || !debug)
		return size;
	len = snprintf(line, sizeof(line), "smc_run: %s is ignored: '%.64s' is not a size, as in 512k\n",
		       variable, text);
	if (write(STDERR_FILENO, line, len) < 0)
		return 0;	/* nowhere to report this */
	return 0;
}

/*
 * Normally the loader runs this before there are threads. If a constructor of another library calls
 * socket() earlier, this runs twice, with the same result. secure_getenv(): a set-user-ID program
 * must not take settings from its caller.
 */
__attribute__((constructor)) static void read_settings(void)
{
	const char *text = secure_getenv("SMC_DEBUG");

	debug = text && *text && strcmp(text, "0") != 0;
	rcvbuf = size_in("SMC_RCVBUF");
	sndbuf = size_in("SMC_SNDBUF");
	text = secure_getenv("SMC_KEEP_MPTCP");
	keep_mptcp = text && *text && strcmp(text, "0") != 0;
	settings_read = true;
}

/* A single write() for each message, as threads must not mix their lines. */
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
		return;		/* nowhere to report this */
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

/* Returns a file descriptor, or -1 with errno; *told describes the result. */
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
		/* remember this: each attempt would make the kernel run modprobe */
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
		/* if SMC fails for any other reason, the program must still get a socket */
		if (errno != EPROTONOSUPPORT)
			told = "TCP, as the SMC socket failed";
		fd = syscall(SYS_socket, domain, type, protocol);
	}
	if (fd < 0) {
		before = errno;
		told = strerror(before);
	}
	say(domain, type, fd, told);
	errno = before;		/* a successful call must not change errno */
	return fd;
}
