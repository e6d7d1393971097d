/* SPDX-License-Identifier: GPL-2.0 */
/* Sockets of a cgroup become SMC sockets, by a BPF program at the kernel's socket(). */
#ifndef SMC_TOOLS_CGROUP_CONVERT_H
#define SMC_TOOLS_CGROUP_CONVERT_H

#include <limits.h>
#include <stdbool.h>

/**
 * struct conversion - a cgroup whose TCP sockets become SMC sockets
 * @link: what keeps the program attached; it goes with the last file descriptor
 * @path: of the cgroup
 * @error: in words, when something has failed
 */
struct conversion {
	int link;
	char path[PATH_MAX];
	char error[256];
};

int convert_begin(struct conversion *c, bool mptcp);
int convert_enter(struct conversion *c);
void convert_end(struct conversion *c);

#endif
