// SPDX-License-Identifier: GPL-2.0
/* Resets a socket whose handshake has failed, or a child without a handshake. */
#include <net/tcp.h>
#include "socket.h"

/**
 * smc_reset_tcp() - reset the TCP connection of a socket whose handshake failed
 * @sk: the socket, locked
 * @reason: why
 * @err: errno that the application sees, positive
 *
 * The application does not get the data that the peer sent before the reset.
 *
 * Context: any.
 */
void smc_reset_tcp(struct sock *sk, enum smc_reason reason, int err)
{
	smc_to_reset(sk, reason);
	smc_tcp_reset(sk, err);
	/* Data is missing: recv() must not report the end of the stream, even after a FIN. */
	sock_reset_flag(sk, SOCK_DONE);
	__skb_queue_purge(&sk->sk_receive_queue);
	WRITE_ONCE(tcp_sk(sk)->copied_seq, tcp_sk(sk)->rcv_nxt);
}

static bool lacks_handshake(const struct sock *sk)
{
	const struct smc_sock *smc = smc_sk(sk);

	return smc->phase == SMC_PHASE_HANDSHAKE && !rcu_access_pointer(smc->hs);
}

static void reset_work(struct work_struct *work)
{
	struct smc_sock *smc = container_of(work, struct smc_sock, reset_work);
	struct sock *sk = smc_to_sk(smc);
	bool reset = false;

	spin_lock_bh(&sk->sk_lock.slock);
	if (!smc_left_to_owner(sk) && lacks_handshake(sk)) {
		smc_reset_tcp(sk, SMC_REASON_NO_MEMORY, ENOMEM);
		reset = true;
	}
	spin_unlock_bh(&sk->sk_lock.slock);
	if (reset)
		smc_wake_negotiated(sk);
	sock_put(sk);
}

/**
 * smc_reset_child() - arrange the reset of a child whose handshake could not be allocated
 * @sk: the child, locked
 *
 * SMC has been promised to the client, so only a reset is honest. The bottom half that makes the
 * child cannot reset it, because TCP would not wake accept().
 *
 * Context: any.
 */
void smc_reset_child(struct sock *sk)
{
	if (!lacks_handshake(sk))
		return;
	sock_hold(sk);
	if (!queue_work(smc_close_wq, &smc_sk(sk)->reset_work))
		sock_put(sk);
}

void smc_reset_init(struct smc_sock *smc)
{
	INIT_WORK(&smc->reset_work, reset_work);
}
