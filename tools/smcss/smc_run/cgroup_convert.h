/* SPDX-License-Identifier: GPL-2.0 */
/* A program in a cgroup, whose sockets become SMC sockets, or are kept from becoming some. */
#ifndef SMC_TOOLS_CGROUP_CONVERT_H
#define SMC_TOOLS_CGROUP_CONVERT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct conversion - a cgroup whose TCP sockets become SMC sockets, or stay what they are
 * @link: what keeps the program attached; it goes with the last file descriptor
 * @exempt: the switch leaves this cgroup out
 * @cgroup: its ID
 * @path: of the cgroup
 * @error: in words, when something has failed
 */
struct conversion {
	int link;
	bool exempt;
	uint64_t cgroup;
	char path[PATH_MAX];
	char error[256];
};

int convert_begin(struct conversion *c, bool mptcp);
int exempt_begin(struct conversion *c);
int convert_enter(struct conversion *c);
void convert_end(struct conversion *c);

#endif
