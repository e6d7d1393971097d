/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events for administrators: link groups, links and fallbacks, as they happen.
 *
 * Code raises an event where it happens, possibly under locks and in any context except hard
 * interrupts. If there are listeners, the event goes into a per-namespace queue. A work item passes
 * the queued events to the publisher in admin/genl_event.c, which sends them to a netlink multicast
 * group.
 */
#ifndef SMC_EVENTS_H
#define SMC_EVENTS_H

#include <linux/llist.h>
#include <linux/smc.h>
#include <linux/types.h>
#include <net/net_namespace.h>

struct sock;

/*
 * Maximum number of queued events per namespace; further ones are dropped, and the loss is
 * reported.
 */
#define SMC_EVENTS_MAX	1024
#define SMC_EVENT_DEV	64	/* IB_DEVICE_NAME_MAX */

/**
 * struct smc_event - an event
 * @node:	node in the queue
 * @when:	ns since 1970
 * @type:	SMC_EVENT_*
 * @tech:	SMC_DIAG_MODE_* of a link group
 * @server:	our role in the link group, or the role of the socket
 * @group_type:	enum smc_group_type of an SMC-R link group
 * @link:	number of the link, or 0
 * @port:	port of the device
 * @lgr:	number of the link group
 * @conns:	number of connections of the link group
 * @reason:	why the socket fell back to TCP, or why the group ends
 * @diagnosis:	the diagnosis in the peer's Decline
 * @family:	address family of the socket; 0 for events without a socket
 * @local_port:	local port of the socket
 * @remote_port: port of its peer
 * @local:	local address in network byte order, 4 or 16 bytes
 * @remote:	address of the peer, likewise
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
 * struct smc_event_publisher - sends events to listeners
 * @wanted:	are there listeners in this namespace? Any context but hard interrupts, under RCU
 * @publish:	send an event; may sleep
 * @lost:	report that events were lost; may sleep
 */
struct smc_event_publisher {
	bool (*wanted)(struct net *net);
	void (*publish)(struct net *net, const struct smc_event *e);
	void (*lost)(struct net *net);
};

void smc_events_set_publisher(const struct smc_event_publisher *publisher);
struct smc_event *smc_event_new(struct net *net, u8 type);
void smc_event_post(struct net *net, struct smc_event *e);
void smc_event_fallback(const struct sock *sk, bool server, u32 reason, u32 diagnosis);

extern struct pernet_operations smc_events_net_ops;

#endif
