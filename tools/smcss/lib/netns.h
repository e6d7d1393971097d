/* SPDX-License-Identifier: GPL-2.0 */
/* Another network namespace than that of the caller: option -N of every tool. */
#ifndef SMC_TOOLS_NETNS_H
#define SMC_TOOLS_NETNS_H

/*
 * From now on this process is in that namespace: a name of 'ip netns', a path, or the number of a
 * process. Ends the program if that cannot be.
 */
void netns_enter(const char *name);

#endif /* SMC_TOOLS_NETNS_H */
