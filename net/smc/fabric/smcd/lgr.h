/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SMC-D link groups: the connections to one peer over one ISM device.  They are local: peers do not
 * negotiate them.  A group ensures that a buffer is reused for the same peer only, and finds the
 * connections that are lost when a peer or device goes away.
 */
#ifndef SMC_FABRIC_SMCD_LGR_H
#define SMC_FABRIC_SMCD_LGR_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "../../wire/clc.h"
#include "../fabric.h"
#include "ism.h"

struct smc_pools;
struct smcd_conn;
struct smcd_lgrs;

/**
 * struct smcd_lgr - the connections of a namespace to one peer over one device
 * @ref:	reference count: held by the list, by each connection and by pending works
 * @list:	entry in the list of the namespace until the group ends
 * @sn:		the namespace; it waits for @end_work and may be gone after that
 * @lgrs:	the list of the namespace, referenced
 * @dev:	the device, referenced; only connections pin the driver's module
 * @peer:	GID of the peer
 * @vlan:	SMC-Dv1: the VLAN or SMC_ISM_NO_VLAN; SMC-Dv2: SMC_ISM_ANY_VLAN
 * @id:		number of the group, for display
 * @server:	this end was the server of the first contact
 * @version:	SMC version
 * @release:	release number of version 2
 * @peer_os:	SMC_CLC_OS_*, 0 if unknown
 * @hostname:	host name of the peer, or empty
 * @eid:	version 2: the common EID of the first contact
 * @ended:	accepts no new connections; this, @n_conns and @conns are under smcd_lgrs.lock
 * @n_conns:	number of connections in @conns
 * @conns:	connections that have not left the group
 * @dmbs:	pools of our DMBs; these and @rings are freed with the group, as its connections use
 *		them without a lock
 * @rings:	pools of send rings, for a copying device
 * @idle_work:	ends the group after net.smc.lgr_idle_time without connections
 * @end_work:	cuts off the connections
 */
struct smcd_lgr {
	refcount_t		ref;
	struct list_head	list;
	struct smc_net		*sn;
	struct smcd_lgrs	*lgrs;
	struct smc_ism_dev	*dev;
	struct smc_ism_gid	peer;
	u16			vlan;
	u32			id;
	bool			server;
	u8			version;
	u8			release;
	u8			peer_os;
	char			hostname[SMC_CLC_HOSTNAME_LEN + 1];
	u8			eid[SMC_EID_LEN];
	bool			ended;
	unsigned int		n_conns;
	struct list_head	conns;
	struct smc_pools	*dmbs;
	struct smc_pools	*rings;
	struct delayed_work	idle_work;
	struct work_struct	end_work;
};

/* smc_negotiated.priv: identifies the link group that a handshake has agreed on. */
struct smcd_negotiated {
	struct smc_ism_dev	*dev;	/* referenced */
	struct smc_ism_gid	peer;
	u16			vlan;
};

int smcd_lgr_enter(struct smcd_conn *dconn, struct smc_net *sn, const struct smc_negotiated *neg,
		   bool *created);
void smcd_lgr_leave(struct smcd_conn *dconn);
void smcd_lgr_set_peer(struct smcd_lgr *lgr, const struct smc_clc_accept *a);
void smcd_lgr_put(struct smcd_lgr *lgr);
void smcd_lgrs_end_on(const struct smc_ism_dev *dev, const struct smc_ism_gid *peer);
unsigned int smcd_lgrs_seq(const struct smc_net *sn);
int smcd_groups(struct smc_fabric *f, struct smc_net *sn, struct smc_walk *w);

extern struct pernet_operations smcd_net_ops;

#endif
