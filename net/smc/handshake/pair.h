/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections within this kernel are paired, not negotiated: the client and the listener's child
 * find each other in a table, and the child's side decides for both.
 *
 * Only the two ends of a TCP connection know both of its initial sequence numbers. These numbers
 * pass veth, bridges and NAT unchanged, so they identify the connection across network namespaces.
 * Pairing does not depend on the content of the TCP option.
 *
 *	client				listener
 *	smc_pair_register()  --SYN-->	smc_pair_seen()		the listener is in this kernel
 *	smc_pair_await()  <--SYN-ACK--				the client knows both numbers
 *			     --ACK-->	smc_pair_claim()	a new child finds the client
 *	smc_pair_take()  <------------	smc_pair_now()		both ends are up, or both are TCP
 *
 * A client is not paired if the kernel did not choose its sequence number (TCP_REPAIR, or a socket
 * that was connected before), if another client has the same number, if the SYN carries data, or if
 * a proxy splits the connection. Then CLC runs, or the connection stays TCP.
 *
 * Locking: the bottom half that makes the child holds the child's lock. It only tries the client's
 * lock. If that fails, or if a system call owns the client, the client acts on the decision when
 * that call releases the lock (smc_sock.hs_on_release), or in its handshake's work item. Once made,
 * a decision cannot fail.
 */
#ifndef SMC_PAIR_H
#define SMC_PAIR_H

#include <linux/types.h>
#include <linux/smc_reason.h>

struct smc_conn;
struct smc_handshake;
struct sock;

void smc_pair_init(void);

/* Called for the client; its socket is locked. */
void smc_pair_allow(struct sock *sk);
void smc_pair_register(struct sock *sk);
bool smc_pair_await(struct sock *sk);
bool smc_pair_withdraw(struct smc_handshake *hs);
bool smc_pair_claimed(struct sock *sk);
void smc_pair_take(struct sock *sk);
void smc_pair_released(struct sock *sk);

/* Called for the listener and its child. */
void smc_pair_seen(u32 client_isn);
struct smc_handshake *smc_pair_claim(u32 client_isn, u32 server_isn);
int smc_pair_now(struct smc_handshake *client, struct sock *child, const struct sock *listener,
		 struct smc_conn **conn);
void smc_pair_by_worker(struct smc_handshake *client, struct sock *child);
int smc_pair_later(struct smc_handshake *client, struct smc_handshake *server);
void smc_pair_refuse(struct smc_handshake *client, enum smc_reason reason);

#endif
