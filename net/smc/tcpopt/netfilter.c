// SPDX-License-Identifier: GPL-2.0
/*
 * The TCP option as exchanged through netfilter, for kernels whose TCP has no hooks for SMC.
 *
 *	client					listener
 *	SYN: the hook adds the option    -->	conn_request: looks for the option
 *	sk_rx_dst_set: looks for it	 <--	SYN-ACK: the hook adds it if the request says so
 *						syn_recv_sock: reads the decision in the request
 *
 * There is one hook, LOCAL_OUT, which runs before all others. A namespace has the hook while it has
 * SMC sockets, and for some seconds afterwards.
 *
 * All copies of a SYN-ACK must be the same. So the answer is decided once, for the first SYN-ACK,
 * and kept in inet_request_sock.smc_ok. Every kernel has this bit; without CONFIG_SMC nothing else
 * uses or initialises it. TCP sends the answer to a SYN while it handles the SYN, so conn_request
 * stores the answer in a per-CPU variable, where the hook finds it. The hook then records in the
 * request what it has done. Any other SYN-ACK is a retransmission:
 *
 *  - Another SYN of the same client may find the request on another CPU before the first answer has
 *    been sent. The first CPU's variable shows this, and the retransmission is dropped.
 *  - If TCP has handled the SYN but sent no answer, for lack of memory, the request is looked up
 *    and its smc_ok cleared.
 *  - The smc_ok of a request of a non-SMC listener is cleared, because TCP may migrate the request
 *    to an SMC listener in the same reuseport group. Requests older than the hook are ignored, see
 *    since_hook().
 *
 * A SYN cookie leaves no request, and neither does a child made from a SYN with data: both stay
 * TCP.
 */
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/once.h>
#include <linux/smc.h>
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include "../netns.h"
#include "../smc.h"
#include "ways.h"

/* How long a namespace without SMC sockets keeps the hook. */
#ifdef CONFIG_SMC_TEST
static uint hook_linger_ms = 5000;
module_param(hook_linger_ms, uint, 0600);
MODULE_PARM_DESC(hook_linger_ms, "how long a namespace without SMC sockets keeps its hook, in ms");
#else
enum { hook_linger_ms = 5000 };
#endif

/**
 * struct smc_tcpopt_net - the hook of a namespace
 * @net:	the namespace
 * @wanted:	sockets may rely on @hooked; cleared while the hook may be about to be removed
 * @hooked:	the hook is in place; under tcpopt_hook_lock
 * @since:	when the hook was installed, as a tcp_clock_us() time
 * @idle:	removes the hook
 */
struct smc_tcpopt_net {
	struct net		*net;
	bool			wanted;
	bool			hooked;
	u64			since;
	struct delayed_work	idle;
};

/**
 * struct nfopt_syn - the SYN that an SMC listener is answering on this CPU
 * @number:	nfopt_number() of its sequence number, or 0 if there is none; other CPUs may read it
 * @answer:	the SYN-ACK should carry the option
 * @settled:	a SYN-ACK has been sent
 */
struct nfopt_syn {
	u32			number;
	bool			answer;
	bool			settled;
};

static DEFINE_PER_CPU(struct nfopt_syn, nfopt_syn);
static DEFINE_MUTEX(tcpopt_hook_lock);
static const struct smc_tcpopt_owner *nfopt_owner;
static void (*nfopt_tcp_rx_dst_set[2])(struct sock *sk, const struct sk_buff *skb);
static void (*nfopt_mapped_rx_dst_set)(struct sock *sk, const struct sk_buff *skb);
/* TCP's table for an IPv6 socket with an IPv4 peer, but with our sk_rx_dst_set. */
static struct inet_connection_sock_af_ops nfopt_mapped;

static struct smc_tcpopt_net *nfopt_net(const struct net *net)
{
	return smc_net(net)->tcpopt;
}

/*
 * 0 means none, so the sequence numbers 0 and 1 share the number 1. A collision costs a
 * retransmission at worst.
 */
static u32 nfopt_number(u32 isn)
{
	return isn ?: 1;
}

/* Is any CPU still busy with the first answer to this request? */
static bool nfopt_undecided(const struct request_sock *req)
{
	u32 number = nfopt_number(tcp_rsk(req)->rcv_isn);
	int cpu;

	/*
	 * The request was found, so this CPU must also see what was written before TCP published
	 * it.
	 */
	smp_rmb();
	for_each_possible_cpu(cpu)
		/* Pairs with nfopt_conn_request(): if the SYN is done, smc_ok is final. */
		if (smp_load_acquire(&per_cpu_ptr(&nfopt_syn, cpu)->number) == number)
			return true;
	return false;
}

/* Is this a listener that answers the option? */
static bool nfopt_listens(const struct sock *sk)
{
	return sk && nfopt_owner->is_ours(sk) &&
	       READ_ONCE(smc_sk(sk)->tcp_option) == SMC_TCPOPT_LISTENS;
}

static unsigned int nfopt_repeat(struct request_sock *req, struct sk_buff *skb)
{
	struct inet_request_sock *ireq = inet_rsk(req);

	if (!nfopt_listens(req->rsk_listener)) {
		if (ireq->smc_ok)
			ireq->smc_ok = 0;
		return NF_ACCEPT;
	}
	if (nfopt_undecided(req))
		return NF_DROP;
	return !ireq->smc_ok || smc_tcpopt_add(skb) ? NF_ACCEPT : NF_DROP;
}

/* Handles the SYN-ACK of a request, or of a socket. The SYN-ACK of a SYN cookie has neither. */
static unsigned int nfopt_syn_ack(struct sk_buff *skb, const struct tcphdr *th)
{
	struct nfopt_syn *syn = raw_cpu_ptr(&nfopt_syn);
	struct request_sock *req = NULL;

	if (skb->sk && skb->sk->sk_state == TCP_NEW_SYN_RECV)
		req = inet_reqsk(skb->sk);
	/* SYNs are answered with bottom halves disabled, so the answer stays on the same CPU. */
	if (!softirq_count() || syn->number != nfopt_number(ntohl(th->ack_seq) - 1))
		return req ? nfopt_repeat(req, skb) : NF_ACCEPT;
	/* With a VRF, the hook sees each packet twice. */
	if (req)
		inet_rsk(req)->smc_ok = syn->answer && smc_tcpopt_add(skb);
	syn->settled = true;
	return NF_ACCEPT;
}

static unsigned int nfopt_syn_leaves(struct sk_buff *skb)
{
	const struct sock *sk = skb->sk;

	if (sk && sk_fullsock(sk) && nfopt_owner->is_ours(sk) &&
	    READ_ONCE(smc_sk(sk)->tcp_option) == SMC_TCPOPT_OFFERED)
		/*
		 * If there is no room, the SYN contains no offer, so the SYN-ACK will not have the
		 * option.
		 */
		smc_tcpopt_add(skb);
	return NF_ACCEPT;
}

/* Programs may send any packet through raw sockets, so check the headers. */
static bool nfopt_is_whole(const struct sk_buff *skb, const struct tcphdr *th)
{
	unsigned int at = (const u8 *)th - skb->data;

	return skb_transport_header_was_set(skb) && th == tcp_hdr(skb) &&
	       skb_headlen(skb) >= at + sizeof(*th) && th->doff * 4 >= sizeof(*th) &&
	       skb_headlen(skb) >= at + th->doff * 4;
}

/* Not inlined, so that data packets do not pay for saving the registers that this needs. */
static noinline unsigned int nfopt_handshake(struct sk_buff *skb, const struct tcphdr *th)
{
	if (!nfopt_is_whole(skb, th))
		return NF_ACCEPT;
	return th->ack ? nfopt_syn_ack(skb, th) : nfopt_syn_leaves(skb);
}

/* A packet with IPv6 extension headers, which may or may not be TCP. */
static noinline unsigned int nfopt_extended(struct sk_buff *skb)
{
	u8 protocol = ipv6_hdr(skb)->nexthdr;
	const struct tcphdr *th;
	__be16 frag_off;
	int at;

	if (!ipv6_ext_hdr(protocol))
		return NF_ACCEPT;
	at = ipv6_skip_exthdr(skb, skb_network_offset(skb) + sizeof(struct ipv6hdr), &protocol,
			      &frag_off);
	if (at < 0 || protocol != IPPROTO_TCP || frag_off)
		return NF_ACCEPT;
	th = (const void *)skb->data + at;
	return nfopt_is_whole(skb, th) && th->syn ? nfopt_handshake(skb, th) : NF_ACCEPT;
}

static unsigned int nfopt_local_out(void *priv, struct sk_buff *skb,
				    const struct nf_hook_state *state)
{
	const struct tcphdr *th;

	if (state->pf == NFPROTO_IPV4) {
		if (ip_hdr(skb)->protocol != IPPROTO_TCP)
			return NF_ACCEPT;
		th = (const void *)ip_hdr(skb) + ip_hdr(skb)->ihl * 4;
	} else {
		if (unlikely(ipv6_hdr(skb)->nexthdr != IPPROTO_TCP))
			return nfopt_extended(skb);
		th = (const void *)(ipv6_hdr(skb) + 1);
	}
	return unlikely(th->syn) ? nfopt_handshake(skb, th) : NF_ACCEPT;
}

static const struct nf_hook_ops nfopt_ops[] = {
	{
		.hook		= nfopt_local_out,
		.pf		= NFPROTO_INET,
		.hooknum	= NF_INET_LOCAL_OUT,
		.priority	= INT_MIN,
	},
};

/*
 * The socket is in the list of its namespace by now. Either nfopt_idle_work() sees it there, or
 * this function sees that nfopt_idle_work() is about to remove the hook.
 */
static void nfopt_born(struct sock *sk)
{
	struct smc_tcpopt_net *tn = nfopt_net(sock_net(sk));

	/* Pairs with the barrier in nfopt_idle_work(). */
	smp_mb();
	if (likely(READ_ONCE(tn->wanted)))
		return;
	mutex_lock(&tcpopt_hook_lock);
	if (!tn->hooked && !nf_register_net_hooks(tn->net, nfopt_ops, ARRAY_SIZE(nfopt_ops))) {
		tn->since = tcp_clock_us();
		WRITE_ONCE(tn->hooked, true);
	}
	WRITE_ONCE(tn->wanted, tn->hooked);
	mutex_unlock(&tcpopt_hook_lock);
}

static void nfopt_idle_work(struct work_struct *work)
{
	struct smc_tcpopt_net *tn = container_of(work, struct smc_tcpopt_net, idle.work);

	mutex_lock(&tcpopt_hook_lock);
	WRITE_ONCE(tn->wanted, false);
	/* Pairs with the barrier in nfopt_born(). */
	smp_mb();
	if (tn->hooked && nfopt_owner->in_use(tn->net)) {
		WRITE_ONCE(tn->wanted, true);
	} else if (tn->hooked) {
		WRITE_ONCE(tn->hooked, false);
		nf_unregister_net_hooks(tn->net, nfopt_ops, ARRAY_SIZE(nfopt_ops));
	}
	mutex_unlock(&tcpopt_hook_lock);
}

static void nfopt_idle(struct net *net)
{
	struct smc_tcpopt_net *tn = nfopt_net(net);

	if (!delayed_work_pending(&tn->idle))
		queue_delayed_work(smc_wq, &tn->idle, msecs_to_jiffies(hook_linger_ms));
}

static bool nfopt_hooked(const struct net *net)
{
	return READ_ONCE(nfopt_net(net)->hooked);
}

static void nfopt_offer(struct sock *sk)
{
	if (nfopt_hooked(sock_net(sk)))
		WRITE_ONCE(smc_sk(sk)->tcp_option, SMC_TCPOPT_OFFERED);
}

static void nfopt_listen(struct sock *sk)
{
	if (nfopt_hooked(sock_net(sk)))
		WRITE_ONCE(smc_sk(sk)->tcp_option, SMC_TCPOPT_LISTENS);
}

static void nfopt_clear(struct sock *sk)
{
	WRITE_ONCE(smc_sk(sk)->tcp_option, SMC_TCPOPT_NONE);
}

static bool nfopt_answered(const struct sock *sk)
{
	return READ_ONCE(smc_sk(sk)->tcp_option) == SMC_TCPOPT_ANSWERED;
}

static struct sock *nfopt_lookup(struct net *net, struct sk_buff *syn)
{
	const struct tcphdr *th = tcp_hdr(syn);

	if (syn->protocol == htons(ETH_P_IP))
		return __inet_lookup_established(net, ip_hdr(syn)->saddr, th->source,
						 ip_hdr(syn)->daddr, ntohs(th->dest),
						 inet_iif(syn), tcp_v4_sdif(syn));
#if IS_ENABLED(CONFIG_IPV6)
	return __inet6_lookup_established(net, &ipv6_hdr(syn)->saddr, th->source,
					  &ipv6_hdr(syn)->daddr, ntohs(th->dest),
					  tcp_v6_iif_l3_slave(syn), tcp_v6_sdif(syn));
#else
	return NULL;
#endif
}

/* TCP sent no answer to this SYN. If there is a request, its smc_ok was never initialised. */
static void nfopt_forget(struct sock *listener, struct sk_buff *syn)
{
	struct sock *sk = nfopt_lookup(sock_net(listener), syn);
	struct request_sock *req;

	if (!sk)
		return;
	req = sk->sk_state == TCP_NEW_SYN_RECV ? inet_reqsk(sk) : NULL;
	if (req && tcp_rsk(req)->rcv_isn == ntohl(tcp_hdr(syn)->seq))
		inet_rsk(req)->smc_ok = 0;
	sock_gen_put(sk);
}

/* Bottom halves are disabled: no other SYN is handled on this CPU meanwhile. */
static int nfopt_conn_request(struct sock *listener, struct sk_buff *syn,
			      int (*tcp)(struct sock *sk, struct sk_buff *skb))
{
	struct nfopt_syn *now = this_cpu_ptr(&nfopt_syn);
	int rc;

	if (READ_ONCE(smc_sk(listener)->tcp_option) != SMC_TCPOPT_LISTENS)
		return tcp(listener, syn);
	now->answer = smc_tcpopt_in(tcp_hdr(syn)) && !nfopt_owner->refuses(listener);
	now->settled = false;
	WRITE_ONCE(now->number, nfopt_number(ntohl(tcp_hdr(syn)->seq)));
	/* Store the number before TCP publishes the request, see nfopt_undecided(). */
	smp_wmb();
	rc = tcp(listener, syn);
	if (unlikely(!now->settled))
		nfopt_forget(listener, syn);
	/* Release: smc_ok is stored before the number is cleared. */
	smp_store_release(&now->number, 0);
	return rc;
}

static void nfopt_ignore(struct request_sock *req)
{
	inet_rsk(req)->smc_ok = 0;
}

/* Was the request created after the hook had been installed? */
static bool since_hook(const struct sock *listener, const struct request_sock *req)
{
	return tcp_rsk(req)->snt_synack >= nfopt_net(sock_net(listener))->since;
}

static bool nfopt_requested(const struct sock *listener, const struct sock *child,
			    const struct request_sock *req)
{
	return READ_ONCE(smc_sk(listener)->tcp_option) == SMC_TCPOPT_LISTENS &&
	       inet_rsk(req)->smc_ok && since_hook(listener, req);
}

static void nfopt_tcp_rx_dst(struct sock *sk, const struct sk_buff *skb)
{
	if (sk->sk_family == AF_INET)
		nfopt_tcp_rx_dst_set[0](sk, skb);
	else if (inet_csk(sk)->icsk_af_ops == &nfopt_mapped)
		nfopt_mapped_rx_dst_set(sk, skb);
	else
		nfopt_tcp_rx_dst_set[1](sk, skb);
}

/*
 * TCP calls this when a SYN-ACK has established the connection, and occasionally later. A
 * simultaneous open or a connection to itself has no SYN-ACK, so the first call finds no option.
 */
static void nfopt_rx_dst_set(struct sock *sk, const struct sk_buff *skb)
{
	const struct tcphdr *th = tcp_hdr(skb);
	struct smc_sock *smc = smc_sk(sk);

	nfopt_tcp_rx_dst(sk, skb);
	if (smc->tcp_option != SMC_TCPOPT_OFFERED || !nfopt_owner->is_ours(sk))
		return;
	WRITE_ONCE(smc->tcp_option, th->syn && th->ack && smc_tcpopt_in(th) ?
				    SMC_TCPOPT_ANSWERED : SMC_TCPOPT_NONE);
}

static void nfopt_adapt(struct inet_connection_sock_af_ops *ops, int family)
{
	nfopt_tcp_rx_dst_set[family == AF_INET6] = ops->sk_rx_dst_set;
	ops->sk_rx_dst_set = nfopt_rx_dst_set;
}

static void nfopt_make_mapped(const struct inet_connection_sock_af_ops *tcp)
{
	nfopt_mapped = *tcp;
	nfopt_mapped_rx_dst_set = tcp->sk_rx_dst_set;
	nfopt_mapped.sk_rx_dst_set = nfopt_rx_dst_set;
}

/*
 * For a connection to an IPv4-mapped address, TCP has replaced our table by its own; install a copy
 * with our callback. The socket has been locked all the time, so a SYN-ACK can at most be in the
 * backlog.
 */
static void nfopt_connecting(struct sock *sk)
{
	const struct inet_connection_sock_af_ops *ops = inet_csk(sk)->icsk_af_ops;

	if (smc_sk(sk)->tcp_option != SMC_TCPOPT_OFFERED || ops->sk_rx_dst_set == nfopt_rx_dst_set)
		return;
	DO_ONCE(nfopt_make_mapped, ops);
	WRITE_ONCE(inet_csk(sk)->icsk_af_ops, &nfopt_mapped);
}

static int __net_init nfopt_net_init(struct net *net)
{
	struct smc_tcpopt_net *tn = kzalloc(sizeof(*tn), SMC_GFP_CHARGED);

	if (!tn)
		return -ENOMEM;
	tn->net = net;
	INIT_DELAYED_WORK(&tn->idle, nfopt_idle_work);
	smc_net(net)->tcpopt = tn;
	return 0;
}

/* The namespace has no sockets left. */
static void __net_exit nfopt_net_exit(struct net *net)
{
	struct smc_tcpopt_net *tn = nfopt_net(net);

	cancel_delayed_work_sync(&tn->idle);
	if (tn->hooked)
		nf_unregister_net_hooks(net, nfopt_ops, ARRAY_SIZE(nfopt_ops));
	kfree(tn);
}

static struct pernet_operations nfopt_net_ops = {
	.init	= nfopt_net_init,
	.exit	= nfopt_net_exit,
};

static int nfopt_init(const struct smc_tcpopt_owner *owner)
{
	nfopt_owner = owner;
	return register_pernet_subsys(&nfopt_net_ops);
}

static void nfopt_exit(void)
{
	unregister_pernet_subsys(&nfopt_net_ops);
	/* Wait until no CPU is running the hook. */
	synchronize_net();
}

const struct smc_tcpopt smc_tcpopt_netfilter = {
	.name		= "netfilter",
	.number		= SMC_TCP_OPTION_BY_NETFILTER,
	.init		= nfopt_init,
	.exit		= nfopt_exit,
	.adapt		= nfopt_adapt,
	.born		= nfopt_born,
	.idle		= nfopt_idle,
	.works		= nfopt_hooked,
	.in_place	= nfopt_hooked,
	.offer		= nfopt_offer,
	.connecting	= nfopt_connecting,
	.answered	= nfopt_answered,
	.listen		= nfopt_listen,
	.conn_request	= nfopt_conn_request,
	.ignore		= nfopt_ignore,
	.requested	= nfopt_requested,
	.clear		= nfopt_clear,
};
