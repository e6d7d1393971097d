/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The switch: in which network namespaces new TCP sockets become SMC sockets, and which cgroups
 * are left out. What it is set to is kept in the BPF file system, without a process.
 */
#ifndef SMC_TOOLS_CONVERT_SWITCH_H
#define SMC_TOOLS_CONVERT_SWITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SWITCH_DIRECTORY	"/sys/fs/bpf/smc"

/**
 * struct convert_switch - the switch, while this process looks at it or changes it
 * @lock: keeps others away
 * @namespaces: map of network namespaces by their cookie; -1: not there yet
 * @tcp_cgroups: map of cgroups that are left out, by their ID; -1: not there yet
 * @error: in words, when something has failed
 */
struct convert_switch {
	int lock;
	int namespaces;
	int tcp_cgroups;
	char error[256];
};

/* 0, or -1 with words; in both cases switch_close() comes after it. */
int switch_open(struct convert_switch *s);
/* Removes what nobody needs any more. */
void switch_close(struct convert_switch *s);

/* This process's network namespace: 0 and whether it is on, or -1 with words. */
int switch_get(struct convert_switch *s, bool *on, uint32_t *flags);
/* @blind: as convert_attach() has it */
int switch_on(struct convert_switch *s, uint32_t flags, bool *blind);
int switch_off(struct convert_switch *s);
/* In all namespaces, also those that have ended. */
int switch_off_all(struct convert_switch *s);

/* Processes in a cgroup and below it are left out, or are not any more. */
int switch_exempt(struct convert_switch *s, uint64_t cgroup);
void switch_exempt_end(struct convert_switch *s, uint64_t cgroup);

#endif /* SMC_TOOLS_CONVERT_SWITCH_H */
