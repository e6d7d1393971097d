/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What steers which connections use SMC.  One word says whether there is anything to
 * look at, so that a connection pays for one test where nothing is configured.
 */
#ifndef SMC_STEER_H
#define SMC_STEER_H

#include <linux/bitops.h>
#include <linux/smc_reason.h>
#include "autocache.h"
#include "autosmc.h"
#include "filter.h"

struct sk_buff;
struct sock;
struct sockaddr;

enum smc_steer_bit {
	SMC_STEER_FILTER,	/* there are rules */
	SMC_STEER_AUTOCACHE,	/* there are destinations that were remembered */
	SMC_STEER_AUTOSMC,	/* a picture is drawn of listeners */
};

/**
 * struct smc_steer - of a namespace
 * @on:		enum smc_steer_bit: what there is to look at
 * @filter:	permit and exclude
 * @autocache:	destinations that do not speak SMC
 * @autosmc:	listeners, and whether SMC pays for them
 */
struct smc_steer {
	unsigned long		on;
	struct smc_filter	filter;
	struct smc_autocache	autocache;
	struct smc_autosmc	autosmc;
};

/* Does anything steer the connections of this namespace? */
#define smc_steered(sn)		unlikely(READ_ONCE((sn)->steer.on))

#define smc_steer_switch(sn, bit, value)		\
	assign_bit(bit, &(sn)->steer.on, value)

void smc_steer_init(struct smc_net *sn);
void smc_steer_exit(struct smc_net *sn);

/* flow.c */
void smc_flow_of_sock(const struct sock *sk, struct smc_flow *flow, bool in);
void smc_flow_of_syn(const struct sk_buff *syn, struct smc_flow *flow);
bool smc_flow_destination(const struct sock *sk, const struct sockaddr *addr, int len,
			  struct smc_ip *ip, u16 *port);
bool smc_flow_to_mapped(const struct sock *sk, const struct sockaddr *addr, int len,
			struct smc_flow *flow);

#endif
