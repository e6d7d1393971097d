/* SPDX-License-Identifier: GPL-2.0 */
/* The interface of smc.ko through which smc_diag.ko walks its sockets; see registry.c. */
#ifndef SMC_WALK_H
#define SMC_WALK_H

#include <linux/types.h>
#include "../smc.h"

struct net;
struct smc_sock_info;

/**
 * struct smc_sock_cursor - position of a walk over the sockets of a namespace
 * @place:	entry in a list, behind the socket that was visited last
 * @registry:	the list that contains @place
 * @cpu:	the CPU whose list is being walked; nr_cpu_ids at the end
 *
 * The cursor may stay in the list between two calls of smc_sock_walk() for any time, and does not
 * keep sockets alive.
 */
struct smc_sock_cursor {
	struct smc_registry_entry place;
	struct smc_registry	*registry;
	unsigned int		cpu;
};

void smc_sock_walk_begin(struct smc_sock_cursor *cursor);
int smc_sock_walk(struct net *net, struct smc_sock_cursor *cursor,
		  int (*fn)(const struct smc_sock_info *info, void *arg),
		  void *arg);
void smc_sock_walk_end(struct smc_sock_cursor *cursor);

#endif
