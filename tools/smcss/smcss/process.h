/* SPDX-License-Identifier: GPL-2.0 */
/* Which processes have a socket open, as far as /proc shows it to this user. */
#ifndef SMC_TOOLS_PROCESS_H
#define SMC_TOOLS_PROCESS_H

#include <stdint.h>

#include "array.h"

struct process {
	uint64_t inode;
	unsigned int pid;
	unsigned int fd;
	char name[64];		/* of the program, as in comm */
};

/* Sorted by inode, process and descriptor. */
void processes_read(struct array *processes);

/* The first one with this inode, and how many there are. */
const struct process *processes_of(const struct array *processes, uint64_t inode, size_t *count);

#endif /* SMC_TOOLS_PROCESS_H */
