/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A BPF program for the kernel's socket() that changes TCP into IPPROTO_SMC, for the processes of
 * one cgroup or for the network namespaces in a map.
 */
#ifndef SMC_TOOLS_CONVERT_PROGRAM_H
#define SMC_TOOLS_CONVERT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONVERT_KEEP_MPTCP	1u	/* flag of a namespace: do not convert MPTCP sockets */

/**
 * struct convert_scope - which sockets to convert
 * @cgroup: those of processes in or below this cgroup; 0: those of @namespaces
 * @mptcp: with @cgroup: convert MPTCP sockets, too
 * @namespaces: map from cookies of network namespaces to CONVERT_* flags
 * @tcp_cgroups: map of cgroups; processes in or below them are excluded
 */
struct convert_scope {
	uint64_t cgroup;
	bool mptcp;
	int namespaces;
	int tcp_cgroups;
};

/* A message that says why this kernel cannot convert; NULL: it can. */
const char *convert_unsupported(void);

/*
 * Attaches the program. Returns the file descriptor of its link, which keeps it attached, or -1 and
 * a message in @error. The program converts nothing while no SMC module is loaded, if the kernel
 * lets it find that out; @blind is set if it cannot.
 */
int convert_attach(const struct convert_scope *scope, bool *blind, char *error, size_t room);

#endif /* SMC_TOOLS_CONVERT_PROGRAM_H */
