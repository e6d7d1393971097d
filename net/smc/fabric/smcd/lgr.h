/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Link groups of SMC-D: the connections to one peer over one ISM device.  Peers tell each other
 * nothing of them.  They are there so that buffers are used again by the same peer only, and so
 * that what is lost with a peer or a device is found.
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
 * @ref:	references: of the list, of each connection, of the works
 * @list:	in the list of the namespace until it ends
 * @sn:		the namespace; it waits for @end_work, and may then be gone
 * @lgrs:	the list, referenced
 * @dev:	the device, referenced; only connections hold its driver's module
 * @peer:	GID of the peer
 * @vlan:	of SMC-Dv1: the VLAN, or SMC_ISM_NO_VLAN; SMC_ISM_ANY_VLAN for SMC-Dv2
 * @id:		number, for people
 * @server:	our role in the first contact
 * @version:	SMC version
 * @release:	of version 2
 * @peer_os:	SMC_CLC_OS_*, 0 if it has not said
 * @hostname:	of the peer, or empty
 * @eid:	of version 2: the common EID of the first contact
 * @ended:	no new connections; with the two below under smcd_lgrs.lock
 * @n_conns:	connections in @conns
 * @conns:	those that can still be cut off from their peer
 * @dmbs:	elements of our DMBs
 * @rings:	send rings, for a copying device
 * @idle_work:	ends it when it had no connections for a while
 * @end_work:	cuts the connections off
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

/* The group that a handshake has found: smc_negotiated.priv. */
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
