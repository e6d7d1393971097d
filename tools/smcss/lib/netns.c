// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "complain.h"
#include "netns.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE	71
#endif

static int open_namespace(const char *name)
{
	char path[PATH_MAX];
	int fd;

	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return errno = ENOENT, -1;
	if (strchr(name, '/'))
		return open(name, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 || name[strspn(name, "0123456789")])
		return fd;
	snprintf(path, sizeof(path), "/proc/%s/ns/net", name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int netns_cookie(uint64_t *cookie)
{
	socklen_t len = sizeof(*cookie);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc = fd < 0 ? -1 : getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, cookie, &len);
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return rc;
}

int netns_open(const char *name)
{
	int fd = open_namespace(name);

	if (fd >= 0 && ioctl(fd, NS_GET_NSTYPE) != CLONE_NEWNET) {
		complain("%s is not a network namespace", name);
		close(fd);
		return -1;
	}
	if (fd < 0 && errno == ENOENT)
		complain("there is no network namespace %s: 'ip netns' lists those with a name; a process ID selects the namespace of that process",
			 name);
	else if (fd < 0)
		complain("cannot open the network namespace %s: %s", name, strerror(errno));
	return fd;
}

int netns_join(int fd, const char *name)
{
	int rc = setns(fd, CLONE_NEWNET);

	if (rc)
		complain("cannot enter the network namespace %s: %s%s", name, strerror(errno),
			 errno == EPERM ? " (it requires root)" : "");
	close(fd);
	return rc;
}

void netns_enter(const char *name)
{
	int fd = netns_open(name);

	if (fd < 0 || netns_join(fd, name))
		exit(EXIT_REFUSED);
}
