/* SPDX-License-Identifier: GPL-2.0 */
/* Listeners of a network namespace: do their connections last long enough for SMC? */
#ifndef SMC_POLICY_AUTOSMC_H
#define SMC_POLICY_AUTOSMC_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include "ewma.h"
#include "rules.h"

struct smc_conn;
struct smc_listener;
struct smc_net;
struct sock;

#define SMC_AUTOSMC_MAX		256	/* maximum number of listeners */
#define SMC_AUTOSMC_BUCKETS	64

enum smc_autosmc_mode { SMC_AUTOSMC_OFF, SMC_AUTOSMC_ON, SMC_AUTOSMC_ADVISE };

/**
 * struct smc_autosmc - listeners of a namespace
 * @lock:	serializes changes of @buckets, @n and @seq
 * @buckets:	lists of struct smc_listener, hashed by address and port; RCU
 * @n:		number of listeners
 * @seq:	sequence number of the table, changed with each listener that comes or goes, never 0
 */
struct smc_autosmc {
	spinlock_t		lock;
	struct hlist_head	buckets[SMC_AUTOSMC_BUCKETS];
	unsigned int		n;
	unsigned int		seq;
};

/**
 * struct smc_autosmc_entry - a listener, for display
 * @ip:		address of the listener, 0 for any
 * @any:	the listener accepts connections to all addresses
 * @port:	port of the listener
 * @retry:	TOO_SHORT: seconds until SMC is tried again
 * @picture:	average of its connections
 */
struct smc_autosmc_entry {
	struct smc_ip		ip;
	bool			any;
	u16			port;
	u32			retry;
	struct smc_ewma	picture;
};

void smc_autosmc_init(struct smc_autosmc *a);
void smc_autosmc_flush(struct smc_net *sn);
void smc_autosmc_child(struct sock *child, const struct sock *listener);
void smc_autosmc_conn_gone(struct sock *sk, const struct smc_conn *c);
void smc_autosmc_child_gone(struct sock *sk);
bool smc_autosmc_refuses(const struct sock *listener);
bool smc_autosmc_nth(struct smc_net *sn, unsigned int bucket, unsigned int n,
		     struct smc_autosmc_entry *e, unsigned int *seq);

#endif
