// SPDX-License-Identifier: GPL-2.0
/*
 * Socket operations.  An operation looks for a connection first; without one it
 * waits until the socket has settled, or is TCP's business.
 */
#include <linux/module.h>
#include <asm/ioctls.h>
#include <linux/sockios.h>
#include <net/inet_common.h>
#include <net/tcp.h>
#include "../conn/urgent.h"
#include "../fabric/fabric.h"
#include "../handshake/handshake.h"
#include "nursery.h"
#include "socket.h"

/* So long a closed connection waits for its peer to close, as TCP in FIN_WAIT2. */
#define LINGER_TIME	(60 * HZ)

static const struct proto_ops *tcp_ops(const struct sock *sk)
{
	return smc_family(sk)->tcp_ops;
}

static struct smc_conn *get_conn(const struct sock *sk)
{
	/* Pairs with the release in smc_to_up(). */
	return smp_load_acquire(&smc_sk(sk)->conn);
}

/* The application begins something that SMC cannot follow. */
static void smc_leave(struct sock *sk, enum smc_reason reason)
{
	lock_sock(sk);
	if (smc_sk(sk)->phase == SMC_PHASE_NEW && sk->sk_state == TCP_CLOSE)
		smc_to_tcp(sk, reason, 0);
	release_sock(sk);
}

static int wait_settled(struct sock *sk, long timeo)
{
	return smc_unsettled(smc_sk(sk)) ? smc_hs_wait(sk, timeo) : 0;
}

/*
 * MSG_ZEROCOPY: the data are copied all the same, and the completion, which says so, can
 * follow at once.  io_uring brings one of its own.
 */
static int send_zerocopy(struct sock *sk, struct smc_conn *c, struct msghdr *msg,
			 size_t len)
{
	struct ubuf_info *uarg;
	int rc;

	if (!len || msg->msg_ubuf || !sock_flag(sk, SOCK_ZEROCOPY))
		return smc_conn_sendmsg(sk, c, msg, len);
	uarg = msg_zerocopy_realloc(sk, len, NULL);
	if (!uarg)
		return -ENOBUFS;
	uarg_to_msgzc(uarg)->zerocopy = 0;
	rc = smc_conn_sendmsg(sk, c, msg, len);
	if (rc > 0)
		net_zcopy_put(uarg);
	else
		net_zcopy_put_abort(uarg, true);
	return rc;
}

static int smc_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct sock *sk = sock->sk;
	struct smc_conn *c = get_conn(sk);
	int rc;

	if (unlikely(!c)) {
		if (msg->msg_flags & MSG_FASTOPEN)
			smc_leave(sk, SMC_REASON_FASTOPEN);
		rc = wait_settled(sk, sock_sndtimeo(sk, msg->msg_flags &
						    MSG_DONTWAIT));
		if (rc)
			return rc;
		c = get_conn(sk);
		if (!c)
			return tcp_ops(sk)->sendmsg(sock, msg, len);
	}
	if (unlikely(msg->msg_flags & MSG_ZEROCOPY))
		return send_zerocopy(sk, c, msg, len);
	return smc_conn_sendmsg(sk, c, msg, len);
}

static int smc_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
		       int flags)
{
	struct sock *sk = sock->sk;
	struct smc_conn *c = get_conn(sk);
	int rc;

	if (unlikely(flags & MSG_ERRQUEUE))
		return tcp_ops(sk)->recvmsg(sock, msg, len, flags);
	if (unlikely(!c)) {
		rc = wait_settled(sk, sock_rcvtimeo(sk, flags & MSG_DONTWAIT));
		if (rc)
			return rc;
		c = get_conn(sk);
		if (!c)
			return tcp_ops(sk)->recvmsg(sock, msg, len, flags);
	}
	msg->msg_namelen = 0;
	if (unlikely(flags & MSG_OOB))
		return smc_urgent_recv(sk, c, msg, len, flags);
	return smc_conn_recvmsg(sk, c, msg, len, flags);
}

static __poll_t smc_poll(struct file *file, struct socket *sock,
			 struct poll_table_struct *wait)
{
	struct sock *sk = sock->sk;
	struct smc_conn *c;

	sock_poll_wait(file, sock, wait);
	c = get_conn(sk);
	if (likely(c))
		return smc_conn_poll(sk, c);
	/* Neither readable nor writable yet, unless TCP has bad news. */
	if (smc_unsettled(smc_sk(sk)) && !READ_ONCE(sk->sk_err) &&
	    inet_sk_state_load(sk) != TCP_CLOSE)
		return 0;
	return tcp_ops(sk)->poll(file, sock, wait);
}

/* What is there may be enough now for somebody who polls; the socket is locked. */
static int smc_set_rcvlowat(struct sock *sk, int val)
{
	int rc = tcp_ops(sk)->set_rcvlowat(sk, val);
	struct smc_conn *c = get_conn(sk);

	if (!rc && c)
		smc_conn_wake_all(c);
	return rc;
}

/* Is what TCP has there not the application's? */
static bool tcp_queue_hidden(const struct sock *sk)
{
	return smc_unsettled(smc_sk(sk)) && sk->sk_state != TCP_LISTEN;
}

/* For those in the kernel who parse a stream. */
static int smc_peek_len(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct smc_conn *c = get_conn(sk);

	if (c)
		return min_t(u64, smc_urgent_inq(sk, c), INT_MAX);
	return tcp_queue_hidden(sk) ? 0 : tcp_ops(sk)->peek_len(sock);
}

static int smc_read_sock(struct sock *sk, read_descriptor_t *desc, sk_read_actor_t actor)
{
	struct smc_conn *c = get_conn(sk);

	if (c)
		return smc_conn_read_sock(sk, c, desc, actor);
	return tcp_queue_hidden(sk) ? 0 : tcp_ops(sk)->read_sock(sk, desc, actor);
}

static int conn_ioctl(struct sock *sk, struct smc_conn *c, unsigned int cmd)
{
	u64 n;

	switch (cmd) {
	case SIOCINQ:
		n = smc_urgent_inq(sk, c);
		break;
	case SIOCOUTQ:
		n = smc_conn_unacked(c);
		/* Who waits for the last byte would wait for ever. */
		if (n)
			c->fabric->ops->ask(c);
		break;
	case SIOCOUTQNSD:
		n = READ_ONCE(c->tx_prod) - READ_ONCE(c->tx_pub);
		break;
	case SIOCATMARK:
		n = smc_urgent_at_mark(c);
		break;
	default:
		return -ENOIOCTLCMD;
	}
	return min_t(u64, n, INT_MAX);
}

static int smc_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct sock *sk = sock->sk;
	struct smc_conn *c = get_conn(sk);
	int n;

	if (c) {
		n = conn_ioctl(sk, c, cmd);
		if (n >= 0)
			return put_user(n, (int __user *)arg);
	} else if (cmd == SIOCINQ && tcp_queue_hidden(sk)) {
		return put_user(0, (int __user *)arg);
	}
	return tcp_ops(sk)->ioctl(sock, cmd, arg);
}

/* The FIN waits until the connection has ended on both sides. */
static int shutdown_above_tcp(struct sock *sk, struct smc_conn *c, int how)
{
	lock_sock(sk);
	if (how != SHUT_WR)
		WRITE_ONCE(c->shut_rd, true);
	/* The constants are one less than the bits. */
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | (how + 1));
	sk->sk_state_change(sk);
	release_sock(sk);
	return 0;
}

static int smc_shutdown(struct socket *sock, int how)
{
	struct sock *sk = sock->sk;
	struct smc_conn *c;
	int rc;

	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	/* The handshake has the TCP connection for itself until it is over. */
	if (READ_ONCE(smc_sk(sk)->phase) == SMC_PHASE_HANDSHAKE) {
		rc = smc_hs_wait(sk, MAX_SCHEDULE_TIMEOUT);
		if (rc)
			return rc;
	}
	c = get_conn(sk);
	if (c && sk->sk_state != TCP_CLOSE) {
		if (how == SHUT_RDWR)
			smc_conn_close(c);
		else if (how == SHUT_WR)
			smc_conn_done(c);
		if (c->late_fin)
			return shutdown_above_tcp(sk, c, how);
	}
	/* TCP's FIN follows, and wakes whoever sleeps on this side. */
	return tcp_ops(sk)->shutdown(sock, how);
}

/*
 * Would the peer see a reset after this close()?  Not when both have shut down: TCP would be in
 * TIME_WAIT there.
 */
static bool close_resets(struct sock *sk, struct smc_conn *c)
{
	if (smc_conn_told(c, SMC_FLAG_DONE) && READ_ONCE(c->rx_flags) & BIT(SMC_FLAG_DONE) &&
	    !smc_conn_peer_gone(c))
		return false;
	return smc_conn_unread(c) ||
	       (sock_flag(sk, SOCK_LINGER) && !sk->sk_lingertime);
}

static void close_conn(struct sock *sk, struct smc_conn *c)
{
	bool reset = close_resets(sk, c);

	if (reset)
		smc_conn_abort(c);
	else
		smc_conn_close(c);
	smc_conn_stop(c);
	lock_sock(sk);
	smc_sk(sk)->conn = NULL;
	if (reset && sk->sk_state != TCP_CLOSE)
		smc_family(sk)->tcp->disconnect(sk, 0);
	release_sock(sk);
	smc_retire_conn(sk, c);
}

/* The file goes, the socket stays, as one that nobody has accepted; locked. */
static void part_from_file(struct socket *sock)
{
	struct sock *sk = sock->sk;

	smc_sk(sk)->closing = true;
	write_lock_bh(&sk->sk_callback_lock);
	sk_set_socket(sk, NULL);
	RCU_INIT_POINTER(sk->sk_wq, NULL);
	sock_reset_flag(sk, SOCK_FASYNC);
	write_unlock_bh(&sk->sk_callback_lock);
	sock->sk = NULL;
}

/*
 * The file goes while the handshake is under way.  With TCP the peer would see a
 * connection that was made and then closed, so the handshake is brought to its
 * end first, by the worker.
 */
static bool close_after_handshake(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);

	lock_sock(sk);
	if (smc->phase == SMC_PHASE_HANDSHAKE && rcu_access_pointer(smc->hs) &&
	    !(sock_flag(sk, SOCK_LINGER) && !sk->sk_lingertime))
		part_from_file(sock);
	release_sock(sk);
	return !sock->sk;
}

/* Neither a FIN of the peer nor a reset has come; one of ours may be under way. */
static bool only_we_end(const struct sock *sk)
{
	return BIT(inet_sk_state_load(sk)) & (TCPF_ESTABLISHED | TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2);
}

static void linger_work(struct work_struct *work)
{
	struct smc_sock *smc = container_of(work, struct smc_sock, linger_work.work);
	struct sock *sk = smc_to_sk(smc);
	struct smc_conn *c = smc->conn;
	bool mine;

	lock_sock(sk);
	mine = smc->closing;
	smc->closing = false;
	release_sock(sk);
	if (mine) {
		smc_conn_set_notify(c, NULL, NULL);
		if (!smc_conn_peer_gone(c) && only_we_end(sk)) {
			/* It never answered. */
			smc_conn_abort(c);
			tcp_abort(sk, ETIMEDOUT);
		}
		smc_close_settled(sk);
	}
	sock_put(sk);
}

/* Each pending work has a reference: TCP's news may come while another one ends it. */
static void linger_until(struct sock *sk, unsigned long delay)
{
	sock_hold(sk);
	if (mod_delayed_work(smc_wq, &smc_sk(sk)->linger_work, delay))
		sock_put(sk);
}

/**
 * smc_linger_event() - the connection of a socket without a file has got further
 * @sk: the socket; the caller knows that it is closing
 *
 * Context: any.
 */
void smc_linger_event(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);
	struct smc_conn *c = READ_ONCE(smc->conn);

	if (c && (smc_conn_peer_gone(c) || !only_we_end(sk)))
		linger_until(sk, 0);
}

/*
 * Where a FIN can overtake the data it says nothing to the peer, and the socket waits
 * without its file until the peer has closed as well (RFC 7609, 4.8.1).  The FIN is sent at
 * once all the same: the side that closes first is then the one that has to remember the
 * connection (TIME_WAIT), as with TCP.
 */
static bool close_after_conn(struct socket *sock, struct smc_conn *c)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);

	if (!c->late_fin || close_resets(sk, c))
		return false;
	smc_stop_retired(sk);
	smc_conn_close(c);
	smc_conn_stop(c);
	lock_sock(sk);
	if (!smc_conn_peer_gone(c) && sk->sk_state == TCP_ESTABLISHED) {
		INIT_DELAYED_WORK(&smc->linger_work, linger_work);
		smc_conn_set_wq(c, NULL);
		part_from_file(sock);
		linger_until(sk, LINGER_TIME);
		smc_conn_set_notify(c, smc_linger_event, sk);
		smc_family(sk)->tcp->shutdown(sk, SEND_SHUTDOWN);
		/* It may have ended just now. */
		smc_linger_event(sk);
	}
	release_sock(sk);
	return !sock->sk;
}

/**
 * smc_close_settled() - the handshake of a socket without a file has ended
 * @sk: the socket, with the reference that was the file's
 *
 * Context: process, the socket is not locked.
 */
void smc_close_settled(struct sock *sk)
{
	struct smc_conn *c = get_conn(sk);

	if (c)
		close_conn(sk, c);
	smc_family(sk)->tcp->close(sk, 0);
}

static int smc_release(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct smc_conn *c;

	if (!sk)
		return 0;
	if (READ_ONCE(smc_sk(sk)->phase) == SMC_PHASE_HANDSHAKE &&
	    close_after_handshake(sock))
		return 0;
	if (READ_ONCE(smc_sk(sk)->phase) != SMC_PHASE_TCP) {
		lock_sock(sk);
		smc_hs_kill(sk);
		release_sock(sk);
	}
	/* Without a handshake none is made any more. */
	c = get_conn(sk);
	if (c && close_after_conn(sock, c))
		return 0;
	if (c)
		close_conn(sk, c);
	smc_stop_retired(sk);
	smc_retire_conns(sk);
	return tcp_ops(sk)->release(sock);
}

/* The child may have settled before it had a file, or settle at any time. */
static void adopt_child(struct socket *newsock)
{
	struct sock *sk = newsock->sk;
	struct smc_sock *smc = smc_sk(sk);
	bool closed;

	lock_sock(sk);
	closed = smc_nursery_closed(sk);
	if (smc->phase == SMC_PHASE_TCP)
		newsock->ops = &smc_family(sk)->plain_ops;
	else if (smc->conn)
		smc_conn_set_wq(smc->conn, &newsock->wq);
	smc_nursery_leave(sk);
	release_sock(sk);
	if (!smc_unsettled(smc))
		return;
	/* A worker that came while the listener was closing may have left. */
	if (unlikely(closed))
		smc_hs_event(sk);
	smc_hs_accepted(sk);
}

#ifdef SMC_HAVE_PROTO_ACCEPT_ARG
static int smc_accept(struct socket *sock, struct socket *newsock,
		      struct proto_accept_arg *arg)
{
	int rc = tcp_ops(sock->sk)->accept(sock, newsock, arg);

	if (!rc)
		adopt_child(newsock);
	return rc;
}
#else
static int smc_accept(struct socket *sock, struct socket *newsock, int flags,
		      bool kern)
{
	int rc = tcp_ops(sock->sk)->accept(sock, newsock, flags, kern);

	if (!rc)
		adopt_child(newsock);
	return rc;
}
#endif

/**
 * smc_ops_init() - derive our operations from TCP's
 * @f: the family
 *
 * What is not named here is TCP's, and right in every phase.
 */
void __init smc_ops_init(struct smc_family *f)
{
	f->plain_ops = *f->tcp_ops;
	f->plain_ops.owner = THIS_MODULE;
	f->plain_ops.connect = smc_plain_connect;
	f->plain_ops.listen = smc_plain_listen;
	f->plain_ops.setsockopt = smc_plain_setsockopt;

	f->ops = *f->tcp_ops;
	f->ops.owner = THIS_MODULE;
	f->ops.release = smc_release;
	f->ops.connect = smc_connect;
	f->ops.accept = smc_accept;
	f->ops.listen = smc_listen;
	f->ops.poll = smc_poll;
	f->ops.ioctl = smc_ioctl;
	f->ops.shutdown = smc_shutdown;
	f->ops.sendmsg = smc_sendmsg;
	f->ops.recvmsg = smc_recvmsg;
	f->ops.set_rcvlowat = smc_set_rcvlowat;
	f->ops.peek_len = smc_peek_len;
	f->ops.read_sock = smc_read_sock;
	/* These read or write TCP's own queues. */
	f->ops.mmap = sock_no_mmap;
	f->ops.splice_read = NULL;
	f->ops.read_skb = NULL;
	f->ops.sendmsg_locked = NULL;
	smc_compat_ops_init(&f->ops);
}
