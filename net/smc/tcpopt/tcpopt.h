/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TCP option 254, by which the two ends of a TCP connection tell each other that they support SMC.
 *
 * A client offers SMC in its SYN, and a listener answers in its SYN-ACK. The module uses one of
 * these ways to add the option to the two segments and to detect it:
 *
 *	hooks		TCP writes and reads it, through the hooks of a kernel with CONFIG_SMC
 *	netfilter	this module does, where packets leave TCP
 *	none		nobody does: only connections within this kernel, which are paired, are SMC
 */
#ifndef SMC_TCPOPT_H
#define SMC_TCPOPT_H

#include <linux/smc_reason.h>
#include <linux/types.h>

struct inet_connection_sock_af_ops;
struct net;
struct request_sock;
struct sk_buff;
struct sock;

/**
 * struct smc_tcpopt_owner - what a way needs to know about sockets
 * @is_ours: does this full socket belong to this module?
 * @refuses: called for each SYN with the option, in a bottom half: should the listener not answer
 *		it?
 * @in_use: does a namespace have SMC sockets?
 */
struct smc_tcpopt_owner {
	bool (*is_ours)(const struct sock *sk);
	bool (*refuses)(const struct sock *listener);
	bool (*in_use)(struct net *net);
};

/**
 * struct smc_tcpopt - a way to exchange the option; all members are mandatory
 * @name:	name of the way, for users
 * @number:	number of the way in netlink messages, enum smc_tcp_option_way
 * @init:	called before the first socket is created; returns 0 or a negative errno
 * @exit:	called when no socket is left
 * @adapt:	modifies a copy of TCP's table for our sockets; may be called twice for the same
 *		table
 * @born:	called for a new socket other than a child; may sleep
 * @idle:	called when a namespace may have lost its last SMC socket; any context
 * @works:	can the option be exchanged in this namespace?
 * @in_place:	is everything that this way requires in place now?
 * @offer:	send the option in the SYN; the socket is locked, before connect()
 * @connecting:	TCP has sent the SYN; the socket has been locked since then
 * @answered:	did the SYN-ACK carry the option? For a connected socket that has offered it;
 *		without the lock, the result may be that of the socket's next connection
 * @listen:	answer SYNs that carry the option; the socket is locked, and not a listener yet
 * @conn_request: lets TCP answer a SYN by calling @tcp; bottom half
 * @ignore:	the SYN-ACK did not answer the option, even if the SYN carried it; bottom half,
 *		before the request becomes a child
 * @requested:	did both the SYN and the SYN-ACK of a new child carry the option? Bottom half
 * @clear:	stop offering and answering; the socket is locked
 */
struct smc_tcpopt {
	const char *name;
	u8 number;
	int (*init)(const struct smc_tcpopt_owner *owner);
	void (*exit)(void);
	void (*adapt)(struct inet_connection_sock_af_ops *ops, int family);
	void (*born)(struct sock *sk);
	void (*idle)(struct net *net);
	bool (*works)(const struct net *net);
	bool (*in_place)(const struct net *net);
	void (*offer)(struct sock *sk);
	void (*connecting)(struct sock *sk);
	bool (*answered)(const struct sock *sk);
	void (*listen)(struct sock *sk);
	int (*conn_request)(struct sock *listener, struct sk_buff *syn,
			    int (*tcp)(struct sock *sk, struct sk_buff *skb));
	void (*ignore)(struct request_sock *req);
	bool (*requested)(const struct sock *listener, const struct sock *child,
			  const struct request_sock *req);
	void (*clear)(struct sock *sk);
};

/* The way in use, set by smc_tcpopt_init(). */
extern const struct smc_tcpopt *smc_tcpopt;

/**
 * smc_tcpopt_why_not() - why a connection lacks the option
 * @net: the namespace of this end of the connection
 *
 * Return: the reason.
 */
static inline enum smc_reason smc_tcpopt_why_not(const struct net *net)
{
	return smc_tcpopt->works(net) ? SMC_REASON_PEER_NO_OPTION : SMC_REASON_NO_TCP_OPTION;
}

int smc_tcpopt_init(const struct smc_tcpopt_owner *owner);
void smc_tcpopt_exit(void);

#endif
