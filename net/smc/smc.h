/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The SMC socket.
 *
 * An SMC socket is a TCP socket with SMC state appended: struct smc_sock begins with a TCP socket,
 * comes from the module's own slab, and looks like a TCP socket to the rest of the kernel. Its
 * phase records how far the connection has come:
 *
 *	NEW --connect--> CONNECTING --TCP up, peer answered--> HANDSHAKE --> UP
 *	 |                   |                                    |
 *	 +--listen--> LISTEN |  (a child starts in HANDSHAKE)     |
 *	                     +------- falls back -----------------+--> TCP
 *
 * In phase UP, data flows through smc->conn and the TCP connection below is idle. In phase TCP, the
 * operations pass every call on to TCP.
 *
 * The rule of the three tables. Other code copies the pointers sk_prot, icsk_af_ops and sock->ops
 * without a lock and uses the copies later, so these pointers must not change:
 *
 *  sk_prot	is smc_family.prot from socket() or, for a child, from the clone of the
 *		listener on, so whatever TCP clones from an SMC socket is memory of our slab.
 *		Only a sockmap (socket/sockmap.c) and kernel TLS (socket/ulp.c) install their
 *		own table there and finally TCP's.  They do so in phase TCP, while TCP is
 *		established, under the socket's lock, and never during a call of listen().
 *		listen() fails until our table is back.
 *  sock->ops	is smc_family.ops from socket() or accept() on.  Only kernel TLS
 *		replaces it, permanently.
 *  icsk_af_ops	is smc_family.af_ops when a socket starts to listen: smc_hash() sets it,
 *		together with the phase, under the lock under which TCP hashes the listener.
 *		At other times TCP's IPv6 code may install a table of its own, which calls
 *		none of our functions.
 *
 * A stale copy of any of the three pointers is therefore either ours, or TCP's and still valid for
 * the socket. Each of our functions checks the phase, and checks it again under the lock before it
 * changes something. A clone of a listener is a raw copy until smc_child_born(); smc_is_self()
 * detects this, and nothing else in the copy is read. A bottom half may still be cloning a former
 * listener, so the socket is reused only after a grace period (smc_await_former_children()). TCP
 * may migrate children between the listeners of a reuseport group. smc_unhash() keeps SMC children
 * out of this, and a TCP child that lands in our accept queue is recognized by its sk_destruct
 * (smc_is_ours()). smc_assert() checks these rules in test builds.
 *
 * Locks, outermost first; tools/testing/house/locks.py checks that this list matches the source and
 * lock_class.c, which tells lockdep the order of the locks embedded in objects. A function whose
 * name starts with __ requires its caller to hold the lock that its comment names.
 *
 *  smc_conn.tx_lock,		(mutexes) one sender, one receiver at a time.  Never held while
 *  smc_conn.rx_lock		sleeping for the peer, and never both at once, except that a
 *				sender tries the rx_lock of the other end (grow.c), and that an
 *				end which closes tries both of its peer (loopback.c).  An
 *				in-kernel reader holds lock_sock, so it only tries the rx_lock,
 *				too.  What a task that fails to get one of them needs is done by
 *				its owner (smc_conn_trylock()).
 *  lock_sock(sk)		phase, reason, smc->conn, sk_prot and ops changes
 *  stand_in_lock		(mutex) the socket that kernel TLS finds instead of ours
 *  smc_fabrics_srcu		(SRCU) the list of fabrics, for readers that may sleep
 *  smc_lgr.setup_lock		(mutex) links and memory of a link group during setup and use;
 *				never held while waiting for a peer
 *  hops_lock			(mutex) link groups that wait for a gateway's MAC address
 *  tcpopt_hook_lock		(mutex) which namespaces have a netfilter hook
 *  peer_id_lock		(mutex) generation of a namespace's peer ID
 *  smc_pools.reg_lock		(mutex) registration of buffers with a device
 *
 * Locks for writers of administrative configuration; none of our locks is taken around them:
 *
 *  smc_fabrics_lock		(mutex) the list of fabrics
 *  ism_devs_lock		(mutex) the list of ISM devices
 *  smc_pnet_table.lock		(mutex) the PNET table of a namespace
 *  smc_filter.lock		(mutex) the filter rules of a namespace
 *  smc_ism_dev.vlan_lock	(mutex) the VLANs of an ISM device; held while calling its driver
 *
 * Spinlocks, taken with bottom halves disabled:
 *
 *  smc_pool.lock		an account's free elements of one size
 *  smc_pools.lock		the accounts, and the list of all buffers
 *  smcd_conn.hear_lock		serializes reading the control data of an element
 *  smc_conn.state_lock		state and urgent byte of a connection; callbacks invoked under it
 *				take leaf locks only
 *  smc_lgrs.lock		list, state and number of connections of link groups
 *  smcd_lgrs.lock		the same for SMC-D
 *  smcd_conn.say_lock		serializes writing the control data of the peer's element
 *  smc_link.tx_lock		send queue of a link; keeps its connections on that link
 *  smc_lgr.lock		RTokens of the peer
 *  smc_llc.lock		queue of the LLC engine
 *  lo_bucket.lock		one bucket of loopback's table of offered tokens
 *  smc_conn.wait_lock		the sleeping receiver, and which of our counts have been flushed
 *
 * Leaf locks, under which no other lock is taken:
 *
 *  smc_ism_dev.conns_lock	connections whose memory goes away with an ISM device
 *  smc_eids_lock		(rwlock) EIDs of this host
 *  smc_autocache.lock		(seqlock) destinations of a namespace that do not speak SMC
 *  smc_autosmc.lock		table of the listeners of a namespace
 *  smc_listener.lock		autosmc's statistics about one listener
 *  pair_bucket.lock		clients that wait for a child in this kernel, one bucket
 *  smc_registry.lock		SMC sockets of a namespace that were created on one CPU
 *  smc_stamps.lock		when data of a connection arrived, and times that senders wait for
 *  devs_lock			(process context only) writers of the list of RDMA devices
 *  orphans_lock		(process context only) number of sockets without a file
 *
 * No lock is held while waiting for a peer. The data path takes no host-global lock.
 *
 * References: a handshake holds its socket; its work item and its timer hold the handshake. A
 * connection is held by its socket; over loopback by the peer's connection, until the socket is
 * detached and the peer is not in a copy; and over RDMA, by each posted work request, and until the
 * peer has closed. A link group is held by its namespace's list, its connections and its work
 * items.
 */
#ifndef SMC_H
#define SMC_H

#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/ipv6.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include <linux/smc_reason.h>
#include <net/sock.h>

struct smc_conn;
struct smc_deferred;
struct smc_handshake;
struct smc_listener;
struct smc_orphan_holder;
struct smc_registry;

#ifndef IPPROTO_SMC
#define IPPROTO_SMC	256
#endif
#define SMCPROTO_SMC	0	/* protocol of an AF_SMC socket over IPv4 */
#define SMCPROTO_SMC6	1	/* and over IPv6 */

/*
 * All deferred work of this module runs on one of these queues and ends before the module is
 * unloaded. No work item blocks on a lock that a program can hold indefinitely: tx_lock and
 * lock_sock() are held while user memory is accessed, and the program may serve those page faults
 * itself. Work that needs one of these locks only tries it; if that fails, the lock's owner or a
 * timer gets the work done later. The exception is a reader in the kernel, whose socket belongs to
 * another module. No item takes RTNL either, which a driver may hold for long.
 */
extern struct workqueue_struct *smc_wq;		/* corks, memory */
extern struct workqueue_struct *smc_hs_wq;	/* handshakes */
extern struct workqueue_struct *smc_close_wq;	/* sockets without a file, in-kernel readers */
extern struct workqueue_struct *smc_link_wq;	/* LLC, links, ports, gateways */
extern struct workqueue_struct *smc_end_wq;	/* teardown of link groups */

/*
 * For memory whose size or number a program, an administrator of a namespace or a peer decides: it
 * is charged, and if there is none, the allocation fails instead of invoking the OOM killer. What
 * is allocated in atomic context is limited in number, and not charged, because the current task
 * has nothing to do with it.
 */
#define SMC_GFP_CHARGED	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* Allocate one contiguous piece, or return NULL if it is not available without much reclaim. */
static inline void *smc_alloc_piece(size_t bytes, gfp_t gfp)
{
	/* kmalloc() would warn about larger sizes. */
	if (bytes > KMALLOC_MAX_SIZE)
		return NULL;
	return kmalloc(bytes, (gfp & ~__GFP_RETRY_MAYFAIL) | __GFP_NORETRY);
}

/**
 * smc_alloc_array() - allocate a zeroed array that need not be contiguous
 * @n: number of elements
 * @size: size of an element
 *
 * Charges and fails like an allocation with SMC_GFP_CHARGED. kvmalloc() would take that for a wish
 * for contiguous memory, and compact all memory for it.
 *
 * Context: process, may sleep.
 * Return: the array, for kvfree(), or NULL.
 */
static inline void *smc_alloc_array(size_t n, size_t size)
{
	size_t bytes = array_size(n, size);

	return smc_alloc_piece(bytes, SMC_GFP_CHARGED | __GFP_ZERO) ?:
	       __vmalloc(bytes, SMC_GFP_CHARGED | __GFP_ZERO);
}

enum smc_phase {
	SMC_PHASE_NEW,
	SMC_PHASE_LISTEN,
	SMC_PHASE_CONNECTING,
	SMC_PHASE_HANDSHAKE,
	SMC_PHASE_UP,
	SMC_PHASE_TCP,
	SMC_NR_PHASES
};

/* State of a socket when this module itself exchanges the TCP option (tcpopt/netfilter.c). */
enum smc_tcpopt_state {
	SMC_TCPOPT_NONE,
	SMC_TCPOPT_OFFERED,		/* our SYN carries the option */
	SMC_TCPOPT_ANSWERED,		/* the SYN-ACK carries it as well */
	SMC_TCPOPT_LISTENS,		/* the socket answers a SYN that carries it */
};

/**
 * struct smc_registry_entry - a node in a list of SMC sockets
 * @node:	in smc_registry.list; unhashed until the entry is added and after it is removed
 * @registry:	the list that contains the socket, from its creation to its end; NULL for the cursor
 *		of a walk
 */
struct smc_registry_entry {
	struct hlist_node	node;
	struct smc_registry	*registry;
};

/**
 * struct smc_sock - an SMC socket
 * @tcp6:	the TCP socket; an IPv4 socket uses only its tcp_sock
 * @self:	points to this object; differs in a raw copy that the TCP listener made for a child,
 *		which must not be torn down as an SMC socket
 * @hs:		the handshake while phase is CONNECTING or HANDSHAKE; RCU-protected
 * @conn:	set, with release semantics, before phase becomes UP; stays until the socket is
 *		released or disconnected
 * @old_conns:	connections from before the socket was disconnected; system calls may still be using
 *		them. The list grows under lock_sock and is emptied when the socket ends
 * @n_old_conns:	number of @old_conns; SMC_MAX_OLD_CONNS at most
 * @registered:	entry in the list of SMC sockets of the namespace
 * @phase:	enum smc_phase, written under lock_sock
 * @raw_clc:	test builds: the application speaks CLC itself
 * @limit_hs:	SMC_LIMIT_HS: the per-socket equivalent of net.smc.limit_smc_hs
 * @server:	the socket is a child of a listener
 * @closing:	the file is closed; TCP is closed once the handshake or the connection has ended;
 *		under lock_sock
 * @orphan_of:	whom the socket counts for once its file is closed, valid while @closing was set
 * @linger_work: closes TCP after the connection has ended; initialised before @closing is set
 * @arrives_until: what was sent before close() must have arrived by then, in jiffies; 0 once it
 *		has; under lock_sock
 * @shut_later:	SEND_SHUTDOWN, RCV_SHUTDOWN: what to shut down once the handshake has ended; under
 *		lock_sock
 * @hs_on_release: release_sock() has to run the handshake; under the spin lock of lock_sock()
 * @filter_locked: we have locked the filter, see smc_compat_lock_filter()
 * @listener_ends: how often the socket has ceased to be a listener; under lock_sock
 * @ends_awaited: value of @listener_ends at the last completed grace period: no bottom half is
 *		still making children of those listeners; under lock_sock
 * @n_disconnects: how often the socket has been disconnected; under lock_sock
 * @listen_calls: calls of listen() in progress; under lock_sock and sk_callback_lock
 * @tcp_only_calls: calls of setsockopt() in progress that set an option which only TCP honours;
 *		under lock_sock
 * @tcp_only_reason: enum smc_reason: what the latest of these calls is about
 * @tcp_option:	enum smc_tcpopt_state; under lock_sock
 * @deferred:	the child waits for data before it is accepted; under lock_sock
 * @born:	for a child with @listener: creation time in jiffies
 * @listener:	for a child that autosmc counts: the entry of its listener
 * @reset_work:	resets a child whose handshake could not be allocated
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
	u8			phase;
	bool			raw_clc;
	bool			limit_hs;
	bool			server;
	bool			closing;
	bool			hs_on_release;
	bool			filter_locked;
	u8			n_old_conns;
	u8			tcp_option;
	u8			shut_later;
	unsigned int		n_disconnects;
	unsigned int		listen_calls;
	unsigned int		tcp_only_calls;
	unsigned int		listener_ends;
	unsigned int		ends_awaited;
	struct work_struct	reset_work;
	struct smc_orphan_holder *orphan_of;
	struct smc_deferred	*deferred;
	struct delayed_work	linger_work;
	unsigned long		arrives_until;
	u32			reason;
	u32			peer_diagnosis;
	u32			tcp_only_reason;
	unsigned long		born;
	struct smc_listener	*listener;
};

/* Checks the rules above; test builds warn when one is violated. */
#ifdef CONFIG_SMC_TEST
#define smc_assert(cond)	WARN_ON_ONCE(!(cond))
#else
#define smc_assert(cond)	({ bool bad_ = !(cond); unlikely(bad_); })
#endif

/* How many former connections a socket may keep; beyond that it connects as plain TCP. */
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
 * @sk: the socket; its spin lock is held, or its owner is processing the backlog
 *
 * Return: true if so; smc_release_cb() then resumes the handshake.
 */
static inline bool smc_left_to_owner(struct sock *sk)
{
	if (!sock_owned_by_user_nocheck(sk))
		return false;
	WRITE_ONCE(smc_sk(sk)->hs_on_release, true);
	return true;
}

/* The next sequence number of a netlink dump; skips 0, which means that there is none. */
static inline unsigned int smc_next_seq(unsigned int seq)
{
	return seq + 1 ?: 1;
}

/**
 * smc_negotiating() - is it still undecided whether this socket becomes SMC or TCP?
 * @smc:	the socket
 *
 * Return: true if it is undecided.
 */
static inline bool smc_negotiating(const struct smc_sock *smc)
{
	/* Acquire: a connection is visible once the phase says that the handshake has ended. */
	u8 phase = smp_load_acquire(&smc->phase);

	return phase == SMC_PHASE_CONNECTING || phase == SMC_PHASE_HANDSHAKE;
}

/**
 * smc_busy() - does SMC or a handshake own the TCP connection?
 * @smc:	the socket
 *
 * Return: true if the application's data does not go through TCP.
 */
static inline bool smc_busy(const struct smc_sock *smc)
{
	return smc_negotiating(smc) || READ_ONCE(smc->phase) == SMC_PHASE_UP;
}

#endif
