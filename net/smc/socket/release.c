// SPDX-License-Identifier: GPL-2.0
/* Ways to end a socket: close with and without lingering, reset. */
#include <linux/delay.h>
#include <linux/moduleparam.h>
#include <net/tcp.h>
#include "../fabric/fabric.h"
#include "../handshake/handshake.h"
#include "../handshake/pair.h"
#include "socket.h"

/*
 * How long a socket without a file waits until what it has sent is in the peer's memory, and how
 * often it looks: FIN_WAIT1 of TCP.
 */
#define ARRIVE_TIME	(60 * HZ)
#define LOOK_TIME	HZ
/* How long an aborted one waits for the peer's answer, which its kernel gives by itself. */
#define ABORT_TIME	(5 * HZ)

/* With TCP, such a connection would be in TIME_WAIT, so close() does not reset it. */
static bool both_have_ended(const struct smc_conn *c)
{
	return smc_conn_signaled(c, SMC_FLAG_DONE) &&
	       READ_ONCE(c->rx_flags) & BIT(SMC_FLAG_DONE) && !smc_conn_peer_gone(c);
}

/* SO_LINGER with a time of zero: close() resets TCP at once. */
static bool drops_data(const struct sock *sk)
{
	return sock_flag(sk, SOCK_LINGER) && !sk->sk_lingertime;
}

/* Does the peer see a reset after this close(), unless both sides have shut down? */
static bool close_resets(struct sock *sk, struct smc_conn *c)
{
	return smc_conn_signaled(c, SMC_FLAG_ABORT) || smc_conn_unread(c) || drops_data(sk);
}

/*
 * Returns false if the connection has been aborted instead. Data that arrive before
 * smc_conn_close() are not refused (see smc_conn_refuse()), so close() looks for unread data again
 * afterwards.
 */
static bool close_in_order(struct sock *sk, struct smc_conn *c)
{
	bool ended = both_have_ended(c);

	if (ended || !close_resets(sk, c)) {
		smc_conn_close(c);
		/* rx_unwanted is set before rx_prod is read. */
		smp_mb();
		if (ended || !smc_conn_unread(c))
			return true;
	}
	smc_conn_abort(c);
	return false;
}

static void drop_conn(struct sock *sk, struct smc_conn *c, bool reset)
{
	smc_conn_stop(c);
	lock_sock(sk);
	smc_sk(sk)->conn = NULL;
	if (reset && sk->sk_state != TCP_CLOSE)
		smc_family(sk)->tcp->disconnect(sk, 0);
	release_sock(sk);
	smc_detach_conn(sk, c);
}

static void close_conn(struct sock *sk, struct smc_conn *c)
{
	drop_conn(sk, c, !close_in_order(sk, c));
}

static void linger_work(struct work_struct *work);

/*
 * The file goes away, but the socket stays, like a child before accept(). The socket is locked. The
 * number of such sockets is limited; if the kernel allows it, TCP counts them as its own orphans.
 * Returns false, with nothing changed, if there are too many. Once the socket has been unlocked,
 * only what it waits for may use it.
 */
static bool orphan_socket(struct sock *sk)
{
	if (!smc_orphan_begin(sk))
		return false;
	smc_compat_count_orphan(sk, 1);
	INIT_DELAYED_WORK(&smc_sk(sk)->linger_work, linger_work);
	smc_sk(sk)->closing = true;
	write_lock_bh(&sk->sk_callback_lock);
	sk_set_socket(sk, NULL);
	RCU_INIT_POINTER(sk->sk_wq, NULL);
	sock_reset_flag(sk, SOCK_FASYNC);
	write_unlock_bh(&sk->sk_callback_lock);
	/* A user in the kernel that has left may have put TCP's callbacks back. */
	smc_hook_callbacks(sk);
	return true;
}

/*
 * The file is closed during the handshake. With TCP, the peer would see a connection that was
 * established and then closed. So let the worker complete the handshake first. A reset waits for
 * that, too (SO_LINGER with no time): only the server's answer says how to tell the server.
 */
static bool close_after_handshake(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);
	bool stays;

	lock_sock(sk);
	smc_pair_take(sk);
	stays = (smc->phase == SMC_PHASE_HANDSHAKE || smc_pair_claimed(sk)) &&
		rcu_access_pointer(smc->hs) && orphan_socket(sk);
	release_sock(sk);
	return stays;
}

/*
 * Is there nothing left to wait for? TCP's FIN does not answer an "abort": a peer that has sent its
 * FIN may still be reading.
 */
static bool has_ended(const struct sock *sk, const struct smc_conn *c)
{
	u32 open = TCPF_ESTABLISHED | TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2;

	if (smc_conn_signaled(c, SMC_FLAG_ABORT))
		open |= TCPF_CLOSE_WAIT;
	return smc_conn_peer_ended(c) || !(BIT(inet_sk_state_load(sk)) & open);
}

/*
 * Each pending work item holds a reference, because TCP may report an event while another one ends
 * the socket.
 */
static void linger_until(struct sock *sk, unsigned long delay)
{
	sock_hold(sk);
	if (mod_delayed_work(smc_close_wq, &smc_sk(sk)->linger_work, delay))
		sock_put(sk);
}

/*
 * Does the peer's kernel have all that we have sent, and the end of it? An abort ends the stream
 * before what an urgent byte still holds back.
 */
static bool all_arrived(struct smc_conn *c)
{
	return c->ops->end_arrived(c) &&
	       (smc_conn_signaled(c, SMC_FLAG_ABORT) || !smc_conn_outq(c));
}

/* How long the peer has to answer, once it has all: an abort is answered by its kernel. */
static unsigned long answer_time(const struct sock *sk, const struct smc_conn *c)
{
	return smc_conn_signaled(c, SMC_FLAG_ABORT) ? ABORT_TIME : tcp_fin_time(sk);
}

/*
 * As long as something has not arrived in the peer's memory, TCP would be in FIN_WAIT1; only then
 * its time in FIN_WAIT2 begins. An urgent byte that the peer has not read holds back what follows.
 * Returns false if the wait is over.
 */
static bool lingers_on(struct sock *sk, struct smc_conn *c)
{
	struct smc_sock *smc = smc_sk(sk);

	sock_owned_by_me(sk);
	if (!smc->arrives_until || has_ended(sk, c))
		return false;
	if (all_arrived(c)) {
		smc->arrives_until = 0;
		linger_until(sk, answer_time(sk, c));
		return true;
	}
	if (time_after(jiffies, smc->arrives_until))
		return false;
	linger_until(sk, LOOK_TIME);
	return true;
}

/**
 * smc_linger_event() - handle an event on the connection of a socket without a file
 * @sk: the socket; the caller has checked that it is closing
 *
 * Context: any.
 */
void smc_linger_event(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);
	struct smc_conn *c = READ_ONCE(smc->conn);

	if (c && has_ended(sk, c))
		linger_until(sk, 0);
}

/*
 * The time in FIN_WAIT2 is over. Can the peer be told to let go of our memory without a word to its
 * program? Then TCP goes on by itself, as it has sent its FIN.
 */
static bool ends_quietly(const struct sock *sk, struct smc_conn *c)
{
	return c->ops->late_abort && !has_ended(sk, c) &&
	       !smc_conn_signaled(c, SMC_FLAG_ABORT) && all_arrived(c);
}

static void linger_work(struct work_struct *work)
{
	struct smc_sock *smc = container_of(work, struct smc_sock, linger_work.work);
	struct sock *sk = smc_to_sk(smc);
	struct smc_conn *c = smc->conn;
	bool mine, quietly = false;

	lock_sock(sk);
	mine = smc->closing && !lingers_on(sk, c);
	if (mine) {
		smc->closing = false;
		quietly = ends_quietly(sk, c);
	} else if (smc->closing) {
		/* The connection may have ended just before the time began again. */
		smc_linger_event(sk);
	}
	if (mine && !has_ended(sk, c)) {
		/* The peer never answered. */
		smc_conn_abort(c);
		if (!quietly)
			smc_tcp_reset(sk, ETIMEDOUT);
	}
	release_sock(sk);
	if (mine)
		smc_conn_set_notify(c, NULL, NULL);
	if (quietly)
		drop_conn(sk, c, false);
	if (mine)
		smc_close_orphan(sk);
	sock_put(sk);
}

/*
 * If TCP's FIN or reset can overtake the data, the socket waits without its file until the peer has
 * closed as well (RFC 7609, 4.8.1). The peer ignores the FIN. So it is sent at once nevertheless,
 * and TIME_WAIT is on the side that closes first, as with TCP. A reset has to wait: until the peer
 * has answered our "abort", which follows the data.
 */
static bool close_after_conn(struct sock *sk, struct smc_conn *c)
{
	bool in_order, stays;

	if (!c->late_fin)
		return false;
	in_order = close_in_order(sk, c);
	if (!in_order && drops_data(sk))
		return false;
	smc_conn_stop(c);
	lock_sock(sk);
	stays = !has_ended(sk, c) && orphan_socket(sk);
	if (stays) {
		smc_conn_set_wq(c, NULL);
		smc_sk(sk)->arrives_until = in_order ? (jiffies + ARRIVE_TIME) | 1 : 0;
		if (!in_order || !lingers_on(sk, c))
			linger_until(sk, ABORT_TIME);
		smc_conn_set_notify(c, smc_linger_event, sk);
		if (in_order) {
			/* What TCP would do in TIME_WAIT: no reset, whatever SO_LINGER says. */
			sock_reset_flag(sk, SOCK_LINGER);
			smc_family(sk)->tcp->shutdown(sk, SEND_SHUTDOWN);
		}
		/* The peer may have closed just before the callback was set. */
		smc_linger_event(sk);
	}
	release_sock(sk);
	return stays;
}

/**
 * smc_close_orphan() - close a socket without a file after its handshake or connection has ended
 * @sk: the socket, with the reference that belonged to the file
 *
 * Context: process, the socket is not locked.
 */
void smc_close_orphan(struct sock *sk)
{
	struct smc_conn *c = smc_get_conn(sk);

	if (c)
		close_conn(sk, c);
	smc_compat_count_orphan(sk, -1);
	smc_orphan_end(sk);
	/* A BPF program may have put a socket that has fallen back into a sockmap. */
	READ_ONCE(sk->sk_prot)->close(sk, 0);
}

#ifdef CONFIG_SMC_TEST
/* For tests: widen the window in which something else can happen during close(). */
static unsigned int close_delay_ms;
module_param(close_delay_ms, uint, 0600);
MODULE_PARM_DESC(close_delay_ms, "delay in close() before TCP closes, at most 10000");

static void test_delay(void)
{
	msleep(min(READ_ONCE(close_delay_ms), 10000u));
}
#else
static inline void test_delay(void) { }
#endif

/* The socket is plain TCP from here on; TCP may still connect before it is closed. */
static void end_handshake(struct sock *sk)
{
	lock_sock(sk);
	smc_hs_withdraw(sk);
	if (smc_negotiating(smc_sk(sk)))
		smc_to_closed(sk);
	release_sock(sk);
	test_delay();
}

/* End what SMC has of the socket. Returns true if it has to stay, without its file. */
static bool outlives_file(struct sock *sk)
{
	struct smc_conn *c;

	if (smc_negotiating(smc_sk(sk)) && close_after_handshake(sk))
		return true;
	if (READ_ONCE(smc_sk(sk)->phase) != SMC_PHASE_TCP)
		end_handshake(sk);
	/* The handshake has ended, so no new connection can appear. */
	c = smc_get_conn(sk);
	if (c && close_after_conn(sk, c))
		return true;
	if (c)
		close_conn(sk, c);
	smc_detach_conns(sk);
	return false;
}

/**
 * smc_close() - proto.close: the file is closed, or what has kept the socket without it has ended
 * @sk: the socket, not locked
 * @timeout: how long TCP may wait for its peer, in jiffies
 *
 * Context: process.
 */
void smc_close(struct sock *sk, long timeout)
{
	if (sk->sk_socket && outlives_file(sk))
		return;
	smc_family(sk)->tcp->close(sk, timeout);
}

/**
 * smc_release() - close() of the last file
 * @sock: the socket
 *
 * Does not wait for the peer. What cannot end yet continues without a file: a handshake until it
 * has ended, a connection over RDMA as long as TCP in FIN_WAIT1 and FIN_WAIT2. The element may
 * outlive the socket, see smc_lgr_await_close().
 *
 * inet_release() leaves multicast groups, for which it needs RTNL, and runs BPF programs before it
 * calls smc_close(). So both happen in the task that closes the file, as for TCP, and never in a
 * work item.
 *
 * Return: 0.
 */
int smc_release(struct socket *sock)
{
	if (!sock->sk)
		return 0;
	smc_stop_old_conns(sock->sk);
	return smc_family(sock->sk)->tcp_ops->release(sock);
}
