// SPDX-License-Identifier: GPL-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "raw_peer.h"
#include "trap.h"

static struct {
	int fd;
	char *page;		/* the page before this one is ordinary memory */
	long size;
} trap;

bool trap_set(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	trap.size = sysconf(_SC_PAGESIZE);
	trap.fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (trap.fd < 0)
		return false;
	trap.page = mmap(NULL, 2 * trap.size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (trap.page == MAP_FAILED)
		give_up("mmap");
	trap.page += trap.size;
	reg.range.start = (unsigned long)trap.page;
	reg.range.len = trap.size;
	if (ioctl(trap.fd, UFFDIO_API, &api) < 0 ||
	    ioctl(trap.fd, UFFDIO_REGISTER, &reg) < 0)
		give_up("userfaultfd");
	return true;
}

void *trap_page(void)
{
	return trap.page;
}

void trap_await(int n)
{
	struct uffd_msg msg;

	while (n) {
		if (!wait_mask(trap.fd, POLLIN, WAIT_MS))
			give_up("%d system calls did not read the trapped memory", n);
		if (read(trap.fd, &msg, sizeof(msg)) == sizeof(msg))
			n--;
	}
}

void trap_open(void)
{
	struct uffdio_zeropage zero = {
		.range = { .start = (unsigned long)trap.page, .len = trap.size },
	};

	if (ioctl(trap.fd, UFFDIO_ZEROPAGE, &zero) < 0)
		give_up("UFFDIO_ZEROPAGE");
}

void trap_again(void)
{
	if (madvise(trap.page, trap.size, MADV_DONTNEED) < 0)
		give_up("MADV_DONTNEED");
}

pthread_t trap_thread(void *(*run)(void *arg), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	if (pthread_create(&thread, &attr, run, arg))
		give_up("pthread_create");
	pthread_attr_destroy(&attr);
	return thread;
}

void trap_hold(int fd)
{
	/* The first int of a struct linger is read before the lock is taken. */
	setsockopt(fd, SOL_SOCKET, SO_LINGER, trap.page - sizeof(int), sizeof(struct linger));
}

static void *own(void *fd)
{
	trap_hold(*(int *)fd);
	return NULL;
}

pthread_t trap_owner(int *fd)
{
	return trap_thread(own, fd);
}
