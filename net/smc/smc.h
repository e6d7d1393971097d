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
 * So a stale copy of any of the three is one of ours, or one of TCP's of which the
 * socket still has the functions.  Each function of ours looks at the phase, again
 * under the lock where it changes something.  A clone of a listener is a raw copy
 * until smc_child_born(): smc_is_self() tells, and nothing else of it is looked
 * at.  A bottom half may still clone a former listener, so it is used anew only
 * after a grace period (smc_await_former_children()).  And TCP, which moves
 * children between the listeners of a reuseport group, gets none of ours
 * (smc_unhash()); one of its own that lands in our accept queue is known by
 * sk_destruct (smc_is_ours()).  smc_assert() checks this in test builds.
 *
 * Locks, outermost first.  A function whose name starts with __ expects its
 * caller to hold what its comment names.
 *
 *  hs->lock (mutex)	the state machine of one handshake: its step, its buffer.
 *			Whoever drives it holds it: the worker, or a system call
 *			that waits for the outcome.
 *  hs->child_lock	(mutex) a child gets no file, and so no owner
 *  conn->tx_lock,	one sender, one receiver at a time.  Never both at once,
 *  conn->rx_lock	never held while sleeping for the peer.  A reader in the kernel,
 *			who has lock_sock, only tries for the latter.
 *  lock_sock(sk)	phase, reason, smc->conn, sk_prot and ops changes.
 *  lgr->life (mutex)	links and memory of a link group while they are made and used;
 *			whoever waits for the device under it does so for some seconds
 *			at most, and the end of the group has it wait no longer.
 *  peer_id_lock	(mutex) the making of a namespace's peer ID, once
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

/*
 * Whatever this module leaves for later runs in one of these, and ends before it goes.  None
 * of it waits for a lock that a program can hold for as long as it likes: tx_lock and
 * lock_sock() are held while memory is read that the program provides itself.  Where such a
 * lock is needed it is only tried for, and its owner, or a timer, has the work done later.
 */
extern struct workqueue_struct *smc_wq;		/* links, LLC, corks, memory */
extern struct workqueue_struct *smc_hs_wq;	/* handshakes */
extern struct workqueue_struct *smc_close_wq;	/* sockets without a file, readers in the kernel */

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
 *		system calls may still be in them.  The list grows under lock_sock,
 *		and is emptied when the socket ends
 * @n_retired:	how many; SMC_MAX_RETIRED at most
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
 * @hs_deferred: the handshake goes on when the owner gives the lock back; under the spin lock
 *		of lock_sock()
 * @was_listener: bottom halves may still make children of it, until @gp
 * @aborting:	calls of tcp_abort() that are under way; under lock_sock
 * @listen_calls: calls of listen() that are under way; under lock_sock and
 *		sk_callback_lock
 * @gp:		when the last one that found it listening will have gone: RCU
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
	bool			hs_deferred;
	bool			was_listener;
	u8			n_retired;
	unsigned int		aborting;
	unsigned int		listen_calls;
	unsigned long		gp;
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

/* So many former connections of one socket are kept; then it connects as plain TCP. */
#define SMC_MAX_RETIRED	16

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

/**
 * smc_busy() - has SMC, or a handshake, the TCP connection for itself?
 * @smc:	the socket
 */
static inline bool smc_busy(const struct smc_sock *smc)
{
	return smc_unsettled(smc) || READ_ONCE(smc->phase) == SMC_PHASE_UP;
}

#endif
