// SPDX-License-Identifier: GPL-2.0
/*
 * How many sockets may outlive their files: a limit for the host, and a share for everyone.
 *
 * Each such socket counts for a holder, which is whoever could have made many more of them: a user
 * in a namespace that only the host's administrator can create; elsewhere, the user that created
 * the user namespace. A holder may have as many sockets as are still free, and so may each network
 * namespace but the initial one. So n busy holders leave one part in n + 1 for the next one,
 * without a list of users and their shares. Guests, the namespaces that any user can create, leave
 * the last quarter to the host, as in mem/limit.c.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include "../netns.h"
#include "socket.h"

/*
 * Maximum number of SMC sockets without a file on this host; TCP's equivalent is
 * net.ipv4.tcp_max_orphans.
 */
#define MAX_ORPHANS	16384

#ifdef CONFIG_SMC_TEST
static int max_orphans = MAX_ORPHANS;
module_param(max_orphans, int, 0600);
MODULE_PARM_DESC(max_orphans, "limit on sockets without a file");
#else
static const int max_orphans = MAX_ORPHANS;
#endif

/**
 * struct smc_orphan_holder - whoever the sockets without a file are counted for
 * @node:	in holders; exists only as long as @n is not 0
 * @scope:	the network namespace; for guests NULL, or the user namespace if root created it; as
 *		each of the sockets keeps it alive, it is not reused
 * @owner:	the user
 * @n:		number of sockets
 */
struct smc_orphan_holder {
	struct hlist_node	node;
	const void		*scope;
	kuid_t			owner;
	unsigned int		n;
};

/* Protects all counts, holders, and smc_net.n_orphans. */
static DEFINE_SPINLOCK(orphans_lock);
static DEFINE_HASHTABLE(holders, 8);
static int n_orphans;

/* The user namespace around this one, or itself, that the host's own user namespace contains. */
static const struct user_namespace *outermost(const struct user_namespace *ns)
{
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	return ns;
}

static bool is_guest(const struct net *net)
{
	return net->user_ns != &init_user_ns;
}

/* All containers of one user are one holder, but each one that root runs is one. */
static void identify_guest(const struct net *net, struct smc_orphan_holder *key)
{
	const struct user_namespace *ns = outermost(net->user_ns);

	key->owner = ns->owner;
	key->scope = uid_eq(ns->owner, GLOBAL_ROOT_UID) ? ns : NULL;
}

/* The credentials are those of socket() or accept(): another user may close the file. */
static void identify(const struct sock *sk, struct smc_orphan_holder *key)
{
	const struct file *file = sk->sk_socket->file;
	const struct net *net = sock_net(sk);
	const struct cred *cred;

	if (is_guest(net)) {
		identify_guest(net, key);
		return;
	}
	key->scope = net;
	key->owner = GLOBAL_ROOT_UID;
	if (!file)
		return;		/* a socket of the kernel */
	cred = file->f_cred;
	key->owner = cred->user_ns == &init_user_ns ? cred->fsuid :
						      outermost(cred->user_ns)->owner;
}

static u32 hash_of(const struct smc_orphan_holder *key)
{
	return hash_long((unsigned long)key->scope ^ __kuid_val(key->owner), 32);
}

static struct smc_orphan_holder *__find(const struct smc_orphan_holder *key)
{
	struct smc_orphan_holder *h;

	lockdep_assert_held(&orphans_lock);
	hash_for_each_possible(holders, h, node, hash_of(key))
		if (h->scope == key->scope && uid_eq(h->owner, key->owner))
			return h;
	return NULL;
}

static bool __has_room(const struct net *net, const struct smc_orphan_holder *h)
{
	int max = READ_ONCE(max_orphans), room;

	lockdep_assert_held(&orphans_lock);
	room = (is_guest(net) ? max / 4 * 3 : max) - n_orphans;
	if (net != &init_net && (int)smc_net(net)->n_orphans >= room)
		return false;
	return (int)h->n < room;
}

/* Count the socket for @h, which is not yet in the table if it has no other. */
static bool __count(struct sock *sk, struct smc_orphan_holder *h)
{
	struct net *net = sock_net(sk);

	lockdep_assert_held(&orphans_lock);
	if (!__has_room(net, h))
		return false;
	if (!h->n++)
		hash_add(holders, &h->node, hash_of(h));
	smc_net(net)->n_orphans++;
	n_orphans++;
	smc_sk(sk)->orphan_of = h;
	return true;
}

/**
 * smc_orphan_begin() - count a socket that is to outlive its file
 * @sk: the socket, with its file
 *
 * Context: process, may sleep.
 * Return: false, with nothing changed, if there is no room for it, or no memory.
 */
bool smc_orphan_begin(struct sock *sk)
{
	struct smc_orphan_holder *h, *found;
	bool ok;

	/* Not charged: to close a socket must not need memory of a user that has none left. */
	h = kzalloc(sizeof(*h), GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN);
	if (!h)
		return false;
	identify(sk, h);
	spin_lock(&orphans_lock);
	found = __find(h);
	ok = __count(sk, found ?: h);
	spin_unlock(&orphans_lock);
	if (found || !ok)
		kfree(h);
	return ok;
}

/**
 * smc_orphan_end() - undo smc_orphan_begin()
 * @sk: the socket
 *
 * Context: process.
 */
void smc_orphan_end(struct sock *sk)
{
	struct smc_orphan_holder *h = smc_sk(sk)->orphan_of;

	spin_lock(&orphans_lock);
	n_orphans--;
	smc_net(sock_net(sk))->n_orphans--;
	if (--h->n)
		h = NULL;
	else
		hash_del(&h->node);
	spin_unlock(&orphans_lock);
	kfree(h);
}
