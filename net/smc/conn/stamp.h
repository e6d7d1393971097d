/* SPDX-License-Identifier: GPL-2.0 */
/* Control messages of recvmsg(), and time stamps. */
#ifndef SMC_CONN_STAMP_H
#define SMC_CONN_STAMP_H

#include <linux/socket.h>
#include <linux/tcp.h>
#include "conn.h"

/*
 * In msg_flags of a sender, set by smc_stamps_prepare(): this call may want time stamps. For a
 * program's own sends the bit means nothing, and it does no harm if it is set.
 */
#define SMC_SEND_STAMPED	MSG_ERRQUEUE

/*
 * Are there options of the socket that the connection does not know of yet? Kernels without
 * SOCK_CUSTOM_SOCKOPT do not tell us of an option of level SOL_SOCKET.
 */
static inline bool smc_stamps_untold(const struct sock *sk)
{
#ifdef SMC_HAVE_CUSTOM_SOCKOPT
	return false;
#else
	return READ_ONCE(sk->sk_tsflags) || sock_flag(sk, SOCK_RCVTSTAMP);
#endif
}

/* the options of the socket */
int smc_stamps_learn(struct sock *sk, struct smc_conn *c);

/**
 * smc_stamps_follow() - learn what a socket asks for
 * @sk: the socket
 * @c: its connection, which may not be established yet
 *
 * Context: any but hard interrupts; calls for one socket are serialized.
 * Return: 0, or -ENOMEM: then there are no time stamps.
 */
static inline int smc_stamps_follow(struct sock *sk, struct smc_conn *c)
{
	if (likely(!READ_ONCE(sk->sk_tsflags) && !sock_flag(sk, SOCK_RCVTSTAMP) &&
		   !tcp_sk(sk)->recvmsg_inq && !READ_ONCE(c->stamps)))
		return 0;
	return smc_stamps_learn(sk, c);
}

void smc_stamps_free(struct smc_conn *c);

/* receiving */
void smc_put_inq(const struct sock *sk, struct msghdr *msg, int inq);
void smc_recv_inq(struct sock *sk, const struct smc_conn *c, struct msghdr *msg);
void smc_recv_cmsgs(struct sock *sk, struct smc_conn *c, struct msghdr *msg, u64 seq, bool data);

/* sending */
int smc_stamps_prepare(struct sock *sk, struct smc_conn *c, struct msghdr *msg);
void smc_stamps_request(struct sock *sk, struct smc_conn *c, struct msghdr *msg);
void smc_stamps_publish(struct smc_conn *c);
void smc_stamps_published(struct smc_conn *c);

#endif
