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

/* As netns_enter(), but returns 0, or EXIT_REFUSED after printing a message. */
int netns_try(const char *name);

/* The cookie of this namespace; no other one gets it until the next boot. 0, or -1 and errno. */
int netns_cookie(uint64_t *cookie);

#endif /* SMC_TOOLS_NETNS_H */
