/* SPDX-License-Identifier: GPL-2.0 */
/* Destinations of a network namespace that do not speak SMC, remembered for a while. */
#ifndef SMC_POLICY_AUTOCACHE_H
#define SMC_POLICY_AUTOCACHE_H

#include <linux/atomic.h>
#include <linux/seqlock.h>
#include <linux/smc_reason.h>
#include "rules.h"

struct smc_net;
struct sock;
struct smc_autocache_slot;

#define SMC_AUTOCACHE_SETS	256
#define SMC_AUTOCACHE_WAYS	4
#define SMC_AUTOCACHE_SLOTS	(SMC_AUTOCACHE_SETS * SMC_AUTOCACHE_WAYS)

/**
 * struct smc_autocache - the destinations that a namespace remembers
 * @lock:	serializes writers of @slots and @seq
 * @slots:	SMC_AUTOCACHE_SLOTS slots, allocated for the first destination to be remembered, and
 *		kept until the namespace ends
 * @seed:	seed of the hash
 * @last:	when a destination was last remembered, in jiffies
 * @seq:	sequence number of the table, changed with each destination that comes or is
 *		flushed, never 0
 */
struct smc_autocache {
	seqlock_t			lock;
	struct smc_autocache_slot	*slots;
	u32				seed;
	unsigned long			last;
	unsigned int			seq;
};

/**
 * struct smc_autocache_entry - a destination, for display
 * @ip:		address of the destination
 * @port:	port of the destination
 * @reason:	PEER_DECLINED, PROTOCOL, TIMEOUT or PEER_CLOSED
 * @diagnosis:	the diagnosis in the peer's Decline
 * @left:	seconds until the destination is forgotten
 * @hits:	number of connections that became TCP because of this entry
 */
struct smc_autocache_entry {
	struct smc_ip	ip;
	u16		port;
	u32		reason;
	u32		diagnosis;
	u32		left;
	u32		hits;
};

void smc_autocache_init(struct smc_autocache *c);
void smc_autocache_exit(struct smc_autocache *c);
void smc_autocache_prepare(struct smc_net *sn);
void smc_autocache_remember(const struct sock *sk, enum smc_reason reason, u32 diagnosis);
bool smc_autocache_knows(struct smc_net *sn, const struct smc_ip *ip, u16 port);
void smc_autocache_flush(struct smc_net *sn);
bool smc_autocache_nth(struct smc_net *sn, unsigned int n, struct smc_autocache_entry *e,
		       unsigned int *seq);

#endif
