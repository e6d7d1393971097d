// SPDX-License-Identifier: GPL-2.0
/* Names of netdevs. The netdev of an RDMA device may be in another network namespace. */
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "objects.h"

const char *netdev_name(uint32_t ifindex, char room[32])
{
	if (!ifindex)
		return "n/a";
	if (!if_indextoname(ifindex, room))
		snprintf(room, 32, "if%u", ifindex);
	return room;
}

bool netdev_is(uint32_t ifindex, const char *name)
{
	char room[32];

	return !strcmp(netdev_name(ifindex, room), name);
}
