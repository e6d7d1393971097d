/* SPDX-License-Identifier: GPL-2.0 */
/* The processes that have a socket open, as far as /proc shows them to this user. */
#ifndef SMC_TOOLS_PROCESS_H
#define SMC_TOOLS_PROCESS_H

#include <stdint.h>

#include "array.h"

struct process {
	uint64_t inode;
	unsigned int pid;
	unsigned int fd;
	char name[64];		/* name of the program, from comm */
};

/* Sorted by inode, process and descriptor. */
void processes_read(struct array *processes);

/* Returns the first entry with this inode and their number. */
const struct process *processes_of(const struct array *processes, uint64_t inode, size_t *count);

#endif /* SMC_TOOLS_PROCESS_H */
