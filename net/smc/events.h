/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events for people: link groups, links and fallbacks as they come.
 *
 * They are raised wherever the thing happens, under locks and in any context but hard interrupts.
 * There they are only put into a queue of the namespace, and only if somebody listens; work of its
 * own hands them to the one who tells them on, see admin/genl_event.c.
 */
#ifndef SMC_EVENTS_H
#define SMC_EVENTS_H

#include <linux/llist.h>
#include <linux/smc.h>
#include <linux/types.h>
#include <net/net_namespace.h>

struct sock;

/* Of a namespace, waiting to be told; what comes beyond that is lost. */
#define SMC_EVENTS_MAX	1024
#define SMC_EVENT_DEV	64	/* IB_DEVICE_NAME_MAX */

/**
 * struct smc_event - something has happened
 * @node:	in the queue
 * @when:	ns since 1970
 * @type:	SMC_EVENT_*
 * @tech:	SMC_DIAG_MODE_*: of a link group
 * @server:	our role in it, or that of the socket
 * @group_type:	of a link group over RDMA, enum smc_group_type
 * @link:	number of the link; 0: none
 * @port:	of the device
 * @lgr:	number of the link group
 * @conns:	its connections
 * @reason:	why the socket has become TCP, or the group ends
 * @diagnosis:	what the peer's Decline says
 * @family:	of the socket; 0: there is none
 * @local_port:	its port
 * @remote_port: that of its peer
 * @local:	its address in network order, as long as @family has it
 * @remote:	that of its peer
 * @dev:	name of the device
 */
struct smc_event {
	struct llist_node	node;
	u64			when;
	u8			type;
	u8			tech;
	bool			server;
	u8			group_type;
	u8			link;
	u8			port;
	u32			lgr;
	u32			conns;
	u32			reason;
	u32			diagnosis;
	u16			family;
	u16			local_port;
	u16			remote_port;
	u8			local[16];
	u8			remote[16];
	char			dev[SMC_EVENT_DEV];
};

/**
 * struct smc_event_teller - who tells events on
 * @wanted:	does anybody in this namespace listen? Any context but hard interrupts, under RCU
 * @tell:	tells one of them; may sleep
 * @lost:	says that some were lost; may sleep
 */
struct smc_event_teller {
	bool (*wanted)(struct net *net);
	void (*tell)(struct net *net, const struct smc_event *e);
	void (*lost)(struct net *net);
};

void smc_events_set_teller(const struct smc_event_teller *teller);
struct smc_event *smc_event_new(struct net *net, u8 type);
void smc_event_post(struct net *net, struct smc_event *e);
void smc_event_fallback(const struct sock *sk, bool server, u32 reason, u32 diagnosis);

extern struct pernet_operations smc_events_net_ops;

#endif
