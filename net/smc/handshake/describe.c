// SPDX-License-Identifier: GPL-2.0
/* How this end describes itself in CLC messages. */
#include <linux/etherdevice.h>
#include <linux/mutex.h>
#include <linux/once.h>
#include <linux/random.h>
#include <linux/unaligned.h>
#include <linux/utsname.h>
#include "../fabric/fabric.h"
#include "../netns.h"
#include "internal.h"

static DEFINE_MUTEX(peer_id_lock);

/*
 * The namespaces of one host are different TCP/IP stacks but may share an RNIC, so the peer ID
 * includes an instance number.
 */
static void make_peer_id(struct smc_net *sn)
{
	static u16 instance;

	lockdep_assert_held(&peer_id_lock);
	DO_ONCE(get_random_bytes, &instance, sizeof(instance));
	put_unaligned_be16(instance++, sn->peer_id);
	if (!smc_fabric_mac(sn->peer_id + sizeof(instance)))
		eth_random_addr(sn->peer_id + sizeof(instance));
	smp_store_release(&sn->has_peer_id, true);
}

/**
 * smc_hs_peer_id() - the identity of this instance (RFC 7609, A.2.1)
 * @net: the network namespace; each one is an instance of its own
 * @peer_id: receives 8 bytes: an instance number and a MAC address
 *
 * Generated once per namespace, on first use. The MAC address is that of an RDMA device if there is
 * one by then, otherwise a random one.
 *
 * Context: process.
 */
void smc_hs_peer_id(const struct net *net, u8 *peer_id)
{
	struct smc_net *sn = smc_net(net);

	/* Pairs with the release above. */
	if (!smp_load_acquire(&sn->has_peer_id)) {
		mutex_lock(&peer_id_lock);
		if (!sn->has_peer_id)
			make_peer_id(sn);
		mutex_unlock(&peer_id_lock);
	}
	memcpy(peer_id, sn->peer_id, sizeof(sn->peer_id));
}

static void describe_host(struct smc_handshake *hs, struct smc_clc_accept *a)
{
	int i;

	a->has_fce = true;
	a->release = hs->neg.release;
	a->os_type = SMC_CLC_OS_LINUX;
	/* The Accept has the features of the server, the Confirm those that both support. */
	if (hs->neg.release)
		a->features = hs->neg.server ? SMC_CLC_FEAT_KNOWN : hs->neg.features;
	a->max_conns = hs->neg.max_conns;
	a->max_links = hs->neg.max_links;
	strscpy(a->hostname, init_utsname()->nodename, sizeof(a->hostname));
	for (i = 0; a->hostname[i]; i++)
		if (!isalnum(a->hostname[i]) && a->hostname[i] != '.' &&
		    a->hostname[i] != '-')
			a->hostname[i] = '-';
}

/**
 * smc_hs_describe() - fill an Accept or Confirm for hs->conn
 * @hs: the handshake
 * @a: receives the description
 */
void smc_hs_describe(struct smc_handshake *hs, struct smc_clc_accept *a)
{
	const struct smc_negotiated *neg = &hs->neg;

	memset(a, 0, sizeof(*a));
	a->confirm = !neg->server;
	a->version = neg->version;
	memcpy(a->eid, neg->eid, SMC_EID_LEN);
	smc_hs_peer_id(sock_net(hs->sk), a->peer_id);
	/* The Confirm of version 1 has no first contact flag. */
	a->first_contact = neg->first_contact &&
			   (neg->server || neg->version == SMC_CLC_V2);
	if (a->version == SMC_CLC_V2 && a->first_contact)
		describe_host(hs, a);
	hs->neg.fabric->ops->describe(hs->conn, a);
}

/* The element has the size that the application requested, or net.smc.rmem. */
static u32 wanted_rcvbuf(const struct sock *sk, const struct smc_net *sn)
{
	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK)
		return READ_ONCE(sk->sk_rcvbuf) / 2;
	return READ_ONCE(sn->rmem);
}

/* Likewise the send ring, with net.smc.wmem. */
static u32 wanted_sndbuf(const struct sock *sk, const struct smc_net *sn)
{
	if (sk->sk_userlocks & SOCK_SNDBUF_LOCK)
		return READ_ONCE(sk->sk_sndbuf) / 2;
	return READ_ONCE(sn->wmem);
}

/**
 * smc_hs_wanted() - get the buffer sizes that a socket requests
 * @sk: the socket
 * @want: receives the sizes
 */
void smc_hs_wanted(const struct sock *sk, struct smc_wanted *want)
{
	const struct smc_net *sn = smc_net(sock_net(sk));

	want->rcvbuf = wanted_rcvbuf(sk, sn);
	want->rcvbuf_most = sk->sk_userlocks & SOCK_RCVBUF_LOCK ? 0 : READ_ONCE(sn->rmem_max);
	want->sndbuf = wanted_sndbuf(sk, sn);
}
