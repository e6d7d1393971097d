/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fabric carries connections: it owns memory that the peer can reach, and it tells the peer what
 * changed there.  The layers above do not know which fabric carries a connection.
 */
#ifndef SMC_FABRIC_H
#define SMC_FABRIC_H

#include <linux/list.h>
#include <linux/smc_reason.h>
#include <linux/types.h>
#include "../conn/conn.h"
#include "../conn/ops.h"
#include "../wire/clc.h"

struct mem_cgroup;
struct smc_net;
struct smc_walk;

/* Offers of a Proposal, in the order in which a server considers them. */
enum smc_offer {
	SMC_OFFER_DV2,
	SMC_OFFER_DV1,
	SMC_OFFER_RV2,
	SMC_OFFER_RV1,
	SMC_N_OFFERS
};

/**
 * struct smc_negotiated - the result of a negotiation
 * @server:	this side is the server
 * @version:	SMC_CLC_V1 or SMC_CLC_V2
 * @release:	release number of SMC version 2
 * @features:	SMC_CLC_FEAT_* that both sides have
 * @why:	server: the reason why each offer of the client was not chosen, indexed by enum
 *		smc_offer; 0 if no fabric has looked at that offer.  The choose operation of a
 *		fabric sets the entries of the offers that it examines.
 * @eid:	version 2: the EID that both sides have in common
 * @first_contact: the connection creates a new link group or meets a new peer.  The server's
 *		fabric decides in prepare at the latest; the client learns it from the Accept
 * @max_conns:	SMC-Rv2.1: connections per link group
 * @max_links:	SMC-Rv2.1: links per link group
 * @fabric:	the fabric that carries the connection
 * @priv:	private data of @fabric, set by choose or accepts, freed by forget
 *
 * The protocol version is decided here, once.  After the handshake it is only used for display.
 */
struct smc_negotiated {
	bool			server;
	u8			version;
	u8			release;
	u16			features;
	enum smc_reason		why[SMC_N_OFFERS];
	u8			eid[SMC_EID_LEN];
	bool			first_contact;
	u8			max_conns;
	u8			max_links;
	struct smc_fabric	*fabric;
	void			*priv;
};

/**
 * struct smc_wanted - buffer sizes that a socket asks for
 * @rcvbuf:	size of the receive element in bytes
 * @rcvbuf_most: maximum size for elements that can grow; 0 if the application has set the size
 * @sndbuf:	size of the send ring in bytes, for fabrics that have send rings
 */
struct smc_wanted {
	u32			rcvbuf;
	u32			rcvbuf_most;
	u32			sndbuf;
};

/**
 * struct smc_pair_end - one end of a connection whose ends are both in this kernel
 * @sk:		socket of this end
 * @memcg:	memory cgroup that is charged, or NULL without cgroups
 * @want:	buffer sizes that the socket asks for
 * @conn:	receives the connection of this end
 * @fails:	receives true if there is no connection because this end could not be created
 */
struct smc_pair_end {
	struct sock		*sk;
	struct mem_cgroup	*memcg;
	struct smc_wanted	want;
	struct smc_conn		*conn;
	bool			fails;
};

/**
 * struct smc_fabric_ops - how a kind of fabric negotiates and sets up connections
 *
 * Every function is mandatory, unless its description says that it may be NULL.
 *
 * @conn:	operations of its connections
 * @late_decline: after the Confirm of a first contact, the client waits until @finish has
 *		succeeded, and accepts a Decline meanwhile.  Otherwise it is established at once
 * @usable:	may sockets of this namespace use the fabric?  Any context.
 * @offer:	add the offer of this fabric to a Proposal; leave the Proposal unchanged if
 *		there is nothing to offer
 * @choose:	server: can this fabric serve the Proposal?  Returns 0 and fills *@neg, or
 *		returns a reason.  In both cases sets @neg->why for the offers it has examined
 * @accepts:	client: does the Accept match our offer?  Returns 0 and fills *@neg, or
 *		returns a reason
 * @forget:	the handshake is over: free @neg->priv.  Not called if that is NULL
 * @conn_new:	create a connection that the peer does not know yet.  It gets its receive
 *		element, of about @want->rcvbuf bytes, here or in @prepare.  ERR_PTR on error.
 * @prepare:	do all that is necessary before the peer learns of @c.  Afterwards @c has its
 *		receive element.  @a is the Accept on the client, NULL on the server.  Returns
 *		0; -EAGAIN: call again after smc_conn_notify(); else a reason to decline.  NULL if
 *		there is nothing to prepare.
 * @describe:	fill the fabric's part of an Accept or Confirm for @c
 * @attach:	connect @c to what the peer has described, and set @c->tx_buf.  Returns 0 or a
 *		reason.  The client calls it for the Accept, the server for the Confirm.
 * @finish:	steps after the Confirm.  Returns 0; -EAGAIN as for @prepare; -EINPROGRESS: as
 *		-EAGAIN, but the peer may consider us established; else a reason.  @committed
 *		receives whether it is too late to fall back to TCP.  With -EAGAIN and
 *		-EINPROGRESS that means: if the peer declined now.  NULL if there are no such steps.
 * @refused:	the peer does not use @c and never has: it sent a Decline, or ended the TCP
 *		stream before its Confirm.  @out_of_sync: the Decline says that the peer does
 *		not know our link group
 * @pair:	create both ends of a connection, attached to each other.  Only for a fabric
 *		whose peers are all in this kernel, else NULL.  Returns 0 or a reason; with
 *		@atomic also -EAGAIN if it would have to sleep.  Any context with @atomic.
 * @mac:	get the MAC address of one of its devices, for this host's peer ID.  Returns
 *		false if there is none.  Any context but hard interrupts.  NULL if its devices
 *		have no MAC address
 * @groups:	show the link groups of a namespace, see struct smc_walk.  Returns the nonzero
 *		value of @w->group that ended the walk, or 0.  Process context, may sleep.
 * @devices:	as @groups, for the devices that the namespace may use
 *
 * From @offer to @finish and in @forget: process context, may sleep.
 */
struct smc_fabric_ops {
	const struct smc_conn_ops *conn;
	bool late_decline;
	bool (*usable)(struct smc_fabric *f, const struct smc_net *sn);
	void (*offer)(struct smc_fabric *f, struct sock *sk,
		      struct smc_clc_proposal *p);
	enum smc_reason (*choose)(struct smc_fabric *f, struct sock *sk,
				  const struct smc_clc_proposal *p,
				  struct smc_negotiated *neg);
	enum smc_reason (*accepts)(struct smc_fabric *f, struct sock *sk,
				   const struct smc_clc_accept *a,
				   struct smc_negotiated *neg);
	void (*forget)(struct smc_negotiated *neg);
	struct smc_conn *(*conn_new)(struct smc_fabric *f, struct sock *sk,
				     struct smc_negotiated *neg,
				     const struct smc_wanted *want);
	int (*prepare)(struct smc_conn *c, struct smc_negotiated *neg,
		       const struct smc_clc_accept *a);
	void (*describe)(struct smc_conn *c, struct smc_clc_accept *a);
	enum smc_reason (*attach)(struct smc_conn *c, struct smc_negotiated *neg,
				  const struct smc_clc_accept *a);
	int (*finish)(struct smc_conn *c, bool *committed);
	void (*refused)(struct smc_conn *c, bool out_of_sync);
	int (*pair)(struct smc_fabric *f, struct smc_pair_end *client,
		    struct smc_pair_end *server, bool atomic);
	bool (*mac)(u8 *mac);
	int (*groups)(struct smc_fabric *f, struct smc_net *sn, struct smc_walk *w);
	int (*devices)(struct smc_fabric *f, struct smc_net *sn, struct smc_walk *w);
};

/**
 * struct smc_fabric - a fabric of this host
 * @ops:	its operations
 * @list:	entry in the list of fabrics, which is in order of preference; SRCU
 */
struct smc_fabric {
	const struct smc_fabric_ops	*ops;
	struct list_head		list;
};

int smc_fabric_register(struct smc_fabric *f);
void smc_fabric_unregister(struct smc_fabric *f);

/* Any context. */
bool smc_fabric_exists(u8 diag_mode);
bool smc_fabric_any(const struct smc_net *sn);
bool smc_fabric_mac(u8 *mac);
bool smc_fabric_pairs(const struct smc_net *sn);
int smc_fabric_pair(struct smc_pair_end *client, struct smc_pair_end *server, bool atomic);
/* For the handshake: these ask all usable fabrics.  Process context, may sleep. */
void smc_fabric_offer(struct sock *sk, struct smc_clc_proposal *p);
enum smc_reason smc_fabric_choose(struct sock *sk,
				  const struct smc_clc_proposal *p,
				  struct smc_negotiated *neg);
enum smc_reason smc_fabric_accepts(struct sock *sk,
				   const struct smc_clc_accept *a,
				   struct smc_negotiated *neg);

/* helper for smc_fabric_ops.accepts */
enum smc_reason smc_fabric_check_v2(const struct smc_clc_accept *a);

int smc_fabric_groups(struct smc_net *sn, u8 diag_mode, unsigned long *pos,
		      struct smc_walk *w);
int smc_fabric_devices(struct smc_net *sn, u8 diag_mode, unsigned long *pos,
		       struct smc_walk *w);

#endif
