// SPDX-License-Identifier: GPL-2.0
/* The filter rules of a network namespace: the list, and the table compiled from it. */
#include <linux/list.h>
#include <linux/slab.h>
#include "../lock_class.h"
#include "../smc.h"
#include "policy.h"

struct filter_rule {
	struct list_head	list;
	u32			id;
	atomic64_t		hits;
	struct smc_rule		rule;
};

struct smc_filter_table {
	struct smc_rules	*rules;
	struct filter_rule	*by_index[];
};

void smc_filter_init(struct smc_filter *f)
{
	smc_mutex_init(&f->lock, SMC_LOCK_FILTER);
	INIT_LIST_HEAD(&f->list);
	f->seq = 1;
}

static void table_free(struct smc_filter_table *t)
{
	if (!t)
		return;
	smc_rules_free(t->rules);
	kvfree(t);
}

/* Compile the current list; NULL if there is no memory. */
static struct smc_filter_table *__table_new(struct smc_filter *f)
{
	const struct smc_rule **rules;
	struct smc_filter_table *t;
	struct filter_rule *r;
	unsigned int n = 0;

	lockdep_assert_held(&f->lock);
	rules = smc_alloc_array(f->n, sizeof(*rules));
	t = smc_alloc_array(1, struct_size(t, by_index, f->n));
	if (rules && t) {
		list_for_each_entry(r, &f->list, list) {
			rules[n] = &r->rule;
			t->by_index[n++] = r;
		}
		t->rules = smc_rules_compile(rules, n);
	}
	if (!rules || !t || !t->rules) {
		kvfree(t);
		t = NULL;
	}
	kvfree(rules);
	return t;
}

/*
 * Make the current list effective for new connections; on error nothing changes. Afterwards no
 * connection uses a rule that is not in the list.
 *
 * Waits for a grace period, because a table has up to 4.3 MiB, and kvfree_rcu() may free it
 * seconds later: a program that adds one rule after the other would fill the memory with old
 * tables. This way there are two at most. The grace period is expedited, as those of
 * synchronize_net(), which an administrator of a namespace can cause as well.
 */
static int __publish(struct smc_net *sn)
{
	struct smc_filter *f = &sn->steer->filter;
	struct smc_filter_table *t = NULL;

	if (f->n) {
		t = __table_new(f);
		if (!t)
			return -ENOMEM;
	}
	t = rcu_replace_pointer(f->table, t, lockdep_is_held(&f->lock));
	smc_steer_switch(sn, SMC_STEER_FILTER, f->n);
	f->seq = smc_next_seq(f->seq);
	if (t)
		synchronize_rcu_expedited();
	table_free(t);
	return 0;
}

static struct filter_rule *__find(struct smc_filter *f, u32 id)
{
	struct filter_rule *r;

	lockdep_assert_held(&f->lock);
	list_for_each_entry(r, &f->list, list)
		if (r->id == id)
			return r;
	return NULL;
}

static bool __is_there(struct smc_filter *f, const struct smc_rule *rule)
{
	const struct filter_rule *r;

	lockdep_assert_held(&f->lock);
	list_for_each_entry(r, &f->list, list)
		if (smc_rule_equal(&r->rule, rule))
			return true;
	return false;
}

static int __insert(struct smc_net *sn, struct filter_rule *r, u32 before)
{
	struct smc_filter *f = &sn->steer->filter;
	struct filter_rule *next = before ? __find(f, before) : NULL;
	int rc;

	lockdep_assert_held(&f->lock);
	if (before && !next)
		return -ENOENT;
	if (__is_there(f, &r->rule))
		return -EEXIST;
	if (f->n == SMC_RULES_MAX)
		return -ENOSPC;
	list_add_tail(&r->list, next ? &next->list : &f->list);
	f->n++;
	rc = __publish(sn);
	if (rc) {
		list_del(&r->list);
		f->n--;
		return rc;
	}
	f->last_id = r->id;
	return 0;
}

/* Rule numbers are unique, even after they have wrapped around. */
static u32 __next_id(struct smc_filter *f)
{
	u32 id = f->last_id;

	lockdep_assert_held(&f->lock);
	do
		id = id + 1 ?: 1;
	while (__find(f, id));
	return id;
}

/**
 * smc_filter_add() - add a rule
 * @sn: the namespace
 * @rule: the rule, already checked by smc_rule_check()
 * @before: number of the rule to insert it before; 0 to append
 *
 * When this returns, the rule applies to new connections; existing ones are not affected.
 *
 * Context: process, may sleep.
 * Return: 0; -ENOENT if there is no rule @before; -EEXIST; -ENOSPC; -ENOMEM.
 */
int smc_filter_add(struct smc_net *sn, const struct smc_rule *rule, u32 before)
{
	struct smc_filter *f = &sn->steer->filter;
	struct filter_rule *r = kzalloc(sizeof(*r), SMC_GFP_CHARGED);
	int rc;

	if (!r)
		return -ENOMEM;
	r->rule = *rule;
	mutex_lock(&f->lock);
	r->id = __next_id(f);
	rc = __insert(sn, r, before);
	mutex_unlock(&f->lock);
	if (rc)
		kfree(r);
	return rc;
}

/**
 * smc_filter_del() - delete a rule
 * @sn: the namespace
 * @id: number of the rule
 *
 * Context: process, may sleep.
 * Return: 0, -ENOENT or -ENOMEM.
 */
int smc_filter_del(struct smc_net *sn, u32 id)
{
	struct smc_filter *f = &sn->steer->filter;
	struct list_head *prev;
	struct filter_rule *r;
	int rc = -ENOENT;

	mutex_lock(&f->lock);
	r = __find(f, id);
	if (r) {
		prev = r->list.prev;
		list_del(&r->list);
		f->n--;
		rc = __publish(sn);
		if (!rc) {
			kfree(r);
		} else {
			list_add(&r->list, prev);
			f->n++;
		}
	}
	mutex_unlock(&f->lock);
	return rc;
}

/**
 * smc_filter_flush() - delete all rules
 * @sn: the namespace
 *
 * Context: process, may sleep.
 */
void smc_filter_flush(struct smc_net *sn)
{
	struct smc_filter *f = &sn->steer->filter;
	struct filter_rule *r, *next;

	mutex_lock(&f->lock);
	f->n = 0;
	/* An empty list needs no memory, so this cannot fail. */
	__publish(sn);
	list_for_each_entry_safe(r, next, &f->list, list) {
		list_del(&r->list);
		kfree(r);
	}
	mutex_unlock(&f->lock);
}

/**
 * smc_filter_nth() - read a rule by its position
 * @sn: the namespace
 * @n: position of the rule, starting at 0
 * @e: receives the rule
 * @seq: receives the sequence number of the list
 *
 * Context: process.
 * Return: false if there are fewer rules.
 */
bool smc_filter_nth(struct smc_net *sn, unsigned int n, struct smc_filter_entry *e,
		    unsigned int *seq)
{
	struct smc_filter *f = &sn->steer->filter;
	const struct smc_filter_table *t;
	const struct filter_rule *r;
	bool found;

	mutex_lock(&f->lock);
	t = rcu_dereference_protected(f->table, lockdep_is_held(&f->lock));
	found = n < f->n;
	if (found) {
		r = t->by_index[n];
		e->id = r->id;
		e->hits = atomic64_read(&r->hits);
		e->rule = r->rule;
	}
	*seq = f->seq;
	mutex_unlock(&f->lock);
	return found;
}

/**
 * smc_filter_excludes() - must this connection stay TCP?
 * @sn: the namespace
 * @flow: the connection
 * @count: this lookup is decisive, so count it as a hit
 *
 * If no rule matches, a connection may use SMC.
 *
 * Context: any.
 *
 * Return: true if the first matching rule excludes the connection.
 */
bool smc_filter_excludes(const struct smc_net *sn, const struct smc_flow *flow, bool count)
{
	const struct smc_filter_table *t;
	struct filter_rule *r;
	bool exclude = false;
	int i;

	rcu_read_lock();
	t = rcu_dereference(sn->steer->filter.table);
	i = t ? smc_rules_find(t->rules, flow) : -1;
	if (i >= 0) {
		r = t->by_index[i];
		exclude = r->rule.exclude;
		if (count)
			atomic64_inc(&r->hits);
	}
	rcu_read_unlock();
	return exclude;
}
