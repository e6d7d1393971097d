/* SPDX-License-Identifier: GPL-2.0 */
/* Network namespaces: option -N of every tool, and the name that the kernel gives each of them. */
#ifndef SMC_TOOLS_NETNS_H
#define SMC_TOOLS_NETNS_H

#include <stdint.h>

/*
 * Moves this process into a network namespace: a name of 'ip netns', a path, or a process id. Ends
 * the program on failure.
 */
void netns_enter(const char *name);

/* The same in two steps. Each returns -1 after printing a message; netns_join() closes @fd. */
int netns_open(const char *name);
int netns_join(int fd, const char *name);

/* The cookie of this namespace; no other one gets it until the next boot. 0, or -1 and errno. */
int netns_cookie(uint64_t *cookie);

#endif /* SMC_TOOLS_NETNS_H */
