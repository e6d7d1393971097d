// SPDX-License-Identifier: GPL-2.0
/* The list of fabrics, and the handshake's calls to all of them. */
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/srcu.h>
#include "../config/eid.h"
#include "../netns.h"
#include "fabric.h"
#include "show.h"

static LIST_HEAD(smc_fabrics);
static DEFINE_MUTEX(smc_fabrics_lock);	/* serializes writers of the list */
DEFINE_STATIC_SRCU(smc_fabrics_srcu);	/* for readers that may sleep */

static bool conn_ops_complete(const struct smc_conn_ops *ops)
{
	return ops->name && ops->commit && ops->consumed && ops->request_update && ops->urgent &&
	       ops->signal && ops->keepalive && ops->detach && ops->free && ops->show;
}

static bool ops_complete(const struct smc_fabric_ops *ops)
{
	return ops->conn && conn_ops_complete(ops->conn) && ops->usable && ops->offer &&
	       ops->choose && ops->accepts && ops->forget && ops->conn_new && ops->describe &&
	       ops->attach && ops->refused && ops->groups && ops->devices;
}

/**
 * smc_fabric_register() - append a fabric to the list; earlier ones are preferred
 * @f: the fabric
 *
 * Context: process, may sleep.
 * Return: 0, or -EINVAL if a mandatory operation is missing.
 */
int smc_fabric_register(struct smc_fabric *f)
{
	if (WARN_ON_ONCE(!ops_complete(f->ops)))
		return -EINVAL;
	mutex_lock(&smc_fabrics_lock);
	list_add_tail_rcu(&f->list, &smc_fabrics);
	mutex_unlock(&smc_fabrics_lock);
	return 0;
}

/**
 * smc_fabric_unregister() - remove a fabric: no new connections use it
 * @f: the fabric
 *
 * Context: process, sleeps until all readers of the list have finished.
 */
void smc_fabric_unregister(struct smc_fabric *f)
{
	mutex_lock(&smc_fabrics_lock);
	list_del_rcu(&f->list);
	mutex_unlock(&smc_fabrics_lock);
	synchronize_rcu();
	synchronize_srcu(&smc_fabrics_srcu);
}

/**
 * smc_fabric_exists() - does this host have a fabric of this SMC type?
 * @diag_mode: SMC_DIAG_MODE_SMCD or SMC_DIAG_MODE_SMCR
 *
 * Return: true if there is one.
 */
bool smc_fabric_exists(u8 diag_mode)
{
	struct smc_fabric *f;
	bool exists = false;

	rcu_read_lock();
	list_for_each_entry_rcu(f, &smc_fabrics, list)
		exists |= f->ops->conn->diag_mode == diag_mode;
	rcu_read_unlock();
	return exists;
}

/**
 * smc_fabric_any() - is there a fabric that this namespace may use?
 * @sn: the namespace
 *
 * Return: true if there is one.
 */
bool smc_fabric_any(const struct smc_net *sn)
{
	struct smc_fabric *f;
	bool any = false;

	rcu_read_lock();
	list_for_each_entry_rcu(f, &smc_fabrics, list) {
		any = f->ops->usable(f, sn);
		if (any)
			break;
	}
	rcu_read_unlock();
	return any;
}

/**
 * smc_fabric_mac() - get a MAC address that makes this host's peer ID unique
 * @mac: receives the address of a device
 *
 * Context: any but hard interrupts.
 * Return: true, or false if no device has one.
 */
bool smc_fabric_mac(u8 *mac)
{
	struct smc_fabric *f;
	bool found = false;

	rcu_read_lock();
	list_for_each_entry_rcu(f, &smc_fabrics, list) {
		found = f->ops->mac && f->ops->mac(mac);
		if (found)
			break;
	}
	rcu_read_unlock();
	return found;
}

static struct smc_fabric *first_pairing(const struct smc_net *sn)
{
	struct smc_fabric *f;

	list_for_each_entry_rcu(f, &smc_fabrics, list, srcu_read_lock_held(&smc_fabrics_srcu))
		if (f->ops->pair && f->ops->usable(f, sn))
			return f;
	return NULL;
}

/**
 * smc_fabric_pairs() - is there a fabric that can pair connections of this namespace?
 * @sn: the namespace
 *
 * Return: true if there is one.
 */
bool smc_fabric_pairs(const struct smc_net *sn)
{
	bool pairs;

	rcu_read_lock();
	pairs = first_pairing(sn);
	rcu_read_unlock();
	return pairs;
}

/**
 * smc_fabric_pair() - create both ends of a connection within this kernel
 * @client: request of the client's end; receives its connection
 * @server: the same for the server's end
 * @atomic: do not sleep
 *
 * Context: any with @atomic, else process.
 * Return: 0; -EAGAIN with @atomic if it would have to sleep; else an enum smc_reason.
 */
int smc_fabric_pair(struct smc_pair_end *client, struct smc_pair_end *server, bool atomic)
{
	struct smc_fabric *f;
	int rc, idx;

	idx = srcu_read_lock(&smc_fabrics_srcu);
	f = first_pairing(smc_net(sock_net(server->sk)));
	rc = f ? f->ops->pair(f, client, server, atomic) : SMC_REASON_NO_DEVICE;
	srcu_read_unlock(&smc_fabrics_srcu, idx);
	return rc;
}

/* Iterate over the fabrics in order of preference; the loop body may sleep. */
#define for_each_fabric(f)						\
	list_for_each_entry_srcu(f, &smc_fabrics, list,			\
				 srcu_read_lock_held(&smc_fabrics_srcu))

/**
 * smc_fabric_offer() - collect the offers of all fabrics in a Proposal
 * @sk: the client's socket
 * @p: the Proposal
 *
 * Context: process, may sleep.
 */
void smc_fabric_offer(struct sock *sk, struct smc_clc_proposal *p)
{
	struct smc_net *sn = smc_net(sock_net(sk));
	struct smc_fabric *f;
	int idx;

	idx = srcu_read_lock(&smc_fabrics_srcu);
	for_each_fabric(f)
		if (f->ops->usable(f, sn))
			f->ops->offer(f, sk, p);
	srcu_read_unlock(&smc_fabrics_srcu, idx);
}

/*
 * No fabric was chosen: complete @neg->why, which a Decline of version 2 reports for each offer.
 * Returns the reason of the last offer, which stands for all of them.
 */
static enum smc_reason sum_up(const struct smc_clc_proposal *p, struct smc_negotiated *neg)
{
	const bool offered[SMC_N_OFFERS] = {
		[SMC_OFFER_DV2] = p->smcd_v2, [SMC_OFFER_DV1] = p->smcd_v1,
		[SMC_OFFER_RV2] = p->smcr_v2, [SMC_OFFER_RV1] = p->smcr_v1,
	};
	enum smc_reason reason = SMC_REASON_NO_COMMON_MODE;
	int i;

	for (i = 0; i < SMC_N_OFFERS; i++) {
		if (!offered[i])
			continue;
		if (!neg->why[i])
			neg->why[i] = SMC_REASON_NO_DEVICE;
		reason = neg->why[i];
	}
	return reason;
}

/**
 * smc_fabric_choose() - server: choose a fabric for the connection
 * @sk: the server's socket
 * @p: the client's Proposal
 * @neg: receives the result
 *
 * Context: process, may sleep.
 * Return: SMC_REASON_NONE, or the reason why the last offer was not chosen; @neg->why has the
 * reasons for all offers.
 */
enum smc_reason smc_fabric_choose(struct sock *sk,
				  const struct smc_clc_proposal *p,
				  struct smc_negotiated *neg)
{
	struct smc_net *sn = smc_net(sock_net(sk));
	struct smc_fabric *f;
	int idx;

	idx = srcu_read_lock(&smc_fabrics_srcu);
	for_each_fabric(f) {
		if (!f->ops->usable(f, sn) || f->ops->choose(f, sk, p, neg))
			continue;
		neg->fabric = f;
		break;
	}
	srcu_read_unlock(&smc_fabrics_srcu, idx);
	return neg->fabric ? SMC_REASON_NONE : sum_up(p, neg);
}

/**
 * smc_fabric_accepts() - client: find the fabric that the server has chosen
 * @sk: the client's socket
 * @a: the Accept
 * @neg: receives the result
 *
 * Context: process, may sleep.
 * Return: SMC_REASON_NONE, or the reason to decline.
 */
enum smc_reason smc_fabric_accepts(struct sock *sk,
				   const struct smc_clc_accept *a,
				   struct smc_negotiated *neg)
{
	struct smc_net *sn = smc_net(sock_net(sk));
	enum smc_reason reason = SMC_REASON_NO_COMMON_DEVICE;
	struct smc_fabric *f;
	int idx;

	idx = srcu_read_lock(&smc_fabrics_srcu);
	for_each_fabric(f) {
		if (!f->ops->usable(f, sn))
			continue;
		reason = f->ops->accepts(f, sk, a, neg);
		if (reason == SMC_REASON_NONE) {
			neg->fabric = f;
			break;
		}
	}
	srcu_read_unlock(&smc_fabrics_srcu, idx);
	return reason;
}

/**
 * smc_fabric_check_v2() - check the parts of an Accept of version 2 that all fabrics share
 * @a: the Accept
 *
 * Context: any.
 * Return: SMC_REASON_NONE, or the reason to decline.
 */
enum smc_reason smc_fabric_check_v2(const struct smc_clc_accept *a)
{
	if (!smc_eid_ours(a->eid))
		return SMC_REASON_NO_COMMON_EID;
	if (a->has_fce && a->release > SMC_CLC_RELEASE)
		return SMC_REASON_PEER_RELEASE;
	return SMC_REASON_NONE;
}

typedef int (*smc_walk_op)(struct smc_fabric *f, struct smc_net *sn,
			   struct smc_walk *w);

static smc_walk_op groups_of(const struct smc_fabric *f)
{
	return f->ops->groups;
}

static smc_walk_op devices_of(const struct smc_fabric *f)
{
	return f->ops->devices;
}

/* pos[0]: number of fabrics already walked; pos[1]: smc_walk.after in the next one. */
static int walk_fabrics(struct smc_net *sn, u8 diag_mode, unsigned long *pos,
			struct smc_walk *w, smc_walk_op (*op)(const struct smc_fabric *f))
{
	unsigned long n = 0;
	struct smc_fabric *f;
	int rc = 0, idx;

	idx = srcu_read_lock(&smc_fabrics_srcu);
	for_each_fabric(f) {
		if (f->ops->conn->diag_mode != diag_mode || n++ < pos[0])
			continue;
		w->after = pos[1];
		rc = op(f)(f, sn, w);
		pos[1] = w->after;
		if (rc)
			break;
		pos[0]++;
		pos[1] = 0;
	}
	srcu_read_unlock(&smc_fabrics_srcu, idx);
	return rc;
}

/**
 * smc_fabric_groups() - visit the link groups of a namespace
 * @sn: the namespace
 * @diag_mode: SMC_DIAG_MODE_SMCD or SMC_DIAG_MODE_SMCR
 * @pos: two words, zero at the start; a stopped walk resumes from them
 * @w: callbacks and state of the walk
 *
 * A group that exists during the whole walk is shown exactly once.
 *
 * Context: process, may sleep.
 * Return: the nonzero value of @w->group that ended the walk, or 0 at the end.
 */
int smc_fabric_groups(struct smc_net *sn, u8 diag_mode, unsigned long *pos,
		      struct smc_walk *w)
{
	return walk_fabrics(sn, diag_mode, pos, w, groups_of);
}

/**
 * smc_fabric_devices() - visit the devices that a namespace may use
 * @sn: the namespace
 * @diag_mode: SMC_DIAG_MODE_SMCD or SMC_DIAG_MODE_SMCR
 * @pos: two words, zero at the start; a stopped walk resumes from them
 * @w: callbacks and state of the walk
 *
 * Context: process, may sleep.
 *
 * Return: the nonzero value of @w->dev that ended the walk, or 0 at the end.
 */
int smc_fabric_devices(struct smc_net *sn, u8 diag_mode, unsigned long *pos,
		       struct smc_walk *w)
{
	return walk_fabrics(sn, diag_mode, pos, w, devices_of);
}
