/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decides which connections may use SMC. One word tells whether there is anything to check, so that
 * a connection costs one test if nothing is configured.
 */
#ifndef SMC_POLICY_H
#define SMC_POLICY_H

#include <linux/bitops.h>
#include <linux/smc_reason.h>
#include "../netns.h"
#include "autocache.h"
#include "autosmc.h"
#include "filter.h"

struct sk_buff;
struct sock;
struct sockaddr;

enum smc_steer_bit {
	SMC_STEER_FILTER,	/* there are filter rules */
	SMC_STEER_AUTOCACHE,	/* the autocache has entries */
	SMC_STEER_AUTOSMC,	/* the connections of listeners are measured */
};

/**
 * struct smc_steer - the steering state of a namespace
 * @filter:	rules that permit or exclude
 * @autocache:	destinations that do not speak SMC
 * @autosmc:	listeners, and whether SMC pays for their connections
 */
struct smc_steer {
	struct smc_filter	filter;
	struct smc_autocache	autocache;
	struct smc_autosmc	autosmc;
};

/* Is any steering in use for the connections of this namespace? */
#define smc_steered(sn)		unlikely(READ_ONCE((sn)->steer_on))

#define smc_steer_switch(sn, bit, value)		\
	assign_bit(bit, &(sn)->steer_on, value)

extern struct pernet_operations smc_steer_net_ops;

/* flow.c */
void smc_flow_of_sock(const struct sock *sk, struct smc_flow *flow, bool in);
void smc_flow_of_syn(const struct sk_buff *syn, struct smc_flow *flow);
bool smc_flow_destination(const struct sock *sk, const struct sockaddr_unsized *addr, int len,
			  struct smc_ip *ip, u16 *port);
bool smc_mapped_destination(const struct sock *sk, const struct sockaddr_unsized *addr, int len,
			    __be32 *daddr);
bool smc_flow_to_mapped(const struct sock *sk, const struct sockaddr_unsized *addr, int len,
			struct smc_flow *flow);

#endif
