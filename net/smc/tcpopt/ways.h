/* SPDX-License-Identifier: GPL-2.0 */
/* The ways to exchange the option that this kernel supports, and what they share. */
#ifndef SMC_TCPOPT_WAYS_H
#define SMC_TCPOPT_WAYS_H

#include "tcpopt.h"

struct sk_buff;
struct tcphdr;

#ifdef SMC_HAVE_TCP_HOOKS
extern const struct smc_tcpopt smc_tcpopt_hooks;	/* hooks.c */
#endif
#ifdef CONFIG_NETFILTER
extern const struct smc_tcpopt smc_tcpopt_netfilter;	/* netfilter.c */
#endif

/* segment.c: the option in a segment */
bool smc_tcpopt_in(const struct tcphdr *th);
bool smc_tcpopt_add(struct sk_buff *skb);

#endif
