/* SPDX-License-Identifier: GPL-2.0 */
/* Option -N of every tool: run in another network namespace. */
#ifndef SMC_TOOLS_NETNS_H
#define SMC_TOOLS_NETNS_H

/*
 * Moves this process into a network namespace: a name of 'ip netns', a path, or a process id. Ends
 * the program on failure.
 */
void netns_enter(const char *name);

#endif /* SMC_TOOLS_NETNS_H */
