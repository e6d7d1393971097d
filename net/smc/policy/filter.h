/* SPDX-License-Identifier: GPL-2.0 */
/* The filter rules of a network namespace. */
#ifndef SMC_POLICY_FILTER_H
#define SMC_POLICY_FILTER_H

#include <linux/list.h>
#include <linux/mutex.h>
#include "rules.h"

struct smc_net;
struct smc_filter_table;

/**
 * struct smc_filter - the rules of a namespace
 * @lock:	serialises changes
 * @list:	struct filter_rule, in order; under @lock
 * @n:		number of rules
 * @last_id:	number of the rule added last
 * @seq:	sequence number of the list, changed by each update, never 0
 * @table:	the compiled rules, used for connections; RCU, NULL if there are no rules
 */
struct smc_filter {
	struct mutex		lock;
	struct list_head	list;
	unsigned int		n;
	u32			last_id;
	unsigned int		seq;
	struct smc_filter_table __rcu *table;
};

/**
 * struct smc_filter_entry - a rule, for display
 * @id:		number of the rule
 * @hits:	number of connections that the rule has decided
 * @rule:	the rule
 */
struct smc_filter_entry {
	u32		id;
	u64		hits;
	struct smc_rule	rule;
};

void smc_filter_init(struct smc_filter *f);
int smc_filter_add(struct smc_net *sn, const struct smc_rule *rule, u32 before);
int smc_filter_del(struct smc_net *sn, u32 id);
void smc_filter_flush(struct smc_net *sn);
bool smc_filter_nth(struct smc_net *sn, unsigned int n, struct smc_filter_entry *e,
		    unsigned int *seq);
bool smc_filter_excludes(const struct smc_net *sn, const struct smc_flow *flow, bool count);

#endif
