/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that the target kernel lacks, under their upstream names. Included before anything else
 * in every file. Kbuild.include defines SMC_HAVE_*; kernel versions are checked only if no header
 * tells.
 */
#ifndef SMC_COMPAT_H
#define SMC_COMPAT_H

#include <linux/ipv6.h>
#include <linux/net.h>
#include <linux/timer.h>
#include <linux/uio.h>
#include <net/net_namespace.h>
#include <net/sock.h>

/* TCP has hooks for SMC. This is CONFIG_SMC of the kernel, not of our own build. */
#if IS_ENABLED(CONFIG_SMC)
#define SMC_HAVE_TCP_HOOKS
#endif

#ifndef SMC_HAVE_TIMER_DELETE
#define timer_delete(timer)		del_timer(timer)
#define timer_delete_sync(timer)	del_timer_sync(timer)
#endif

#ifndef timer_container_of
#define timer_container_of(var, timer, field)	from_timer(var, timer, field)
#endif

#ifndef SMC_HAVE_HRTIMER_SETUP
#include <linux/hrtimer.h>
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#ifndef SMC_HAVE_ZEROCOPY_DEVMEM
#include <linux/skbuff.h>
#define msg_zerocopy_realloc(sk, size, uarg, devmem) \
	msg_zerocopy_realloc(sk, size, uarg)
#endif

/*
 * Does the entry of a mapped table need a sync after each access? Before 6.10, dma_need_sync() is
 * true for all memory behind an IOMMU. What matters there: are caches coherent, and does the device
 * access the page itself rather than a bounce buffer? An IOMMU uses bounce buffers for all of a
 * table or for none of it, and merges entries, so only the first one can be compared with its page.
 */
#ifdef SMC_HAVE_DMA_SKIP_SYNC
#define smc_compat_need_sync(dev, sgt, sg)	dma_need_sync(dev, sg_dma_address(sg))
#else
#include <linux/dma-map-ops.h>
#include <linux/iommu.h>
#include <linux/scatterlist.h>
static inline bool smc_compat_need_sync(struct device *dev, const struct sg_table *sgt,
					struct scatterlist *sg)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);

	if (!domain || !(domain->type & __IOMMU_DOMAIN_DMA_API))
		return dma_need_sync(dev, sg_dma_address(sg));
	return !dev_is_dma_coherent(dev) ||
	       (sg == sgt->sgl && iommu_iova_to_phys(domain, sg_dma_address(sg)) != sg_phys(sg));
}
#endif

/* A function-like macro, so the struct member of the same name is unaffected. */
#ifndef SMC_HAVE_SK_UID
#define sk_uid(sk)			sock_i_uid(sk)
#endif

#ifndef SMC_HAVE_SOCKADDR_UNSIZED
#define sockaddr_unsized		sockaddr
#endif

/* Some kernels up to 6.6 refuse a disconnect while a task sleeps in TCP. */
#ifdef SMC_HAVE_SK_WAIT_PENDING
#define smc_compat_tcp_done(sk)		tcp_done(sk)
#else
#define smc_compat_tcp_done(sk)		do { } while (0)
#endif

/* Without the count, TCP does not tell a sleeping task from which call the disconnect came. */
static inline int smc_compat_disconnects(const struct sock *sk)
{
#ifdef SMC_HAVE_SK_DISCONNECTS
	return sk->sk_disconnects;
#else
	return 0;
#endif
}

/* TCP's count of orphans, which newer kernels do not expose. */
static inline void smc_compat_count_orphan(struct sock *sk, int n)
{
#ifdef SMC_HAVE_ORPHAN_COUNT
	if (sk->sk_prot->orphan_count)
		this_cpu_add(*sk->sk_prot->orphan_count, n);
#endif
}

#ifndef SMC_HAVE_NET_SYSCTL_SZ
#define register_net_sysctl_sz(net, path, table, size) \
	register_net_sysctl(net, path, table)
#endif

#ifndef SMC_HAVE_DST_DEV_RCU
#include <net/dst.h>
/* A netdev is freed only an RCU grace period after its routes have released it. */
#define dst_dev_rcu(dst)		READ_ONCE((dst)->dev)
#endif

#ifdef SMC_HAVE_LOOKUP_HASHINFO
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
/* Old kernels take the hash table as an argument; pass the namespace's. */
static inline struct sock *smc_compat_lookup(struct net *net, __be32 saddr, __be16 sport,
					     __be32 daddr, u16 hnum, int dif, int sdif)
{
	return __inet_lookup_established(net, net->ipv4.tcp_death_row.hashinfo, saddr, sport,
					 daddr, hnum, dif, sdif);
}

#define __inet_lookup_established	smc_compat_lookup

#if IS_ENABLED(CONFIG_IPV6)
static inline struct sock *smc_compat_lookup6(struct net *net, const struct in6_addr *saddr,
					      __be16 sport, const struct in6_addr *daddr,
					      u16 hnum, int dif, int sdif)
{
	return __inet6_lookup_established(net, net->ipv4.tcp_death_row.hashinfo, saddr, sport,
					  daddr, hnum, dif, sdif);
}

#define __inet6_lookup_established	smc_compat_lookup6
#endif
#endif

#ifdef SMC_HAVE_NETDEV_DUMMY
#define smc_compat_free_netdev_dummy(dev)	free_netdev(dev)
#else
#include <linux/netdevice.h>
#include <linux/slab.h>
static inline struct net_device *alloc_netdev_dummy(int sizeof_priv)
{
	struct net_device *dev = kzalloc(sizeof(*dev) + sizeof_priv, GFP_KERNEL);

	if (dev)
		init_dummy_netdev(dev);
	return dev;
}

#define smc_compat_free_netdev_dummy(dev)	kfree(dev)
#endif

#ifdef SMC_HAVE_CONST_CTL_TABLE
typedef const struct ctl_table smc_ctl_table;
#else
typedef struct ctl_table smc_ctl_table;
#endif

#ifdef SMC_HAVE_GENL_SPLIT_OPS
typedef const struct genl_split_ops smc_genl_pre_doit_ops;
#else
typedef const struct genl_ops smc_genl_pre_doit_ops;
#endif

#ifndef SMC_HAVE_NLA_PUT_UINT
#include <net/netlink.h>
static inline int nla_put_uint(struct sk_buff *skb, int attrtype, u64 value)
{
	u32 small = value;

	if (small == value)
		return nla_put_u32(skb, attrtype, small);
	return nla_put(skb, attrtype, sizeof(value), &value);
}
#endif

#ifndef ITER_SOURCE
#define ITER_SOURCE	WRITE
#define ITER_DEST	READ
#endif

/*
 * Up to 6.4, inet6_create() puts the IPv6 part at the end of the object, while TCP, for children,
 * expects it directly behind its own part. Move it there.
 */
static inline void smc_compat_init_pinfo(struct sock *sk)
{
#ifndef SMC_HAVE_PINFO_OFFSET
	struct ipv6_pinfo *np = inet_sk(sk)->pinet6;
	struct tcp6_sock *tcp6 = (struct tcp6_sock *)sk;
	char *end = (char *)sk + sk->sk_prot->obj_size;

	if (sk->sk_family != AF_INET6 || !np || np == &tcp6->inet6)
		return;
	memmove(&tcp6->inet6, np, sizeof(*np));
	memset((char *)(tcp6 + 1), 0, end - (char *)(tcp6 + 1));
	inet_sk(sk)->pinet6 = &tcp6->inet6;
#endif
}

/*
 * Since 6.19, TCP asks a BPF program, if there is one, before it offers SMC or answers
 * (net.smc.hs_ctrl). A module cannot register such programs without BTF of its own, so this module
 * has none, and must clear any that the kernel's own SMC has left behind.
 */
static inline void smc_compat_no_hs_ctrl(struct net *net)
{
#if IS_ENABLED(CONFIG_SMC_HS_CTRL_BPF)
	RCU_INIT_POINTER(net->smc.hs_ctrl, NULL);
#endif
}

/* The last parameter of inet_connection_sock_af_ops.syn_recv_sock, if there is one. */
#ifdef SMC_HAVE_OPT_CHILD_INIT
#define SMC_CHILD_INIT_PARAM \
	, void (*opt_child_init)(struct sock *newsk, const struct sock *sk)
#define SMC_CHILD_INIT_ARG	, opt_child_init
#else
#define SMC_CHILD_INIT_PARAM
#define SMC_CHILD_INIT_ARG
#endif

#ifdef SMC_HAVE_SENDPAGE
/* 6.5 renamed the function that splices from a file through recvmsg. */
#define copy_splice_read(in, ppos, pipe, len, flags) \
	generic_file_splice_read(in, ppos, pipe, len, flags)
#endif

/*
 * All options of a socket reach its proto_ops. Before 6.2, those of SOL_SOCKET do not, so the
 * filter of an SMC connection is locked: attaching one then fails with EPERM.
 */
#ifdef SMC_HAVE_CUSTOM_SOCKOPT
static inline void smc_compat_own_options(struct socket *sock, bool own)
{
	assign_bit(SOCK_CUSTOM_SOCKOPT, &sock->flags, own);
}

static inline bool smc_compat_lock_filter(struct sock *sk)
{
	return false;
}
#else
static inline void smc_compat_own_options(struct socket *sock, bool own) { }

/* Returns true if this has locked it. The socket is locked. */
static inline bool smc_compat_lock_filter(struct sock *sk)
{
	if (sock_flag(sk, SOCK_FILTER_LOCKED))
		return false;
	sock_set_flag(sk, SOCK_FILTER_LOCKED);
	return true;
}
#endif

#endif
