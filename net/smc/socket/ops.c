// SPDX-License-Identifier: GPL-2.0
/*
 * Socket operations. An operation first looks for a connection; if there is none, it waits for the
 * end of the handshake or calls TCP's operation.
 */
#include <linux/module.h>
#include <net/inet_common.h>
#include <net/tcp.h>
#include "../conn/stamp.h"
#include "../conn/urgent.h"
#include "../fabric/fabric.h"
#include "../handshake/handshake.h"
#include "socket.h"

static const struct proto_ops *tcp_ops(const struct sock *sk)
{
	return smc_family(sk)->tcp_ops;
}

static int wait_negotiated(struct sock *sk, long timeo, u8 unless_shut)
{
	if (likely(!smc_negotiating(smc_sk(sk))))
		return 0;
	return smc_wait_negotiated(sk, timeo, unless_shut);
}

/*
 * MSG_ZEROCOPY: the data is copied nevertheless, and the completion, which reports the copy, can be
 * sent at once. io_uring passes a ubuf_info of its own.
 *
 * Only a call that has sent something gets a number, because tasks that send at the same time
 * finish in any order. TCP orders them by the lock of the socket.
 */
static int send_zerocopy(struct sock *sk, struct smc_conn *c, struct msghdr *msg,
			 size_t len)
{
	struct ubuf_info *uarg;
	int rc;

	if (!len || msg->msg_ubuf || !sock_flag(sk, SOCK_ZEROCOPY))
		return smc_conn_sendmsg(sk, c, msg, len);
	lock_sock(sk);
	uarg = msg_zerocopy_realloc(sk, len, NULL, false);
	if (uarg)
		atomic_dec(&sk->sk_zckey);
	release_sock(sk);
	if (!uarg)
		return -ENOBUFS;
	uarg_to_msgzc(uarg)->zerocopy = 0;
	rc = smc_conn_sendmsg(sk, c, msg, len);
	lock_sock(sk);
	uarg_to_msgzc(uarg)->id = (u32)atomic_inc_return(&sk->sk_zckey) - 1;
	if (rc > 0)
		net_zcopy_put(uarg);
	else
		net_zcopy_put_abort(uarg, true);
	release_sock(sk);
	return rc;
}

/*
 * MSG_FASTOPEN on a socket that is connected. Fails as TCP does, in the same order. As there, it
 * may take the place of the second call of a non-blocking connect(); then it sends.
 */
static int fastopen_again(struct sock *sk, const struct msghdr *msg)
{
	const struct sockaddr *addr = msg->msg_name;
	bool named = addr && msg->msg_namelen >= (int)sizeof(addr->sa_family);
	struct socket *sock = sk->sk_socket;
	int rc = -EISCONN;

	if (!(READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_fastopen) & TFO_CLIENT_ENABLE) ||
	    (named && addr->sa_family == AF_UNSPEC))
		return -EOPNOTSUPP;
	if (addr && !named)
		return -EINVAL;
	lock_sock(sk);
	if (sock->state == SS_CONNECTING && sk->sk_state != TCP_CLOSE) {
		sock->state = SS_CONNECTED;
		rc = 0;
	}
	release_sock(sk);
	return rc;
}

/*
 * Memory of the kernel: this is a user in the kernel, or splice() and the like. A user with
 * callbacks of its own has to be called from now on. Returns 0 or -ENOMEM.
 */
static int mind_kernel_user(struct sock *sk, struct smc_conn *c)
{
	return smc_has_kernel_user(sk) ? smc_conn_attach_user(sk, c) : 0;
}

static noinline int send_special(struct sock *sk, struct smc_conn *c, struct msghdr *msg,
				 size_t len)
{
	int rc;

	if (!user_backed_iter(&msg->msg_iter) && mind_kernel_user(sk, c))
		return -ENOMEM;
	rc = msg->msg_flags & MSG_FASTOPEN ? fastopen_again(sk, msg) : 0;
	if (rc)
		return rc;
	if (msg->msg_flags & MSG_ZEROCOPY)
		return send_zerocopy(sk, c, msg, len);
	return smc_conn_sendmsg(sk, c, msg, len);
}

static int send_on(struct sock *sk, struct smc_conn *c, struct msghdr *msg, size_t len)
{
	if (unlikely(msg->msg_flags & (MSG_ZEROCOPY | MSG_FASTOPEN) ||
		     !user_backed_iter(&msg->msg_iter)))
		return send_special(sk, c, msg, len);
	return smc_conn_sendmsg(sk, c, msg, len);
}

/*
 * For a socket without a connection: wait until its handshake has ended. Sets *@c to the connection
 * that it has now, or to NULL; then *@closed tells whether a connect() may be running or about to
 * run. Returns 0 or a negative errno: -ESHUTDOWN if shutdown() has ended direction @way meanwhile.
 */
static int await_conn(struct sock *sk, long timeo, u8 way, struct smc_conn **c, bool *closed)
{
	/* Look first: connect() may be running, and there may be no connection yet. */
	bool was_closed = inet_sk_state_load(sk) == TCP_CLOSE;
	int rc = wait_negotiated(sk, timeo, way);

	if (rc)
		return rc;
	*c = smc_get_conn(sk);
	/* After a wait, phase NEW means that connect() has failed, or that a task disconnected. */
	*closed = was_closed || READ_ONCE(smc_sk(sk)->phase) == SMC_PHASE_NEW;
	return 0;
}

/*
 * Send on a socket that was closed: its lock decides whether this or a connect() comes first. Here
 * TCP does not release the lock, unless MSG_FASTOPEN connects the socket: smc_proto_connect().
 * Returns false if connect() came first and offered SMC.
 */
static bool send_closed(struct sock *sk, struct msghdr *msg, size_t len, int *rc)
{
	bool first;

	lock_sock(sk);
	first = !smc_busy(smc_sk(sk));
	if (first)
		*rc = tcp_sendmsg_locked(sk, msg, len);
	release_sock(sk);
	return first;
}

/* Not inline, like recv_without_conn(), because the usual case is counted in instructions. */
static noinline int send_without_conn(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct sock *sk = sock->sk;
	struct smc_conn *c;
	bool closed;
	int rc;

	do {
		rc = await_conn(sk, sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT),
				SEND_SHUTDOWN, &c, &closed);
		if (rc == -ESHUTDOWN)
			return sk_stream_error(sk, msg->msg_flags, -EPIPE);
		if (rc)
			return rc;
		if (!c && !closed)
			return tcp_ops(sk)->sendmsg(sock, msg, len);
		if (!c && send_closed(sk, msg, len, &rc))
			return rc;
	} while (!c);
	return send_on(sk, c, msg, len);
}

static int smc_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct sock *sk = sock->sk;
	struct smc_conn *c = smc_get_conn(sk);

	if (unlikely(!c))
		return send_without_conn(sock, msg, len);
	return send_on(sk, c, msg, len);
}

static int recv_on(struct sock *sk, struct smc_conn *c, struct msghdr *msg, size_t len, int flags)
{
	int rc;

	msg->msg_namelen = 0;
	if (unlikely(!user_backed_iter(&msg->msg_iter)) && mind_kernel_user(sk, c))
		return -ENOMEM;
	if (!(flags & MSG_OOB))
		return smc_conn_recvmsg(sk, c, msg, len, flags);
	rc = smc_urgent_recv(sk, c, msg, len, flags);
	if (rc >= 0)
		smc_recv_inq(sk, c, msg);
	return rc;
}

/*
 * Would TCP's recvmsg() find nothing to do but to report that the socket is closed? Not if a
 * sockmap or kernel TLS has replaced it. The socket is locked.
 */
static bool recv_is_over(const struct sock *sk)
{
	return sk->sk_state == TCP_CLOSE && skb_queue_empty(&sk->sk_receive_queue) &&
	       sk->sk_prot == &smc_family(sk)->prot && !tcp_sk(sk)->repair;
}

/* What TCP's recvmsg() returns then, in the order in which it looks. The socket is locked. */
static int recv_over(struct sock *sk)
{
	int rc;

	if (sock_flag(sk, SOCK_DONE))
		return 0;
	rc = sock_error(sk);
	if (rc)
		return rc;
	return sk->sk_shutdown & RCV_SHUTDOWN ? 0 : -ENOTCONN;
}

/* recv() returns 0 in place of TCP: at the end of the stream, or after waiting for nothing. */
static int recv_nothing(const struct sock *sk, struct msghdr *msg)
{
	msg->msg_namelen = 0;
	smc_put_inq(sk, msg, sock_flag(sk, SOCK_DONE));
	return 0;
}

/* As send_closed(). TCP's recvmsg() is called only if it does not have to wait for data. */
static bool recv_closed(struct socket *sock, struct msghdr *msg, size_t len, int flags, int *rc)
{
	struct sock *sk = sock->sk;
	bool first, over;

	lock_sock(sk);
	first = !smc_busy(smc_sk(sk));
	over = first && recv_is_over(sk);
	if (over) {
		msg->msg_namelen = 0;
		*rc = recv_over(sk) ?: recv_nothing(sk, msg);
	}
	release_sock(sk);
	if (first && !over)
		*rc = tcp_ops(sk)->recvmsg(sock, msg, len, flags);
	return first;
}

static noinline int recv_without_conn(struct socket *sock, struct msghdr *msg, size_t len,
				      int flags)
{
	struct sock *sk = sock->sk;
	long timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	struct smc_conn *c;
	bool closed;
	int rc;

	/* Nobody waits for an urgent byte, and nothing can have arrived yet. */
	if (flags & MSG_OOB && BIT(READ_ONCE(sk->sk_state)) & (TCPF_SYN_SENT | TCPF_SYN_RECV))
		return tcp_ops(sk)->recvmsg(sock, msg, len, flags);
	do {
		rc = await_conn(sk, timeo, RCV_SHUTDOWN, &c, &closed);
		if (rc == -ESHUTDOWN)
			return flags & MSG_OOB ? -EINVAL : recv_nothing(sk, msg);
		/* In TCP, recv() of zero bytes waits as well, and returns 0 even after a signal. */
		if (!len && timeo && (rc == -EAGAIN || rc == sock_intr_errno(timeo)))
			return recv_nothing(sk, msg);
		if (rc)
			return rc;
		if (!c && (flags & MSG_OOB || !closed))
			return tcp_ops(sk)->recvmsg(sock, msg, len, flags);
		if (!c && recv_closed(sock, msg, len, flags, &rc))
			return rc;
	} while (!c);
	return recv_on(sk, c, msg, len, flags);
}

static noinline int recv_unusual(struct socket *sock, struct msghdr *msg, size_t len, int flags)
{
	struct smc_conn *c = smc_get_conn(sock->sk);

	if (flags & MSG_ERRQUEUE)
		return tcp_ops(sock->sk)->recvmsg(sock, msg, len, flags);
	if (!c)
		return recv_without_conn(sock, msg, len, flags);
	return recv_on(sock->sk, c, msg, len, flags);
}

static int smc_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
		       int flags)
{
	struct sock *sk = sock->sk;
	struct smc_conn *c = smc_get_conn(sk);

	if (unlikely(!c || flags & (MSG_ERRQUEUE | MSG_OOB) || !user_backed_iter(&msg->msg_iter)))
		return recv_unusual(sock, msg, len, flags);
	msg->msg_namelen = 0;
	return smc_conn_recvmsg(sk, c, msg, len, flags);
}

/*
 * poll() during the handshake: neither readable nor writable yet, but shutdown() shows as with TCP.
 */
static __poll_t poll_negotiating(const struct sock *sk)
{
	u8 shut = READ_ONCE(smc_sk(sk)->shut_later);
	__poll_t mask = 0;

	if (shut == SHUTDOWN_MASK)
		mask |= EPOLLHUP;
	if (shut & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (shut & SEND_SHUTDOWN)
		mask |= EPOLLOUT | EPOLLWRNORM;
	return mask;
}

static __poll_t smc_poll(struct file *file, struct socket *sock,
			 struct poll_table_struct *wait)
{
	struct sock *sk = sock->sk;
	struct smc_conn *c;

	c = smc_get_conn(sk);
	if (unlikely(!c)) {
		/*
		 * TCP's poll calls sock_poll_wait() itself. Look for the connection again: if the
		 * handshake has ended in between, its wake-up came too early for this task.
		 */
		if (!smc_negotiating(smc_sk(sk)) && !smc_get_conn(sk) && !smc_defers(sk))
			return tcp_ops(sk)->poll(file, sock, wait);
		sock_poll_wait(file, sock, wait);
		if (smc_defers(sk))
			return smc_poll_deferring(sk);
		c = smc_get_conn(sk);
		if (c)
			return smc_conn_poll(sk, c);
		/* A failure of TCP ends the negotiation. */
		if (smc_negotiating(smc_sk(sk)))
			return poll_negotiating(sk);
		return tcp_ops(sk)->poll(file, sock, wait);
	}
	sock_poll_wait(file, sock, wait);
	return smc_conn_poll(sk, c);
}

/* A lower threshold may be met by the data that has arrived already; the socket is locked. */
static int smc_set_rcvlowat(struct sock *sk, int val)
{
	int rc = tcp_ops(sk)->set_rcvlowat(sk, val);
	struct smc_conn *c = smc_get_conn(sk);

	if (!rc && c) {
		WRITE_ONCE(c->rx_low_water, true);
		smc_conn_wake_all(c);
	} else if (!rc && smc_sk(sk)->phase == SMC_PHASE_HANDSHAKE) {
		smc_hs_event(sk);
	}
	return rc;
}

/* Used by in-kernel stream parsers. */
static int smc_peek_len(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct smc_conn *c = smc_get_conn(sk);

	if (c)
		return min_t(u64, smc_urgent_inq(sk, c), INT_MAX);
	return smc_tcp_queue_hidden(sk) ? 0 : tcp_ops(sk)->peek_len(sock);
}

static int smc_read_sock(struct sock *sk, read_descriptor_t *desc, sk_read_actor_t actor)
{
	struct smc_conn *c = smc_get_conn(sk);

	if (c)
		return smc_conn_read_sock(sk, c, desc, actor);
	return smc_tcp_queue_hidden(sk) ? 0 : tcp_ops(sk)->read_sock(sk, desc, actor);
}

/* The handshake of a child may end before accept(), or at any time afterwards. */
static void adopt_child(struct socket *newsock)
{
	struct sock *sk = newsock->sk;
	struct smc_sock *smc = smc_sk(sk);

	lock_sock(sk);
	if (smc->conn)
		smc_conn_set_wq(smc->conn, &newsock->wq);
	smc_undefer(sk);
	release_sock(sk);
}

/*
 * TCP has moved a child of a plain TCP listener in the same reuseport group to us
 * (tcp_migrate_req). Its memory belongs to TCP, so it gets TCP's operations. kernel_accept() would
 * overwrite them with ours, so an in-kernel accept fails.
 */
static int adopt_stranger(struct socket *newsock, bool kern)
{
	const struct proto_ops *tcp = tcp_ops(newsock->sk);

	if (kern) {
		tcp->release(newsock);
		return -ECONNABORTED;
	}
	__module_get(tcp->owner);
	newsock->ops = tcp;
	module_put(THIS_MODULE);
	return 0;
}

static int accepted(struct socket *newsock, bool kern)
{
	if (unlikely(!smc_is_ours(newsock->sk)))
		return adopt_stranger(newsock, kern);
	smc_compat_own_options(newsock, true);
	adopt_child(newsock);
	return 0;
}

/*
 * Before TCP's accept(), which must not wait if we have waited, because it would return any child.
 * @tcp_flags receives its flags. Returns 0 or a negative errno.
 */
static int await_due(struct sock *sk, long *timeo, int flags, int *tcp_flags)
{
	*tcp_flags = flags;
	if (likely(!smc_defers(sk)))
		return 0;
	*tcp_flags |= O_NONBLOCK;
	return smc_await_due(sk, timeo);
}

#ifdef SMC_HAVE_PROTO_ACCEPT_ARG
static int smc_accept(struct socket *sock, struct socket *newsock,
		      struct proto_accept_arg *arg)
{
	long timeo = sock_rcvtimeo(sock->sk, arg->flags & O_NONBLOCK);
	int rc, flags = arg->flags;

	do {
		rc = await_due(sock->sk, &timeo, flags, &arg->flags) ?:
		     tcp_ops(sock->sk)->accept(sock, newsock, arg);
	} while (rc == -EAGAIN && timeo && arg->flags != flags);
	return rc ?: accepted(newsock, arg->kern);
}
#else
static int smc_accept(struct socket *sock, struct socket *newsock, int flags,
		      bool kern)
{
	long timeo = sock_rcvtimeo(sock->sk, flags & O_NONBLOCK);
	int rc, tcp_flags;

	do {
		rc = await_due(sock->sk, &timeo, flags, &tcp_flags) ?:
		     tcp_ops(sock->sk)->accept(sock, newsock, tcp_flags, kern);
	} while (rc == -EAGAIN && timeo && tcp_flags != flags);
	return rc ?: accepted(newsock, kern);
}
#endif

/**
 * smc_ops_init() - derive our operations from TCP's
 * @f: the family
 *
 * Operations that are set neither here nor in plain.c remain TCP's, which are right in every phase.
 */
void __init smc_ops_init(struct smc_family *f)
{
	f->ops = *f->tcp_ops;
	f->ops.owner = THIS_MODULE;
	f->ops.release = smc_release;
	f->ops.connect = smc_connect;
	f->ops.accept = smc_accept;
	f->ops.listen = smc_listen;
	f->ops.poll = smc_poll;
	f->ops.shutdown = smc_shutdown;
	f->ops.setsockopt = smc_sock_setsockopt;
	f->ops.sendmsg = smc_sendmsg;
	f->ops.recvmsg = smc_recvmsg;
	f->ops.set_rcvlowat = smc_set_rcvlowat;
	f->ops.peek_len = smc_peek_len;
	f->ops.read_sock = smc_read_sock;
	smc_plain_init(f);
}
