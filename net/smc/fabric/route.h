/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The route of a TCP connection: its outgoing netdev, and the subnets of that netdev.
 */
#ifndef SMC_ROUTE_H
#define SMC_ROUTE_H

#include <linux/in6.h>
#include <net/dst.h>
#include <net/sock.h>

struct smc_clc_proposal;

void smc_route_local(const struct sock *sk, struct in6_addr *addr);
void smc_route_remote(const struct sock *sk, struct in6_addr *addr);
struct dst_entry *smc_route_get(struct sock *sk);
int smc_route_offer_subnets(struct sock *sk, struct smc_clc_proposal *p);
bool smc_route_in_subnets(struct sock *sk, const struct smc_clc_proposal *p);

#endif
