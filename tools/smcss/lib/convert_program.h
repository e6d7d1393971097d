/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A BPF program at the kernel's socket() that asks for IPPROTO_SMC where a process asks for TCP:
 * for one cgroup, or for the network namespaces of a map.
 */
#ifndef SMC_TOOLS_CONVERT_PROGRAM_H
#define SMC_TOOLS_CONVERT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONVERT_KEEP_MPTCP	1u	/* flag of a namespace: sockets of MPTCP are left alone */

/**
 * struct convert_scope - whose sockets become SMC sockets
 * @cgroup: those of the processes in this cgroup and below it; 0: those of @namespaces
 * @mptcp: with @cgroup: sockets of MPTCP, too
 * @namespaces: map of network namespaces by their cookie, to CONVERT_* flags
 * @tcp_cgroups: map of cgroups whose processes, and those below, are left out
 */
struct convert_scope {
	uint64_t cgroup;
	bool mptcp;
	int namespaces;
	int tcp_cgroups;
};

/* Words that say why this kernel cannot convert; NULL: it can. */
const char *convert_unsupported(void);

/*
 * The file descriptor of a link, with which the program goes, or -1 and words in @error.
 * Sockets are left alone while no SMC module is loaded, if the kernel lets the program find that
 * out; @blind is set if it does not.
 */
int convert_attach(const struct convert_scope *scope, bool *blind, char *error, size_t room);

#endif /* SMC_TOOLS_CONVERT_PROGRAM_H */
