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
 * below.  In phase TCP the operations hand every call through to TCP.
 *
 * The rule of the three tables.  Others hold copies of sk_prot, icsk_af_ops and
 * sock->ops without a lock, and use them later; so they do not change:
 *
 *  sk_prot	is smc_family.prot from socket() or from the clone of a listener
 *		on, so whatever TCP clones from an SMC socket is memory of our slab.
 *		Only a sockmap (socket/sockmap.c) and kernel TLS (socket/ulp.c) put
 *		a table of theirs there, and in the end TCP's, in phase TCP, while TCP
 *		is established, under the socket's lock; never while a call of
 *		listen() is under way, and listen() fails until ours is there again.
 *  sock->ops	is smc_family.ops from socket() or accept() on.  Only kernel TLS
 *		replaces it, once and for good.
 *  icsk_af_ops	is smc_family.af_ops when a socket starts to listen: smc_hash()
 *		sets it, with the phase, under the lock under which TCP makes the
 *		listener known.  At other times TCP's own IPv6 code may put a table of
 *		its own there, which hands nothing of ours through.
 *
 * So a stale copy of any of the three is one of ours, or one of TCP's of which the socket
 * still has the functions.  Each function of ours looks at the phase, again under the lock
 * where it changes something.  A clone of a listener is a raw copy until smc_child_born():
 * smc_is_self() says so, and nothing else of it is read.  A bottom half may still clone a
 * former listener, so it is used anew only after a grace period
 * (smc_await_former_children()).  And TCP, which moves children between the listeners of a
 * reuseport group, gets none of ours (smc_unhash()); one of its own that lands in our
 * accept queue is known by sk_destruct (smc_is_ours()).  smc_assert() checks this in test
 * builds.
 *
 * Locks, outermost first; tools/testing/house/locks.py holds the list against the source and
 * against lock_class.c, which tells lockdep the order of those that objects have.  A function
 * whose name starts with __ expects its caller to hold what its comment names.
 *
 *  smc_conn.tx_lock,		(mutexes) one sender, one receiver at a time.  Never held while
 *  smc_conn.rx_lock		sleeping for the peer, and never both at once, but that a sender
 *				tries for the rx_lock of the other end (grow.c).  A reader in the
 *				kernel, which has lock_sock, only tries for the latter, too.
 *  lock_sock(sk)		phase, reason, smc->conn, sk_prot and ops changes
 *  stand_in_lock		(mutex) the socket that kernel TLS finds in place of ours
 *  smc_fabrics_srcu		(SRCU) the list of fabrics, for readers that may sleep
 *  smc_lgr.setup_lock		(mutex) links and memory of a link group while they are made and
 *				used; nobody waits for a peer under it
 *  hops_lock			(mutex) link groups that wait for a gateway's MAC address
 *  tcpopt_hook_lock		(mutex) which namespaces have a netfilter hook
 *  peer_id_lock		(mutex) the making of a namespace's peer ID, once
 *  smc_pools.reg_lock		(mutex) buffers made known to a device
 *
 * Writers of what administrators configure; none of ours is taken around them:
 *
 *  smc_fabrics_lock		(mutex) the list of fabrics
 *  ism_devs_lock		(mutex) the list of ISM devices
 *  smc_pnet_table.lock		(mutex) the PNET table of a namespace
 *  smc_filter.lock		(mutex) the filter rules of a namespace
 *  smc_ism_dev.vlan_lock	(mutex) the VLANs of an ISM device; its driver is called under it
 *
 * Spinlocks, with bottom halves off:
 *
 *  smc_pool.lock		free elements of one size
 *  smc_pools.lock		the list of all buffers
 *  smcd_conn.hear_lock		control data of an element, taken one at a time
 *  smc_conn.state_lock		state and urgent byte of a connection; what is notified under
 *				it takes leaf locks only
 *  smc_lgrs.lock		list, state and number of connections of link groups
 *  smcd_lgrs.lock		the same of SMC-D
 *  smcd_conn.say_lock		control data of the peer's element, written one at a time
 *  smc_link.tx_lock		send queue of a link, and that its connections stay on it
 *  smc_lgr.lock		RTokens of the peer
 *  smc_llc.lock		queue of the LLC engine
 *  lo_bucket.lock		one bucket of loopback's table of offered tokens
 *  smc_conn.wait_lock		the receiver that sleeps, and which of our counts are flushed
 *
 * Leaves, under which no other lock is taken:
 *
 *  smc_eids_lock		(rwlock) EIDs of this host
 *  smc_autocache.lock		(seqlock) destinations of a namespace that do not speak SMC
 *  smc_autosmc.lock		table of the listeners of a namespace
 *  smc_listener.lock		what was learnt of one listener
 *  pair_bucket.lock		clients that wait for a child in this kernel, one bucket
 *  smc_registry.lock		the SMC sockets of a namespace that one processor made
 *  devs_lock			(process context only) writers of the list of RDMA devices
 *
 * No lock is held while waiting for a peer.  The data path takes none that is global to the
 * host.
 *
 * References: a handshake holds its socket; its work item and its timer hold the
 * handshake.  A connection is held by its socket, and by the
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
struct smc_registry;

#ifndef IPPROTO_SMC
#define IPPROTO_SMC	256
#endif
#define SMCPROTO_SMC	0	/* protocol of an AF_SMC socket over IPv4 */
#define SMCPROTO_SMC6	1	/* and over IPv6 */

/*
 * Whatever this module leaves for later runs in one of these, and ends before it goes.  None
 * of it waits for a lock that a program can hold for as long as it likes: tx_lock and
 * lock_sock() are held while memory is read that the program provides itself.  Where such a
 * lock is needed it is only tried for, and its owner, or a timer, has the work done later.
 */
extern struct workqueue_struct *smc_wq;		/* corks, memory */
extern struct workqueue_struct *smc_hs_wq;	/* handshakes */
extern struct workqueue_struct *smc_close_wq;	/* sockets without a file, readers in the kernel */
extern struct workqueue_struct *smc_link_wq;	/* LLC, links, ports, gateways */
extern struct workqueue_struct *smc_end_wq;	/* ends of link groups */

enum smc_phase {
	SMC_PHASE_NEW,
	SMC_PHASE_LISTEN,
	SMC_PHASE_CONNECTING,
	SMC_PHASE_HANDSHAKE,
	SMC_PHASE_UP,
	SMC_PHASE_TCP,
	SMC_NR_PHASES
};

/* Of a socket, where this module itself exchanges the TCP option (tcpopt/netfilter.c) */
enum smc_tcpopt_state {
	SMC_TCPOPT_NONE,
	SMC_TCPOPT_OFFERED,		/* its SYN has the option */
	SMC_TCPOPT_ANSWERED,		/* and so has the SYN-ACK */
	SMC_TCPOPT_LISTENS,		/* it answers a SYN that has it */
};

/**
 * struct smc_registry_entry - a place in a list of SMC sockets
 * @node:	in smc_registry.list; unhashed before the first list and after the last one
 * @registry:	of a socket: the list that it is in, from its birth to its end; NULL marks
 *		the cursor of a walk
 */
struct smc_registry_entry {
	struct hlist_node	node;
	struct smc_registry	*registry;
};

/**
 * struct smc_sock - an SMC socket
 * @tcp6:	the TCP socket; of an IPv4 socket only its tcp_sock is used
 * @self:	points to this object; differs in a raw copy that the TCP listener
 *		made for a child, which must not be torn down as an SMC socket
 * @hs:		the handshake while phase is CONNECTING or HANDSHAKE; RCU
 * @conn:	set, with release semantics, before phase becomes UP; stays until
 *		the socket is released or disconnected
 * @old_conns:	its connections from before it was disconnected;
 *		system calls may still be in them.  The list grows under lock_sock,
 *		and is emptied when the socket ends
 * @n_old_conns:	how many; SMC_MAX_OLD_CONNS at most
 * @registered:	among the sockets of its namespace
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
 * @hs_on_release: release_sock() has the handshake run; under the spin lock of
 *		lock_sock()
 * @listener_ends: how often it has been a listener; under lock_sock
 * @ends_awaited: of these, the last one after which a grace period has passed: no bottom half
 *		makes children of it any more; under lock_sock
 * @listen_calls: calls of listen() that are under way; under lock_sock and
 *		sk_callback_lock
 * @tcp_only_calls: calls of setsockopt() under way that set what only TCP heeds; under lock_sock
 * @tcp_only_keys: the latest of them sets a key
 * @tcp_option:	enum smc_tcpopt_state; under lock_sock
 * @born:	of a child with @listener: when, in jiffies
 * @listener:	of a child that autosmc counts: the entry of its listener
 * @reset_work:	resets a child for whose handshake there was no memory
 * @reason:	enum smc_reason: why this socket is plain TCP
 * @peer_diagnosis: the diagnosis in the peer's Decline, or 0
 */
struct smc_sock {
	struct tcp6_sock	tcp6;
	struct smc_sock		*self;
	struct smc_handshake __rcu *hs;
	struct smc_conn		*conn;
	struct smc_conn		*old_conns;
	struct smc_registry_entry registered;
	void			(*tcp_data_ready)(struct sock *sk);
	void			(*tcp_state_change)(struct sock *sk);
	void			(*tcp_error_report)(struct sock *sk);
	u8			phase;
	bool			raw_clc;
	bool			limit_hs;
	bool			server;
	bool			closing;
	bool			hs_on_release;
	u8			n_old_conns;
	bool			tcp_only_keys;
	u8			tcp_option;
	unsigned int		listen_calls;
	unsigned int		tcp_only_calls;
	unsigned int		listener_ends;
	unsigned int		ends_awaited;
	struct work_struct	reset_work;
	struct delayed_work	linger_work;
	u32			reason;
	u32			peer_diagnosis;
	unsigned long		born;
	struct smc_listener	*listener;
};

/* A sentence of the rule above; test builds complain where it does not hold. */
#ifdef CONFIG_SMC_TEST
#define smc_assert(cond)	WARN_ON_ONCE(!(cond))
#else
#define smc_assert(cond)	({ bool bad_ = !(cond); unlikely(bad_); })
#endif

/* Former connections that a socket keeps at most; then it connects as plain TCP. */
#define SMC_MAX_OLD_CONNS	16

static inline struct smc_sock *smc_sk(const struct sock *sk)
{
	return (struct smc_sock *)sk;
}

static inline struct sock *smc_to_sk(struct smc_sock *smc)
{
	return (struct sock *)smc;
}

/**
 * smc_left_to_owner() - does a system call own the socket?
 * @sk: the socket; its spin lock is held, or its owner plays the backlog
 *
 * Return: true if so; then smc_release_cb() comes back to the handshake.
 */
static inline bool smc_left_to_owner(struct sock *sk)
{
	if (!sock_owned_by_user_nocheck(sk))
		return false;
	WRITE_ONCE(smc_sk(sk)->hs_on_release, true);
	return true;
}

/* The next sequence number of a netlink dump; 0 would mean that there is none. */
static inline unsigned int smc_next_seq(unsigned int seq)
{
	return seq + 1 ?: 1;
}

/**
 * smc_negotiating() - is it still open whether this socket becomes SMC or TCP?
 * @smc:	the socket
 *
 * Return: true if it is.
 */
static inline bool smc_negotiating(const struct smc_sock *smc)
{
	u8 phase = READ_ONCE(smc->phase);

	return phase == SMC_PHASE_CONNECTING || phase == SMC_PHASE_HANDSHAKE;
}

/**
 * smc_busy() - has SMC, or a handshake, the TCP connection for itself?
 * @smc:	the socket
 *
 * Return: true if the application's data do not go through TCP.
 */
static inline bool smc_busy(const struct smc_sock *smc)
{
	return smc_negotiating(smc) || READ_ONCE(smc->phase) == SMC_PHASE_UP;
}

#endif
