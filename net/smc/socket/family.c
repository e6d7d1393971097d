// SPDX-License-Identifier: GPL-2.0
/*
 * Both ways to create an SMC socket: socket(AF_INET or AF_INET6, SOCK_STREAM, IPPROTO_SMC), and
 * socket(AF_SMC, SOCK_STREAM, 0 or 1), which creates a socket of the first kind and takes over its
 * sock.
 */
#include <linux/module.h>
#include <net/inet_common.h>
#include <net/ipv6.h>
#include <net/protocol.h>
#include <net/tcp.h>
#include "../tcpopt/tcpopt.h"
#include "socket.h"

struct smc_family smc_families[2];
/* Set once the rest of the module is ready. */
static bool family_is_open;

static struct inet_protosw smc_protosw[2] = {
	{
		.type		= SOCK_STREAM,
		.protocol	= IPPROTO_SMC,
		.prot		= &smc_families[0].prot,
		.ops		= &smc_families[0].ops,
		.flags		= INET_PROTOSW_ICSK,
	}, {
		.type		= SOCK_STREAM,
		.protocol	= IPPROTO_SMC,
		.prot		= &smc_families[1].prot,
		.ops		= &smc_families[1].ops,
		.flags		= INET_PROTOSW_ICSK,
	},
};

/* TCP's tables for IPv6 are not exported, so copy them from a TCP socket. */
static int __init learn_family(struct smc_family *f, int family)
{
	struct socket *sock;
	int rc;

	rc = sock_create_kern(&init_net, family, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (rc)
		return rc;
	f->tcp = sock->sk->sk_prot;
	f->tcp_ops = sock->ops;
	f->tcp_af_ops = inet_csk(sock->sk)->icsk_af_ops;
	f->tcp_destruct = sock->sk->sk_destruct;
	smc_learn_callbacks(sock->sk);
	sock_release(sock);
	f->prot = *f->tcp;
	f->prot.owner = THIS_MODULE;
	f->prot.close = smc_close;
	f->prot.init = smc_init_sock;
	f->prot.destroy = smc_destroy_sock;
	f->prot.connect = smc_proto_connect;
	f->prot.disconnect = smc_disconnect;
	f->prot.shutdown = smc_proto_shutdown;
	f->prot.recvmsg = smc_proto_recvmsg;
	f->prot.ioctl = smc_ioctl;
	f->prot.hash = smc_hash;
	f->prot.unhash = smc_unhash;
	f->prot.release_cb = smc_release_cb;
	f->prot.setsockopt = smc_setsockopt;
	f->prot.keepalive = smc_set_keepalive;
	f->prot.getsockopt = smc_getsockopt;
	/* TCP runs the BPF program of TCP_ZEROCOPY_RECEIVE itself; for us the system call does. */
	f->prot.bpf_bypass_getsockopt = NULL;
	smc_sockmap_init(&f->prot);
	smc_ops_init(f);
	smc_listen_init(f);
	smc_connect_init(f);
	smc_tcpopt->adapt(&f->af_ops, family);
	f->available = true;
	return 0;
}

/* Create an IPPROTO_SMC socket and take over its sock. */
static int smc_create(struct net *net, struct socket *sock, int protocol,
		      int kern)
{
	struct socket *inner;
	int family, rc;

	/* Pairs with the release in smc_family_open(). */
	if (!smp_load_acquire(&family_is_open))
		return -EAFNOSUPPORT;
	if (protocol < 0 || protocol >= IPPROTO_MAX)
		return -EINVAL;
	if (sock->type != SOCK_STREAM)
		return -ESOCKTNOSUPPORT;
	if (protocol != SMCPROTO_SMC && protocol != SMCPROTO_SMC6)
		return -EPROTONOSUPPORT;
	family = protocol == SMCPROTO_SMC6 ? AF_INET6 : AF_INET;

	rc = __sock_create(net, family, SOCK_STREAM, IPPROTO_SMC, &inner, kern);
	if (rc)
		return rc;
	sock->state = SS_UNCONNECTED;
	sock->ops = inner->ops;
	smc_compat_own_options(sock, true);
	/* TCP has set this flag for io_uring. */
	if (test_bit(SOCK_SUPPORT_ZC, &inner->flags))
		set_bit(SOCK_SUPPORT_ZC, &sock->flags);
	lock_sock(inner->sk);
	sock_graft(inner->sk, sock);
	release_sock(inner->sk);
	/* The module reference that came with the operations is taken over as well. */
	inner->sk = NULL;
	inner->ops = NULL;
	sock_release(inner);
	module_put(THIS_MODULE);
	return 0;
}

static const struct smc_tcpopt_owner tcpopt_owner = {
	.is_ours	= smc_is_ours,
	.refuses	= smc_refuses_syn,
	.in_use		= smc_registry_in_use,
};

static const struct net_proto_family smc_net_family = {
	.family	= PF_SMC,
	.owner	= THIS_MODULE,
	.create	= smc_create,
};

static int __init learn_families(void)
{
	int rc = learn_family(&smc_families[0], AF_INET);

	if (rc)
		return rc;
	rc = learn_family(&smc_families[1], AF_INET6);
	return rc == -EAFNOSUPPORT ? 0 : rc;
}

/**
 * smc_family_claim() - register AF_SMC, unless it is taken
 *
 * Called before anything else is registered, because the kernel's own SMC uses the same names
 * everywhere. AF_SMC sockets can be created only after smc_family_open().
 *
 * Context: process.
 * Return: 0, or -EEXIST if the kernel's own SMC is present.
 */
int __init smc_family_claim(void)
{
	int rc = sock_register(&smc_net_family);

	if (rc == -EEXIST)
		pr_err("smc: this kernel's own SMC is built in or loaded; a module cannot replace it\n");
	return rc;
}

/**
 * smc_family_unclaim() - undo smc_family_claim()
 */
void smc_family_unclaim(void)
{
	sock_unregister(PF_SMC);
}

/**
 * smc_family_init() - prepare everything that a socket or a request about sockets uses
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int __init smc_family_init(void)
{
	int rc;

	rc = smc_tcpopt_init(&tcpopt_owner);
	if (rc)
		return rc;
	rc = learn_families();
	if (!rc)
		rc = smc_proto_init();
	if (rc)
		smc_tcpopt_exit();
	return rc;
}

/**
 * smc_family_exit() - undo smc_family_init(); no SMC socket may exist any more
 */
void smc_family_exit(void)
{
	smc_proto_exit();
	smc_tcpopt_exit();
}

/**
 * smc_family_open() - register both ways to create an SMC socket
 *
 * The step that can fail comes first, because a socket would make it impossible to go back.
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int __init smc_family_open(void)
{
#if IS_ENABLED(CONFIG_IPV6)
	int rc = smc_families[1].available ? inet6_register_protosw(&smc_protosw[1]) : 0;

	if (rc)
		return rc;
#endif
	inet_register_protosw(&smc_protosw[0]);
	smp_store_release(&family_is_open, true);
	return 0;
}

/**
 * smc_family_close() - undo smc_family_open(); no SMC socket may exist any more
 */
void smc_family_close(void)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (smc_families[1].available)
		inet6_unregister_protosw(&smc_protosw[1]);
#endif
	inet_unregister_protosw(&smc_protosw[0]);
}
