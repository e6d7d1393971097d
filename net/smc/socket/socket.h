/* SPDX-License-Identifier: GPL-2.0 */
/* The socket layer: the system calls of applications. */
#ifndef SMC_SOCKET_H
#define SMC_SOCKET_H

#include <linux/net.h>
#include <net/inet_connection_sock.h>
#include "../conn/conn.h"
#include "../smc.h"

/**
 * struct smc_family - the operations of sockets of one address family
 * @tcp:	TCP's own proto
 * @tcp_ops:	TCP's own socket operations
 * @tcp_af_ops:	TCP's own connection operations
 * @tcp_destruct: TCP's own sk_destruct
 * @prot:	our proto, in every phase: TCP's with a larger object
 * @ops:	our socket operations, in every phase
 * @af_ops:	our connection operations: TCP's, except those that make children and answer SYNs
 * @available:	the kernel supports this family
 */
struct smc_family {
	struct proto				*tcp;
	const struct proto_ops			*tcp_ops;
	const struct inet_connection_sock_af_ops *tcp_af_ops;
	void					(*tcp_destruct)(struct sock *sk);
	struct proto				prot;
	struct proto_ops			ops;
	struct inet_connection_sock_af_ops	af_ops;
	bool					available;
};

extern struct smc_family smc_families[2];

static inline struct smc_family *smc_family(const struct sock *sk)
{
	return &smc_families[sk->sk_family == AF_INET6];
}

/* Is this an SMC socket, and not a listener's raw copy? */
static inline bool smc_is_self(const struct sock *sk)
{
	return smc_sk(sk)->self == smc_sk(sk);
}

static inline struct smc_conn *smc_get_conn(const struct sock *sk)
{
	/* Pairs with the release in smc_to_up(). */
	return smp_load_acquire(&smc_sk(sk)->conn);
}

/* Is TCP's receive queue hidden from the application? */
static inline bool smc_tcp_queue_hidden(const struct sock *sk)
{
	return smc_negotiating(smc_sk(sk)) && sk->sk_state != TCP_LISTEN;
}

/* family.c: both families, AF_SMC and IPPROTO_SMC */
int smc_family_claim(void);
void smc_family_unclaim(void);
int smc_family_init(void);
void smc_family_exit(void);
int smc_family_open(void);
void smc_family_close(void);

/* proto.c: creation and destruction of a socket */
int smc_proto_init(void);
void smc_proto_exit(void);
int smc_init_sock(struct sock *sk);
void smc_destroy_sock(struct sock *sk);
void smc_release_cb(struct sock *sk);
int smc_disconnect(struct sock *sk, int flags);
#ifdef SMC_HAVE_RECVMSG_ADDR_LEN
int smc_proto_recvmsg(struct sock *sk, struct msghdr *msg, size_t len, int flags, int *addr_len);
#else
int smc_proto_recvmsg(struct sock *sk, struct msghdr *msg, size_t len, int flags);
#endif
bool smc_is_ours(const struct sock *sk);
void smc_child_born(struct sock *child, const struct sock *listener);

/* conns.c */
void smc_detach_conn(struct sock *sk, struct smc_conn *c);
void smc_stop_old_conns(struct sock *sk);
void smc_detach_conns(struct sock *sk);

/* phase.c: changes of phase; __ functions require the socket's lock */
void __smc_set_phase(struct sock *sk, enum smc_phase phase,
		     enum smc_reason reason);
void smc_to_up(struct sock *sk, struct smc_conn *c);
void smc_to_tcp(struct sock *sk, enum smc_reason reason, u32 peer_diagnosis);
void smc_to_reset(struct sock *sk, enum smc_reason reason);
void smc_to_closed(struct sock *sk);
void smc_to_new(struct sock *sk);

/* callbacks.c: what TCP calls, and users in the kernel, which replace that */
void smc_learn_callbacks(const struct sock *sk);
void smc_hook_callbacks(struct sock *sk);
void smc_unhook_callbacks(struct sock *sk);
bool smc_misses_events(const struct sock *sk);
void smc_tell_kernel_user(struct sock *sk);

/* negotiate.c */
extern const struct smc_hs_owner_ops smc_hs_socket_ops;
bool smc_crossed_syns(const struct sock *sk);
void smc_negotiate(struct sock *sk);
int smc_wait_negotiated(struct sock *sk, long timeo, u8 unless_shut);
void smc_wake_negotiated(struct sock *sk);

/* shutdown.c */
int smc_shutdown(struct socket *sock, int how);
void smc_proto_shutdown(struct sock *sk, int how);
void smc_shut_conn(struct sock *sk, struct smc_conn *c);
void smc_shut_tcp(struct sock *sk);

/* release.c: ways to end a socket */
int smc_release(struct socket *sock);
void smc_close(struct sock *sk, long timeout);
void smc_close_orphan(struct sock *sk);
void smc_linger_event(struct sock *sk);

/* deferred.c, defer.c: TCP_DEFER_ACCEPT, for children and listeners */
void smc_defer(struct sock *child, const struct sock *listener);
void smc_undefer(struct sock *sk);
struct socket_wq *smc_deferred_wq(const struct sock *sk);
void smc_deferred_ended(struct sock *sk);
bool smc_deferred_due(const struct sock *child);
bool smc_defers(const struct sock *sk);
__poll_t smc_poll_deferring(struct sock *sk);
int smc_await_due(struct sock *sk, long *timeo);

/* migrate.c: children of a listener that ends */
void smc_migrate_children(struct sock *sk);

/* orphan.c: sockets that outlive their files */
bool smc_orphan_begin(struct sock *sk);
void smc_orphan_end(struct sock *sk);

/* abort.c */
void smc_reset_tcp(struct sock *sk, enum smc_reason reason, int err);
void smc_reset_child(struct sock *sk);
void smc_reset_init(struct smc_sock *smc);

/* eligible.c */
enum smc_reason smc_eligible(const struct sock *sk);
enum smc_reason smc_still_eligible(const struct sock *sk);

/* packets.c: options and BPF programs about packets */
enum smc_reason smc_needs_packets(const struct sock *sk);
bool smc_sock_ops_run(const struct sock *sk);
bool smc_sock_ops_watch(const struct sock *sk);
bool smc_is_packet_option(int level, int name);
int smc_try_option(const struct sock *sk, int level, int name, sockptr_t val, unsigned int len);

/* ioctl.c */
#ifdef SMC_HAVE_PROTO_IOCTL_KARG
int smc_ioctl(struct sock *sk, int cmd, int *arg);
#else
int smc_ioctl(struct sock *sk, int cmd, unsigned long arg);
#endif

/* ops.c, plain.c, connect.c, listen.c, sockopt.c: system calls, and callbacks of TCP from them */
void smc_ops_init(struct smc_family *f);
void smc_plain_init(struct smc_family *f);
int smc_connect(struct socket *sock, struct sockaddr_unsized *addr, int len, int flags);
int smc_proto_connect(struct sock *sk, struct sockaddr_unsized *addr, int len);
int smc_listen(struct socket *sock, int backlog);
int smc_hash(struct sock *sk);
void smc_unhash(struct sock *sk);
void smc_await_former_children(struct sock *sk);
bool smc_refuses_syn(const struct sock *sk);
void smc_listen_init(struct smc_family *f);
void smc_connect_init(struct smc_family *f);
void smc_tell_keepalive(struct sock *sk, bool on);
void smc_set_keepalive(struct sock *sk, int on);
int smc_setsockopt(struct sock *sk, int level, int name, sockptr_t val,
		   unsigned int len);
int smc_getsockopt(struct sock *sk, int level, int name, char __user *val,
		   int __user *len);
int smc_sock_setsockopt(struct socket *sock, int level, int name,
			sockptr_t val, unsigned int len);

/* ulp.c, sockmap.c: kernel TLS and sockmaps, on plain TCP */
int smc_ulp_set(struct socket *sock, sockptr_t val, unsigned int len);
void smc_sockmap_init(struct proto *prot);
bool smc_reclaim_proto(struct sock *sk);

/* registry.c: the SMC sockets of a namespace */
extern struct pernet_operations smc_registry_net_ops;
void smc_registry_add(struct smc_sock *smc);
void smc_registry_del(struct smc_sock *smc);
bool smc_registry_in_use(struct net *net);
void smc_registry_flush(struct net *net);

#endif
