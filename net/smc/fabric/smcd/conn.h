/* SPDX-License-Identifier: GPL-2.0 */
/* A connection over an ISM device, from handshake to end. */
#ifndef SMC_FABRIC_SMCD_CONN_H
#define SMC_FABRIC_SMCD_CONN_H

#include "../msg/msg.h"
#include "lgr.h"

/* A DMB has only one element. */
#define SMCD_DMBE_IDX	0

/**
 * struct smcd_conn - a connection over an ISM device
 * @msg:	the connection, with the state of its messages
 * @lgr:	its link group, referenced
 * @in_lgr:	entry in @lgr->conns, under smcd_lgrs.lock
 * @sn:		namespace of the socket, valid as long as there is a socket
 * @server:	this end has sent the Accept
 * @sndbuf:	requested size of the send ring, for a copying device
 * @link_id:	number of the connection, for display
 * @dmb:	our DMB, which contains conn.rmbe
 * @in_dev:	entry in the list of the device, if it is windowed and there is a DMB
 * @dmb_lost:	the DMB may be memory of something else by now; under @hear_lock
 * @withdrawn:	the handshake has failed, and nobody has attached @dmb, or will
 * @peer_token:	token of the peer's DMB
 * @peer_mem:	mapped: the peer's DMB in our address space, until our last word; else NULL
 * @ring:	copying: our send ring
 * @tx_pos:	copying: position in @ring of the next byte to send; under @say_lock
 * @say_lock:	serializes writers of the peer's control data
 * @hear_lock:	serializes readers of our control data
 * @close_work:	runs if the peer does not close in time
 * @rcu:	frees the connection when no signal of the device can find it any more
 */
struct smcd_conn {
	struct smc_msg_conn	msg;
	struct smcd_lgr		*lgr;
	struct list_head	in_lgr;
	struct smc_net		*sn;
	bool			server;
	u32			sndbuf;
	u32			link_id;
	struct smc_ism_dmb	*dmb;
	struct list_head	in_dev;
	bool			dmb_lost;
	bool			withdrawn;
	u64			peer_token;
	void			*peer_mem;
	struct smc_rmbe		*ring;
	u32			tx_pos;
	spinlock_t		say_lock;
	spinlock_t		hear_lock;
	struct delayed_work	close_work;
	struct rcu_head		rcu;
};

static inline struct smcd_conn *to_smcd(struct smc_conn *c)
{
	return container_of(c, struct smcd_conn, msg.conn);
}

static inline struct smcd_conn *msg_to_smcd(const struct smc_msg_conn *m)
{
	return container_of(m, struct smcd_conn, msg);
}

struct smc_conn *smcd_conn_new(struct smc_fabric *f, struct sock *sk, struct smc_negotiated *neg,
			       const struct smc_wanted *want);
void smcd_describe(struct smc_conn *c, struct smc_clc_accept *a);
enum smc_reason smcd_attach(struct smc_conn *c, struct smc_negotiated *neg,
			    const struct smc_clc_accept *a);
void smcd_refused(struct smc_conn *c, bool out_of_sync);
void smcd_detach(struct smc_conn *c);
void smcd_free(struct smc_conn *c);
void smcd_cut_off(struct smcd_conn *dconn);
void smcd_conns_lose(struct smc_ism_dev *dev);

/* control.c */
extern const struct smc_msg_ops smcd_msg_ops;
void smcd_hear(struct smcd_conn *dconn);
void smcd_last_word(struct smc_conn *c);
u64 smcd_data_arrived(struct smc_conn *c);

#endif
