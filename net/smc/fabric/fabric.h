/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fabric carries connections: it has memory that the peer can reach and a way
 * to tell the peer what changed.  Everything above is blind to which one it is.
 */
#ifndef SMC_FABRIC_H
#define SMC_FABRIC_H

#include <linux/list.h>
#include <linux/smc_reason.h>
#include <linux/types.h>
#include "../conn/conn.h"
#include "../wire/clc.h"

struct mem_cgroup;
struct smc_net;
struct smc_sock_info;
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
 * @release:	of version 2
 * @features:	SMC_CLC_FEAT_* that both sides have
 * @why:	server: why what the client offers was not chosen, by enum smc_offer; 0 where
 *		nobody has looked at it.  A fabric's choose sets those that it judges.
 * @eid:	the common EID, version 2
 * @first_contact: the connection makes a new link group or meets a new peer; the
 *		server's fabric decides in its prepare at the latest, the client is
 *		told by the Accept
 * @max_conns:	SMC-Rv2.1: connections per link group
 * @max_links:	SMC-Rv2.1: links per link group
 * @fabric:	the fabric that will carry the connection
 * @priv:	data of the fabric from its choice, see smc_fabric_ops.forget
 *
 * The protocol version is settled once, here; nothing after the handshake asks
 * for it except to show it.
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
 * @rcvbuf:	receive element, bytes
 * @rcvbuf_most: largest size where elements can grow; 0: the application has set the size
 * @sndbuf:	send ring, bytes, for fabrics that have one
 */
struct smc_wanted {
	u32			rcvbuf;
	u32			rcvbuf_most;
	u32			sndbuf;
};

/**
 * struct smc_pair_end - one end of a connection both ends of which are in this kernel
 * @sk:		its socket
 * @memcg:	is charged for it, or NULL without cgroups
 * @want:	the buffer sizes that the socket asks for
 * @conn:	receives the end
 */
struct smc_pair_end {
	struct sock		*sk;
	struct mem_cgroup	*memcg;
	struct smc_wanted	want;
	struct smc_conn		*conn;
};

/**
 * struct smc_fabric_ops - a kind of fabric; the name and every function but @pair and
 * @grow are mandatory
 * @name:	for people
 * @diag_mode:	SMC_DIAG_MODE_* of its connections
 * @late_decline: after the Confirm of a first contact the client waits until the fabric
 *		is confirmed, and may be declined meanwhile; otherwise it is up at once
 * @fin_in_order: flags of a connection never arrive after a FIN of its TCP
 *		connection that is sent later; otherwise a FIN says nothing, and the
 *		TCP connection is kept until the connection has ended
 * @usable:	may a socket of this namespace use it?  Any context.
 * @offer:	add to a Proposal what this fabric offers to a server; must leave
 *		the Proposal as it is when it offers nothing
 * @choose:	server: does the Proposal fit?  Fills *@neg and returns 0, or the
 *		reason why not; sets what it has judged of @neg->why in both cases
 * @accepts:	client: does the Accept fit what we offered?  0 and *@neg, or the
 *		reason
 * @forget:	free @neg->priv, the handshake is over; not called if it is NULL
 * @conn_new:	a connection not yet known to the peer.  Its receive element, of about
 *		@want->rcvbuf bytes, is there now or after prepare.  ERR_PTR on error.
 * @prepare:	get ready for the peer to be told of @c; afterwards it has a
 *		receive element.  @a is the Accept on the client, NULL on the server.
 *		0; -EAGAIN: call again after smc_conn_notify(); else a reason to decline
 * @describe:	fill the fabric's part of an Accept or Confirm for @c
 * @attach:	connect @c with what the peer described; afterwards @c->tx_buf is
 *		set.  0 or a reason.  The client calls it on the Accept, the
 *		server on the Confirm.
 * @finish:	the steps after the Confirm.  0; -EAGAIN as for prepare;
 *		-EINPROGRESS: as -EAGAIN, but the peer may consider us established; else a
 *		reason.  Its second argument receives whether it is too late to fall back;
 *		with the first two, whether it would be if the peer declined now.
 * @refused:	the peer does not use @c, and never has: it has sent a Decline, or has ended the
 *		stream before its Confirm.  The second argument: the Decline says that it does
 *		not know our link group
 * @pair:	both ends of a connection at once, attached to each other, for a fabric whose
 *		peers are all in this kernel; NULL for others.  0; a reason; with @atomic also
 *		-EAGAIN if that cannot be had without sleeping.  Any context with @atomic.
 * @commit:	make tx_prod visible to the peer and wake its reader if it sleeps;
 *		the caller holds tx_lock
 * @consumed:	rx_cons has moved: make it visible to the peer, and wake its writer if it
 *		is blocked.  Where that takes a message, only once it is worth one; a peer
 *		that is blocked must get one in the end.  The caller holds rx_lock.
 * @grow:	@c has no room for what a call sends: make the peer's element larger if that is
 *		due.  Only called with @c->tx_grows; the caller holds tx_lock.  True if there is
 *		more room.  Process context, may sleep for memory.
 * @request_update: have rx_cons of the peer made visible to us soon, whether it would be
 *		worth a message or not.  Any context but hard interrupts.
 * @urgent:	tell the peer of urgent data; the caller holds tx_lock, unless it is
 *		SMC_URGENT_TAKEN
 * @signal:	tell the peer of a flag, if it is known yet.  Any context but hard
 *		interrupts.
 * @keepalive:	find out whether the peer's host is there when it was silent for so
 *		many seconds; 0: @c does not need to know.  Any context but hard
 *		interrupts.
 * @detach:	the socket is done with @c: release what holds the peer.  Called
 *		once, when no system call can be in @c any more.  Any context but hard
 *		interrupts.
 * @free:	the last reference is gone.  Any context but hard interrupts.
 * @show:	add what this fabric knows to the picture of a connection; the
 *		socket is locked
 * @groups:	show the link groups of a namespace: see struct smc_walk.  What @group
 *		returned, or 0 at the end.  Process context, may sleep.
 * @devices:	the same for the devices that the namespace may use
 *
 * From offer to finish and in forget: process context, may sleep.
 */
struct smc_fabric_ops {
	const char *name;
	u8 diag_mode;
	bool late_decline;
	bool fin_in_order;
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
	void (*commit)(struct smc_conn *c);
	void (*consumed)(struct smc_conn *c);
	bool (*grow)(struct smc_conn *c);
	void (*request_update)(struct smc_conn *c);
	void (*urgent)(struct smc_conn *c, enum smc_urgent_event news);
	void (*signal)(struct smc_conn *c, enum smc_conn_flag flag);
	void (*keepalive)(struct smc_conn *c, unsigned int seconds);
	void (*detach)(struct smc_conn *c);
	void (*free)(struct smc_conn *c);
	void (*show)(struct smc_conn *c, struct smc_sock_info *info);
	int (*groups)(struct smc_fabric *f, struct smc_net *sn, struct smc_walk *w);
	int (*devices)(struct smc_fabric *f, struct smc_net *sn, struct smc_walk *w);
};

/**
 * struct smc_fabric - one fabric that exists on this host
 * @ops:	its kind
 * @list:	in the list of fabrics, in order of preference; SRCU
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
bool smc_fabric_pairs(const struct smc_net *sn);
int smc_fabric_pair(struct smc_pair_end *client, struct smc_pair_end *server, bool atomic);
/* Calls of the handshake that concern all fabrics together; process context, may sleep. */
void smc_fabric_offer(struct sock *sk, struct smc_clc_proposal *p);
enum smc_reason smc_fabric_choose(struct sock *sk,
				  const struct smc_clc_proposal *p,
				  struct smc_negotiated *neg);
enum smc_reason smc_fabric_accepts(struct sock *sk,
				   const struct smc_clc_accept *a,
				   struct smc_negotiated *neg);

/* for smc_fabric_ops.accepts */
enum smc_reason smc_fabric_check_v2(const struct smc_clc_accept *a);

int smc_fabric_groups(struct smc_net *sn, u8 diag_mode, unsigned long *pos,
		      struct smc_walk *w);
int smc_fabric_devices(struct smc_net *sn, u8 diag_mode, unsigned long *pos,
		       struct smc_walk *w);

#endif
