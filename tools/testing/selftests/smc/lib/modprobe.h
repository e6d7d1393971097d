/* SPDX-License-Identifier: GPL-2.0 */
/* Keeps the kernel from loading modules for a while. */
#ifndef SMC_TEST_MODPROBE_H
#define SMC_TEST_MODPROBE_H

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "put_file.h"

#define MODPROBE	"/proc/sys/kernel/modprobe"

struct modprobe {
	char path[300];
};

/*
 * modprobe would look for modules of families and protocols that do not exist, which takes seconds
 * in an emulated guest.
 */
static inline struct modprobe without_modprobe(void)
{
	int fd = open(MODPROBE, O_RDONLY | O_CLOEXEC);
	struct modprobe old = { "" };
	ssize_t n = fd < 0 ? -1 : read(fd, old.path, sizeof(old.path) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0 || !put_file(MODPROBE, "\n"))
		printf("# modprobe remains as it is\n");
	return old;
}

/* Later tests of the guest load modules. */
static inline void with_modprobe(const struct modprobe *old)
{
	if (old->path[0] && !put_file(MODPROBE, old->path))
		printf("# modprobe remains switched off\n");
}

#endif
