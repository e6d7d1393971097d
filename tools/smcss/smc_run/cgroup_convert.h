/* SPDX-License-Identifier: GPL-2.0 */
/* Runs a program in a cgroup whose sockets are converted to SMC, or exempt from conversion. */
#ifndef SMC_TOOLS_CGROUP_CONVERT_H
#define SMC_TOOLS_CGROUP_CONVERT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct conversion - a cgroup whose TCP sockets are converted to SMC sockets, or exempt
 * @link: file descriptor of the link; closing it detaches the BPF program
 * @exempt: the cgroup is exempt from the switch
 * @cgroup: ID of the cgroup
 * @path: path of the cgroup
 * @error: message of the last failure
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
