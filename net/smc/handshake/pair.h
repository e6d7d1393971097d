/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections within this kernel are paired, not negotiated: the client and the child that a
 * listener gets find each other in a table, and the child's side decides for both.
 *
 * Both ends of a TCP connection, and nobody else, know its two initial sequence numbers.  These
 * pass veth, bridges and NAT unchanged, and identify the connection across network namespaces.
 * Nothing here depends on the content of the TCP option.
 *
 *	client				listener
 *	smc_pair_register()  --SYN-->	smc_pair_seen()		the listener is in this kernel
 *	smc_pair_await()  <--SYN-ACK--				the client knows both numbers
 *			     --ACK-->	smc_pair_claim()	a child is born and finds the client
 *	smc_pair_take()  <------------	smc_pair_now()		both ends are up, or both are TCP
 *
 * A client is not paired if the kernel did not choose its sequence number (TCP_REPAIR, or a
 * socket that was connected before), if another client has the same number, if the SYN has data,
 * or if a proxy splits the connection.  Then CLC runs, or the connection stays TCP.
 *
 * The rule for the two locks: the child is locked by the bottom half that makes it.  The lock of
 * the client is only tried for.  If that fails, or if a system call owns the client, the client
 * takes the decision when that call gives the lock back (smc_sock.hs_on_release), or in a run of
 * its handshake.  The decision itself cannot fail any more.
 */
#ifndef SMC_PAIR_H
#define SMC_PAIR_H

#include <linux/types.h>
#include <linux/smc_reason.h>

struct smc_conn;
struct smc_handshake;
struct sock;

void smc_pair_init(void);

/* The client; its socket is locked. */
void smc_pair_allow(struct sock *sk);
void smc_pair_register(struct sock *sk);
bool smc_pair_await(struct sock *sk);
bool smc_pair_withdraw(struct smc_handshake *hs);
bool smc_pair_claimed(struct sock *sk);
void smc_pair_take(struct sock *sk);
void smc_pair_released(struct sock *sk);

/* The listener and its child */
void smc_pair_seen(u32 client_isn);
struct smc_handshake *smc_pair_claim(u32 client_isn, u32 server_isn);
int smc_pair_now(struct smc_handshake *client, struct sock *child, const struct sock *listener,
		 struct smc_conn **conn);
void smc_pair_by_worker(struct smc_handshake *client, struct sock *child);
int smc_pair_later(struct smc_handshake *client, struct smc_handshake *server);
void smc_pair_refuse(struct smc_handshake *client, enum smc_reason reason);

#endif
