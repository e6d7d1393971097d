// SPDX-License-Identifier: GPL-2.0
/* The PNET table. */
#include <linux/ctype.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "../lock_class.h"
#include "../netns.h"
#include "../smc.h"
#include "pnet.h"

struct pnet_node {
	struct list_head	list;
	struct rcu_head		rcu;
	struct smc_pnet_entry	e;
};

/**
 * struct smc_pnet_table - the PNET table of a namespace
 * @lock:	serializes writers and listings; lookups use RCU
 * @list:	entries, in the order in which they were added
 * @n:		number of entries
 * @last:	number of the entry added last
 * @seq:	sequence number, changed by each update, never 0
 */
struct smc_pnet_table {
	struct mutex		lock;
	struct list_head	list;
	unsigned int		n;
	u32			last;
	unsigned int		seq;
};

static unsigned int smc_pnet_id __ro_after_init;

/**
 * smc_pnetid_parse() - parse a PNETID that a user has entered
 * @text: 1 to 16 characters A-Z, a-z, 0-9; may be surrounded by blanks
 * @len: length of @text
 * @id: receives the PNETID in capitals: SMC_PNETID_LEN + 1 bytes, padded with 0
 *
 * Return: false if @text is not a PNETID.
 */
bool smc_pnetid_parse(const char *text, size_t len, char *id)
{
	size_t i;

	while (len && *text == ' ') {
		text++;
		len--;
	}
	while (len && (text[len - 1] == ' ' || !text[len - 1]))
		len--;
	if (!len || len > SMC_PNETID_LEN)
		return false;
	memset(id, 0, SMC_PNETID_LEN + 1);
	for (i = 0; i < len; i++) {
		if (!isascii(text[i]) || !isalnum(text[i]))
			return false;
		id[i] = toupper(text[i]);
	}
	return true;
}

static void __changed(struct smc_pnet_table *t)
{
	lockdep_assert_held(&t->lock);
	t->seq = smc_next_seq(t->seq);
}

static struct pnet_node *__find(struct smc_pnet_table *t, const char *name, u8 port)
{
	struct pnet_node *node;

	lockdep_assert_held(&t->lock);
	list_for_each_entry(node, &t->list, list)
		if (node->e.port == port && !strcmp(node->e.name, name))
			return node;
	return NULL;
}

/* How many of the entries exist already; -EEXIST if one has a different PNETID. */
static int __count_known(struct smc_pnet_table *t, const struct smc_pnet_entry *e,
			 unsigned int n)
{
	const struct pnet_node *node;
	unsigned int i, known = 0;

	lockdep_assert_held(&t->lock);
	for (i = 0; i < n; i++) {
		node = __find(t, e[i].name, e[i].port);
		if (node && strcmp(node->e.id, e[i].id))
			return -EEXIST;
		known += !!node;
	}
	return known;
}

static void __add(struct smc_pnet_table *t, struct pnet_node *node)
{
	lockdep_assert_held(&t->lock);
	node->e.number = ++t->last;
	t->n++;
	list_add_tail_rcu(&node->list, &t->list);
	__changed(t);
}

/* Allocate nodes for all entries. */
static int nodes_new(struct pnet_node **nodes, const struct smc_pnet_entry *e,
		     unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		nodes[i] = kzalloc(sizeof(*nodes[i]), SMC_GFP_CHARGED);
		if (!nodes[i])
			return -ENOMEM;
		nodes[i]->e = e[i];
	}
	return 0;
}

/**
 * smc_pnet_add() - assign a netdev, a port, or both to a network
 * @sn: the namespace
 * @e: the entries; their numbers are ignored
 * @n: number of entries, SMC_PNET_AT_ONCE at most
 *
 * Adds all entries or none. Entries that the table already has are skipped. Existing connections
 * are not affected.
 *
 * Context: process, may sleep.
 * Return: 0; -EEXIST if an entry exists with a different PNETID, or if all entries exist already;
 * -ENOSPC; -ENOMEM.
 */
int smc_pnet_add(struct smc_net *sn, const struct smc_pnet_entry *e, unsigned int n)
{
	struct pnet_node *nodes[SMC_PNET_AT_ONCE] = { };
	struct smc_pnet_table *t = sn->pnet;
	int rc = nodes_new(nodes, e, n), known;
	unsigned int i;

	mutex_lock(&t->lock);
	known = __count_known(t, e, n);
	if (!rc && (known < 0 || known == n))
		rc = -EEXIST;
	if (!rc && t->n + n - known > SMC_PNET_MAX)
		rc = -ENOSPC;
	for (i = 0; !rc && i < n; i++) {
		if (__find(t, e[i].name, e[i].port))
			continue;
		__add(t, nodes[i]);
		nodes[i] = NULL;
	}
	mutex_unlock(&t->lock);
	for (i = 0; i < n; i++)
		kfree(nodes[i]);
	return rc;
}

/* Delete the entries with this PNETID, or all entries; returns how many. */
static unsigned int forget(struct smc_pnet_table *t, const char *id)
{
	struct pnet_node *node, *next;
	unsigned int n = 0;

	mutex_lock(&t->lock);
	list_for_each_entry_safe(node, next, &t->list, list) {
		if (id && strcmp(node->e.id, id))
			continue;
		list_del_rcu(&node->list);
		kfree_rcu(node, rcu);
		n++;
	}
	t->n -= n;
	if (n)
		__changed(t);
	mutex_unlock(&t->lock);
	return n;
}

/**
 * smc_pnet_remove() - delete a network
 * @sn: the namespace
 * @id: PNETID of the network, in the form of smc_pnetid_parse()
 *
 * Return: 0 or -ENOENT.
 */
int smc_pnet_remove(struct smc_net *sn, const char *id)
{
	return forget(sn->pnet, id) ? 0 : -ENOENT;
}

/**
 * smc_pnet_flush() - delete all networks
 * @sn: the namespace
 */
void smc_pnet_flush(struct smc_net *sn)
{
	forget(sn->pnet, NULL);
}

/**
 * smc_pnet_seq() - the sequence number of the table
 * @sn: the namespace
 *
 * Context: any.
 * Return: a number that changes with each update, never 0.
 */
unsigned int smc_pnet_seq(const struct smc_net *sn)
{
	return READ_ONCE(sn->pnet->seq);
}

/**
 * smc_pnet_next() - iterate over the table
 * @sn: the namespace
 * @id: return only entries of this network, or NULL for all
 * @e: the previous entry, or number 0; receives the next one
 * @seq: receives the sequence number of the table
 *
 * Context: process, may sleep.
 * Return: false at the end of the table.
 */
bool smc_pnet_next(struct smc_net *sn, const char *id, struct smc_pnet_entry *e,
		   unsigned int *seq)
{
	struct smc_pnet_table *t = sn->pnet;
	struct pnet_node *node;
	bool found = false;

	/* Not RCU: an entry and @seq must belong to the same state of the table. */
	mutex_lock(&t->lock);
	list_for_each_entry(node, &t->list, list) {
		if (node->e.number <= e->number || (id && strcmp(node->e.id, id)))
			continue;
		*e = node->e;
		found = true;
		break;
	}
	*seq = t->seq;
	mutex_unlock(&t->lock);
	return found;
}

static bool is_port(const struct smc_pnet_entry *e, const struct smc_pnet_port *port)
{
	return e->port == port->port &&
	       (!strcmp(e->name, port->dev) || (port->pci && !strcmp(e->name, port->pci)));
}

/**
 * smc_pnet_compare() - does the table say that a netdev and a port are on the same network?
 * @ndev: the netdev; the table is that of its namespace
 * @port: the port
 *
 * Both entries must be in the same table. The port's own PNETID counts only in the initial
 * namespace. So permission to name a netdev in a private namespace gives no access to the ports of
 * the host.
 *
 * Context: under RCU.
 *
 * Return: SMC_PNET_SAME, SMC_PNET_OTHER, or SMC_PNET_UNKNOWN if the table lacks one of the two.
 */
enum smc_pnet_verdict smc_pnet_compare(const struct net_device *ndev,
				       const struct smc_pnet_port *port)
{
	const struct smc_net *sn = smc_net(dev_net(ndev));
	const char *of_ndev = NULL, *of_port = NULL;
	const struct pnet_node *node;

	list_for_each_entry_rcu(node, &sn->pnet->list, list) {
		if (!node->e.port && !strcmp(node->e.name, ndev->name))
			of_ndev = node->e.id;
		else if (!of_port && is_port(&node->e, port))
			of_port = node->e.id;
	}
	if (!of_port && net_eq(dev_net(ndev), &init_net))
		of_port = port->own;
	if (!of_ndev || !of_port)
		return SMC_PNET_UNKNOWN;
	return strcmp(of_ndev, of_port) ? SMC_PNET_OTHER : SMC_PNET_SAME;
}

/* Get the PNETID of a netdev (port 0) or of a port; returns whether there is one. */
static bool pnetid_of(const struct smc_net *sn, const struct smc_pnet_port *port, char *id)
{
	const struct pnet_node *node;
	bool found = false;

	*id = 0;
	rcu_read_lock();
	list_for_each_entry_rcu(node, &sn->pnet->list, list) {
		found = is_port(&node->e, port);
		if (found) {
			memcpy(id, node->e.id, sizeof(node->e.id));
			break;
		}
	}
	rcu_read_unlock();
	return found;
}

/**
 * smc_pnet_of_port() - get the PNETID of a port
 * @sn: the namespace
 * @port: the port
 * @id: receives the PNETID, SMC_PNETID_LEN + 1 bytes, empty if there is none
 *
 * Context: any.
 * Return: true if the PNETID is from the table, false if it is the port's own.
 */
bool smc_pnet_of_port(const struct smc_net *sn, const struct smc_pnet_port *port, char *id)
{
	bool found = pnetid_of(sn, port, id);

	if (!found && port->own)
		strscpy(id, port->own, SMC_PNETID_LEN + 1);
	return found;
}

/**
 * smc_pnet_of_netdev() - get the PNETID of a netdev from the table of its namespace
 * @ndev: the netdev
 * @id: receives the PNETID, SMC_PNETID_LEN + 1 bytes, empty if there is none
 *
 * Context: any.
 * Return: true if there is one.
 */
bool smc_pnet_of_netdev(const struct net_device *ndev, char *id)
{
	const struct smc_pnet_port netdev = { .dev = ndev->name };

	return pnetid_of(smc_net(dev_net(ndev)), &netdev, id);
}

static int __net_init smc_pnet_net_init(struct net *net)
{
	struct smc_pnet_table *t = net_generic(net, smc_pnet_id);

	smc_mutex_init(&t->lock, SMC_LOCK_PNET_TABLE);
	INIT_LIST_HEAD(&t->list);
	t->seq = 1;
	smc_net(net)->pnet = t;
	return 0;
}

static void __net_exit smc_pnet_net_exit(struct net *net)
{
	smc_pnet_flush(smc_net(net));
}

struct pernet_operations smc_pnet_net_ops = {
	.init	= smc_pnet_net_init,
	.exit	= smc_pnet_net_exit,
	.id	= &smc_pnet_id,
	.size	= sizeof(struct smc_pnet_table),
};
