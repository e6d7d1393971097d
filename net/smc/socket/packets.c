// SPDX-License-Identifier: GPL-2.0
/*
 * Options and BPF programs whose subject is the packets of a connection. The data of an SMC
 * connection is in no packets, so it would bypass them. Therefore a socket that has one of them
 * before it is connected stays TCP. Once SMC has been offered, such an option fails.
 *
 * Documentation/socket-options.md lists them, and the options that only describe packets.
 */
#include <linux/bpf-cgroup.h>
#include <linux/in6.h>
#include <linux/net.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include "ipsec.h"
#include "socket.h"

static bool has_option_lists(const struct sock *sk)
{
	bool has = rcu_access_pointer(inet_sk(sk)->inet_opt);

#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		has |= !!rcu_access_pointer(inet6_sk(sk)->opt);
#endif
	return has;
}

/*
 * After the last option has been removed, an empty structure may stay. IPv4 options include a label
 * that a security module has added (CIPSO).
 */
static bool has_ip_options(const struct sock *sk)
{
	const struct ip_options_rcu *opt4;
	bool has;

	if (likely(!has_option_lists(sk)))
		return false;
	rcu_read_lock();
	opt4 = rcu_dereference(inet_sk(sk)->inet_opt);
	has = opt4 && opt4->opt.optlen;
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		const struct ipv6_txoptions *opt6 = rcu_dereference(inet6_sk(sk)->opt);

		has |= opt6 && opt6->opt_flen + opt6->opt_nflen;
	}
#endif
	rcu_read_unlock();
	return has;
}

/* Keys with which a device encrypts the packets of this socket (PSP, Linux 6.18 and newer). */
static bool has_psp(const struct sock *sk)
{
#if IS_ENABLED(CONFIG_INET_PSP)
	return rcu_access_pointer(sk->psp_assoc);
#else
	return false;
#endif
}

static bool has_packet_option(const struct sock *sk)
{
	return has_psp(sk) || rcu_access_pointer(sk->sk_filter) ||
	       READ_ONCE(sk->sk_max_pacing_rate) != ~0UL ||
	       READ_ONCE(tcp_sk(sk)->tcp_tx_delay) || has_ip_options(sk);
}

#ifdef CONFIG_CGROUP_BPF
/* Without any such program on this host, this costs nothing. */
#define cgroup_has(sk, type) \
	(cgroup_bpf_enabled(type) && cgroup_bpf_sock_enabled((struct sock *)(sk), type))
#else
#define cgroup_has(sk, type)	false
#endif

/**
 * smc_needs_packets() - would the data of this socket have to be in packets?
 * @sk: the socket
 *
 * Programs of the cgroup filter and count what is sent and received (systemd: IPAddressDeny=,
 * IPAccounting=).
 *
 * Context: any, the socket need not be locked.
 *
 * Return: SMC_REASON_NONE, or why the socket must be TCP.
 */
enum smc_reason smc_needs_packets(const struct sock *sk)
{
	if (has_packet_option(sk))
		return SMC_REASON_PACKET_OPTION;
	if (cgroup_has(sk, CGROUP_INET_INGRESS) || cgroup_has(sk, CGROUP_INET_EGRESS))
		return SMC_REASON_CGROUP_BPF;
	return SMC_REASON_NONE;
}

/**
 * smc_sock_ops_run() - does TCP call a BPF program of the cgroup for this connection?
 * @sk: the socket
 *
 * Such a program may set options of the socket, the last time when the connection is established.
 *
 * Return: true if so.
 */
bool smc_sock_ops_run(const struct sock *sk)
{
	return cgroup_has(sk, CGROUP_SOCK_OPS);
}

/**
 * smc_sock_ops_watch() - has such a program asked to be called for packets?
 * @sk: the socket
 *
 * Return: true if it has.
 */
bool smc_sock_ops_watch(const struct sock *sk)
{
#ifdef CONFIG_BPF
	const u8 packets = BPF_SOCK_OPS_RTO_CB_FLAG | BPF_SOCK_OPS_RETRANS_CB_FLAG |
			   BPF_SOCK_OPS_RTT_CB_FLAG |
			   BPF_SOCK_OPS_PARSE_ALL_HDR_OPT_CB_FLAG |
			   BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG |
			   BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG;

#ifdef SMC_HAVE_SK_BPF_CB
	if (READ_ONCE(sk->sk_bpf_cb_flags))
		return true;
#endif
	return READ_ONCE(tcp_sk(sk)->bpf_sock_ops_cb_flags) & packets;
#else
	return false;
#endif
}

static bool of_socket(int name)
{
	switch (name) {
	case SO_ATTACH_FILTER:
	case SO_ATTACH_BPF:
	case SO_MAX_PACING_RATE:
	case SO_MARK:
	case SO_BINDTODEVICE:
	case SO_BINDTOIFINDEX:
	case SO_DONTROUTE:
		return true;
	}
	return false;
}

static bool of_ip(int name)
{
	switch (name) {
	case IP_OPTIONS:
	case IP_MINTTL:
	case IP_IPSEC_POLICY:
	case IP_XFRM_POLICY:
		return true;
	}
	return false;
}

static bool of_ipv6(int name)
{
	switch (name) {
	case IPV6_HOPOPTS:
	case IPV6_RTHDRDSTOPTS:
	case IPV6_RTHDR:
	case IPV6_DSTOPTS:
	case IPV6_2292PKTOPTIONS:
	case IPV6_MINHOPCOUNT:
	case IPV6_IPSEC_POLICY:
	case IPV6_XFRM_POLICY:
		return true;
	}
	return false;
}

/**
 * smc_is_packet_option() - can this option filter, delay, protect, extend or redirect packets?
 * @level: its level
 * @name: its name
 *
 * Return: true if it can.
 */
bool smc_is_packet_option(int level, int name)
{
	switch (level) {
	case SOL_SOCKET:
		return of_socket(name);
	case SOL_TCP:
		return name == TCP_TX_DELAY;
	case SOL_IP:
		return of_ip(name);
	case SOL_IPV6:
		return of_ipv6(name);
	}
	return false;
}

/* A socket for a trial: what decides whether TCP accepts an option is as in @sk. */
static int make_trial(const struct sock *sk, struct socket **trial)
{
	int rc = sock_create_kern(sock_net(sk), sk->sk_family, SOCK_STREAM, IPPROTO_TCP, trial);
	struct sock *to;

	if (rc)
		return rc;
	to = (*trial)->sk;
	lock_sock(to);
	to->sk_mark = READ_ONCE(sk->sk_mark);
	to->sk_bound_dev_if = READ_ONCE(sk->sk_bound_dev_if);
	sock_valbool_flag(to, SOCK_LOCALROUTE, sock_flag(sk, SOCK_LOCALROUTE));
	if (sock_flag(sk, SOCK_FILTER_LOCKED))
		sock_set_flag(to, SOCK_FILTER_LOCKED);
	release_sock(to);
	return 0;
}

static bool demands_nearer_peer(const struct sock *trial, const struct sock *sk)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6 &&
	    inet6_sk(trial)->min_hopcount > inet6_sk(sk)->min_hopcount)
		return true;
#endif
	return inet_sk(trial)->min_ttl > inet_sk(sk)->min_ttl;
}

/* Would @sk differ from what it is if it were like @trial, in a way that concerns its data? */
static bool would_differ(const struct sock *trial, const struct sock *sk)
{
	return has_packet_option(trial) || tcp_sk(trial)->repair ||
	       smc_ipsec_policies(trial) || smc_ipsec_policies(sk) ||
	       trial->sk_mark != READ_ONCE(sk->sk_mark) ||
	       trial->sk_bound_dev_if != READ_ONCE(sk->sk_bound_dev_if) ||
	       sock_flag(trial, SOCK_LOCALROUTE) != sock_flag(sk, SOCK_LOCALROUTE) ||
	       demands_nearer_peer(trial, sk);
}

/**
 * smc_try_option() - an option that makes a socket TCP is set after SMC was offered
 * @sk: the socket, not locked
 * @level: level of the option
 * @name: the option
 * @val: its value
 * @len: length of @val
 *
 * Sets the option on a TCP socket first, so mistakes have TCP's errno, and a value that changes
 * nothing is accepted. A program that changes the value meanwhile deceives only itself.
 *
 * Context: process, may sleep.
 * Return: 0 if the option may be set; TCP's error; or -EOPNOTSUPP.
 */
int smc_try_option(const struct sock *sk, int level, int name, sockptr_t val, unsigned int len)
{
	struct socket *trial;
	int rc = make_trial(sk, &trial);

	if (rc)
		return rc;
	if (level == SOL_SOCKET)
		rc = sock_setsockopt(trial, level, name, val, len);
	else
		rc = trial->ops->setsockopt(trial, level, name, val, len);
	if (!rc && would_differ(trial->sk, sk))
		rc = -EOPNOTSUPP;
	sock_release(trial);
	return rc;
}
