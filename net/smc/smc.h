/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The SMC socket.
 *
 * An SMC socket is a TCP socket with a little behind it: struct smc_sock begins
 * with a TCP socket, comes from a slab of its own, and is a TCP socket for
 * everything in the kernel that looks at it.  Its phase says how far it is:
 *
 *	NEW --connect--> CONNECTING --TCP up, peer answered--> HANDSHAKE --> UP
 *	 |                   |                                    |
 *	 +--listen--> LISTEN |  (a child starts in HANDSHAKE)     |
 *	                     +------- falls back -----------------+--> TCP
 *
 * In phase UP the data flows through smc->conn and the TCP connection idles
 * below.  In phase TCP sk_prot and the ops are TCP's own, and nothing of SMC is
 * on any path until the socket is disconnected.
 *
 * Locks, outermost first.  A function whose name starts with __ expects its
 * caller to hold what its comment names.
 *
 *  hs->lock (mutex)	the state machine of one handshake: its step, its buffer.
 *			Whoever drives it holds it: the worker, or a system call
 *			that waits for the outcome.
 *  conn->tx_lock,	one sender, one receiver at a time.  Never both at once,
 *  conn->rx_lock	never held while sleeping for the peer.  A reader in the kernel,
 *			who has lock_sock, only tries for the latter.
 *  lock_sock(sk)	phase, reason, smc->conn, sk_prot and ops changes.
 *  lgr->life (mutex)	links and memory of a link group while they are made, used
 *			and given back; nobody waits for the peer under it.
 *  pools->reg_lock	(mutex) buffers made known to a device
 *  group locks		pool->lock: free elements of one size in one namespace
 *  conn->state_lock	state and urgent byte of a connection (bottom halves off); whoever is
 *			notified under it takes leaf locks only
 *  sn->lgrs.lock	list, state and number of connections of link groups (BH off)
 *  link->tx_lock	send queue of a link (BH off)
 *  lgr->lock		RTokens of the peer (BH off)
 *  llc->lock		queue of the LLC engine (BH off)
 *  lo_bucket.lock	one bucket of loopback's table of offered tokens (BH off)
 *  reg_bucket.lock	one bucket of the table of all SMC sockets (BH off)
 *  conn->wait_lock	the receiver that sleeps, and what is folded (BH off)
 *
 * No lock is held while waiting for a peer, and none is global to the host.
 *
 * References: a handshake holds its socket; its work item and each of its
 * drivers hold the handshake.  A connection is held by its socket, and by the
 * peer's connection where the fabric lets the peer write into its element; over
 * RDMA by each of its posts, and until the peer has closed.  A link group is held by
 * its namespace's list, its connections and its work.
 */
#ifndef SMC_H
#define SMC_H

#include <linux/tcp.h>
#include <linux/ipv6.h>
#include <linux/workqueue.h>
#include <linux/smc_reason.h>
#include <net/sock.h>

struct smc_conn;
struct smc_handshake;
struct smc_listener;
struct smc_nursery;

#ifndef IPPROTO_SMC
#define IPPROTO_SMC	256
#endif
#define SMCPROTO_SMC	0	/* protocol of an AF_SMC socket over IPv4 */
#define SMCPROTO_SMC6	1	/* and over IPv6 */

/* Whatever this module leaves for later runs here, and ends before it goes. */
extern struct workqueue_struct *smc_wq;

enum smc_phase {
	SMC_PHASE_NEW,
	SMC_PHASE_LISTEN,
	SMC_PHASE_CONNECTING,
	SMC_PHASE_HANDSHAKE,
	SMC_PHASE_UP,
	SMC_PHASE_TCP,
	SMC_NR_PHASES
};

/**
 * struct smc_sock - an SMC socket
 * @tcp6:	the TCP socket; of an IPv4 socket only its tcp_sock is used
 * @self:	points to this object; differs in a raw copy that the TCP listener
 *		made for a child, which must not be torn down as an SMC socket
 * @hs:		the handshake while phase is CONNECTING or HANDSHAKE; RCU
 * @children:	of a listener: the nursery of its children
 * @nursery:	of a child that nobody has accepted yet: where it is
 * @conn:	set, with release semantics, before phase becomes UP; stays until
 *		the socket is released or disconnected
 * @retired:	connections of earlier lives of a socket that was disconnected;
 *		system calls may still be in them
 * @node:	in the table of all SMC sockets
 * @tcp_data_ready:	TCP's own callback, while ours is in place
 * @tcp_state_change:	the same
 * @tcp_error_report:	the same
 * @phase:	enum smc_phase, written under lock_sock
 * @raw_clc:	test builds: the application speaks CLC itself
 * @limit_hs:	SMC_LIMIT_HS: as net.smc.limit_smc_hs, for this socket
 * @server:	it came from a listener
 * @closing:	the file is closed, the end of the handshake, or of the connection,
 *		will close TCP; under lock_sock
 * @linger_work: closes TCP after the connection; initialised with @closing
 * @ulp_calls:	calls that are setting an upper layer protocol in phase TCP; under
 *		lock_sock
 * @born:	of a child with @listener: when, in jiffies
 * @listener:	of a child that autosmc counts: what is known of its listener
 * @reset_work:	resets a child for whose handshake there was no memory
 * @reason:	enum smc_reason: why this socket is plain TCP
 * @peer_diagnosis: what the peer's Decline said, 0 without one
 */
struct smc_sock {
	struct tcp6_sock	tcp6;
	struct smc_sock		*self;
	struct smc_handshake __rcu *hs;
	struct smc_nursery __rcu *children;
	struct smc_nursery __rcu *nursery;
	struct smc_conn		*conn;
	struct smc_conn		*retired;
	struct hlist_node	node;
	void			(*tcp_data_ready)(struct sock *sk);
	void			(*tcp_state_change)(struct sock *sk);
	void			(*tcp_error_report)(struct sock *sk);
	u8			phase;
	bool			raw_clc;
	bool			limit_hs;
	bool			server;
	bool			closing;
	unsigned int		ulp_calls;
	struct work_struct	reset_work;
	struct delayed_work	linger_work;
	u32			reason;
	u32			peer_diagnosis;
	unsigned long		born;
	struct smc_listener	*listener;
};

static inline struct smc_sock *smc_sk(const struct sock *sk)
{
	return (struct smc_sock *)sk;
}

static inline struct sock *smc_to_sk(struct smc_sock *smc)
{
	return (struct sock *)smc;
}

/* Another state of what netlink dumps, for them to notice; 0 would say that nobody counts. */
static inline unsigned int smc_next_seq(unsigned int seq)
{
	return seq + 1 ?: 1;
}

/**
 * smc_unsettled() - is it still open whether this socket becomes SMC or TCP?
 * @smc:	the socket
 */
static inline bool smc_unsettled(const struct smc_sock *smc)
{
	u8 phase = READ_ONCE(smc->phase);

	return phase == SMC_PHASE_CONNECTING || phase == SMC_PHASE_HANDSHAKE;
}

#endif
