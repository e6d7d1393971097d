/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The switch: the network namespaces in which new TCP sockets become SMC sockets, and the cgroups
 * that are exempt. Its state is kept in the BPF file system and needs no process.
 */
#ifndef SMC_TOOLS_CONVERT_SWITCH_H
#define SMC_TOOLS_CONVERT_SWITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SWITCH_DIRECTORY	"/sys/fs/bpf/smc"

/**
 * struct convert_switch - the switch while this process reads or changes it
 * @lock: file descriptor that holds the lock
 * @namespaces: map of network namespaces by cookie; -1: does not exist yet
 * @tcp_cgroups: map of exempt cgroups by ID; -1: does not exist yet
 * @error: message of the last failure
 */
struct convert_switch {
	int lock;
	int namespaces;
	int tcp_cgroups;
	char error[256];
};

/* Returns 0, or -1 with a message. Call switch_close() in both cases. */
int switch_open(struct convert_switch *s);
/* Also removes the pinned objects if they are no longer needed. */
void switch_close(struct convert_switch *s);

/* For the network namespace of this process. Returns 0 and sets @on, or -1 with a message. */
int switch_get(struct convert_switch *s, bool *on, uint32_t *flags);
/* @blind: see convert_attach() */
int switch_on(struct convert_switch *s, uint32_t flags, bool *blind);
int switch_off(struct convert_switch *s);
/* Switches off all namespaces, including those that have ended. */
int switch_off_all(struct convert_switch *s);

/* Exempts processes in and below a cgroup, or ends that. */
int switch_exempt(struct convert_switch *s, uint64_t cgroup);
void switch_exempt_end(struct convert_switch *s, uint64_t cgroup);

#endif /* SMC_TOOLS_CONVERT_SWITCH_H */
